"""The endpoints behind one base URL: find the row of the table, parse, call, encode."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

import msgspec

from silverball.kit.edge.idempotency import IdempotencyStore
from silverball.kit.errors import NotAllowed
from silverball.kit.http import body
from silverball.kit.http.async_routes import AsyncCall, Stream
from silverball.kit.http.endpoints import (
    SVG,
    Access,
    AnyWrite,
    Call,
    Endpoint,
    FileDownload,
    HttpResponse,
    Request,
    SvgImage,
    ThrottledResult,
    Unauthenticated,
    UncachedResult,
)
from silverball.kit.http.query import parse_query
from silverball.kit.http.router import RouteMatch, Router, parse_path_id, parse_path_word
from silverball.kit.http.write_requests import WriteRequests

NO_ABILITY = "Invalid ability provided."


class Api:
    """`answer` raises what the composition root turns into a status."""

    def __init__(
        self,
        routes: Router,
        *,
        base_url: str,
        public_read: bool,
        read: Callable[[], AbstractContextManager[Any]],
        write: Callable[[int | None], AbstractContextManager[Any]],
        revision_of: Callable[[Any, int], int | None],
        idempotency_store: IdempotencyStore,
        now: Callable[[], datetime],
        feed: Any = None,
        settings: Any = None,
    ) -> None:
        self.routes = routes
        self._settings = settings
        self._base_url = base_url
        self._public_read = public_read
        self._read = read
        self._now = now
        self._feed = feed
        self._encode = msgspec.json.Encoder().encode
        self._write_requests = WriteRequests(
            read=read, write=write, revision_of=revision_of, idempotency_store=idempotency_store, now=now
        )

    def answer(self, request: Request) -> HttpResponse:
        """Find the endpoint, parse, call, encode. Raises refusals and the exceptions of `endpoints`."""
        matched = self.routes.match(request.method, request.path)
        endpoint = matched.endpoint
        if request.caller is None and not self._is_open(endpoint.access):
            raise Unauthenticated(request.path)
        if request.caller is not None and not request.caller.may(endpoint.ability):
            raise NotAllowed(NO_ABILITY)
        given = self._call_arguments(matched, request)
        if not endpoint.is_write:
            return self._encode_response(endpoint, endpoint.handler(Call(**given)))
        body_value = endpoint.body_parser.parse(request.body)
        write: AnyWrite = AnyWrite(**given, body=body_value, db=None, transaction=None)
        return self._write_requests.answer(endpoint, write, request)

    async def answer_async(self, request: Request) -> HttpResponse | Stream:
        """`answer` for a route that waits."""
        matched = self.routes.match(request.method, request.path)
        last_event_id = (request.last_event_id or b"").decode("utf-8", "replace")
        call: AsyncCall[Any] = AsyncCall(
            **self._call_arguments(matched, request), feed=self._feed, last_event_id=last_event_id
        )
        value = await matched.endpoint.handler(call)
        return value if isinstance(value, Stream) else self._encode_response(matched.endpoint, value)

    def _call_arguments(self, matched: RouteMatch, request: Request) -> dict[str, Any]:
        pairs = parse_query(request.query)
        if matched.endpoint.accepts_body_parameters:
            pairs += body.parse_pairs(request.body)
        found, patterns = matched.words, matched.endpoint.words
        return {
            "ids": {name: parse_path_id(name, word) for name, word in found.items() if name not in patterns},
            "words": {
                name: parse_path_word(name, found[name], pattern) for name, pattern in patterns.items()
            },
            "query": matched.endpoint.parser.parse(pairs),
            "pairs": pairs,
            "path": request.path,
            "base_url": self._base_url,
            "caller": request.caller,
            "read": self._read,
            "source": request.source,
            "now": self._now().replace(microsecond=0),
            "settings": self._settings,
        }

    def _is_open(self, access: Access) -> bool:
        return access is Access.ANYONE or (access is Access.OPENABLE and self._public_read)

    def _encode_response(self, endpoint: Endpoint, value: Any) -> HttpResponse:
        if isinstance(value, ThrottledResult):
            return HttpResponse(endpoint.status, self._encode(value.value), is_throttled=value.is_throttled)
        if isinstance(value, UncachedResult):
            return HttpResponse(endpoint.status, self._encode(value.value), is_cacheable=False)
        if isinstance(value, FileDownload):
            disposition = f'attachment; filename="{value.name}"'.encode("latin-1")
            headers = ((b"content-disposition", disposition),)
            return HttpResponse(endpoint.status, value.body, value.content_type, headers)
        if isinstance(value, SvgImage):
            return HttpResponse(endpoint.status, value.svg, SVG)
        return HttpResponse(endpoint.status, self._encode(value))
