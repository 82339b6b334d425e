"""Fetching a document from an address that somebody else named.

Imported where a document is fetched, not before: the client takes its time to load.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

import httpcore2

from silverball.exchange.outgoing.client import GuardedClient, connection_fault
from silverball.exchange.outgoing.network import Deadline
from silverball.kit import address_policy
from silverball.kit.address_policy import AddressForbidden, AddressPolicy, AllowedAddress

REDIRECTS = frozenset({301, 302, 303, 307, 308})
JSON_ENDINGS = ("/json", "+json")
HEADERS = {"Accept": "application/json"}


@dataclass(frozen=True, kw_only=True)
class FetchLimits:
    """How much of somebody else is put up with."""

    seconds: float = 5
    bytes: int = 2_000_000
    redirects: int = 3


@dataclass(frozen=True)
class FetchedDocument:
    """A document, and where it was in the end."""

    url: str
    body: bytes


class NotFetched(Exception):
    """There is no document; the message is a sentence that repeats nothing of what was answered."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class Fetcher:
    """Fetches JSON documents within a policy. Who resolves and who connects are arguments, as of a Client."""

    def __init__(
        self,
        policy: AddressPolicy,
        *,
        limits: FetchLimits = FetchLimits(),  # it is never changed
        **how: Any,
    ) -> None:
        self._client = GuardedClient(policy, seconds=limits.seconds, **how)
        self._limits = limits

    def fetch(self, url: str) -> FetchedDocument:
        """The document, wherever redirects lead within the policy. Raises NotFetched."""
        deadline = self._client.new_deadline()
        with self._translate_errors():
            for _ in range(self._limits.redirects + 1):
                target = address_policy.parse_address(url, self._client.policy)
                found = self._fetch_once(target, deadline)
                if isinstance(found, FetchedDocument):
                    return found
                url = found
        raise NotFetched(f"The address leads on more than {self._limits.redirects} times.")

    def _fetch_once(self, target: AllowedAddress, deadline: Deadline) -> FetchedDocument | str:
        """The document, or the address that this one leads on to."""
        with self._client.request("GET", target, deadline, HEADERS) as response:
            told = {name.lower(): value for name, value in response.headers}
            if response.status in REDIRECTS:
                return _redirect_url(target, told)
            _require_document(response.status, told)
            return FetchedDocument(target.url, self._read_body(response, told))

    def _read_body(self, response: httpcore2.Response, headers: dict[bytes, bytes]) -> bytes:
        too_large = NotFetched(f"The document must not be larger than {self._limits.bytes} bytes.")
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length[:19]) > self._limits.bytes:
            raise too_large
        body = bytearray()
        for some in response.iter_stream():
            body += some
            if len(body) > self._limits.bytes:
                raise too_large
        return bytes(body)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Whatever goes wrong outside, as a sentence."""
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
            raise NotFetched("The host broke off or did not speak HTTP.") from error


def _redirect_url(target: AllowedAddress, headers: dict[bytes, bytes]) -> str:
    try:
        return urljoin(target.url, headers[b"location"].decode("ascii"))
    except (KeyError, ValueError) as error:
        raise NotFetched("The address leads on to one that cannot be read.") from error


def _require_document(status: int, headers: dict[bytes, bytes]) -> None:
    if status != 200:
        raise NotFetched(f"The host answered with status {status}, not with a document.")
    if headers.get(b"content-encoding", b"identity").strip().lower() != b"identity":
        raise NotFetched("The document must be sent without compression.")
    kind = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
    if not kind.endswith(JSON_ENDINGS):
        raise NotFetched("The document must be sent as application/json.")
