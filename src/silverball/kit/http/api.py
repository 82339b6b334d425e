"""The endpoints behind one base URL: match the route, parse, call the handler, encode."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

import msgspec

from silverball.kit.http import body
from silverball.kit.http.endpoints import (
    SVG,
    AbilityMissing,
    Access,
    AnyWrite,
    AsyncCall,
    Call,
    Endpoint,
    FileDownload,
    HttpResponse,
    Request,
    Stream,
    SvgImage,
    ThrottledResult,
    Unauthenticated,
    UncachedResult,
    Write,
)
from silverball.kit.http.multipart import is_multipart, read_form
from silverball.kit.http.query import HeaderPairs, parse_query
from silverball.kit.http.router import RouteMatch, Router, parse_path_id, parse_path_word
from silverball.kit.values import replace

# Runs the handler of a writing endpoint in a transaction and returns the committed answer.
AnswerWrite = Callable[[Endpoint, AnyWrite, Request], HttpResponse]


class Api:
    """Answers requests to endpoints. Refusals are raised; the caller turns them into answers."""

    def __init__(
        self,
        routes: Router,
        *,
        base_url: str,
        public_read: bool,
        read: Callable[[], AbstractContextManager[Any]],
        answer_write: AnswerWrite,
        now: Callable[[], datetime],
        feed: Any = None,
        settings: Any = None,
    ) -> None:
        self.routes = routes
        self._settings = settings
        self._base_url = base_url
        self._public_read = public_read
        self._read = read
        self._answer_write = answer_write
        self._now = now
        self._feed = feed
        self._encode = msgspec.json.Encoder().encode

    def answer(self, request: Request) -> HttpResponse:
        """Match the route, parse, call the handler, encode its value. Raises refusals."""
        match = self.routes.match(request.method, request.path)
        endpoint = match.endpoint
        if request.caller is None and not self._is_open(endpoint.access, request):
            raise Unauthenticated
        if request.caller is not None and not request.caller.may(endpoint.ability):
            raise AbilityMissing
        arguments, headers = self._call_arguments(match, request)
        if not endpoint.is_write:
            response = self._encode_response(endpoint, endpoint.handler(Call(**arguments)))
            return replace(response, headers=(*response.headers, *headers))
        if endpoint.takes_file and is_multipart(request.content_type):
            parsed_body = endpoint.body_parser.parse_form(read_form(request.body, request.content_type))
        else:
            parsed_body = endpoint.body_parser.parse(request.body, request.content_type)
        write: AnyWrite = Write(**arguments, body=parsed_body, db=None, transaction=None)
        return self._answer_write(endpoint, write, request)

    async def answer_async(self, request: Request) -> HttpResponse | Stream:
        """`answer` for a route whose handler is a coroutine."""
        match = self.routes.match(request.method, request.path)
        last_event_id = (request.last_event_id or b"").decode("utf-8", "replace")
        arguments, headers = self._call_arguments(match, request)
        call: AsyncCall[Any] = AsyncCall(**arguments, feed=self._feed, last_event_id=last_event_id)
        value = await match.endpoint.handler(call)
        response = value if isinstance(value, Stream) else self._encode_response(match.endpoint, value)
        return replace(response, headers=(*response.headers, *headers))

    def _call_arguments(self, match: RouteMatch, request: Request) -> tuple[dict[str, Any], HeaderPairs]:
        """The arguments of a `Call`, and the headers that name what was ignored."""
        pairs = parse_query(request.query)
        if match.endpoint.accepts_body_parameters:
            pairs += body.parse_pairs(request.body, request.content_type)
        parts, patterns = match.words, match.endpoint.words
        parsed = match.endpoint.parser.parse(pairs)
        arguments: dict[str, Any] = {
            "query": parsed.query,
            "ids": {name: parse_path_id(name, word) for name, word in parts.items() if name not in patterns},
            "words": {
                name: parse_path_word(name, parts[name], pattern) for name, pattern in patterns.items()
            },
            "pairs": pairs,
            "path": request.path,
            "base_url": request.base_url or self._base_url,
            "caller": request.caller,
            "read": self._read,
            "source": request.source,
            "now": self._now().replace(microsecond=0),
            "settings": self._settings,
        }
        return arguments, parsed.headers

    def _is_open(self, access: Access, request: Request) -> bool:
        """Whether such a route needs no token of this request: a wrong one is never taken for none."""
        if access is Access.OPENABLE:
            return self._public_read and not request.has_refused_token
        return access is Access.ANYONE

    def _encode_response(self, endpoint: Endpoint, value: Any) -> HttpResponse:
        if isinstance(value, ThrottledResult):
            return HttpResponse(endpoint.status, self._encode(value.value), is_throttled=value.is_throttled)
        if isinstance(value, UncachedResult):
            return replace(self._encode_response(endpoint, value.value), is_cacheable=False)
        if isinstance(value, FileDownload):
            disposition = f'attachment; filename="{value.name}"'.encode("latin-1")
            headers = ((b"content-disposition", disposition),)
            return HttpResponse(endpoint.status, value.body, value.content_type, headers)
        if isinstance(value, SvgImage):
            return HttpResponse(endpoint.status, value.svg, SVG)
        return HttpResponse(endpoint.status, self._encode(value))
