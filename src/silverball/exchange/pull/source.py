"""A service that is read politely: one request after the other, within its limit, nowhere else.

Only the host that the operator typed is asked; where it sends us on to another address, the pull ends with
a sentence. Answers are bounded in bytes, time and number of pages, and must be JSON.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpcore2
import msgspec
from msgspec import Struct, field

from silverball.exchange.bundle import checks
from silverball.exchange.bundle.checks import BrokenFile
from silverball.exchange.outgoing import GuardedClient, connection_fault
from silverball.kit.security import addresses
from silverball.kit.security.addresses import EVERY_PORT, AddressForbidden, AddressPolicy
from silverball.store.counts.source_turns import SharedTurns

# The operator typed the host, so it may be in their own network.
POLICY = AddressPolicy(schemes=("https", "http"), ports=EVERY_PORT, allows_lan=True, allows_loopback=True)
ANSWER_BYTES_MAX = 8 * 2**20
# Of a tournament, whatever the number of its answers; and of all pages of the list of tournaments.
TOURNAMENT_BYTES_MAX = 50 * 2**20
LIST_BYTES_MAX = 200 * 2**20
ANSWER_SECONDS_MAX = 60.0
TEXT_CHARACTERS_MAX = 100_000
# Of one answer: its objects and lists, all its values, and how deep they are nested.
OBJECTS_MAX = 200_000
VALUES_MAX = 500_000
DEPTH_MAX = 20
# What opens or closes an object or a list, or is a text in which it means nothing.
_BRACKET_OR_TEXT = re.compile(rb'[\[\]{}]|"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
PAGES_MAX = 1_000
TRIES_MAX = 5
REQUESTS_PER_MINUTE = 60
WAIT_SECONDS_MAX = 900.0
TOO_MANY, BUSY = 429, frozenset({500, 502, 503, 504})


class SourceFault(Exception):
    """The source cannot be read on; the message is a sentence for the operator."""


class SourceBusy(SourceFault):
    """The source does not answer now; it may do so later."""


class ThingMissing(SourceFault):
    """The source has no such thing, or does not show it to this token."""


class ConnectionLost(Exception):
    """The connection failed; another try may succeed. The message is a sentence."""


class Answer(Struct, frozen=True):
    """An answer of the source, whatever its status. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


# Path and query -> answer. Raises ConnectionLost, or SourceFault.
Ask = Callable[[str], Answer]


class RequestPace(Struct):
    """The time between requests: the interval of our own, and what the source asks for."""

    per_minute: int = REQUESTS_PER_MINUTE
    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    # Shared with other pulls and mirrors on the same token; without, this is the only one.
    turns: SharedTurns | None = None
    requests: int = 0
    waited_seconds: float = 0.0
    _next_at: float = 0.0

    def await_turn(self) -> None:
        """Wait until the next request may be sent, and count it."""
        interval = 60 / self.per_minute
        self._wait(self._next_at - self.now())
        if self.turns is None:
            self._next_at = max(self._next_at, self.now()) + interval
        else:
            self._wait(self.turns.take(self.now(), interval) - self.now())
        self.requests += 1

    def heed(self, headers: Mapping[str, str]) -> None:
        """Postpone the next request when the source has no allowance left."""
        reset = headers.get("x-ratelimit-reset", "")
        if headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
            self._next_at = max(self._next_at, min(float(reset[:12]), self.now() + WAIT_SECONDS_MAX))
            if self.turns is not None:
                self.turns.postpone(self._next_at)

    def back_off(self, tries: int, headers: Mapping[str, str]) -> None:
        """Wait as long as a busy source asks for, or longer after each try. Raises SourceFault."""
        seconds = _seconds_asked(headers, self.now())
        if seconds is None:
            seconds = min(2.0**tries, 60.0)
        if seconds > WAIT_SECONDS_MAX:
            raise SourceBusy(f"The source wants to be left alone for {seconds:.0f} seconds. Go on then.")
        self._wait(seconds)

    def _wait(self, seconds: float) -> None:
        if seconds > 0:
            self.waited_seconds += seconds
            self.sleep(seconds)


def _seconds_asked(headers: Mapping[str, str], now: float) -> float | None:
    text = headers.get("retry-after", "")
    if text.isdecimal():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((moment - datetime.fromtimestamp(now, UTC)).total_seconds(), 0.0)


def base_address(url: str) -> str:
    """The address without what a paste may end with: a slash, or the beginning of the interface."""
    return url.strip().rstrip("/").removesuffix("/api")


def asker(url: str, token: str, client: GuardedClient | None = None) -> tuple[str, Ask]:
    """The name of the source at this address, and a function that asks it. Raises SourceFault.

    The client knows which addresses are allowed; without one they are those that an operator may type.
    """
    base = base_address(url)
    guarded = client or GuardedClient(POLICY, seconds=ANSWER_SECONDS_MAX)
    policy = guarded.policy
    try:
        place = addresses.parse_address(base, policy)
    except AddressForbidden as error:
        raise SourceFault(error.sentence) from error
    headers = {"Accept": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    # Whoever names a revision is shown what is true now, and no standings that they were given before.
    headers["X-Tournament-Revision"] = "0"

    def ask(target: str) -> Answer:
        try:
            allowed = addresses.parse_address(base + target, policy)
            with guarded.request("GET", allowed, guarded.new_deadline(), headers) as response:
                names = {
                    name.decode("latin-1").lower(): value.decode("latin-1")
                    for name, value in response.headers
                }
                return Answer(response.status, names, _bounded_body(response))
        except AddressForbidden as error:
            raise SourceFault(error.sentence) from error
        except httpcore2.TimeoutException as error:
            raise ConnectionLost(f"No answer arrived within {guarded.seconds:.0f} seconds.") from error
        except httpcore2.ConnectError as error:
            raise ConnectionLost(connection_fault(error)) from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
            raise ConnectionLost("The host closed the connection or did not speak HTTP.") from error

    return place.host_and_port, ask


def _bounded_body(response: httpcore2.Response) -> bytes:
    body = bytearray()
    for chunk in response.iter_stream():
        body += chunk
        if len(body) > ANSWER_BYTES_MAX:
            raise SourceFault(f"The source sent more than {ANSWER_BYTES_MAX} bytes in one answer.")
    return bytes(body)


class PullSource(Struct):
    """The interface of a service, read one answer at a time."""

    name: str
    ask: Ask
    pace: RequestPace = field(default_factory=RequestPace)
    bytes_left: int = LIST_BYTES_MAX
    tournament_bytes_max: int = TOURNAMENT_BYTES_MAX
    bytes_read: int = 0
    tries_max: int = TRIES_MAX

    def begin_tournament(self) -> None:
        """Allow the answers of one more tournament."""
        self.bytes_left = self.tournament_bytes_max

    def read(self, target: str) -> Any:
        """The JSON object at this path. Raises SourceFault with a sentence."""
        answer = self._answer(target)
        self.bytes_left -= len(answer.body)
        self.bytes_read += len(answer.body)
        if self.bytes_left < 0:
            raise SourceFault(f"{self.name} sends too much: {target} is more than a tournament can be.")
        if "json" not in answer.headers.get("content-type", ""):
            raise SourceFault(
                f"{self.name} answered {target} with a page, not with JSON. Is the address right?"
            )
        _refuse_many_values(answer.body, f"{self.name} answered {target}")
        try:
            raw = msgspec.json.decode(answer.body)
            checks.refuse_unstorable_values(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise SourceFault(f"{self.name} answered {target} with broken JSON.") from error
        except BrokenFile as error:
            raise SourceFault(
                f"{self.name} answered {target} with what cannot be stored: {error.message}"
            ) from error
        # Standings are a list as it is.
        if isinstance(raw, list):
            raw = {"data": raw}
        if not isinstance(raw, dict):
            raise SourceFault(f"{self.name} answered {target} in an unknown form.")
        _refuse_long_texts(raw, f"{self.name} answered {target}")
        return raw

    def read_data(self, target: str) -> Any:
        """The member `data` of the answer. Raises SourceFault."""
        raw = self.read(target)
        if "data" not in raw:
            raise SourceFault(f"{self.name} answered {target} without data.")
        return raw["data"]

    def read_list(self, target: str) -> list[dict[str, Any]]:
        """The list in `data`. Raises SourceFault."""
        return self._items(target, self.read(target))

    def _items(self, target: str, raw: Any) -> list[dict[str, Any]]:
        listed = raw.get("data")
        if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
            raise SourceFault(f"{self.name} answered {target} with something else than a list.")
        return listed

    def read_pages(self, target: str, key: str) -> Iterator[dict[str, Any]]:
        """The items of all pages of a list, known by the id in `key`. Raises SourceFault.

        The link to the next page says only that there is one: those of some services drop the query.
        """
        seen: set[Any] = set()
        separator = "&" if "?" in target else "?"
        for page in range(1, PAGES_MAX + 1):
            at = f"{target}{separator}page={page}"
            raw = self.read(at)
            items, links = self._items(at, raw), raw.get("links")
            ids = {item.get(key) for item in items}
            if not all(isinstance(item_id, int) for item_id in ids):
                raise SourceFault(f"{self.name} answered {at} with items that have no {key}.")
            if ids & seen:
                raise SourceFault(f"{self.name} sends the same items on several pages of {target}.")
            seen |= ids
            yield from items
            if not items or not isinstance(links, dict) or links.get("next") is None:
                return
        raise SourceFault(f"{self.name} has more than {PAGES_MAX} pages of {target}.")

    def _answer(self, target: str) -> Answer:
        """Ask until there is an answer that another try would not change. Raises SourceFault."""
        sentence = ""
        for tries in range(1, self.tries_max + 1):
            self.pace.await_turn()
            try:
                answer = self.ask(target)
            except ConnectionLost as error:
                sentence = str(error)
                self.pace.back_off(tries, {})
                continue
            self.pace.heed(answer.headers)
            if answer.status == 200:
                return answer
            if answer.status != TOO_MANY and answer.status not in BUSY:
                raise _fault(self.name, target, answer)
            sentence = f"It answers with status {answer.status}."
            self.pace.back_off(tries, answer.headers)
        raise SourceBusy(f"{self.name} did not answer {target} in {self.tries_max} tries. {sentence}")


def _fault(name: str, target: str, answer: Answer) -> SourceFault:
    if 300 <= answer.status < 400:
        return SourceFault(
            f"{name} sends {target} on to another address. Give that address, if you trust it."
        )
    if answer.status == 401:
        return SourceFault(f"{name} does not accept the token.")
    if answer.status in (403, 404):
        return ThingMissing(f"{name} has no {target}, or does not show it to this token.")
    return SourceFault(f"{name} answered {target} with status {answer.status}.")


def _refuse_many_values(body: bytes, beginning: str) -> None:
    """Raise SourceFault for JSON that would take much more memory than its bytes, before it is decoded."""
    if body.count(b",") > VALUES_MAX:
        raise SourceFault(f"{beginning} with more than {VALUES_MAX} values.")
    depth = objects = 0
    for found in _BRACKET_OR_TEXT.finditer(body):
        match found[0]:
            case b"[" | b"{":
                depth += 1
                objects += 1
            case b"]" | b"}":
                depth -= 1
        if objects > OBJECTS_MAX:
            raise SourceFault(f"{beginning} with more than {OBJECTS_MAX} objects.")
        if depth > DEPTH_MAX:
            raise SourceFault(f"{beginning} with objects that are nested deeper than {DEPTH_MAX}.")


def _refuse_long_texts(raw: Any, beginning: str) -> None:
    """Raise SourceFault for a text that is longer than any that people write."""
    pending = [raw]
    while pending:
        value = pending.pop()
        if isinstance(value, str) and len(value) > TEXT_CHARACTERS_MAX:
            raise SourceFault(f"{beginning} with a text of {len(value)} characters.")
        if isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
