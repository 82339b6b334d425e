"""docs/hosting.md, followed line by line in a folder: from the files of a release to a site that was updated.

SUBSTITUTES is everything that is not run as printed, and why. `make soak` installs the locked libraries
for real.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

import build
from cli.test_serve import free_port
from deploy.deploy_files import DEPLOY, build_wheels
from house import doc_blocks
from house.doc_blocks import ROOT
from service.desk import a_desk
from service.webhooks.receiver import a_webhook
from silverball import __version__
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.people import encryption

# Programs that need root or a running system, and what stands in for each.
SUBSTITUTES = {
    "sudo": ("the test may not be root: the command runs as it is", 'exec "$@"'),
    "useradd": ("no account is made on this machine", ":"),
    "python3": (
        "the Python of the tests instead of that of the system",
        'exec "$PYTHON" "$@"',
    ),
    "install": (
        "copies the file, with this folder in place of the machine's folders in it",
        'exec "$PYTHON" "$STEP" install "$@"',
    ),
    "systemd-tmpfiles": ("only root gives folders to others", 'exec "$PYTHON" "$STEP" folders "$2"'),
    "systemctl": (
        "there is no systemd: the unit's command runs with the settings file",
        'exec "$PYTHON" "$STEP" "unit-$@"',
    ),
    "caddy": ("tests/deploy/test_proxies.py runs Caddy with the file", ":"),
}
# Folders of the machine, each replaced by one below the test's own folder.
FOLDERS = (
    *("/opt/silverball", "/etc/silverball", "/etc/tmpfiles.d", "/etc/systemd/system", "/etc/caddy"),
    *("/usr/local/bin", "/var/lib/silverball", "/var/backups/silverball", "/var/log/caddy"),
)
STEP_PROGRAM = Path(__file__).with_name("guide_step.py")
# What the locked libraries take minutes for.
LOCKED = " install --require-hashes -r "
# By `du -sm`, with the handbook.
INSTALLED_MEGABYTES_MAX = 240
SECONDS_MAX = 240


@dataclass(frozen=True)
class Machine:
    """A folder that stands for the machine of an operator."""

    folder: Path
    port: int
    installs_libraries: bool

    def as_run(self, text: str) -> str:
        """Return lines with the folders and the port of the test."""
        for folder in FOLDERS:
            text = text.replace(folder, f"{self.folder}{folder}")
        text = text.replace("silverball ready", f"silverball ready --port {self.port}")
        if not self.installs_libraries:
            lines = text.splitlines(keepends=True)
            text = "".join(
                f"$PYTHON $STEP libraries {self.folder}/opt/silverball\n" if LOCKED in line else line
                for line in lines
            )
        return text

    def run(self, text: str) -> str:
        """Run the lines of a block in the operator's shell; return what they print."""
        given = {
            **{name: value for name, value in os.environ.items() if not name.startswith("SILVERBALL_")},
            "PATH": f"{self.folder / 'shims'}:{self.folder}/usr/local/bin:{os.environ['PATH']}",
            "PYTHON": sys.executable,
            "STEP": str(STEP_PROGRAM),
            "MACHINE": str(self.folder),
            "PORT": str(self.port),
            # Where the program would look on a machine of its own.
            "SILVERBALL_CONFIG": f"{self.folder}/etc/silverball/silverball.toml",
            "FOLDERS": ":".join(FOLDERS),
            # Compiled when it is first used.
            "PIP_NO_COMPILE": "1",
        }
        given.pop("PYTHONPATH", None)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self.as_run(text)],
            cwd=self.folder / "downloads",
            env=given,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )
        assert done.returncode == 0, f"{text}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    def wait_for_the_server(self) -> None:
        for _ in range(400):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise AssertionError((self.folder / "service.log").read_text())

    def service_id(self) -> int:
        return int((self.folder / "service.pid").read_text())


def make_machine(folder: Path, *, installs_libraries: bool) -> Machine:
    """Make a machine with the files of a release in its downloads, and nothing else."""
    machine = Machine(folder, free_port(), installs_libraries)
    (folder / "shims").mkdir()
    for name, (_, script) in SUBSTITUTES.items():
        (folder / "shims" / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / "shims" / name).chmod(0o755)
    for path in ("/etc/tmpfiles.d", "/etc/systemd/system", "/etc/caddy", "/usr/local/bin", "/opt"):
        (folder / path[1:]).mkdir(parents=True)
    downloads = folder / "downloads"
    downloads.mkdir()
    build_wheels(downloads)
    top = f"silverball-{__version__}"
    with tarfile.open(downloads / f"{top}.tar.gz", "w:gz") as archive:
        for source in (DEPLOY, ROOT / "requirements"):
            archive.add(source, f"{top}/{source.name}")
    return machine


def guide(document: str = "hosting.md") -> dict[str, list[str]]:
    """Return the lines to run, by the heading that they stand below."""
    text = (ROOT / "docs" / document).read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    for section in re.split(r"^##+ ", text, flags=re.MULTILINE)[1:]:
        blocks = [fence["text"] for fence in doc_blocks.FENCE.finditer(section) if fence["language"] == "sh"]
        if blocks:
            found[section.partition("\n")[0]] = blocks
    return found


def refuse_to_serve_without_a_database(machine: Machine) -> None:
    """Start the service before its database is made: it says so, and makes none."""
    with pytest.raises(AssertionError, match=r"There is no database at .*silverball migrate"):
        machine.run("sudo silverball serve --port 0")
    assert list((machine.folder / "var" / "lib" / "silverball").glob("*.db")) == []


def follow_the_guide(machine: Machine) -> None:
    sections = guide()
    steps = list(sections)[: list(sections).index("Make the first account") + 1]
    assert len(steps) == 7
    try:
        for step in steps:
            for line in "".join(sections[step]).splitlines(keepends=True):
                if "silverball ready" in line:
                    machine.wait_for_the_server()
                if "silverball migrate" in line:
                    refuse_to_serve_without_a_database(machine)
                printed = machine.run(line)
        if machine.installs_libraries:
            command = ["du", "-sm", str(machine.folder / "opt" / "silverball")]
            size = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            assert int(size.split()[0]) <= INSTALLED_MEGABYTES_MAX
        # The last step prints the code, which is in the log as well.
        code = printed.split()[-1]
        assert code in (machine.folder / "service.log").read_text()
        data = machine.folder / "var" / "lib" / "silverball"
        assert (data / "silverball.db").stat().st_mode & 0o077 == 0
        first = machine.service_id()
        for step in ("Updating", "Going back"):
            for line in "".join(sections[step]).splitlines(keepends=True):
                if "silverball ready" in line:
                    machine.wait_for_the_server()
                machine.run(line)
            assert machine.service_id() != first
            first = machine.service_id()
        assert list(data.glob("silverball.db.before-*"))
        assert machine.run("sudo silverball user first-code").split()[-1] == code
    finally:
        if (machine.folder / "service.pid").exists():
            os.kill(machine.service_id(), signal.SIGTERM)


def test_with_what_cron_made_a_night_goes_on_after_the_disk_is_lost(tmp_path: Path) -> None:
    """Nothing is left but the newest file of the backups, and a passphrase on paper."""
    here, there = (tmp_path / name for name in ("here", "there"))
    here.mkdir()
    there.mkdir()
    lost = make_machine(here, installs_libraries=False)
    sections = guide()
    for step in list(sections)[:4]:
        for line in "".join(sections[step]).splitlines(keepends=True):
            printed = lost.run(line)
            if "backup-passphrase" in line:
                passphrase = printed.strip()
    data = here / "var" / "lib" / "silverball"
    (here / "etc" / "cron.d").mkdir()
    lost.run("".join(sections["Make backups"]).replace("/etc/cron.d", f"{here}/etc/cron.d"))
    night = a_night_with_secrets(data / "silverball.db")
    (line,) = (here / "etc" / "cron.d" / "silverball").read_text().splitlines()
    lost.run(line.split("root ")[1].replace(str(here), ""))
    (kept,) = (here / "var" / "backups" / "silverball").glob("silverball-*.tar.age")
    assert (kept.stat().st_mode & 0o777, passphrase.encode() in kept.read_bytes()) == (0o600, False)

    found = make_machine(there, installs_libraries=False)
    shutil.copy(kept, there / "downloads")
    shutil.rmtree(here)
    for step in list(sections)[:3]:
        found.run("".join(sections[step]))
    (lines,) = guide("backup.md")["A lost disk"]
    assert len(lines.splitlines()) == 10
    try:
        for line in lines.replace("the passphrase on your paper", passphrase).splitlines(keepends=True):
            found.run(line)
        night.goes_on(there / "var" / "lib" / "silverball" / "silverball.db")
    finally:
        if (there / "service.pid").exists():
            os.kill(found.service_id(), signal.SIGTERM)


@dataclass(frozen=True)
class NightWithSecrets:
    """A running tournament with a webhook, whose secret the key encrypts."""

    tournament_id: int
    organizer_id: int
    game: dict[str, Any]
    secret: str

    def goes_on(self, file: Path) -> None:
        """Read the secret, and record a result."""
        store = Store(f"sqlite:///{file}")
        with store.read() as db:
            stored = db.execute(select(tables.webhook.c.secret)).scalar_one()
            assert encryption.decrypt(db, stored) == self.secret
        path = f"/api/tournaments/{self.tournament_id}/games/{self.game['gameId']}/result"
        body = {"resultPositions": self.game["playerIds"]}
        status, answer, _ = build.do(store, "PUT", path, body, by=self.organizer_id)
        assert status == 200, answer
        store.close()


def a_night_with_secrets(file: Path) -> NightWithSecrets:
    """Make it in the database of a site."""
    store = Store(f"sqlite:///{file}")
    assert encryption.open_keys(store) is None
    desk = a_desk(store)
    (game, *_), secret = desk.open_round(), a_webhook(desk)["secret"]
    with store.read() as db:
        organizer_id = db.execute(select(tables.tournament.c.organizer_id)).scalar_one()
    store.close()
    return NightWithSecrets(desk.night.tournament_id, organizer_id, game, secret)


def test_a_release_becomes_a_site_that_is_updated(tmp_path: Path) -> None:
    follow_the_guide(make_machine(tmp_path, installs_libraries=False))


@pytest.mark.soak
def test_a_release_becomes_a_site_with_the_locked_libraries(tmp_path: Path) -> None:
    follow_the_guide(make_machine(tmp_path, installs_libraries=True))


def test_every_version_in_the_guide_is_this_one() -> None:
    for name in ("docs/hosting.md", "deploy/Dockerfile"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert set(re.findall(r"silverball(?:_client)?[-:]([0-9][0-9.]*[0-9])", text)) == {__version__}, name


def test_the_table_of_substitutes_has_no_program_that_the_guide_does_not_use() -> None:
    lines = "\n".join(block for blocks in guide().values() for block in blocks)
    assert [name for name in SUBSTITUTES if f"{name} " not in lines] == []


@pytest.mark.soak
@pytest.mark.parametrize("installer", ["pipx", "uv"])
def test_the_wheel_can_be_installed_as_a_tool(installer: str, tmp_path: Path) -> None:
    if shutil.which(installer) is None:
        pytest.skip(f"{installer} is not installed here")
    wheel, client = build_wheels(tmp_path)
    folders = {"PIPX_HOME": "home", "PIPX_BIN_DIR": "bin", "UV_TOOL_DIR": "home", "UV_TOOL_BIN_DIR": "bin"}
    given = {**os.environ, **{name: str(tmp_path / folder) for name, folder in folders.items()}}
    given |= {"PIPX_DEFAULT_PYTHON": sys.executable, "UV_PYTHON": sys.executable}
    given.pop("PYTHONPATH", None)
    words = ["uv", "tool", "install", "--with"] if installer == "uv" else ["pipx", "install", "--preinstall"]
    done = subprocess.run([*words, client, wheel], env=given, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"the libraries cannot be had here: {done.stderr[-300:]}")
    program = str(tmp_path / "bin" / "silverball")
    answer = subprocess.run([program, "--version"], env=given, capture_output=True, text=True, check=True)
    assert f"version {__version__}" in answer.stdout
