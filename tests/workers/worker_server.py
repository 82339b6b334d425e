"""A `silverball serve --workers` in a process group of its own, and connections to each of its workers."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

START_SECONDS_MAX = 90
ADDRESS = re.compile(r"Silverball is at http://127\.0\.0\.1:(\d+)")
# Workers load the program anew; without its compiled form that takes seconds.
COMPILED = Path(tempfile.gettempdir()) / "silverball-tests-compiled"
NOT_INHERITED = {"PYTHONDONTWRITEBYTECODE", "SILVERBALL_TEST_POSTGRESQL"}


class WorkerServer:
    """One supervisor with its workers."""

    def __init__(self, url: str, workers: int = 4, *, through: Sequence[str] = (), **settings: str) -> None:
        """`through`: words in front of the command."""
        given = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
        given |= {
            "SILVERBALL_DATABASE_URL": url,
            "SILVERBALL_RATE_LIMIT_PER_MINUTE": "0",
            "SILVERBALL_STANDINGS_INTERVAL_SECONDS": "0",
            "PYTHONPYCACHEPREFIX": str(COMPILED),
            **settings,
        }
        self.port = 0
        # Process id of each worker by its column, in the order of their starts.
        self.started: list[tuple[int, int]] = []
        self.log: list[dict[str, Any]] = []
        self._opened: list[WorkerConnection] = []
        command = [*through, sys.executable, "-m", "silverball.cli.main", "serve", "--port", "0"]
        self._process = subprocess.Popen(
            [*command, "--workers", str(workers)],
            env=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._reading = threading.Thread(target=self._read_log, daemon=True)
        self._reading.start()
        assert self._process.stdout is not None
        for line in self._process.stdout:
            found = ADDRESS.match(line)
            if found:
                self.port = int(found[1])
                break
        if not self.port:
            self.close()
        assert self.port, self.log

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def process_ids(self) -> list[int]:
        """The workers that run, as far as the log says."""
        return [process for process, _ in self.started if _is_running(process)]

    def signal(self, number: signal.Signals) -> None:
        """Send the supervisor a signal."""
        self._process.send_signal(number)

    def wait_for_log(self, message: str, count: int = 1) -> None:
        """Wait until a message was logged this often."""
        wait_until(lambda: sum(line["message"].startswith(message) for line in self.log) >= count)

    def connections(self) -> dict[int, "WorkerConnection"]:
        """A connection to each worker that runs, by its process id."""
        found: dict[int, WorkerConnection] = {}
        wanted = set(self.process_ids)
        for _ in range(400):
            opened = WorkerConnection(self.port)
            worker = self._worker_of(opened.local_port, wanted)
            if worker is None or worker in found:
                opened.close()
            else:
                found[worker] = opened
                self._opened.append(opened)
            if found.keys() == wanted:
                break
        assert found.keys() == wanted
        return found

    def _worker_of(self, client_port: int, workers: set[int]) -> int | None:
        ends = f":{self.port:04X} 0100007F:{client_port:04X} "
        for line in Path("/proc/net/tcp").read_text().splitlines():
            if ends in line:
                name = f"socket:[{line.split()[9]}]"
                return next((worker for worker in workers if name in _open_files(worker)), None)
        return None

    def stop(self) -> int:
        """Stop as an operator does; returns the exit code."""
        if self._process.poll() is None:
            self._process.terminate()
        return self._process.wait(START_SECONDS_MAX)

    def close(self) -> None:
        """Stop, and end what is left."""
        for opened in self._opened:
            opened.close()
        try:
            self.stop()
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for process in self.process_ids:
            os.kill(process, signal.SIGKILL)
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            self._reading.join(5)
            stream.close()

    def _read_log(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            try:
                entry = json.loads(line)
            except ValueError:
                entry = {"message": line.rstrip()}
            if entry["message"] == "a worker starts":
                self.started.append((entry["process"], entry["column"]))
            self.log.append(entry)


class WorkerConnection:
    """A connection that is kept, so all its requests are answered by one worker."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        # Answered, so accepted.
        self.get("/up")
        held = self._connection.sock
        assert isinstance(held, socket.socket)
        self.local_port = held.getsockname()[1]

    def get(self, path: str, **headers: str) -> tuple[int, Any]:
        """Send a GET; status and decoded body."""
        return self.send("GET", path, None, **headers)

    def send(self, method: str, path: str, body: Any, **headers: str) -> tuple[int, Any]:
        """Send a request; status and decoded body."""
        content = None if body is None else json.dumps(body).encode()
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        if content is not None:
            names["content-type"] = "application/json"
        try:
            answer, text = self._exchange(method, path, content, names)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            # The server closes what was idle for a while; any worker may take the next connection.
            self._connection.close()
            answer, text = self._exchange(method, path, content, names)
        return answer.status, json.loads(text) if text else None

    def _exchange(
        self, method: str, path: str, content: bytes | None, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        self._connection.request(method, path, content, headers)
        answer = self._connection.getresponse()
        return answer, answer.read()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def wait_until(question: Any, seconds: float = START_SECONDS_MAX) -> None:
    """Wait until the question is answered with something true."""
    until = time.monotonic() + seconds
    while not question():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)


def _is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in {"Z", "X"}


def _open_files(process: int) -> set[str]:
    files = set()
    with contextlib.suppress(OSError):
        for number in os.listdir(f"/proc/{process}/fd"):
            # Some are closed meanwhile.
            with contextlib.suppress(OSError):
                files.add(os.readlink(f"/proc/{process}/fd/{number}"))
    return files
