"""The pages are loaded by the first request for one, once, while other requests go on."""

import asyncio
import threading
from typing import Any

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp

import asgi
from silverball.web.handbook import PagesWhenAsked

VISITORS = 20


class SlowBuild:
    """Pages that take until `finish` to load."""

    def __init__(self) -> None:
        self.began, self.finish = threading.Event(), threading.Event()
        self.count = 0

    def __call__(self) -> ASGIApp:
        self.count += 1
        self.began.set()
        assert self.finish.wait(60)
        return PlainTextResponse("a page")


def test_many_first_visitors_wait_for_one_loading_and_the_loop_goes_on() -> None:
    build = SlowBuild()
    pages = PagesWhenAsked(build)

    async def visit() -> list[Any]:
        visits = [asyncio.ensure_future(asgi.send(pages, "/")) for _ in range(VISITORS)]
        # The loop is free while a thread loads.
        assert await asyncio.to_thread(build.began.wait, 10)
        await asyncio.sleep(0.01)
        assert not any(visit.done() for visit in visits)
        build.finish.set()
        return [*await asyncio.gather(*visits), await asgi.send(pages, "/")]

    replies = asyncio.run(visit())
    assert {reply.body for reply in replies} == {b"a page"}
    assert build.count == 1


def visit_twice(failure: Exception) -> list[asgi.Reply | Exception]:
    """The answers to two visits, while the pages cannot be loaded by the first."""
    failures = [failure]

    def build() -> ASGIApp:
        if failures:
            raise failures.pop()
        return PlainTextResponse("a page")

    pages = PagesWhenAsked(build)

    async def visit() -> list[Any]:
        return [
            *await asyncio.gather(asgi.send(pages, "/"), return_exceptions=True),
            await asgi.send(pages, "/"),
        ]

    return asyncio.run(visit())


def test_without_a_thread_to_load_them_the_site_is_busy_and_the_next_request_tries_again() -> None:
    busy, loaded = visit_twice(RuntimeError("can't start new thread"))
    assert isinstance(busy, asgi.Reply)
    assert isinstance(loaded, asgi.Reply)
    assert (busy.status, busy.headers["retry-after"]) == (503, "1")
    assert loaded.body == b"a page"


def test_pages_that_cannot_be_loaded_are_loaded_by_the_next_request() -> None:
    failure, loaded = visit_twice(OSError("too many open files"))
    assert isinstance(failure, OSError)
    assert isinstance(loaded, asgi.Reply)
    assert loaded.body == b"a page"
