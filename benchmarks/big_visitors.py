"""Requests to a database, answered by this process as a worker thread of the server answers them."""

import asyncio
import gc
import re
import time
from datetime import UTC, datetime, timedelta
from random import SystemRandom
from typing import Any

import big_world
from big_requests import ADMIN, GUEST, ORGANIZER, REGULAR, TimedRequest
from silverball import app
from silverball.cli.server import SCANS
from silverball.kit.http.endpoints import Request
from silverball.service.accounts.writes import sessions
from silverball.service.core.access import AuthenticatedCaller
from silverball.settings import Settings
from silverball.store.database.engine import Store
from silverball.web import app as web
from silverball.web.live import pages as public

# The pages that are the same for everybody.
PUBLIC_VIEW = re.compile("/t/[0-9]+(/(wall|overlay|embed|draws))?")
CALLERS = {
    ORGANIZER: AuthenticatedCaller(user_id=1, role="organizer", ability="manage"),
    REGULAR: AuthenticatedCaller(user_id=big_world.REGULAR_ID, role="player", ability="read"),
    ADMIN: AuthenticatedCaller(user_id=big_world.ADMIN_ID, role="admin", ability="admin"),
}


class Visitors:
    """Answers requests of all callers, without the front door and without anything kept."""

    def __init__(self, store: Store) -> None:
        settings = Settings(public_read=True, rate_limit_per_minute=0)
        self._store = store
        self._api = app.build_api(store, settings)
        self._public = public.build(store, settings)
        self._pages = web.build(store, settings)
        self._cookies = {caller: self._sign_in(known.user_id) for caller, known in CALLERS.items()}
        self._loop = asyncio.new_event_loop()
        # As the server does once it is ready.
        gc.collect()
        gc.freeze()
        gc.set_threshold(*SCANS)

    def _sign_in(self, user_id: int) -> bytes:
        started = datetime.now(UTC)
        with self._store.write() as transaction:
            session = sessions.start_session(
                transaction.connection, user_id, now=started, lifetime=timedelta(days=1), dice=SystemRandom()
            )
        return f"silverball_session={session.secret}".encode()

    def milliseconds(self, request: TimedRequest, n: int) -> float:
        """The time of the n-th request. Raises RuntimeError for any status that is no answer."""
        self._store.forget()
        path, _, query = request.address(n).partition("?")
        began = time.perf_counter()
        status = self._status(request.caller, path, query)
        spent = time.perf_counter() - began
        if status != 200:
            raise RuntimeError(f"{request.address(n)}: {status}")
        return spent * 1000

    def _status(self, caller: str, path: str, query: str) -> int:
        if path.startswith("/api/"):
            asked = Request(method="GET", path=path, query=query.encode(), caller=CALLERS.get(caller))
            return app.answer_request(self._api, asked).status
        if PUBLIC_VIEW.fullmatch(path):
            return self._public.answer(Request(method="GET", path=path, query=query.encode())).status
        return self._loop.run_until_complete(self._page_status(caller, path, query))

    async def _page_status(self, caller: str, path: str, query: str) -> int:
        headers = [(b"host", b"localhost")]
        if caller != GUEST:
            headers.append((b"cookie", self._cookies[caller]))
        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": ("localhost", 80),
            "scheme": "http",
            "http_version": "1.1",
            "root_path": "",
        }
        status = 0

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            nonlocal status
            status = message.get("status", status)

        await self._pages(scope, receive, send)
        return status

    def close(self) -> None:
        """End the loop that answered the pages."""
        self._loop.close()
