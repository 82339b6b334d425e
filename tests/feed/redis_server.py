"""A Redis server that a test can kill."""

import contextlib
import socket
import subprocess
import time
from pathlib import Path


class RedisServer:
    """A Redis server of one test, which can be killed and restarted on the same port."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program = program
        self._folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(
            [
                self._program,
                "--port",
                str(self.port),
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--dir",
                self._folder,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.05)
        raise RuntimeError("Redis did not start")

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()
