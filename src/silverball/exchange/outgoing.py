"""An HTTP client that connects only where a policy allows; the fetcher and the sender use it."""

import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urljoin

import httpcore2
from msgspec import Struct

from silverball.kit.security import addresses as security_addresses
from silverball.kit.security.addresses import AddressForbidden, AddressPolicy, AllowedAddress
from silverball.kit.values import replace

# Connections to allowed addresses only, with a deadline.
#
# This is the one place where a name becomes an address. Every address of the name is checked, and the
# connection goes to a checked address: the name is never looked up a second time, when it could resolve to
# something else. The name itself is only used for TLS and the Host header.


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
            probe.connect((address, security_addresses.HTTPS_PORT))
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
            security_addresses.require_allowed_ip(address, self._policy, port)
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


Headers = Mapping[str, str]
COMMON_HEADERS = {
    # No decompression, hence no decompression bomb.
    "Accept-Encoding": "identity",
    "Connection": "close",
    "User-Agent": "Silverball",
}


class GuardedClient:
    """A client that keeps to a policy. `resolve` and `connect` can be replaced in tests."""

    def __init__(
        self,
        policy: AddressPolicy,
        *,
        seconds: float,
        resolve: Resolve = resolve,
        connect: Connect = connect,
        tls: ssl.SSLContext | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.policy = policy
        self.seconds = seconds
        self._resolve = resolve
        self._connect = connect
        self._tls = tls or httpcore2.default_ssl_context()
        self._clock = clock

    def new_deadline(self) -> FetchDeadline:
        """The deadline of a request that starts now."""
        return FetchDeadline(self.seconds, self._clock)

    @contextmanager
    def request(
        self,
        method: str,
        target: AllowedAddress,
        deadline: FetchDeadline,
        headers: Headers,
        body: bytes = b"",
    ) -> Iterator[httpcore2.Response]:
        """The host's response with its body unread. Raises AddressForbidden and httpcore's exceptions."""
        origin = httpcore2.URL(target.url).origin
        backend = GuardedBackend(self.policy, deadline, self._resolve, self._connect)
        own = {"Host": target.host_and_port, **({"Content-Length": str(len(body))} if body else {})}
        all_headers = [
            (name.encode(), value.encode()) for name, value in {**COMMON_HEADERS, **headers, **own}.items()
        ]
        with (
            httpcore2.HTTPConnection(origin, ssl_context=self._tls, network_backend=backend) as connection,
            connection.stream(method, target.url, headers=all_headers, content=body or None) as response,
        ):
            yield response


def connection_fault(error: BaseException) -> str:
    """The sentence for a failed connection."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return "The host has no valid certificate for its name."
        cause = cause.__cause__
    return "The host cannot be found or does not answer."


# Fetching a document from an address that a user has entered.
#
# Imported on the first fetch, because the HTTP client is slow to load.


REDIRECTS = frozenset({301, 302, 303, 307, 308})
JSON_ENDINGS = ("/json", "+json")
HEADERS = {"Accept": "application/json"}


class FetchLimits(Struct, frozen=True, kw_only=True):
    """The limits of one fetch."""

    seconds: float = 5
    bytes: int = 2_000_000
    redirects: int = 3


FETCH_LIMITS = FetchLimits()


class FetchedDocument(Struct, frozen=True):
    """A document and its final address, after redirects."""

    url: str
    body: bytes


class NotFetched(Exception):
    """A fetch that failed; the message is a sentence that repeats nothing of the response."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class Fetcher:
    """Fetches JSON documents within a policy; further arguments go to the GuardedClient."""

    def __init__(
        self,
        policy: AddressPolicy,
        *,
        limits: FetchLimits = FETCH_LIMITS,
        **options: Any,
    ) -> None:
        self._client = GuardedClient(policy, seconds=limits.seconds, **options)
        self._limits = limits

    def fetch(self, url: str) -> FetchedDocument:
        """Fetch a document, following redirects within the policy. Raises NotFetched."""
        deadline = self._client.new_deadline()
        with self._translate_errors():
            for _ in range(self._limits.redirects + 1):
                target = security_addresses.parse_address(url, self._client.policy)
                result = self._fetch_once(target, deadline)
                if isinstance(result, FetchedDocument):
                    return result
                url = result
        raise NotFetched(f"The address redirects more than {self._limits.redirects} times.")

    def _fetch_once(self, target: AllowedAddress, deadline: FetchDeadline) -> FetchedDocument | str:
        """The document, or the address of a redirect."""
        with self._client.request("GET", target, deadline, HEADERS) as response:
            headers = {name.lower(): value for name, value in response.headers}
            if response.status in REDIRECTS:
                return _redirect_url(target, headers)
            _require_document(response.status, headers)
            return FetchedDocument(target.url, self._read_body(response, headers))

    def _read_body(self, response: httpcore2.Response, headers: dict[bytes, bytes]) -> bytes:
        too_large = NotFetched(f"The document must not be larger than {self._limits.bytes} bytes.")
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length[:19]) > self._limits.bytes:
            raise too_large
        body = bytearray()
        for chunk in response.iter_stream():
            body += chunk
            if len(body) > self._limits.bytes:
                raise too_large
        return bytes(body)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Turn errors of the network and the host into NotFetched."""
        try:
            yield
        except AddressForbidden as error:
            raise NotFetched(error.sentence) from error
        except httpcore2.TimeoutException as error:
            sentence = f"The document did not arrive within {self._limits.seconds:g} seconds."
            raise NotFetched(sentence) from error
        except httpcore2.ConnectError as error:
            raise NotFetched(connection_fault(error)) from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
            raise NotFetched("The host closed the connection or did not speak HTTP.") from error


def _redirect_url(target: AllowedAddress, headers: dict[bytes, bytes]) -> str:
    try:
        return urljoin(target.url, headers[b"location"].decode("ascii"))
    except (KeyError, ValueError) as error:
        raise NotFetched("The address redirects to one that cannot be read.") from error


def _require_document(status: int, headers: dict[bytes, bytes]) -> None:
    if status != 200:
        raise NotFetched(f"The host answered with status {status}, not with a document.")
    if headers.get(b"content-encoding", b"identity").strip().lower() != b"identity":
        raise NotFetched("The document must be sent without compression.")
    kind = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
    if not kind.endswith(JSON_ENDINGS):
        raise NotFetched("The document must be sent as application/json.")


# Sending a message to an address that a user has entered.
#
# Imported on the first message, because the HTTP client is slow to load.


SECONDS = 5.0


class NotSent(Exception):
    """A message without a response; the text is a sentence that repeats nothing of what the host sent."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class Sender:
    """Sends messages within a policy; further arguments go to the GuardedClient."""

    def __init__(self, policy: AddressPolicy, *, seconds: float = SECONDS, **options: Any) -> None:
        self._client = GuardedClient(policy, seconds=seconds, **options)
        self._seconds = seconds

    def send(self, url: str, body: bytes, headers: Headers) -> int:
        """Send a POST and return the status of the response. Raises NotSent.

        No redirect is followed and only the status of the response is read, so it can neither lead
        elsewhere nor fill the memory.
        """
        deadline = self._client.new_deadline()
        try:
            target = security_addresses.parse_address(url, self._client.policy)
            with self._client.request("POST", target, deadline, headers, body) as response:
                return response.status
        except AddressForbidden as error:
            raise NotSent(error.sentence) from error
        except httpcore2.TimeoutException as error:
            raise NotSent(f"There was no answer within {self._seconds:g} seconds.") from error
        except httpcore2.ConnectError as error:
            raise NotSent(connection_fault(error)) from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
            raise NotSent("The host closed the connection or did not speak HTTP.") from error
