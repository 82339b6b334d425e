"""Caddy and nginx with the files of deploy/, before a server of the test's own.

What is replaced in the files is listed here, and why; the rest runs as an operator has it.
"""

import contextlib
import http.client
import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli.test_serve import free_port
from deploy import deploy_files

NAME = "pinball.example.org"
START_SECONDS_MAX = 60


@dataclass(frozen=True)
class RunningProxy:
    """A proxy with TLS on loopback; its certificate is in `certificates`."""

    port: int
    # Without TLS.
    plain_port: int
    certificates: Path
    log: Path
    process: subprocess.Popen[bytes]

    def tls(self) -> ssl.SSLContext:
        """Return a context that knows this proxy's certificate."""
        return ssl.create_default_context(cafile=str(self.certificates))

    def connection(self, source: str = "127.0.0.1") -> http.client.HTTPSConnection:
        """Return a connection by the name of the site, from an address of this machine."""
        connection = http.client.HTTPSConnection(
            NAME, self.port, timeout=40, context=self.tls(), source_address=(source, 0)
        )
        # The name has no address here.
        connection._create_connection = lambda _to, *rest: socket.create_connection(  # type: ignore[attr-defined]
            ("127.0.0.1", self.port), *rest
        )
        return connection


def replaced(text: str, replacements: dict[str, str]) -> str:
    """Return a configuration with the replacements, each of which must be there."""
    for written, real in replacements.items():
        assert written in text, written
        text = text.replace(written, real)
    return text


def caddy_file(folder: Path, upstream: str, port: int, plain_port: int) -> Path:
    """Write deploy/Caddyfile as a test runs it."""
    certificate, key = make_certificate(folder)
    text = replaced(
        deploy_files.read_file("Caddyfile"),
        {
            # No certificate is to be had for this name, and port 443 may be taken.
            f"\n{NAME} {{": f"\nhttps://{NAME}:{port} {{\n\ttls {certificate} {key}",
            f"http://{NAME} {{": f"http://{NAME}:{plain_port} {{",
            "127.0.0.1:8000": upstream,
            "/var/log/caddy/silverball.log": str(folder / "access.log"),
        },
    )
    file = folder / "Caddyfile"
    # No second port for administration, and no certificate is asked for.
    file.write_text("{\n\tadmin off\n\tauto_https off\n\tdefault_bind 127.0.0.1\n}\n" + text)
    return file


def nginx_file(folder: Path, upstream: str, port: int, plain_port: int) -> Path:
    """Write deploy/nginx.conf as a test runs it, within a main file of its own."""
    certificate, key = make_certificate(folder)
    site = folder / "silverball"
    site.write_text(
        replaced(
            deploy_files.read_file("nginx.conf"),
            {
                # Ports below 1024 are root's, and may be taken.
                "listen 80;": f"listen 127.0.0.1:{plain_port};",
                "    listen [::]:80;\n": "",
                "listen 443 ssl http2;": f"listen 127.0.0.1:{port} ssl http2;",
                "    listen [::]:443 ssl http2;\n": "",
                f"/etc/letsencrypt/live/{NAME}/fullchain.pem": str(certificate),
                f"/etc/letsencrypt/live/{NAME}/privkey.pem": str(key),
                "/var/log/nginx/silverball.log": str(folder / "access.log"),
                "127.0.0.1:8000": upstream,
            },
        )
    )
    places = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "\n".join(f"    {place}_temp_path {folder / place};" for place in places)
    file = folder / "nginx.conf"
    file.write_text(
        f"pid {folder / 'nginx.pid'};\nerror_log {folder / 'error.log'};\nevents {{}}\n"
        f"http {{\n{temporary}\n    include {site};\n}}\n"
    )
    return file


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate for the name of the site; return its file and that of its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    if not certificate.exists():
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        command += ["-nodes", "-days", "2", "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"]
        command += ["-keyout", str(key), "-out", str(certificate)]
        subprocess.run(command, check=True, capture_output=True)
    return certificate, key


def check_command(kind: str, file: Path) -> list[str]:
    """Return the command with which a proxy checks a file."""
    if kind == "caddy":
        return ["caddy", "validate", "--adapter", "caddyfile", "--config", str(file)]
    return ["nginx", "-t", "-q", "-p", str(file.parent), "-c", str(file)]


def run_command(kind: str, file: Path) -> list[str]:
    """Return the command with which a proxy serves in the foreground."""
    if kind == "caddy":
        return ["caddy", "run", "--adapter", "caddyfile", "--config", str(file)]
    return ["nginx", "-p", str(file.parent), "-c", str(file), "-g", "daemon off;"]


def write_file(kind: str, folder: Path, upstream: str, port: int, plain_port: int) -> Path:
    """Write the configuration of a proxy, or skip where the proxy is not installed."""
    for program in (kind, "openssl"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed here")
    return (caddy_file if kind == "caddy" else nginx_file)(folder, upstream, port, plain_port)


@contextlib.contextmanager
def running_proxy(kind: str, folder: Path, upstream: str) -> Iterator[RunningProxy]:
    """Run a proxy until the end of the block."""
    port, plain_port = free_port(), free_port()
    file = write_file(kind, folder, upstream, port, plain_port)
    with (folder / "messages").open("wb") as messages:
        process = subprocess.Popen(
            run_command(kind, file),
            # Caddy keeps its state below these.
            env={**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder)},
            stdout=subprocess.DEVNULL,
            stderr=messages,
        )
    try:
        wait_for_port(port, process, folder)
        yield RunningProxy(port, plain_port, folder / "certificate.pem", folder / "access.log", process)
    finally:
        process.terminate()
        try:
            process.wait(timeout=START_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for_port(port: int, process: subprocess.Popen[bytes], folder: Path) -> None:
    """Return as soon as something listens at the port."""
    for _ in range(START_SECONDS_MAX * 20):
        assert process.poll() is None, (folder / "messages").read_text()
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError((folder / "messages").read_text())
