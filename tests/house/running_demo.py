"""`silverball demo` in its own process, with its robots and without a rate limit."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from house.doc_shell import RunningDemo

READY_SECONDS = 120


@contextmanager
def running_demo(folder: Path) -> Iterator[RunningDemo]:
    """Start a demo in this folder and stop it afterwards."""
    data = folder / "demo"
    command = [
        sys.executable,
        "-m",
        "silverball.cli.main",
        "demo",
        "--json",
        "--port",
        "0",
        "--data",
        str(data),
        # All documents share one token, and none of them is about the rate limit.
        "--no-limits",
    ]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        live_id = ready.get("liveTournamentId")
        yield RunningDemo(base_url=ready["baseUrl"], token=ready["token"], folder=data, live_id=live_id)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=READY_SECONDS)
