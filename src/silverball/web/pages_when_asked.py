"""The pages as an application that the first request for a page loads.

They are a tenth of the program's start and of its memory, and a machine that only asks the interface, or
follows the feed, needs none of them. The first page takes some 60 ms more.
"""

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send


class PagesWhenAsked:
    """Builds the pages once, in a thread of their own, so that other requests go on meanwhile."""

    def __init__(self, build: Callable[[], ASGIApp]) -> None:
        self._build = build
        self._pages: ASGIApp | None = None
        self._loading = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        pages = self._pages or await self._load()
        await pages(scope, receive, send)

    async def _load(self) -> ASGIApp:
        async with self._loading:
            if self._pages is None:
                self._pages = await asyncio.to_thread(self._build)
        return self._pages
