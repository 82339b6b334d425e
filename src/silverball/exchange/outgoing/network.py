"""Connections that go only where they may, and end when their time is over.

The one place where a name becomes an address. Each of the addresses is judged, and the connection goes
to the very one that was judged: nothing looks the name up a second time, so it cannot mean something
else by then. The name is kept for TLS and the Host header.
"""

import dataclasses
import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import httpcore2

from silverball.kit import address_policy
from silverball.kit.address_policy import AddressForbidden, AddressPolicy

# A name at which hundreds of addresses answer is none that we want.
ADDRESSES_MAX = 32
PROXY_ANSWER_BYTES_MAX = 8_192
PROXY_ACCEPTED = (b"HTTP/1.1 200", b"HTTP/1.0 200")
# Name, port, seconds -> numeric addresses.
Resolve = Callable[[str, int, float], Sequence[str]]
# Numeric address, port, seconds -> an open connection.
Connect = Callable[[str, int, float], httpcore2.NetworkStream]


class Deadline:
    """A moment after which nothing is waited for any more."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at = clock() + seconds

    def seconds_left(self) -> float:
        """Seconds until then. Raises httpcore2.ReadTimeout when there are none."""
        seconds = self._at - self._clock()
        if seconds <= 0:
            raise httpcore2.ReadTimeout("the time is over")
        return seconds


def resolve(host: str, port: int, seconds: float) -> Sequence[str]:
    """What the system's resolver says. It cannot be told to hurry, so it is left behind when it is late."""
    answers: queue.SimpleQueue[list[str] | OSError] = queue.SimpleQueue()

    def ask() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answers.put([str(one[4][0]) for one in found])
        except (OSError, UnicodeError) as error:
            answers.put(OSError(str(error)))

    threading.Thread(target=ask, name="silverball-resolve", daemon=True).start()
    try:
        answer = answers.get(timeout=seconds)
    except queue.Empty as error:
        raise httpcore2.ConnectTimeout(f"nobody says where {host} is") from error
    if isinstance(answer, OSError):
        raise httpcore2.ConnectError(f"there is no {host}") from answer
    return list(dict.fromkeys(answer))


def connect(address: str, port: int, seconds: float) -> httpcore2.NetworkStream:
    """A TCP connection."""
    return httpcore2.SyncBackend().connect_tcp(address, port, timeout=seconds)


def guarded_network(policy: AddressPolicy, proxy: str) -> tuple[AddressPolicy, dict[str, Connect]]:
    """The policy, which now knows this machine's addresses too, and how a client is told of the site's proxy.

    `proxy` is `host:port`, or empty.
    """
    own = dataclasses.replace(policy, is_own_address=is_own_address)
    host, _, port = proxy.partition(":")
    return own, {"connect": connector_via_proxy(host, int(port))} if host else {}


def connector_via_proxy(proxy_host: str, proxy_port: int) -> Connect:
    """Connections by way of a proxy that the site names; it is told the judged address, not the name."""

    def connect_through(address: str, port: int, seconds: float) -> httpcore2.NetworkStream:
        deadline = Deadline(seconds)
        stream = connect(proxy_host, proxy_port, seconds)
        place = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
        try:
            stream.write(
                f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode(), deadline.seconds_left()
            )
            answer = _read_proxy_answer(stream, deadline)
            if not answer.startswith(PROXY_ACCEPTED) or not answer.endswith(b"\r\n\r\n"):
                raise httpcore2.ConnectError("the proxy does not connect there")
        except (httpcore2.NetworkError, httpcore2.TimeoutException):
            stream.close()
            raise
        return stream

    return connect_through


def _read_proxy_answer(stream: httpcore2.NetworkStream, deadline: Deadline) -> bytes:
    answer = b""
    while b"\r\n\r\n" not in answer and len(answer) <= PROXY_ANSWER_BYTES_MAX:
        # One byte at a time: what follows the answer belongs to TLS.
        more = stream.read(1, deadline.seconds_left())
        if not more:
            break
        answer += more
    return answer


def is_own_address(address: str) -> bool:
    """Whether an address is one of this machine's own. Nothing is sent."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((address, address_policy.HTTPS_PORT))
            return str(probe.getsockname()[0]) == address
        except OSError:
            # Not to be reached from here, so it is not here.
            return False


class GuardedBackend(httpcore2.NetworkBackend):
    """Connects to judged addresses only. One for each request."""

    def __init__(self, policy: AddressPolicy, deadline: Deadline, resolve: Resolve, connect: Connect) -> None:
        self._policy = policy
        self._deadline = deadline
        self._resolve = resolve
        self._connect = connect

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002  # the deadline is stricter
        local_address: str | None = None,  # noqa: ARG002  # httpcore hands it in
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002  # httpcore hands it in
    ) -> httpcore2.NetworkStream:
        """A connection to the host, at an address that was judged. Raises Forbidden."""
        addresses = self._resolve(host.strip("[]"), port, self._deadline.seconds_left())
        if not addresses or len(addresses) > ADDRESSES_MAX:
            raise httpcore2.ConnectError(f"{host} has {len(addresses)} addresses")
        # One bad one among good ones is how a name is made to mean something else half of the time.
        for address in addresses:
            address_policy.require_allowed_ip(address, self._policy, port)
        return TimedStream(self._connect_to_first(addresses, port), self._deadline)

    def _connect_to_first(self, addresses: Sequence[str], port: int) -> httpcore2.NetworkStream:
        failure: Exception | None = None
        for address in addresses:
            try:
                return self._connect(address, port, self._deadline.seconds_left())
            except httpcore2.ConnectError as error:
                failure = error
        raise httpcore2.ConnectError("none of its addresses answers") from failure

    def connect_unix_socket(
        self,
        path: str,  # noqa: ARG002  # there is none that may be connected to
        timeout: float | None = None,  # noqa: ARG002  # httpcore hands it in
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002  # httpcore hands it in
    ) -> httpcore2.NetworkStream:
        """Never."""
        raise AddressForbidden("The address must be one of the network.")


class TimedStream(httpcore2.NetworkStream):
    """A connection whose every wait ends with the deadline: slow drips add up to nothing."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002  # see Guarded
        return self._stream.read(max_bytes, self._deadline.seconds_left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002  # see Guarded
        self._stream.write(buffer, self._deadline.seconds_left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002  # see Guarded
    ) -> httpcore2.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, self._deadline.seconds_left())
        return TimedStream(stream, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
