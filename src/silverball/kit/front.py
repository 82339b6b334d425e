"""The front door: who is asking, how often, and whether the answer is at hand already.

An ASGI callable before everything else. An answer that is at hand goes out from here: a few
lookups, no thread, no database. The rest is computed in worker threads, equal questions once.
"""

import asyncio
import contextlib
import hashlib
import itertools
import re
import secrets
import time
from collections.abc import Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from silverball.kit import logs, requests
from silverball.kit.allowance import Allowance, Pace, Purse
from silverball.kit.answers import Answers, is_to_be_packed
from silverball.kit.finished import (
    CACHE_CONTROL,
    CORS,
    NOT_FOUND,
    PREFLIGHT,
    TOO_LARGE,
    TOO_MANY,
    Finished,
    Headers,
    Key,
    Shelf,
    body_message,
)
from silverball.kit.guests import Guest, Guests
from silverball.kit.http import READS, Answer, Request
from silverball.kit.live import HungUp, Stream, opening, send_parts, while_connected
from silverball.kit.published import Published
from silverball.kit.requests import OWN_ASKED_MAX, House, Limits, Receive, Scope, Send
from silverball.kit.tally import Tally, note

Reply = tuple[dict[str, Any], dict[str, Any]]

# Of their own, so that writes which wait for a lock never hold up reads.
WRITERS = 8
REQUEST_ID = re.compile(rb"[A-Za-z0-9._\-]{1,64}")
EMPTY = body_message(b"")
# Asked every few seconds by whoever runs the program; a line for each says nothing.
HEALTH_PATHS = frozenset({"/up", "/ready"})


class FrontDoor:
    """The ASGI application."""

    def __init__(
        self,
        house: House,
        limits: Limits,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._house = house
        self._clock = clock
        self._wall_clock = wall_clock
        self._revision_of = house.revision_of
        # The answers of the others have keys of their own too, and are found on the slow path.
        self._own_paths = frozenset(path for path in house.own_paths if "{" not in path)
        self._is_live = requests.own_pattern(house.live_paths).fullmatch
        self._is_own = requests.own_pattern(house.own_paths).fullmatch
        self.shelf = Shelf(limits.cache_bytes)
        self._allowance = Allowance(limits.rate_per_minute)
        self._own_allowance = Allowance(max(limits.own_per_minute, limits.rate_per_minute))
        self._pace = Pace(limits.standings_interval_seconds)
        self._workers = ThreadPoolExecutor(house.workers, thread_name_prefix="silverball")
        self._answers = Answers(
            self.shelf, self._workers, revision_of=house.revision_of, refresh=house.refresh
        )
        self._published = Published(house, self._answers)
        self._writers = ThreadPoolExecutor(WRITERS, thread_name_prefix="silverball-writer")
        self._guests = Guests(house.find_caller, self._workers, clock)
        self._request_ids = itertools.count(1)
        self._process = secrets.token_hex(4).encode()
        self._tally = Tally(clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._elsewhere(scope, receive, send)
            return
        path = scope["path"]
        if not path.startswith("/api/") and path != "/api":
            await self._elsewhere(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        now = self._clock()
        authorization = headers.get(b"authorization")
        guest = self._guests.nobody if authorization is None else self._guests.get(authorization)
        if (
            guest is not None
            and now < guest.until
            and scope["method"] == "GET"
            and b"x-tournament-revision" not in headers
            and b"content-length" not in headers
            and b"transfer-encoding" not in headers
        ):
            kept_for = guest.own if path in self._own_paths else guest.viewer
            key = (path, scope["query_string"], kept_for)
            finished = self.shelf.get(key)
            if (
                finished is not None
                and finished.revision == self._revision_of(finished.scope_id)
                and not is_to_be_packed(finished, headers)
                and self._knows_purse(guest, finished.scope_id)
            ):
                self.shelf.touch(key)
                self._tally.from_memory += 1
                purse = self._purse(guest, scope, headers, finished.scope_id)
                start, body = self._reply(finished, purse, scope, headers, now)
                await send(start)
                await send(body)
                return
        await self._slowly(scope, receive, send, headers)

    def close(self) -> None:
        """Wait for what is being computed and let the threads go."""
        self._writers.shutdown()
        self._workers.shutdown()

    async def _elsewhere(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if self._house.pages is not None:
                await self._house.pages(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        named = self._request_id(headers)
        if self._published.has(scope):
            try:
                shown = await self._published.reply(scope, headers, named, self._clock)
            except Exception as error:  # noqa: BLE001  # the edge: the database may be gone
                shown = self._plain(self._house.failed(error), scope, headers, [])
            for message in shown:
                await send(message)
            return
        if self._house.pages is None:
            for message in self._plain(Answer(404, NOT_FOUND), scope, headers, []):
                await send(message)
            return
        logs.request_id.set(named[1].decode())
        began = self._clock()

        async def send_named(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), named]
                if scope["path"] not in HEALTH_PATHS:
                    note(scope, None, message, self._clock() - began)
            await send(message)

        await self._house.pages(scope, receive, send_named)

    # What goes out

    def _reply(
        self,
        finished: Finished,
        purse: Purse,
        scope: Scope,
        headers: dict[bytes, bytes],
        now: float,
        left: int | None = None,
    ) -> Reply:
        """A finished answer, a 304 in its place, or a 429. `left` is given when the request was counted."""
        asked = headers.get(b"if-none-match")
        if finished.is_known_to(asked):
            if left is not None:
                purse.give_back()
            out = [*finished.same_headers, self._request_id(headers), *purse.headers(purse.left(now))]
            return {"type": "http.response.start", "status": 304, "headers": out}, EMPTY
        if left is None:
            left = purse.take(now)
            if left < 0:
                return self._too_many(scope, headers, purse, now)
        if finished.is_paced and asked is None:
            # By number and last word: `042` is the same tournament.
            paced = (purse.who, finished.scope_id, scope["path"].rpartition("/")[2])
            wait = self._pace.seconds_to_wait(paced, now)
            if wait:
                return self._too_soon(scope, headers, wait, purse.headers(left))
        out, body = finished.shown(headers)
        out = [*out, self._request_id(headers), *purse.headers(left)]
        start = {"type": "http.response.start", "status": 200, "headers": out}
        return start, body if scope["method"] == "GET" else EMPTY

    def _plain(
        self,
        answer: Answer,
        scope: Scope,
        headers: dict[bytes, bytes],
        extra: Headers,
    ) -> Reply:
        """An answer that is not kept: refusals, and answers to writes."""
        out = [
            (b"content-type", answer.content_type.encode()),
            (b"content-length", b"%d" % len(answer.body)),
            CACHE_CONTROL,
            *CORS,
            *answer.headers,
            *extra,
            self._request_id(headers),
        ]
        body = EMPTY if scope["method"] == "HEAD" else body_message(answer.body)
        return {"type": "http.response.start", "status": answer.status, "headers": out}, body

    def _too_many(self, scope: Scope, headers: dict[bytes, bytes], purse: Purse, now: float) -> Reply:
        return self._too_soon(scope, headers, purse.seconds_to_wait(now), purse.headers(0))

    def _too_soon(self, scope: Scope, headers: dict[bytes, bytes], wait: int, counted: Headers) -> Reply:
        self._tally.turned_away += 1
        return self._plain(TOO_MANY, scope, headers, [*self._wait_headers(wait), *counted])

    # What it costs

    def _knows_purse(self, guest: Guest, scope_id: int) -> bool:
        return not scope_id or guest.caller is None or scope_id in guest.runs or not self._allowance.limit

    async def _learn_purse(self, guest: Guest, scope_id: int) -> None:
        """Ask whether the tournament is one that the caller runs; remembered as long as the caller is."""
        caller = guest.caller
        if caller is None or self._knows_purse(guest, scope_id) or len(guest.runs) >= OWN_ASKED_MAX:
            return
        loop = asyncio.get_running_loop()
        guest.runs[scope_id] = await loop.run_in_executor(
            self._workers, self._house.has_own_bucket, caller, scope_id
        )

    def _purse(self, guest: Guest, scope: Scope, headers: dict[bytes, bytes], scope_id: int) -> Purse:
        is_free = scope["path"].endswith(requests.FREE_ENDING)
        # The general limit of 0 means that nothing is counted at all.
        if guest.runs.get(scope_id):
            return Purse(self._own_allowance, (guest.user_id, scope_id), is_free=is_free)
        return Purse(self._allowance, guest.user_id or requests.address_of(scope, headers), is_free=is_free)

    def _wait_headers(self, wait: int) -> Headers:
        reset = int(self._wall_clock()) + wait
        return [(b"retry-after", b"%d" % wait), (b"x-ratelimit-reset", b"%d" % reset)]

    def _request_id(self, headers: dict[bytes, bytes]) -> tuple[bytes, bytes]:
        given = headers.get(b"x-request-id")
        if given is None or not REQUEST_ID.fullmatch(given):
            given = headers[b"x-request-id"] = b"%b-%x" % (self._process, next(self._request_ids))
        return (b"x-request-id", given)

    # What is not at hand

    async def _slowly(self, scope: Scope, receive: Receive, send: Send, headers: dict[bytes, bytes]) -> None:
        self._tally.report_when_due(len(self.shelf), self.shelf.bytes_used)
        if scope["method"] == "OPTIONS":
            start, body = self._options(scope["path"], headers)
        elif scope["method"] in READS and self._is_live(scope["path"]):
            with contextlib.suppress(HungUp):
                await self._live(scope, receive, send, headers)
            return
        else:
            try:
                start, body = await self._computed(scope, receive, headers)
            except Exception as error:  # noqa: BLE001  # the edge: whatever fails is answered in JSON
                start, body = self._plain(self._house.failed(error), scope, headers, [])
        await send(start)
        await send(body)

    async def _live(self, scope: Scope, receive: Receive, send: Send, headers: dict[bytes, bytes]) -> None:
        """A route that waits: counted like any other, and let go when the client hangs up."""
        began = self._clock()
        guest = await self._guests.find(headers.get(b"authorization"))
        purse = self._purse(guest, scope, headers, 0)
        left = purse.take(began)
        body: MutableMapping[str, Any] | None = EMPTY
        outcome = await self._waited(scope, headers, guest, receive) if left >= 0 else TOO_MANY
        if left < 0:
            start, body = self._too_many(scope, headers, purse, began)
        elif isinstance(outcome, Stream):
            start = opening(outcome, [*purse.headers(left), self._request_id(headers)])
            body = None if scope["method"] == "GET" else EMPTY
        elif outcome.status == 200:
            finished = Finished(outcome, scope_id=0, revision=0)
            start, body = self._reply(finished, purse, scope, headers, began, left)
        else:
            start, body = self._plain(outcome, scope, headers, purse.headers(left))
        note(scope, guest.user_id or None, start, self._clock() - began)
        await send(start)
        if body is not None:
            await send(body)
        elif isinstance(outcome, Stream):
            await while_connected(send_parts(outcome, send), receive)

    async def _waited(
        self, scope: Scope, headers: dict[bytes, bytes], guest: Guest, receive: Receive
    ) -> Answer | Stream:
        assert self._house.live is not None
        request = self._request(scope, headers, guest, b"")
        try:
            outcome: Answer | Stream = await while_connected(self._house.live(request), receive)
        except HungUp:
            raise
        except Exception as error:  # noqa: BLE001  # the edge: whatever fails is answered in JSON
            outcome = self._house.failed(error)
        return outcome

    def _options(self, path: str, headers: dict[bytes, bytes]) -> Reply:
        if b"access-control-request-method" in headers:
            status, out = 204, PREFLIGHT
        else:
            allowed = ",".join(self._house.verbs_of(path) or ("GET", "HEAD")).encode()
            status, out = 200, [(b"allow", allowed), (b"content-length", b"0"), CACHE_CONTROL, *CORS]
        return {
            "type": "http.response.start",
            "status": status,
            "headers": [*out, self._request_id(headers)],
        }, EMPTY

    async def _computed(self, scope: Scope, receive: Receive, headers: dict[bytes, bytes]) -> Reply:
        began = self._clock()
        if requests.is_declared_too_large(headers):
            return self._plain(TOO_LARGE, scope, headers, [])
        guest = await self._guests.find(headers.get(b"authorization"))
        scope_id = requests.scope_id_of(scope["path"])
        await self._learn_purse(guest, scope_id)
        purse = self._purse(guest, scope, headers, scope_id)
        left = None
        if scope["method"] not in READS:
            # A body is read only of who has something left.
            left = purse.take(self._clock())
            if left < 0:
                return self._too_many(scope, headers, purse, self._clock())
        body = await requests.body_of(scope["method"], receive, headers)
        if body is None:
            return self._plain(TOO_LARGE, scope, headers, [])
        request = self._request(scope, headers, guest, body)
        key = self._key(request, guest)
        wanted = requests.number_of(headers.get(b"x-tournament-revision"))
        if request.method in READS and wanted <= self._revision_of(scope_id):
            finished = self._answers.at_hand(key)
            if finished is not None:
                await self._answers.pack(key, finished, headers)
                return self._reply(finished, purse, scope, headers, self._clock())
        if left is None:
            left = purse.take(self._clock())
        if left < 0:
            return self._too_many(scope, headers, purse, self._clock())
        outcome = await self._outcome(request, key, scope_id, wanted, self._request_id(headers)[1])
        if isinstance(outcome, Finished):
            await self._answers.pack(key, outcome, headers)
            start, message = self._reply(outcome, purse, scope, headers, self._clock(), left)
        else:
            start, message = self._plain(outcome, scope, headers, purse.headers(left))
        note(scope, guest.user_id or None, start, self._clock() - began)
        return start, message

    def _request(self, scope: Scope, headers: dict[bytes, bytes], guest: Guest, body: bytes) -> Request:
        return Request(
            method=scope["method"],
            path=scope["path"],
            query=scope["query_string"],
            caller=guest.caller,
            body=body,
            source=requests.address_of(scope, headers),
            idempotency_key=headers.get(b"idempotency-key"),
            if_match=headers.get(b"if-match"),
            last_event_id=headers.get(b"last-event-id"),
        )

    def _key(self, request: Request, guest: Guest) -> Key:
        asked = request.query
        if request.body:
            asked += b"\n" + hashlib.blake2b(request.body, digest_size=16).digest()
        return request.path, asked, guest.own if self._is_own(request.path) else guest.viewer

    async def _outcome(
        self, request: Request, key: Key, scope_id: int, wanted: int, request_id: bytes
    ) -> Finished | Answer:
        """Compute it, or wait for an equal question that is being computed at the same revision."""
        if request.method not in READS:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._writers, self._answer, request, request_id)
        asked = replace(request, method="GET")
        return await self._answers.computed(
            key, scope_id, lambda: self._answer(asked, request_id), wanted=wanted
        )

    # In a worker thread

    def _answer(self, request: Request, request_id: bytes) -> Answer:
        logs.request_id.set(request_id.decode())
        return self._house.answer(request)
