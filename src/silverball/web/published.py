"""Documents that the server publishes as a whole: sent compressed, with an ETag, to anyone."""

import gzip
from collections.abc import Callable
from functools import cached_property

from starlette.requests import Request
from starlette.responses import Response

from silverball.kit.edge.response_cache import accepts_gzip, names_etag
from silverball.web import site

GZIP_LEVEL = 9


class PublishedJson:
    """A JSON document, built when it is first asked for."""

    def __init__(self, build: Callable[[], bytes], headers: dict[str, str] | None = None) -> None:
        self._build = build
        self._own_headers = headers or {}

    @cached_property
    def body(self) -> bytes:
        return self._build()

    @cached_property
    def gzip_body(self) -> bytes:
        return gzip.compress(self.body, GZIP_LEVEL, mtime=0)

    @cached_property
    def headers(self) -> dict[str, str]:
        return {
            **self._own_headers,
            # Weak, because the compressed and the plain text share it.
            "etag": f'W/"{site.content_digest([self.body])}"',
            "cache-control": "no-cache",
            "vary": "accept-encoding",
            "access-control-allow-origin": "*",
            "access-control-expose-headers": "etag",
        }

    def response(self, request: Request) -> Response:
        """Return the document, or 304 to a client that has it."""
        known = request.headers.get("if-none-match", "").encode("latin-1")
        if names_etag(known, self.headers["etag"].encode()):
            return Response(status_code=304, headers=self.headers)
        if accepts_gzip(request.headers.get("accept-encoding", "").encode("latin-1")):
            headers = {**self.headers, "content-encoding": "gzip"}
            return Response(self.gzip_body, media_type="application/json", headers=headers)
        return Response(self.body, media_type="application/json", headers=self.headers)
