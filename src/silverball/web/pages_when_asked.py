"""The pages as an application that the first request for a page loads.

They are a tenth of the program's start and of its memory, and a machine that only asks the interface, or
follows the feed, needs none of them. The first page takes some 60 ms more.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from silverball.kit.threads import is_refused_thread


class PagesWhenAsked:
    """Builds the pages once, in a thread of their own, so that other requests go on meanwhile."""

    def __init__(self, build: Callable[[], ASGIApp]) -> None:
        self._build = build
        self._pages: ASGIApp | None = None
        self._loading = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            pages = self._pages or await self._load()
        except RuntimeError as error:
            if not is_refused_thread(error):
                raise
            # The next request tries again.
            pages = busy_page()
        await pages(scope, receive, send)

    async def _load(self) -> ASGIApp:
        async with self._loading:
            if self._pages is None:
                loop, pool = asyncio.get_running_loop(), ThreadPoolExecutor(1, "silverball-loading")
                try:
                    self._pages = await loop.run_in_executor(pool, self._build)
                finally:
                    pool.shutdown(wait=False)
        return self._pages


def busy_page() -> PlainTextResponse:
    """The answer while the site has no room for a request."""
    # Plain text: a rendered page costs more than many such refusals.
    text = "The site is busy. Nothing was changed; try again in a moment."
    return PlainTextResponse(text, 503, {"retry-after": "1", "cache-control": "no-store"})
