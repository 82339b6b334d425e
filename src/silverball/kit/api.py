"""The endpoints behind one base URL: find the row of the table, parse, call, encode."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

import msgspec

from silverball.kit import body
from silverball.kit.errors import NotAllowed
from silverball.kit.http import (
    SVG,
    Access,
    Answer,
    Call,
    Drawing,
    Endpoint,
    File,
    Fresh,
    Paced,
    Request,
    Unauthenticated,
    Write,
)
from silverball.kit.live import Stream, Wait
from silverball.kit.query import pairs_of
from silverball.kit.replies import Replies
from silverball.kit.routing import Matched, Routes, path_id, path_word
from silverball.kit.writing import Writing

NO_ABILITY = "Invalid ability provided."


class Api:
    """`answer` raises what the composition root turns into a status."""

    def __init__(
        self,
        routes: Routes,
        *,
        base_url: str,
        public_read: bool,
        read: Callable[[], AbstractContextManager[Any]],
        write: Callable[[int | None], AbstractContextManager[Any]],
        revision_of: Callable[[Any, int], int | None],
        replies: Replies,
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
        self._writing = Writing(read=read, write=write, revision_of=revision_of, replies=replies, now=now)

    def answer(self, request: Request) -> Answer:
        """Find the endpoint, parse, call, encode. Raises refusals and the exceptions of `kit/http.py`."""
        matched = self.routes.match(request.method, request.path)
        endpoint = matched.endpoint
        if request.caller is None and not self._is_open(endpoint.access):
            raise Unauthenticated(request.path)
        if request.caller is not None and not request.caller.may(endpoint.ability):
            raise NotAllowed(NO_ABILITY)
        given = self._given(matched, request)
        if not endpoint.is_write:
            return self._encoded(endpoint, endpoint.handler(Call(**given)))
        write: Write[Any] = Write(**given, body=endpoint.body_parser.parse(request.body))
        return self._writing.answer(endpoint, write, request)

    async def live(self, request: Request) -> Answer | Stream:
        """`answer` for a route that waits."""
        matched = self.routes.match(request.method, request.path)
        last_event_id = (request.last_event_id or b"").decode("utf-8", "replace")
        call: Wait[Any] = Wait(**self._given(matched, request), feed=self._feed, last_event_id=last_event_id)
        value = await matched.endpoint.handler(call)
        return value if isinstance(value, Stream) else self._encoded(matched.endpoint, value)

    def _given(self, matched: Matched, request: Request) -> dict[str, Any]:
        pairs = pairs_of(request.query)
        if matched.endpoint.is_asked_in_body:
            pairs += body.pairs_of(request.body)
        found, patterns = matched.words, matched.endpoint.words
        return {
            "ids": {name: path_id(name, word) for name, word in found.items() if name not in patterns},
            "words": {name: path_word(name, found[name], pattern) for name, pattern in patterns.items()},
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

    def _encoded(self, endpoint: Endpoint, value: Any) -> Answer:
        if isinstance(value, Paced):
            return Answer(endpoint.status, self._encode(value.value), at_most_every=value.at_most_every)
        if isinstance(value, Fresh):
            return Answer(endpoint.status, self._encode(value.value), is_kept=False)
        if isinstance(value, File):
            disposition = f'attachment; filename="{value.name}"'.encode("latin-1")
            headers = ((b"content-disposition", disposition),)
            return Answer(endpoint.status, value.body, value.content_type, headers)
        if isinstance(value, Drawing):
            return Answer(endpoint.status, value.svg, SVG)
        return Answer(endpoint.status, self._encode(value))
