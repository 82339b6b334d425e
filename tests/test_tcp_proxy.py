"""The proxy that faults between machines come from does what its methods promise."""

import socket
import socketserver
import threading
import time
from collections.abc import Iterator

import pytest

from tcp_proxy import TcpProxy

SILENCE_SECONDS = 0.2
ANSWER_SECONDS_MAX = 60


class Echo(socketserver.BaseRequestHandler):
    """Sends back what it receives."""

    def handle(self) -> None:
        try:
            while chunk := self.request.recv(65536):
                self.request.sendall(chunk)
        except ConnectionError:
            # The proxy reset the connection.
            return


@pytest.fixture
def proxy() -> Iterator[TcpProxy]:
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    with TcpProxy(("127.0.0.1", server.server_address[1])) as started:
        yield started
    server.shutdown()
    server.server_close()
    thread.join()


def connect(proxy: TcpProxy) -> socket.socket:
    return socket.create_connection(("127.0.0.1", proxy.port), timeout=ANSWER_SECONDS_MAX)


def echoed(client: socket.socket, text: bytes) -> bytes:
    client.sendall(text)
    answer = b""
    while len(answer) < len(text) and (chunk := client.recv(65536)):
        answer += chunk
    return answer


def is_silent(client: socket.socket) -> bool:
    client.settimeout(SILENCE_SECONDS)
    try:
        return not client.recv(1) and False
    except TimeoutError:
        return True
    finally:
        client.settimeout(ANSWER_SECONDS_MAX)


def test_bytes_pass_both_ways(proxy: TcpProxy) -> None:
    long_text = bytes(range(256)) * 4096
    with connect(proxy) as client:
        assert echoed(client, long_text) == long_text


def test_a_blackhole_closes_nothing_and_answers_nothing_and_what_it_held_arrives_later(
    proxy: TcpProxy,
) -> None:
    with connect(proxy) as old:
        assert echoed(old, b"before") == b"before"
        proxy.blackhole()
        with connect(proxy) as new:
            old.sendall(b"held")
            new.sendall(b"new")
            assert is_silent(old)
            assert is_silent(new)
            proxy.forward()
            assert old.recv(10) == b"held"
            assert new.recv(10) == b"new"


def test_connections_lost_in_a_blackhole_stay_silent_and_new_ones_work(proxy: TcpProxy) -> None:
    with connect(proxy) as old:
        assert echoed(old, b"before") == b"before"
        proxy.blackhole()
        proxy.forward(lose_old=True)
        old.sendall(b"lost")
        assert is_silent(old)
        with connect(proxy) as new:
            assert echoed(new, b"after") == b"after"


def test_a_delay_counts_each_way(proxy: TcpProxy) -> None:
    with connect(proxy) as client:
        proxy.delay(0.1)
        begun = time.monotonic()
        assert echoed(client, b"slow") == b"slow"
        assert time.monotonic() - begun >= 0.2


def test_a_limited_line_is_shared_by_all_connections(proxy: TcpProxy) -> None:
    with connect(proxy) as first, connect(proxy) as second:
        proxy.limit(10_000)
        begun = time.monotonic()
        for client in (first, second):
            client.sendall(bytes(1000))
        for client in (first, second):
            assert client.recv(1000, socket.MSG_WAITALL) == bytes(1000)
        # Each way, the second thousand waits for the first.
        assert time.monotonic() - begun >= 0.3


def test_a_cut_resets_connections_and_lets_new_ones_in(proxy: TcpProxy) -> None:
    with connect(proxy) as client:
        assert echoed(client, b"before") == b"before"
        proxy.cut()
        with pytest.raises(ConnectionError):
            client.recv(1)
    with connect(proxy) as client:
        assert echoed(client, b"after") == b"after"


def test_a_stopped_proxy_refuses_and_starts_again_on_its_port(proxy: TcpProxy) -> None:
    port = proxy.port
    proxy.stop()
    with pytest.raises(ConnectionError):
        connect(proxy)
    proxy.start()
    assert proxy.port == port
    with connect(proxy) as client:
        assert echoed(client, b"again") == b"again"
