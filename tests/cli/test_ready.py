"""`silverball ready`, which health checks run."""

import socket
import threading
from pathlib import Path

from click.testing import CliRunner

from cli.test_serve import free_port, serving
from silverball.cli.main import silverball_group


def run(port: int, *words: str) -> tuple[int, str]:
    done = CliRunner().invoke(silverball_group, ["ready", "--port", str(port), *words])
    return done.exit_code, done.output.strip()


def test_a_server_that_serves_is_ready(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path / 'site.db'}") as server:
        assert run(server.port) == (0, "The server is ready.")


def test_a_server_that_is_starting_is_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def become_ready() -> None:
            for status in (b"503 Service Unavailable", b"200 OK"):
                connection, _ = listener.accept()
                with connection:
                    connection.recv(1000)
                    connection.sendall(b"HTTP/1.1 %b\r\nContent-Length: 0\r\n\r\n" % status)

        thread = threading.Thread(target=become_ready)
        thread.start()
        answer = run(listener.getsockname()[1], "--wait", "60")
        thread.join(60)
    assert answer == (0, "The server is ready.")


def test_nothing_at_the_port_is_said_in_a_sentence() -> None:
    status, text = run(free_port())
    assert status == 1
    assert "Nothing answers at 127.0.0.1 port" in text


def test_a_server_that_is_not_ready_fails_the_check() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def refuse() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=refuse)
        thread.start()
        answer = run(listener.getsockname()[1])
        thread.join(60)
    assert answer == (1, "Error: The server is not ready: /ready answers 503.")
