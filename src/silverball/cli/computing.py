"""The computing process: makes the costly answers of a server that runs beside it, and changes nothing.

It is no command: the server spawns it at the first need (`kit/edge/computing_line.py`).
"""

import asyncio
import contextlib
import logging
import os
import pickle
import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from silverball import app
from silverball.app import ComputingNotes
from silverball.jobs.compute_forecasts import simulate_here
from silverball.kit import logs, processes
from silverball.kit.edge import backend
from silverball.kit.edge.computing_line import NO_DRY_RUN, ComputedAnswer, Question
from silverball.kit.edge.proxies import base_url_finder
from silverball.kit.edge.write_requests import names_revision
from silverball.kit.http.asgi import AsgiApp, Message, Scope
from silverball.kit.http.endpoints import TOURNAMENT, AnyWrite, Endpoint, HttpResponse, Request
from silverball.kit.http.refusals import RevisionMismatch, revision_headers
from silverball.kit.values import replace
from silverball.rules.planning.nights import SimulatedNight
from silverball.service.rounds import writes as rounds
from silverball.service.sheets import elsewhere
from silverball.service.sheets.bodies import ListToRead
from silverball.service.sheets.sources import ListSource
from silverball.store import processes as store_processes
from silverball.store.database.deadlines import COMPUTING
from silverball.store.database.engine import Store
from silverball.store.processes import ProcessSetup
from silverball.store.revisions import known_revisions
from silverball.web.live import views

LOG = logging.getLogger("silverball.computing")
# Whoever serves comes first.
NICENESS = 10
# The front door says these itself.
FRAMING = frozenset({b"content-length", b"content-type"})


def main() -> None:
    """Answer the questions of the server until it closes the input."""
    logs.configure()
    # A service manager may forbid it.
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    processes.serve(build)


def build(setup: bytes) -> Callable[[bytes], bytes]:
    """A function that answers the questions of a server with this setup."""
    given = store_processes.read_setup(setup)
    store = given.open_store(COMPUTING, is_read_only=True)
    computer = Computer(store, given)

    def answer(question: bytes) -> bytes:
        asked = pickle.loads(question)  # noqa: S301  # written by our own server
        if isinstance(asked, ListSource):
            return elsewhere.answer(asked)
        is_night = isinstance(asked, SimulatedNight)
        return msgspec.msgpack.encode(simulate_here(asked) if is_night else computer.answer(asked))

    return answer


class Computer:
    """Answers costly requests from one database."""

    def __init__(self, store: Store, setup: ProcessSetup) -> None:
        self._store = store
        self._setup = setup
        self._api = app.build_api(store, setup.settings, answer_write=self._answer_dry_run)
        self._is_public = backend.path_pattern(views.PATHS).fullmatch
        self._answer_public = app.answer_public(store, setup.settings)
        self._find_base_url = base_url_finder(follows_host=setup.follows_host)
        # Built for the first page.
        self._pages: AsgiApp | None = None
        self._loop = asyncio.Runner()
        # Account and address.
        self._downloads: list[tuple[int, str]] = []
        # Tournament and draw.
        self._previews: list[tuple[int, str]] = []

    def answer(self, question: Question) -> ComputedAnswer:
        """The answer, with the version of its scope that was read."""
        # What was remembered for an earlier question may have been hidden since.
        self._store.forget()
        return self.compute(question)

    def compute(self, question: Question) -> ComputedAnswer:
        """The answer, with what is remembered of the tournament."""
        logs.request_id.set(question.request_id)
        began = time.process_time()
        version = self._version_of(question.scope_id)
        if question.request is not None:
            response = app.answer_request(self._api, question.request)
        else:
            assert question.page is not None
            response = self._loop.run(self._answer_page(question.page))
        is_same = version == self._version_of(question.scope_id)
        return ComputedAnswer(
            response=response,
            version=str(version if is_same else 0),
            seconds=time.process_time() - began,
            notes=self._take_notes(),
        )

    def _version_of(self, scope_id: int) -> int:
        """The version in the database; 0 where it cannot be asked, which the answer says."""
        try:
            return known_revisions.stored_version(self._store, scope_id)
        except Exception:  # noqa: BLE001  # whatever the answer is, it is not kept
            return 0

    async def _answer_page(self, page: Mapping[str, Any]) -> HttpResponse:
        if self._is_public(page["path"]):
            headers = dict(page["headers"])
            base_url = self._find_base_url(headers)
            request = Request(method="GET", path=page["path"], query=page["query_string"], base_url=base_url)
            return self._answer_public(request)
        messages: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            messages.append(message)

        if self._pages is None:
            from silverball.web import app as web

            self._pages = web.build(
                self._store,
                self._setup.settings,
                follows_host=self._setup.follows_host,
                note_download=lambda user_id, source: self._downloads.append((user_id, source)),
            )
        scope: Scope = dict(page)
        try:
            await self._pages(scope, receive, send)
        except Exception as error:
            # Raised again after the page that says so was sent.
            LOG.error("the page failed", exc_info=error)
        start, *parts = messages
        named = dict(start["headers"])
        return HttpResponse(
            start["status"],
            b"".join(part.get("body", b"") for part in parts),
            named.get(b"content-type", b"").decode("latin-1"),
            tuple(header for header in start["headers"] if header[0] not in FRAMING),
        )

    def _answer_dry_run(self, endpoint: Endpoint, call: AnyWrite, request: Request) -> HttpResponse:
        """The answer to a dry run, which stores nothing. Raises RevisionMismatch."""
        if isinstance(call.body, ListToRead):
            if call.body.stores:
                return NO_DRY_RUN
            with self._store.read() as db:
                look = endpoint.handler(replace(call, db=db))
            return HttpResponse(endpoint.status, msgspec.json.encode(look))
        if not call.body.dry_run:
            return NO_DRY_RUN
        preview = rounds.preview_round(call, self._store.read)
        if request.if_match is not None and not names_revision(request.if_match, *preview.revision):
            raise RevisionMismatch(*preview.revision)
        self._previews.append((call.ids[TOURNAMENT], preview.draw))
        body = msgspec.json.encode(preview.drawn)
        return HttpResponse(endpoint.status, body, headers=revision_headers(*preview.revision))

    def _take_notes(self) -> bytes:
        """Return the work that the answer leaves to its server."""
        nights, forecasts = self._store.wanted_nights, self._store.wanted_forecasts
        notes = ComputingNotes(nights.waiting(), forecasts.waiting(), [*self._downloads], [*self._previews])
        self._downloads.clear()
        self._previews.clear()
        for night in notes.nights:
            nights.remove(night.key)
        for tournament_id in notes.forecasts:
            forecasts.remove(tournament_id)
        return b"" if notes == ComputingNotes() else msgspec.msgpack.encode(notes)


if __name__ == "__main__":
    main()
