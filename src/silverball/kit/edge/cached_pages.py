"""Pages that look the same to everybody: kept in memory like the answers of the interface, never counted.

They have no caller, no allowance and headers of their own, which their 304 repeats.
"""

from collections.abc import Callable, MutableMapping, Sequence
from typing import Any

from silverball.kit import logs
from silverball.kit.edge import backend
from silverball.kit.edge.access_log import log_request
from silverball.kit.edge.backend import Backend, Scope
from silverball.kit.edge.response_cache import CachedResponse, Headers, body_message
from silverball.kit.edge.shared_responses import SharedResponses
from silverball.kit.http.endpoints import READ_METHODS, HttpResponse, Request

Message = MutableMapping[str, Any]
VARY = (b"vary", b"accept-encoding")
EMPTY_BODY = body_message(b"")
# For whom it is kept, among the viewers of the interface's answers.
PUBLIC_VIEWER = "everybody"
QUERY_BYTES_MAX = 1000
URI_TOO_LONG = HttpResponse(414, b"This address is too long.", "text/plain; charset=utf-8")


class CachedPages:
    """What answers these pages."""

    def __init__(self, house: Backend, answers: SharedResponses) -> None:
        self._responses = answers
        self._answer = house.answer_public
        self._normalize_query = house.normalize_public_query
        self._matches_path = backend.path_pattern(house.public_paths).fullmatch

    def handles(self, scope: Scope) -> bool:
        """Whether this is a request for one of them."""
        is_one = self._answer is not None and scope["method"] in READ_METHODS
        return is_one and self._matches_path(scope["path"]) is not None

    async def reply(
        self,
        scope: Scope,
        headers: dict[bytes, bytes],
        request_id_header: tuple[bytes, bytes],
        clock: Callable[[], float],
    ) -> Sequence[Message]:
        """The two messages that go out. `named` is the header that names the request."""
        began = clock()
        query = scope["query_string"]
        if len(query) > QUERY_BYTES_MAX:
            return _uncached_messages(URI_TOO_LONG, scope, request_id_header)
        if query:
            query = self._normalize_query(query)
        key = (scope["path"], query, PUBLIC_VIEWER)
        outcome: CachedResponse | HttpResponse | None = self._responses.find_cached(key)
        if outcome is not None:
            return await self._messages(outcome, key, scope, headers, request_id_header)
        request = Request(method="GET", path=scope["path"], query=query)
        scope_id = backend.scope_id_for(scope["path"])
        outcome = await self._responses.load(
            key, scope_id, lambda: self._compute(request, request_id_header), common_headers=_common_headers
        )
        sent = await self._messages(outcome, key, scope, headers, request_id_header)
        log_request(scope, None, sent[0], clock() - began)
        return sent

    def _compute(self, request: Request, named: tuple[bytes, bytes]) -> HttpResponse:
        logs.request_id.set(named[1].decode())
        assert self._answer is not None
        return self._answer(request)

    async def _messages(
        self,
        outcome: CachedResponse | HttpResponse,
        key: tuple[str, bytes, str],
        scope: Scope,
        headers: dict[bytes, bytes],
        named: tuple[bytes, bytes],
    ) -> Sequence[Message]:
        if isinstance(outcome, HttpResponse):
            return _uncached_messages(outcome, scope, named)
        if outcome.matches_etag(headers.get(b"if-none-match")):
            return _start_message(304, [*outcome.same_headers, named]), EMPTY_BODY
        await self._responses.compress(key, outcome, headers)
        out, body = outcome.headers_and_body(headers)
        return _start_message(200, [*out, named]), body if scope["method"] == "GET" else EMPTY_BODY


def _common_headers(answer: HttpResponse) -> Headers:
    return [VARY, *answer.headers]


def _uncached_messages(answer: HttpResponse, scope: Scope, named: tuple[bytes, bytes]) -> Sequence[Message]:
    length = (b"content-length", b"%d" % len(answer.body))
    out = [(b"content-type", answer.content_type.encode()), length, *answer.headers, named]
    body = EMPTY_BODY if scope["method"] == "HEAD" else body_message(answer.body)
    return _start_message(answer.status, out), body


def _start_message(status: int, headers: Headers) -> Message:
    return {"type": "http.response.start", "status": status, "headers": headers}
