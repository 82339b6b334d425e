"""Servers in processes of their own, which a test may kill and start again."""

import os
import signal
import subprocess
import sys
from pathlib import Path

START_SECONDS_MAX = 20
LAUNCHER = Path(__file__).with_name("launcher.py")


class Servers:
    """One `silverball serve` after the other."""

    def __init__(self, url: str, **settings: str) -> None:
        given = {
            **os.environ,
            "SILVERBALL_DATABASE_URL": url,
            "SILVERBALL_RATE_LIMIT_PER_MINUTE": "0",
            **settings,
        }
        self._launcher = subprocess.Popen(
            [sys.executable, str(LAUNCHER)],
            env=given,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.port = 0
        self._process_id = 0

    def start(self) -> None:
        assert self._launcher.stdin is not None
        assert self._launcher.stdout is not None
        self._launcher.stdin.write("\n")
        self._launcher.stdin.flush()
        told = sorted(self._launcher.stdout.readline().strip() for _ in range(2))
        # The number comes before the sentence, whichever was written first.
        self._process_id, self.port = int(told[0]), int(told[1].rsplit(":", 1)[1])

    def kill(self) -> None:
        os.kill(self._process_id, signal.SIGKILL)
        self._process_id = 0

    def close(self) -> None:
        """The last server is killed, and the launcher ends with its input."""
        if self._launcher.poll() is None and self._process_id:
            self.kill()
        self._launcher.communicate(timeout=START_SECONDS_MAX)
