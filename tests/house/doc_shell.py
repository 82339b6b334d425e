"""Runs the blocks of a document as a reader would: one after the other, in one shell, in a folder of its own.

Replaced are only the addresses, so that a test needs no fixed port: that of the demo, that of a receiver on
the same machine, and the folder of an installed server. Programs that run until Ctrl-C are stopped.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from house.doc_blocks import ROOT, Block, is_output
from house.not_run import is_refused

DEMO, RECEIVER, INSTALLED = "127.0.0.1:8000", "127.0.0.1:9000", "/var/lib/silverball"
CLIENTS = ROOT / "tests" / "clients" / "node_modules"
SECONDS_MAX = 300
PRELUDE = """
curl() {
  case " $* " in
    *" -sN "*) "$PYTHON" "$STOP_EARLY" curl "$@" ;;
    *" -w "*) command curl --max-time 60 "$@" ;;
    *) command curl --fail-with-body --max-time 60 "$@" ;;
  esac
}
python3() { if [ "$1" = -c ]; then "$PYTHON" "$@"; else "$PYTHON" "$STOP_EARLY" "$PYTHON" "$@"; fi; }
node() { "$PYTHON" "$STOP_EARLY" node "$@"; }
set -euo pipefail
"""
# A server runs until it is stopped: here it is stopped once it answers. A password is typed.
COMMAND = """#!/bin/sh
run() { exec "$PYTHON" -m silverball.cli.main "$@"; }
case "$1 ${2-}" in
  "serve "*) exec "$PYTHON" "$SERVE_BRIEFLY" "$@" ;;
  "user password") yes 'a long enough password' | head -1 | "$PYTHON" -m silverball.cli.main "$@" ;;
  *) run "$@" ;;
esac
"""

PYTHON_COMMAND = """#!/bin/sh
exec "$PYTHON" "$STOP_EARLY" "$PYTHON" "$@"
"""


@dataclass(frozen=True, kw_only=True)
class RunningDemo:
    """The demo that the lines ask."""

    base_url: str
    token: str
    folder: Path
    # The tournament that is played while the demo runs.
    live_id: int | None

    @property
    def host_and_port(self) -> str:
        return self.base_url.removeprefix("http://")

    @property
    def database_url(self) -> str:
        return f"sqlite:///{self.folder / 'silverball.db'}"


@dataclass(frozen=True, kw_only=True)
class RunBlock:
    """What a block has printed; `is_done` when its last command succeeded."""

    block: Block
    is_done: bool
    printed: str
    complaints: str


class DocumentShell:
    """A folder and a shell for the blocks of one document."""

    def __init__(self, demo: RunningDemo, folder: Path, database_url: str | None) -> None:
        self._demo = demo
        self._folder = folder
        self._replaced = {
            DEMO: demo.host_and_port,
            f"wsPort: {DEMO.partition(':')[2]}": f"wsPort: {demo.host_and_port.partition(':')[2]}",
            INSTALLED: str(folder),
        }
        receiver = _free_port()
        self._replaced[RECEIVER] = f"127.0.0.1:{receiver}"
        self._replaced['("127.0.0.1", 9000)'] = f'("127.0.0.1", {receiver})'
        self._environment = {
            **os.environ,
            "TOKEN": demo.token,
            "PYTHON": sys.executable,
            "PYTHONPATH": str(ROOT / "src"),
            "PYTHONUNBUFFERED": "1",
            "STOP_EARLY": str(Path(__file__).with_name("stop_early.py")),
            "SERVE_BRIEFLY": str(Path(__file__).with_name("serve_briefly.py")),
            "HOME": str(folder),
            "PATH": f"{folder / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
        }
        self._environment.pop("SILVERBALL_DATABASE_URL", None)
        if database_url is not None:
            self._environment["SILVERBALL_DATABASE_URL"] = database_url
        self._prepare()

    def _prepare(self) -> None:
        installed = self._folder / ".venv" / "bin"
        installed.mkdir(parents=True)
        for name, script in (("silverball", COMMAND), ("python", PYTHON_COMMAND)):
            (installed / name).write_text(script)
            (installed / name).chmod(0o755)
        if CLIENTS.exists():
            (self._folder / "node_modules").symlink_to(CLIENTS)

    def run(self, blocks: Sequence[Block]) -> list[RunBlock]:
        """Run the commands and programs among these blocks, up to the first that fails."""
        commands = [block for block in blocks if block.language == "sh"]
        for block in blocks:
            if block.file_name is not None:
                (self._folder / block.file_name).write_text(self._as_run(block.text))
        script = [PRELUDE]
        for at, block in enumerate(commands):
            may_fail = " || true" if is_refused(block) else ""
            script.append(
                f"{{\n{self._as_run(block.text)}}} >out.{at} 2>err.{at}{may_fail}\ntouch done.{at}\n"
            )
        (self._folder / "lines.sh").write_text("".join(script))
        self._run_script()
        return [self._result(at, block) for at, block in enumerate(commands)]

    def _run_script(self) -> None:
        process = subprocess.Popen(
            ["bash", "lines.sh"],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait(timeout=SECONDS_MAX)
        finally:
            with contextlib.suppress(ProcessLookupError):
                # What still runs in the background.
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=10)

    def _as_run(self, text: str) -> str:
        for written, real in self._replaced.items():
            text = text.replace(written, real)
        return text

    def _as_written(self, text: str) -> str:
        for written, real in self._replaced.items():
            text = text.replace(real, written)
        return text

    def _result(self, at: int, block: Block) -> RunBlock:
        return RunBlock(
            block=block,
            is_done=(self._folder / f"done.{at}").exists(),
            printed=self._as_written(_text(self._folder / f"out.{at}")),
            complaints=_text(self._folder / f"err.{at}"),
        )


def outputs(blocks: Sequence[Block]) -> list[tuple[Block, Block]]:
    """List the blocks that show output, each with the block that prints it."""
    pairs = zip(blocks, [None, *blocks], strict=False)
    return [(shown, run) for shown, run in pairs if run is not None and is_output(shown, run)]


def missing_tools(blocks: Sequence[Block]) -> list[str]:
    """List the programs that the blocks need and this machine does not have."""
    text = "\n".join(block.text for block in blocks if block.language == "sh")
    needed = [name for name in ("curl", "jq", "node") if f"{name} " in text]
    missing = [name for name in ("bash", *needed) if shutil.which(name) is None]
    if "node" in needed and not CLIENTS.exists():
        missing.append("pusher-js (npm ci --prefix tests/clients)")
    return missing


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
