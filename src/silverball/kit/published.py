"""Pages that look the same to everybody: kept in memory like the answers of the interface, never counted.

They have no caller, no allowance and headers of their own, which their 304 repeats.
"""

from collections.abc import Callable, MutableMapping, Sequence
from typing import Any

from silverball.kit import logs, requests
from silverball.kit.answers import Answers
from silverball.kit.finished import Finished, Headers, body_message
from silverball.kit.http import READS, Answer, Request
from silverball.kit.requests import House, Scope
from silverball.kit.tally import note

Message = MutableMapping[str, Any]
VARY = (b"vary", b"accept-encoding")
EMPTY = body_message(b"")
# For whom it is kept, among the viewers of the interface's answers.
EVERYBODY = "everybody"
QUERY_BYTES_MAX = 1000
TOO_LONG = Answer(414, b"This address is too long.", "text/plain; charset=utf-8")


class Published:
    """What answers these pages."""

    def __init__(self, house: House, answers: Answers) -> None:
        self._answers = answers
        self._answer = house.published
        self._query_of = house.published_query
        self._is_one = requests.own_pattern(house.published_paths).fullmatch

    def has(self, scope: Scope) -> bool:
        """Whether this is a request for one of them."""
        is_one = self._answer is not None and scope["method"] in READS
        return is_one and self._is_one(scope["path"]) is not None

    async def reply(
        self,
        scope: Scope,
        headers: dict[bytes, bytes],
        named: tuple[bytes, bytes],
        clock: Callable[[], float],
    ) -> Sequence[Message]:
        """The two messages that go out. `named` is the header that names the request."""
        began = clock()
        query = scope["query_string"]
        if len(query) > QUERY_BYTES_MAX:
            return _plain(TOO_LONG, scope, named)
        if query:
            query = self._query_of(query)
        key = (scope["path"], query, EVERYBODY)
        outcome: Finished | Answer | None = self._answers.at_hand(key)
        if outcome is not None:
            return await self._sent(outcome, key, scope, headers, named)
        request = Request(method="GET", path=scope["path"], query=query)
        scope_id = requests.scope_id_of(scope["path"])
        outcome = await self._answers.computed(
            key, scope_id, lambda: self._computed(request, named), common=_common
        )
        sent = await self._sent(outcome, key, scope, headers, named)
        note(scope, None, sent[0], clock() - began)
        return sent

    def _computed(self, request: Request, named: tuple[bytes, bytes]) -> Answer:
        logs.request_id.set(named[1].decode())
        assert self._answer is not None
        return self._answer(request)

    async def _sent(
        self,
        outcome: Finished | Answer,
        key: tuple[str, bytes, str],
        scope: Scope,
        headers: dict[bytes, bytes],
        named: tuple[bytes, bytes],
    ) -> Sequence[Message]:
        if isinstance(outcome, Answer):
            return _plain(outcome, scope, named)
        if outcome.is_known_to(headers.get(b"if-none-match")):
            return _start(304, [*outcome.same_headers, named]), EMPTY
        await self._answers.pack(key, outcome, headers)
        out, body = outcome.shown(headers)
        return _start(200, [*out, named]), body if scope["method"] == "GET" else EMPTY


def _common(answer: Answer) -> Headers:
    return [VARY, *answer.headers]


def _plain(answer: Answer, scope: Scope, named: tuple[bytes, bytes]) -> Sequence[Message]:
    length = (b"content-length", b"%d" % len(answer.body))
    out = [(b"content-type", answer.content_type.encode()), length, *answer.headers, named]
    body = EMPTY if scope["method"] == "HEAD" else body_message(answer.body)
    return _start(answer.status, out), body


def _start(status: int, headers: Headers) -> Message:
    return {"type": "http.response.start", "status": status, "headers": headers}
