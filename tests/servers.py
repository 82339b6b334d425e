"""Servers in processes of their own, which a test may kill and start again."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

START_SECONDS_MAX = 60
LAUNCHER = Path(__file__).with_name("launcher.py")


class Servers:
    """One `silverball serve` after the other, with the limits of a new server."""

    def __init__(self, url: str, *, run_by: Sequence[str] = (), **settings: str) -> None:
        """Prepare servers on this database; `run_by` is a command that runs another one."""
        given = {
            **os.environ,
            "SILVERBALL_DATABASE_URL": url,
            **settings,
        }
        self._launcher = subprocess.Popen(
            [*run_by, sys.executable, str(LAUNCHER)],
            env=given,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.port = 0
        self.process_id = 0

    @classmethod
    def without_limits(cls, url: str, *, run_by: Sequence[str] = (), **settings: str) -> Self:
        """Prepare servers without limits; house/test_limits_of_tests.py has the reason of each file."""
        return cls(url, run_by=run_by, SILVERBALL_QUOTAS="open", **settings)

    def start(self) -> None:
        assert self._launcher.stdin is not None
        assert self._launcher.stdout is not None
        self._launcher.stdin.write("\n")
        self._launcher.stdin.flush()
        process_id = address = ""
        while not (process_id and address):
            # The end of the server before may still be among the lines.
            line = self._launcher.stdout.readline().strip()
            if not line or line == f"ended {process_id}":
                raise RuntimeError("the server ended before it served")
            if line.isdecimal():
                process_id = line
            elif not line.startswith("ended "):
                address = line
        self.process_id, self.port = int(process_id), int(address.rsplit(":", 1)[1])

    def kill(self) -> None:
        # Another program may get the port.
        self.port = 0
        os.kill(self.process_id, signal.SIGKILL)
        self.process_id = 0

    def stop(self) -> None:
        """Let the server finish its requests and end, as an operator does."""
        os.kill(self.process_id, signal.SIGTERM)
        self.process_id = 0

    def stop_and_wait(self, seconds_max: float) -> float:
        """Stop the server; returns the seconds until its process has ended, or raises TimeoutError."""
        process_id, begun_at = self.process_id, time.monotonic()
        self.stop()
        while time.monotonic() - begun_at < seconds_max:
            try:
                os.kill(process_id, 0)
            except ProcessLookupError:
                return time.monotonic() - begun_at
            time.sleep(0.05)
        # So that `close` kills it.
        self.process_id = process_id
        raise TimeoutError(f"the server still runs after {seconds_max} seconds")

    def signal(self, number: signal.Signals) -> None:
        """Send the server a signal, such as SIGSTOP."""
        os.kill(self.process_id, number)

    def close(self) -> None:
        """The last server is killed, and the launcher ends with its input."""
        if self._launcher.poll() is None and self.process_id:
            self.kill()
        self._launcher.communicate(timeout=START_SECONDS_MAX)
