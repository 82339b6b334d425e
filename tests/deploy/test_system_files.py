"""The files for systemd, and the settings file: real settings, and a service that may do little."""

import grp
import http.client
import os
import pwd
import re
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from cli.test_serve import serving
from deploy import deploy_files
from deploy.deploy_files import DEPLOY
from silverball import settings
from silverball.cli import server

EXPOSURE_MAX = 3.0
# No mapping of memory may be written to and executed: MemoryDenyWriteExecute of systemd.
PR_SET_MDWE, REFUSE_EXEC_GAIN = 65, 1
PROGRAM = "/opt/silverball/bin/silverball"
UNITS = ("silverball.service", "silverball@.service")


def needs(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed here")
    return found


def test_every_line_of_the_settings_file_is_a_setting(tmp_path: Path) -> None:
    passphrase, file = tmp_path / "passphrase", tmp_path / "silverball.toml"
    passphrase.write_text("seven brass bumpers")
    text = deploy_files.read_file("silverball.toml")
    file.write_text(text.replace("/etc/silverball/backup-passphrase", str(passphrase)))
    (folder,) = deploy_files.unit()["Service"]["WorkingDirectory"]
    loaded = settings.load({"SILVERBALL_CONFIG": str(file)})
    assert (loaded.data_folder, loaded.database_url) == (folder, f"sqlite:///{folder}/silverball.db")
    assert loaded.exports_folder == f"{folder}/exports"
    (writable,) = deploy_files.unit()["Service"]["ReadWritePaths"]
    assert writable.split() == [folder, loaded.backup_folder]
    # Behind their `#`, too, each with its default.
    written = text.replace("\n#", "\n").replace("\n ", "\n# ")
    keys = [line.partition(" = ")[0] for line in written.splitlines() if re.match(r"[a-z_]+ = ", line)]
    expected = [
        name
        for table in ("", *settings.TABLES)
        for each in settings.SETTINGS
        if each.table == table
        for name in (each.key, *([f"{each.key}_file"] if each.is_secret else []))
    ]
    assert keys == expected


@pytest.mark.parametrize("name", UNITS)
def test_the_unit_exposes_little(name: str) -> None:
    program = needs("systemd-analyze")
    command = [program, "security", "--offline=true", "--no-pager", str(DEPLOY / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"Overall exposure level for silverball@?\S*\.service: ([0-9.]+)", done.stdout)
    assert found is not None, done.stdout + done.stderr
    assert float(found[1]) < EXPOSURE_MAX


@pytest.mark.parametrize("name", UNITS)
def test_systemd_has_nothing_to_say_about_the_unit(tmp_path: Path, name: str) -> None:
    program = needs("systemd-analyze")
    # Of a template, an instance.
    unit = tmp_path / name.replace("@", "@8001")
    unit.write_text(deploy_files.read_file(name).replace(PROGRAM, sys.executable))
    command = [program, "verify", "--man=no", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    about_it = [line for line in done.stderr.splitlines() if unit.name in line]
    assert (done.returncode, about_it) == (0, [])


def test_the_template_differs_from_the_unit_by_its_port_alone() -> None:
    unit, template = (deploy_files.unit(name) for name in UNITS)
    template["Unit"]["Description"] = [template["Unit"]["Description"][0].removesuffix(" (port %i)")]
    template["Service"]["Environment"].remove("SILVERBALL_METRICS_ADDRESS=127.0.0.1:1%i")
    unit["Unit"]["Wants"].remove("silverball.socket")
    template["Service"]["ExecStart"] = [template["Service"]["ExecStart"][0].replace("%i", "8000")]
    assert template == unit


def test_the_listener_of_systemd_is_that_of_the_unit() -> None:
    (command,) = deploy_files.unit()["Service"]["ExecStart"]
    (address,) = deploy_files.unit("silverball.socket")["Socket"]["ListenStream"]
    host, _, port = address.partition(":")
    assert f"--host {host} --port {port}" in command
    assert deploy_files.unit("silverball.socket")["Socket"]["Backlog"] == [str(server.BACKLOG)]


def test_the_folders_are_the_services_alone(tmp_path: Path) -> None:
    program = needs("systemd-tmpfiles")
    if os.geteuid() != 0:
        pytest.skip("only root can give folders to others")
    other = pwd.getpwnam("nobody")
    (tmp_path / "etc" / "silverball").mkdir(parents=True)
    (tmp_path / "etc" / "silverball" / "silverball.toml").touch(0o644)
    (tmp_path / "etc" / "silverball" / "backup-passphrase").touch(0o644)
    people = f"root:x:0:0::/:/bin/sh\nsilverball:x:{other.pw_uid}:{other.pw_gid}::/:/bin/false\n"
    (tmp_path / "etc" / "passwd").write_text(people)
    (tmp_path / "etc" / "group").write_text(f"root:x:0:\nsilverball:x:{other.pw_gid}:\n")
    command = [program, "--create", f"--root={tmp_path}", str(DEPLOY / "silverball.tmpfiles")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    for path, mode, owner in (
        ("etc/silverball", 0o750, 0),
        ("etc/silverball/silverball.toml", 0o640, 0),
        ("etc/silverball/backup-passphrase", 0o400, other.pw_uid),
        ("var/lib/silverball", 0o700, other.pw_uid),
        ("var/lib/silverball/exports", 0o700, other.pw_uid),
        ("var/backups/silverball", 0o700, other.pw_uid),
    ):
        found = (tmp_path / path).stat()
        assert (stat.S_IMODE(found.st_mode), found.st_uid) == (mode, owner), path
        assert found.st_gid == other.pw_gid
        assert grp.getgrgid(found.st_gid)


def allowed_system_calls(program: str) -> set[str]:
    """Return the system calls that the unit's filter allows."""
    allowed: set[str] = set()
    for line in deploy_files.unit()["Service"]["SystemCallFilter"]:
        named: set[str] = set()
        for group in line.lstrip("~").split():
            if not group.startswith("@"):
                named.add(group)
                continue
            done = subprocess.run(
                [program, "syscall-filter", "--no-pager", group], capture_output=True, text=True, check=True
            )
            named |= expand(program, done.stdout)
        allowed = allowed - named if line.startswith("~") else allowed | named
    return allowed


def expand(program: str, listed: str) -> set[str]:
    """Return the calls of a listed group, those of groups within it included."""
    found: set[str] = set()
    for line in listed.splitlines()[1:]:
        word = line.strip()
        if word.startswith("@"):
            command = [program, "syscall-filter", "--no-pager", word]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found |= expand(program, done.stdout)
        elif word and not word.startswith("#"):
            found.add(word)
    return found


def test_the_server_needs_no_system_call_that_the_unit_forbids(tmp_path: Path) -> None:
    program, strace = needs("systemd-analyze"), needs("strace")
    url = f"sqlite:///{tmp_path / 'site.db'}"
    with serving(url) as server:
        traced = subprocess.Popen(
            [strace, "-f", "-c", "-o", str(tmp_path / "calls"), "-p", str(server.process.pid)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert traced.stderr is not None
        if "attached" not in (line := traced.stderr.readline()):
            pytest.skip(f"strace may not watch processes here: {line.strip()}")
        for path in ("/ready", "/", "/openapi.json", "/api/tournaments", "/handbook/"):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            connection.request("GET", path)
            connection.getresponse().read()
            connection.close()
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(timeout=60)
        traced.communicate(timeout=60)
    lines = (tmp_path / "calls").read_text().splitlines()
    used = {line.split()[-1] for line in lines if re.match(r"\s*[0-9]+\.[0-9]", line)} - {"total"}
    assert len(used) > 10
    if os.geteuid() == 0:
        # SQLite gives its files to their folder's owner, as root only.
        used.discard("fchown")
    assert used - allowed_system_calls(program) == set()


LIMIT_ITSELF = f"""
import ctypes, os, sys
if ctypes.CDLL(None).prctl({PR_SET_MDWE}, {REFUSE_EXEC_GAIN}, 0, 0, 0):
    sys.exit(77)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
# Libraries with compiled code of their own, each used.
USE_LIBRARIES = """
import argon2, cryptography.fernet, msgspec, numpy, pygal, rustworkx, uvloop
from silverball.cli import main
argon2.PasswordHasher().hash("x")
cryptography.fernet.Fernet(cryptography.fernet.Fernet.generate_key()).encrypt(b"x")
msgspec.json.decode(b"[1]", type=list[int])
assert (numpy.ones((9, 9)) @ numpy.ones(9)).sum() == 81
rustworkx.max_weight_matching(rustworkx.PyGraph())
uvloop.new_event_loop().close()
main.main()
"""


def test_the_program_runs_without_memory_that_can_be_written_and_executed(tmp_path: Path) -> None:
    assert deploy_files.unit()["Service"]["MemoryDenyWriteExecute"] == ["yes"]
    environment = {**os.environ, "SILVERBALL_DATABASE_URL": f"sqlite:///{tmp_path / 'site.db'}"}
    command = [sys.executable, "-c", LIMIT_ITSELF, "-c", USE_LIBRARIES, "migrate"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip("this kernel has no such limit (before 6.3)")
    assert done.returncode == 0, done.stderr
