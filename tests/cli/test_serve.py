"""`silverball serve` as a process: start, serve, and orderly shutdown."""

import dataclasses
import http.client
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conftest import PostgreSQL
from silverball import __version__
from silverball.cli import server
from silverball.settings import Settings
from silverball.store.database import migrate
from silverball.store.database.engine import Store

START_SECONDS_MAX = 60


@dataclasses.dataclass
class Serving:
    process: subprocess.Popen[str]
    base_url: str
    port: int
    seconds_to_start: float

    def get(self, path: str) -> tuple[int, bytes]:
        with urllib.request.urlopen(self.base_url + path, timeout=60) as answer:
            return answer.status, answer.read()


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "silverball.cli.main", *arguments]


@contextmanager
def serving(url: str, *, port: int = 0, **environment: str) -> Iterator[Serving]:
    """The real server on a free port, stopped at the end."""
    given = {**os.environ, "SILVERBALL_DATABASE_URL": url, **environment}
    began = time.monotonic()
    process = subprocess.Popen(
        _command("serve", "--create", "--port", str(port)),
        env=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"https?://[\w.]+(?::(\d+))?", line)
        assert found, line + (process.communicate(timeout=60)[1] if process.poll() is not None else "")
        yield Serving(process, found[0], port or int(found[1]), time.monotonic() - began)
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=START_SECONDS_MAX)


def test_an_empty_folder_becomes_a_served_database(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path / 'new.db'}") as server:
        assert server.get("/up") == (200, f'{{"status":"up","version":"{__version__}"}}'.encode())
        assert server.get("/ready")[0] == 200
        described = json.loads(server.get("/openapi.json")[1])
        assert described["servers"] == [{"url": server.base_url}]
        print(f"start to first answer: {server.seconds_to_start:.2f} s")  # noqa: T201  # shown with -s
        server.process.send_signal(signal.SIGTERM)
        out, err = server.process.communicate(timeout=60)
    assert server.process.returncode == 0
    assert out == ""
    lines = [json.loads(line) for line in err.splitlines()]
    assert [line["message"] for line in lines if line["from"] == "silverball.serve"] == [
        "starting",
        "first account",
        "stopped",
    ]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


# The listener becomes the first free number, and the process is replaced by the program.
HAND_OVER = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ |= {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())}
os.execvp(sys.argv[2], sys.argv[2:])
"""


@contextmanager
def serving_behind(listener: socket.socket, url: str) -> Iterator[subprocess.Popen[str]]:
    """The real server with a listener that is handed over as systemd does, stopped at the end."""
    number = listener.fileno()
    process = subprocess.Popen(
        [sys.executable, "-c", HAND_OVER, str(number), *_command("serve", "--create", "--port", "1")],
        env={**os.environ, "SILVERBALL_DATABASE_URL": url},
        pass_fds=[number],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=START_SECONDS_MAX)


def ask(connection: http.client.HTTPConnection) -> int:
    connection.request("GET", "/up")
    return connection.getresponse().status


def test_a_restart_refuses_no_connection(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'new.db'}"
    with socket.create_server(("127.0.0.1", 0), backlog=4096) as listener:
        port = listener.getsockname()[1]
        connections = [http.client.HTTPConnection("127.0.0.1", port, timeout=60) for _ in range(50)]
        with serving_behind(listener, url) as process:
            assert process.stdout is not None
            assert f"http://127.0.0.1:{port}" in process.stdout.readline()
            assert ask(connections[0]) == 200
        assert process.returncode == 0
        # Between the two, connections wait.
        for connection in connections[1:]:
            connection.connect()
        with serving_behind(listener, url):
            assert {ask(connection) for connection in connections[1:]} == {200}
            for connection in connections:
                connection.close()


def test_a_socket_unit_with_anything_but_an_address_and_a_port_is_refused(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "site.sock"))
        listener.listen()
        with serving_behind(listener, f"sqlite:///{tmp_path / 'new.db'}") as process:
            assert process.stderr is not None
            assert "must have one line ListenStream=" in process.stderr.readline()
            assert process.wait(START_SECONDS_MAX) == 1


def test_metrics_have_a_port_of_their_own(tmp_path: Path) -> None:
    port = free_port()
    url = f"sqlite:///{tmp_path / 'new.db'}"
    with serving(url, SILVERBALL_METRICS_ADDRESS=f"127.0.0.1:{port}") as server:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
            assert b"silverball_feed_connections 0.0" in answer.read()
        for address in (f"http://127.0.0.1:{port}/up", f"{server.base_url}/metrics"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(address, timeout=60)
        server.process.send_signal(signal.SIGTERM)
        server.process.communicate(timeout=60)
    assert server.process.returncode == 0


def test_browsers_guess_nothing_and_come_back_with_tls(tmp_path: Path) -> None:
    pages = ("/up", "/", "/none", "/docs", "/docs/start.js", "/openapi.json", "/static/none", "/handbook/")
    more = ("/ready", "/t/1", "/users/1", "/api/tournaments", "/api/none", "/static/worker.js")
    paths = (*pages, *more, "/account/sign-in", "/exports/none")
    url, https = f"sqlite:///{tmp_path / 'new.db'}", {"SILVERBALL_BASE_URL": "https://pinball.example"}
    settings = {**https, "SILVERBALL_EXPORTS_FOLDER": str(tmp_path)}
    port = free_port()
    with serving(url, port=port, **settings):
        for method, path in [*(("GET", path) for path in paths), ("OPTIONS", "/api/tournaments")]:
            head = answer_head(port, f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert head.count("x-content-type-options: nosniff") == 1, path
            assert head.count("strict-transport-security: max-age=31536000; includesubdomains") == 1, path
            (policy,) = [line for line in head.splitlines() if line.startswith("content-security-policy:")]
            # No plugins follows from `default-src`.
            for directive in ("default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"):
                assert directive in policy, (path, policy)
        for refused in ("nonsense\r\n\r\n", f"GET / HTTP/1.1\r\nX: {'x' * 70_000}\r\n\r\n"):
            assert "x-content-type-options: nosniff" in answer_head(port, refused)
    with serving(url) as server:
        head = answer_head(server.port, "GET /up HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert "nosniff" in head
    assert "strict-transport" not in head


def test_several_workers_are_refused_with_the_page_about_several_nodes(tmp_path: Path) -> None:
    given = {**os.environ, "SILVERBALL_DATABASE_URL": f"sqlite:///{tmp_path / 'new.db'}"}
    done = subprocess.run(
        _command("serve", "--create", "--workers", "4"),
        env=given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "docs/several-nodes.md" in done.stderr
    assert list(tmp_path.iterdir()) == []


def answer_head(port: int, request: str) -> str:
    """The head of the answer to a request."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(request.encode())
        received = b""
        while b"\r\n\r\n" not in received and (part := client.recv(65536)):
            received += part
    return received.split(b"\r\n\r\n")[0].decode().lower()


def test_the_database_is_readable_by_the_server_alone(tmp_path: Path) -> None:
    file = tmp_path / "new.db"
    with serving(f"sqlite:///{file}"):
        names = ["new.db", "new.db-shm", "new.db-wal", "new.db.newest", "new.db.secret", "new.db.state"]
        # One of them is written a moment later, under another name first.
        while sorted(found.name for found in tmp_path.iterdir()) != names:
            time.sleep(0.05)
        files = list(tmp_path.iterdir())
        assert {stat.S_IMODE(found.stat().st_mode) for found in files} == {0o600}


def test_a_missing_sqlite_file_is_not_made_unless_it_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "not-mounted" / "silverball.db"
    given = {**os.environ, "SILVERBALL_DATABASE_URL": f"sqlite:///{file}"}
    file.parent.mkdir()
    done = subprocess.run(
        _command("serve", "--port", "0"), env=given, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert f"There is no database at {file}." in done.stderr
    assert "silverball migrate" in done.stderr
    assert not file.exists()
    subprocess.run(_command("migrate"), env=given, check=True, timeout=60, capture_output=True)
    assert file.exists()


def test_the_code_of_the_first_account_is_in_the_log_and_printed_on_request(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'new.db'}"
    with serving(url) as server:
        server.process.send_signal(signal.SIGTERM)
        _out, err = server.process.communicate(timeout=60)
    (line,) = [json.loads(line) for line in err.splitlines() if '"first account"' in line]
    given = {**os.environ, "SILVERBALL_DATABASE_URL": url}
    printed = subprocess.run(
        _command("user", "first-code"), env=given, capture_output=True, text=True, timeout=60, check=True
    )
    assert printed.stdout.strip() == line["code"]
    assert line["page"] == f"{server.base_url}/account/first"


@contextmanager
def half_sent_request(port: int) -> Iterator[socket.socket]:
    """A request that the server has begun to read, without the end of its body."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        head = "POST /api/tournaments HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        client.sendall(f"{head}3\r\nabc\r\n".encode())
        time.sleep(0.3)
        yield client


def test_an_open_request_is_answered_during_shutdown(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path / 'new.db'}") as server:
        with half_sent_request(server.port) as open_request:
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            assert server.process.poll() is None
            open_request.sendall(b"0\r\n\r\n")
            answer = open_request.recv(65536)
        assert answer.startswith(b"HTTP/1.1 4")
        assert server.process.wait(timeout=60) == 0


def test_a_second_interrupt_ends_what_is_open_and_the_stop_stays_orderly(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path / 'new.db'}") as server:
        with half_sent_request(server.port) as open_request:
            server.process.send_signal(signal.SIGINT)
            time.sleep(0.7)
            assert server.process.poll() is None
            server.process.send_signal(signal.SIGINT)
            answer = open_request.recv(65536)
        _out, err = server.process.communicate(timeout=60)
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b'"code":"server-stops"' in answer
    assert server.process.returncode == 0
    lines = [json.loads(line) for line in err.splitlines()]
    assert {line["level"] for line in lines} == {"info"}
    assert lines[-1]["message"] == "stopped"


def test_a_postgresql_database_is_never_migrated_by_serving(postgresql: PostgreSQL) -> None:
    database_url = postgresql.new_database()
    store = Store(database_url)
    with store.migration() as db:
        db.exec_driver_sql("DROP TABLE alembic_version")
    given = {**os.environ, "SILVERBALL_DATABASE_URL": database_url}
    done = subprocess.run(
        _command("serve", "--port", "0"), env=given, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "silverball migrate" in done.stderr
    assert migrate.database_schema(store) is None
    store.close()


def test_migrating_updates_a_database_and_reports_it(tmp_path: Path) -> None:
    given = {**os.environ, "SILVERBALL_DATABASE_URL": f"sqlite:///{tmp_path / 'new.db'}"}
    for _ in range(2):
        done = subprocess.run(_command("migrate"), env=given, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    store = Store(given["SILVERBALL_DATABASE_URL"])
    assert migrate.is_current(store)
    store.close()


def test_an_address_in_use_is_reported_in_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        given = {**os.environ, "SILVERBALL_DATABASE_URL": f"sqlite:///{tmp_path / 'new.db'}"}
        done = subprocess.run(
            _command("serve", "--port", port),
            env=given,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith(f"Error: Cannot listen on 127.0.0.1 port {port}")


@pytest.mark.parametrize("value", ["-1", "many", "1.5", "127.0.0.1:0", "127.0.0.1:65536"])
def test_an_invalid_setting_is_named(tmp_path: Path, value: str) -> None:
    given = {
        **os.environ,
        "SILVERBALL_DATABASE_URL": f"sqlite:///{tmp_path / 'new.db'}",
        "SILVERBALL_METRICS_ADDRESS": value,
    }
    done = subprocess.run(
        _command("serve", "--port", "0"), env=given, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode != 0
    assert "SILVERBALL_METRICS_ADDRESS must be HOST:PORT" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("given", "host", "base_url"),
    [
        ("", "127.0.0.1", "http://127.0.0.1:8000"),
        ("", "0.0.0.0", "http://127.0.0.1:8000"),
        ("", "::1", "http://[::1]:8000"),
        ("https://pinball.example.org", "127.0.0.1", "https://pinball.example.org"),
    ],
)
def test_the_base_url_is_the_configured_one_or_the_address(given: str, host: str, base_url: str) -> None:
    assert server.with_base_url(Settings(base_url=given), host, 8000).base_url == base_url


@pytest.mark.parametrize(
    ("host", "configured", "expected"),
    [
        ("0.0.0.0", Settings(), True),  # compared with, never bound to
        ("192.168.1.5", Settings(), True),
        ("::", Settings(), True),
        ("pinball.local", Settings(), True),
        ("127.0.0.1", Settings(), False),
        ("127.0.0.5", Settings(), False),
        ("::1", Settings(), False),
        ("localhost", Settings(), False),
        ("0.0.0.0", Settings(base_url="https://pinball.example"), False),  # as above
        ("0.0.0.0", Settings(trusted_proxies="10.0.0.0/8"), False),  # as above
    ],
)
def test_links_follow_each_request_beyond_loopback_without_base_url_and_proxies(
    host: str, configured: Settings, *, expected: bool
) -> None:
    assert server.follows_host(configured, host) is expected
