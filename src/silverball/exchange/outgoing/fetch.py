"""Fetching a document from an address that a user has entered.

Imported on the first fetch, because the HTTP client is slow to load.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urljoin

import httpcore2
from msgspec import Struct

from silverball.exchange.outgoing.client import GuardedClient, connection_fault
from silverball.exchange.outgoing.network import FetchDeadline
from silverball.kit import address_policy
from silverball.kit.address_policy import AddressForbidden, AddressPolicy, AllowedAddress

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
                target = address_policy.parse_address(url, self._client.policy)
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
