"""Connections to allowed addresses only, with a deadline.

This is the one place where a name becomes an address. Every address of the name is checked, and the
connection goes to a checked address: the name is never looked up a second time, when it could resolve to
something else. The name itself is only used for TLS and the Host header.
"""

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
from silverball.kit.values import replace

# A name with more addresses than this is refused.
ADDRESSES_MAX = 32
PROXY_ANSWER_BYTES_MAX = 8_192
PROXY_ACCEPTED = (b"HTTP/1.1 200", b"HTTP/1.0 200")
# Name, port, seconds -> numeric addresses.
Resolve = Callable[[str, int, float], Sequence[str]]
# Numeric address, port, seconds -> an open connection.
Connect = Callable[[str, int, float], httpcore2.NetworkStream]


class FetchDeadline:
    """The time at which all waiting ends."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at = clock() + seconds

    def seconds_left(self) -> float:
        """The seconds that remain. Raises httpcore2.ReadTimeout when there are none."""
        seconds = self._at - self._clock()
        if seconds <= 0:
            raise httpcore2.ReadTimeout("the time is over")
        return seconds


def resolve(host: str, port: int, seconds: float) -> Sequence[str]:
    """The addresses by the system's resolver. It takes no timeout, so a late answer is abandoned."""
    answers: queue.SimpleQueue[list[str] | OSError] = queue.SimpleQueue()

    def ask() -> None:
        try:
            results = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answers.put([str(result[4][0]) for result in results])
        except (OSError, UnicodeError) as error:
            answers.put(OSError(str(error)))

    threading.Thread(target=ask, name="silverball-resolve", daemon=True).start()
    try:
        answer = answers.get(timeout=seconds)
    except queue.Empty as error:
        raise httpcore2.ConnectTimeout(f"{host} was not resolved in time") from error
    if isinstance(answer, OSError):
        raise httpcore2.ConnectError(f"there is no {host}") from answer
    return list(dict.fromkeys(answer))


def connect(address: str, port: int, seconds: float) -> httpcore2.NetworkStream:
    """A TCP connection."""
    return httpcore2.SyncBackend().connect_tcp(address, port, timeout=seconds)


def guarded_network(policy: AddressPolicy, proxy: str) -> tuple[AddressPolicy, dict[str, Connect]]:
    """The policy with this machine's own addresses excluded, and the client options for the site's proxy.

    `proxy` is `host:port`, or empty.
    """
    guarded_policy = replace(policy, is_own_address=is_own_address)
    host, _, port = proxy.partition(":")
    return guarded_policy, {"connect": connector_via_proxy(host, int(port))} if host else {}


def connector_via_proxy(proxy_host: str, proxy_port: int) -> Connect:
    """Connections through the site's proxy, which gets the checked address and not the name."""

    def connect_through(address: str, port: int, seconds: float) -> httpcore2.NetworkStream:
        deadline = FetchDeadline(seconds)
        stream = connect(proxy_host, proxy_port, seconds)
        target = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
        try:
            stream.write(
                f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode(), deadline.seconds_left()
            )
            answer = _read_proxy_answer(stream, deadline)
            if not answer.startswith(PROXY_ACCEPTED) or not answer.endswith(b"\r\n\r\n"):
                raise httpcore2.ConnectError("the proxy does not connect there")
        except (httpcore2.NetworkError, httpcore2.TimeoutException):
            stream.close()
            raise
        return stream

    return connect_through


def _read_proxy_answer(stream: httpcore2.NetworkStream, deadline: FetchDeadline) -> bytes:
    answer = b""
    while b"\r\n\r\n" not in answer and len(answer) <= PROXY_ANSWER_BYTES_MAX:
        # One byte at a time, because the bytes after the response belong to TLS.
        byte = stream.read(1, deadline.seconds_left())
        if not byte:
            break
        answer += byte
    return answer


def is_own_address(address: str) -> bool:
    """Whether an address is one of this machine's own. Sends nothing."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((address, address_policy.HTTPS_PORT))
            return str(probe.getsockname()[0]) == address
        except OSError:
            # An unreachable address is not our own.
            return False


class GuardedBackend(httpcore2.NetworkBackend):
    """Connects to checked addresses only. One for each request."""

    def __init__(
        self, policy: AddressPolicy, deadline: FetchDeadline, resolve: Resolve, connect: Connect
    ) -> None:
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
        """A connection to a checked address of the host. Raises AddressForbidden."""
        addresses = self._resolve(host.strip("[]"), port, self._deadline.seconds_left())
        if not addresses or len(addresses) > ADDRESSES_MAX:
            raise httpcore2.ConnectError(f"{host} has {len(addresses)} addresses")
        # One forbidden address among allowed ones is the mark of a DNS rebinding attack.
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
        path: str,  # noqa: ARG002  # never used
        timeout: float | None = None,  # noqa: ARG002  # httpcore hands it in
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002  # httpcore hands it in
    ) -> httpcore2.NetworkStream:
        """Refuse: only network addresses are allowed."""
        raise AddressForbidden("The address must be a network address.")


class TimedStream(httpcore2.NetworkStream):
    """A connection whose every wait ends with the deadline, so that a slow sender gains nothing."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: FetchDeadline) -> None:
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
