"""Stands in for programs of the machine when tests follow the guide: `guide_step.py STEP ARGUMENTS`.

The folder in MACHINE stands for the machine, and the folders of FOLDERS are below it.
"""

import os
import shlex
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

MACHINE = Path(os.environ.get("MACHINE", "/nowhere"))
UNIT = MACHINE / "etc/systemd/system/silverball.service"
PID = MACHINE / "service.pid"


def install_file(*words: str) -> None:
    """Copy a file with the folders and the port of the test in it; with -d, make a folder."""
    if words[0] == "-d":
        Path(words[-1]).mkdir(parents=True, exist_ok=True)
        return
    _, mode, source, _ = words
    text = Path(source).read_text(encoding="utf-8")
    for folder in os.environ["FOLDERS"].split(":"):
        text = text.replace(folder, f"{MACHINE}{folder}")
    target = Path(words[-1])
    target.write_text(text.replace("--port 8000", f"--port {os.environ['PORT']}"), encoding="utf-8")
    target.chmod(int(mode, 8))


def make_folders(file: str) -> None:
    """Make the folders of a tmpfiles.d file, with their modes."""
    for line in Path(file).read_text(encoding="utf-8").splitlines():
        if line.startswith("d "):
            _, path, mode, *_ = line.split()
            Path(path).mkdir(parents=True, exist_ok=True)
            Path(path).chmod(int(mode, 8))


def give_libraries(environment: str) -> None:
    """Let an environment see the libraries of the tests instead of installing them."""
    (site,) = Path(environment).glob("lib/python*/site-packages")
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")


def start() -> None:
    """Run the command of the unit with the settings file of the machine."""
    lines = [line.partition("=") for line in UNIT.read_text(encoding="utf-8").splitlines()]
    values = {name: value for name, _, value in lines}
    given = {name: os.environ[name] for name in ("PATH", "SILVERBALL_CONFIG")}
    with (MACHINE / "service.log").open("a", encoding="utf-8") as log:
        process = subprocess.Popen(
            shlex.split(values["ExecStart"]),
            env=given,
            cwd=values["WorkingDirectory"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    PID.write_text(str(process.pid), encoding="utf-8")


def stop() -> None:
    """Stop the service as systemd does."""
    process_id = int(PID.read_text(encoding="utf-8"))
    os.kill(process_id, signal.SIGTERM)
    for _ in range(600):
        if not Path(f"/proc/{process_id}").exists():
            return
        state = Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        if state == "Z":
            return
        time.sleep(0.05)
    sys.exit("The service did not stop.")


def main() -> None:
    """Run one step."""
    step, *words = sys.argv[1:]
    if step == "install":
        install_file(*words)
    elif step == "folders":
        make_folders(*words)
    elif step == "libraries":
        give_libraries(*words)
    if step in {"unit-stop", "unit-restart"}:
        stop()
    if step in {"unit-enable", "unit-start", "unit-restart"}:
        start()


if __name__ == "__main__":
    main()
