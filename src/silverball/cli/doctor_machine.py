"""Findings of `silverball doctor` on the machine: files, disk, addresses, Redis."""

import os
import shutil
import stat
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from silverball.settings import Settings
from silverball.store import erased_accounts
from silverball.store.engine import SQLITE_FILES_BESIDE

MEGABYTE = 1_000_000
FREE_BYTES_NEEDED = 100 * MEGABYTE
FREE_BYTES_WANTED = 1_000 * MEGABYTE
REDIS_SECONDS = 3.0
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
Status = Literal["ok", "warning", "error"]


class Finding(Struct, frozen=True):
    """A finding: its subject, its state, and a sentence about it."""

    check: str
    status: Status
    sentence: str


def base_url_findings(loaded: Settings) -> list[Finding]:
    """Whether links lead here, and whether the proxy that they lead to is believed."""
    if not loaded.base_url:
        sentence = "SILVERBALL_BASE_URL is not set: links begin with the address that the server listens on."
        return [Finding("base URL", "warning", sentence)]
    parts = urlsplit(loaded.base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        sentence = f"SILVERBALL_BASE_URL is no address of a site: {loaded.base_url!r}."
        return [Finding("base URL", "error", sentence)]
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        sentence = f"{loaded.base_url} is without TLS: passwords and tokens can be read on the way."
        return [Finding("base URL", "warning", sentence)]
    return [Finding("base URL", "ok", f"{loaded.base_url}."), _proxy_finding(loaded, parts.scheme)]


def _proxy_finding(loaded: Settings, scheme: str) -> Finding:
    if scheme == "https" and not loaded.trusted_proxies:
        sentence = (
            "TLS comes from a proxy, and SILVERBALL_TRUSTED_PROXIES names none: its headers are not believed,"
            " and all visitors share one allowance."
        )
        return Finding("proxies", "warning", sentence)
    if loaded.feed_require_tls and not loaded.trusted_proxies:
        sentence = "SILVERBALL_FEED_REQUIRE_TLS refuses every socket while no proxy is trusted."
        return Finding("proxies", "error", sentence)
    trusted = loaded.trusted_proxies or "none"
    sentence = f"Headers are believed from: {trusted}. The proxy must be among them."
    return Finding("proxies", "ok", sentence)


def permission_findings(file: Path | None, key_file: Path | None) -> list[Finding]:
    """Whether the server can use its files, and others cannot."""
    files: list[Path] = []
    if file is not None:
        files += [file, *(Path(f"{file}{ending}") for ending in SQLITE_FILES_BESIDE)]
        files.append(erased_accounts.file_beside(file))
    files += [key_file] if key_file is not None else []
    findings = [finding for path in files if path.exists() for finding in _file_findings(path)]
    if file is not None and file.parent.is_dir() and not os.access(file.parent, os.W_OK):
        # SQLite writes files beside its database.
        sentence = f"{file.parent} cannot be written by this user."
        findings.append(Finding("permissions", "error", sentence))
    return findings or [Finding("permissions", "ok", "Files are readable by their owner alone.")]


def _file_findings(path: Path) -> list[Finding]:
    findings = []
    if not os.access(path, os.R_OK | os.W_OK):
        sentence = f"{path} cannot be read and written by this user. Run this as the server's user."
        findings.append(Finding("permissions", "error", sentence))
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        sentence = f"{path} is open to others (mode {mode:04o}): chmod 600 {path}"
        findings.append(Finding("permissions", "warning", sentence))
    return findings


def disk_findings(file: Path) -> list[Finding]:
    """Whether there is room for the database to grow."""
    if not file.parent.is_dir():
        return [Finding("disk", "error", f"There is no folder at {file.parent}.")]
    free = shutil.disk_usage(file.parent).free
    size = file.stat().st_size if file.exists() else 0
    sentence = f"{free // MEGABYTE:,} MB are free, the database has {size // MEGABYTE:,} MB."
    if free < FREE_BYTES_NEEDED:
        return [Finding("disk", "error", sentence)]
    if free < max(FREE_BYTES_WANTED, size):
        return [Finding("disk", "warning", f"{sentence} A migration or a backup may need as much again.")]
    return [Finding("disk", "ok", sentence)]


def redis_findings(loaded: Settings) -> list[Finding]:
    """Whether Redis answers, where it is used."""
    if not loaded.redis_url:
        return [Finding("Redis", "ok", "Not used.")]
    from redis import Redis
    from redis.exceptions import RedisError

    try:
        with Redis.from_url(
            loaded.redis_url, socket_timeout=REDIS_SECONDS, socket_connect_timeout=REDIS_SECONDS
        ) as redis:
            redis.ping()
    except (RedisError, ValueError, OSError) as error:
        return [Finding("Redis", "error", f"It does not answer: {type(error).__name__}.")]
    return [Finding("Redis", "ok", "It answers.")]


def exports_findings(loaded: Settings) -> list[Finding]:
    """Whether the bulk files can be written, where they are wanted."""
    if not loaded.exports_folder:
        return [Finding("exports folder", "ok", "Not used.")]
    folder = Path(loaded.exports_folder)
    # The server makes the folder if its parent can be written.
    nearest = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        return [Finding("exports folder", "error", f"{nearest} cannot be written by this user.")]
    return [Finding("exports folder", "ok", f"{folder} can be written.")]
