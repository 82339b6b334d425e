"""An HTTP client that connects only where a policy allows; the fetcher and the sender use it."""

import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import httpcore2

from silverball.exchange.outgoing import network
from silverball.exchange.outgoing.network import Connect, FetchDeadline, GuardedBackend, Resolve
from silverball.kit.address_policy import AddressPolicy, AllowedAddress

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
        resolve: Resolve = network.resolve,
        connect: Connect = network.connect,
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
