"""Everything between a described request and its typed answer, without doing any I/O itself.

`Session.steps` is a generator: it yields what to do next (`Send` or `Wait`) and gets what came of it. The
blocking client and the awaited one each have a loop that does it; all rules are here, once.
"""

import math
import uuid
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Generic, TypeVar

import msgspec

from silverball_client.calling import Alternatives, Request
from silverball_client.errors import NoAnswer, Refused, UnexpectedAnswer, refusal
from silverball_client.etags import StoredAnswers
from silverball_wire.base import decode_answer

T = TypeVar("T")
VERSION = "0.3.0"
# A lost connection is tried again this often.
LOSSES_MAX = 4
BACKOFF_SECONDS = (0.5, 30.0)
# Of a service that is over its limit and does not say for how long.
UNSAID_WAIT_SECONDS = 10.0
TOO_MANY, BUSY = 429, frozenset({502, 503, 504})
REVISION_HEADER = "x-tournament-revision"
REVISIONS_MAX = 10_000


class InData(msgspec.Struct, Generic[T], frozen=True):
    """The envelope of an item."""

    data: T


class PageLinks(msgspec.Struct, frozen=True):
    """The links of a page. Only whether there is a next page matters: some services drop the query there."""

    next: str | None = None


class PageMeta(msgspec.Struct, frozen=True):
    """The position of a page, where the service says it."""

    last_page: int | None = None


class PageEnvelope(msgspec.Struct, Generic[T], frozen=True):
    """A page as sent, by any paginator."""

    data: tuple[T, ...]
    links: PageLinks | None = None
    meta: PageMeta | None = None


@dataclass(frozen=True)
class PageOfItems(Generic[T]):
    """The items of a page, and whether another page follows."""

    items: tuple[T, ...]
    has_next: bool


@dataclass(frozen=True)
class Send:
    """A request to send."""

    method: str
    target: str
    # Not shown, because the token is among them.
    headers: Mapping[str, str] = field(repr=False)
    content: bytes | None


@dataclass(frozen=True)
class Wait:
    """A time to wait."""

    seconds: float


@dataclass(frozen=True)
class Reply:
    """An answer, whatever its status. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Loss:
    """The connection failed; `was_refused` says that nothing was sent."""

    reason: str
    was_refused: bool


Steps = Generator[Send | Wait, Reply | Loss | None, T]


@dataclass
class Session:
    """A client's state: address, token, stored answers, and how long each of its calls may wait."""

    base_url: str
    token: str = field(repr=False)
    # The seconds that one call may spend waiting for a busy service.
    wait_seconds_max: float
    answers: StoredAnswers
    now: Callable[[], float]
    new_key: Callable[[], str] = lambda: str(uuid.uuid4())
    # Gets a line for each answer, loss and wait; no token is in it.
    log: Callable[[str], None] | None = None
    has_answered: bool = False
    # Tournament id -> its revision after the newest change that this client made or was told of.
    revisions: dict[int, int] = field(default_factory=dict)

    def steps(self, request: Request[T]) -> Steps[T]:
        """Send the request until it is answered, and return the typed answer. Raises SilverballError."""
        reply = yield from self.reply_steps(request)
        return self.read(request, reply.body)

    def reply_steps(self, request: Request[Any]) -> Steps[Reply]:
        """Send the request until it is answered; a 304 becomes the stored answer. Raises SilverballError."""
        target, stored = request.target, None
        headers = self._headers(request)
        if request.method == "GET":
            stored = self.answers.find(target)
            if stored is not None:
                headers["if-none-match"] = stored.etag
        send = Send(request.method, target, headers, request.content)
        losses = tries = 0
        left = self.wait_seconds_max
        while True:
            reply = yield send
            assert reply is not None
            tries += 1
            self._note(send, reply)
            if isinstance(reply, Loss):
                losses += 1
                if losses > LOSSES_MAX or (reply.was_refused and not self.has_answered):
                    raise NoAnswer(f"{self.base_url} does not answer: {reply.reason}")
                wait = self._wait(backoff_seconds(losses), left, None)
                left -= wait.seconds
                yield wait
                continue
            self.has_answered = True
            if reply.status == 304 and stored is not None:
                return Reply(200, reply.headers, stored.body)
            if reply.status < 300:
                self._remember(request, target, reply)
                return reply
            # An earlier try may have reached the service, also when a proxy gave up on it.
            is_repeated_write = request.is_write and tries > 1
            seconds, refused = self._refusal_or_wait(reply, tries, is_repeated_write=is_repeated_write)
            wait = self._wait(seconds, left, refused)
            left -= wait.seconds
            yield wait

    def page_steps(self, request: Request[T], page: int) -> Steps["PageOfItems[T]"]:
        """Read one page of a list. Raises SilverballError."""
        asked = request.at_page(page)
        reply = yield from self.reply_steps(asked)
        as_page: Request[Any] = replace(asked, answer=_page_types(asked.answer))
        envelope: PageEnvelope[T] = self.read(as_page, reply.body)
        is_followed = envelope.links is not None and envelope.links.next is not None
        if envelope.meta is not None and envelope.meta.last_page is not None:
            is_followed = is_followed or envelope.meta.last_page > page
        return PageOfItems(envelope.data, has_next=is_followed and bool(envelope.data))

    def _headers(self, request: Request[Any]) -> dict[str, str]:
        headers = {"accept": "application/json"}
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        if request.content is not None:
            headers["content-type"] = "application/json"
        if request.is_write:
            headers["idempotency-key"] = request.idempotency_key or self.new_key()
        elif request.tournament_id in self.revisions:
            # So that a read shows what this client knows of, whichever node answers.
            headers[REVISION_HEADER] = str(self.revisions[request.tournament_id])
        return headers

    def _remember(self, request: Request[Any], target: str, reply: Reply) -> None:
        etag = reply.headers.get("etag")
        if request.method == "GET" and etag:
            self.answers.store(target, etag, reply.body)
        revision = reply.headers.get(REVISION_HEADER, "")
        if request.is_write and request.tournament_id and revision.isdecimal():
            self.note_revision(request.tournament_id, int(revision))

    def note_revision(self, tournament_id: int, revision: int) -> None:
        """Read this tournament no older than this from now on."""
        if len(self.revisions) >= REVISIONS_MAX:
            self.revisions.clear()
        self.revisions[tournament_id] = revision

    def _refusal_or_wait(
        self, reply: Reply, tries: int, *, is_repeated_write: bool
    ) -> tuple[float, Refused | None]:
        """The seconds to wait before the next try, and the refusal in case they are too many.

        Raises Refused or UnexpectedAnswer when another try is of no use.
        """
        refused = self._refusal(reply)
        # A service that goes on refusing is asked less and less often, whatever it says.
        shortest = backoff_seconds(tries - 1) if tries > 1 else 0.0
        if reply.status == TOO_MANY:
            return max(retry_after(reply.headers, self.now(), UNSAID_WAIT_SECONDS), shortest), refused
        if reply.status in BUSY:
            return max(retry_after(reply.headers, self.now(), backoff_seconds(tries)), shortest), refused
        if is_repeated_write and refused.code == "request-in-progress":
            return backoff_seconds(tries), refused
        raise refused

    def _refusal(self, reply: Reply) -> Refused:
        content_type = reply.headers.get("content-type", "")
        if reply.status < 400:
            location = reply.headers.get("location", "another address")
            raise UnexpectedAnswer(f"{self.base_url} redirects to {location}: use that address.")
        if reply.status < 500 and "html" in content_type:
            raise UnexpectedAnswer(
                f"{self.base_url} answered with a web page and status {reply.status}. Is the address right?"
            )
        return refusal(reply.status, reply.body)

    def _wait(self, seconds: float, left: float, refused: Refused | None) -> Wait:
        """The next wait of a call. Raises the refusal, or NoAnswer, when it may not wait as long."""
        if seconds > left:
            raise refused or NoAnswer(f"{self.base_url} does not answer, and all waiting time is used up.")
        if self.log is not None:
            self.log(f"waits {seconds:.1f} s")
        return Wait(seconds)

    def _note(self, send: Send, reply: Reply | Loss) -> None:
        if self.log is not None:
            outcome = reply.reason if isinstance(reply, Loss) else str(reply.status)
            self.log(f"{send.method} {send.target}: {outcome}")

    def read(self, request: Request[T], body: bytes) -> T:
        """Decode the body as the type that the request names. Raises UnexpectedAnswer."""
        if request.answer is str:
            text: Any = body.decode("utf-8", "replace")
            return text  # type: ignore[no-any-return]  # the request's type is str
        kinds = request.answer.types if isinstance(request.answer, Alternatives) else (request.answer,)
        envelope: Any = InData
        fault: Exception | None = None
        for kind in kinds:
            try:
                value = decode_answer(body, envelope[kind] if request.in_data else kind)
            except msgspec.DecodeError as error:
                fault = error
            else:
                return value.data if request.in_data else value  # type: ignore[no-any-return]  # as decoded
        raise UnexpectedAnswer(
            f"{self.base_url} answered {request.method} {request.target} in an unknown form: {fault}"
        ) from fault


def _page_types(answer: Any) -> Any:
    page: Any = PageEnvelope
    if isinstance(answer, Alternatives):
        return Alternatives(tuple(page[kind] for kind in answer.types))
    return page[answer]


def backoff_seconds(tries: int) -> float:
    """Return the seconds to wait after this many failures: 0.5, 1, 2, ... at most 30."""
    first, longest = BACKOFF_SECONDS
    return min(first * 2.0 ** min(tries - 1, 10), longest)


def retry_after(headers: Mapping[str, str], now: float, otherwise: float) -> float:
    """Return the seconds until the service wants to be asked again, from its headers."""
    seconds = _seconds_of(headers.get("retry-after", ""), now)
    if seconds is None:
        reset = headers.get("x-ratelimit-reset", "")
        seconds = float(reset) - now if reset.isdecimal() else otherwise
    # A little more than said, as the service counts in whole seconds.
    return max(seconds, 0.0) + 0.05


def _seconds_of(text: str, now: float) -> float | None:
    """Seconds in the form of Retry-After: a number, or a date."""
    if text.isdecimal():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return math.ceil((moment - datetime.fromtimestamp(now, UTC)).total_seconds())
