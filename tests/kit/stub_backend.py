"""A stub backend for the front door: its answers are counted, its revisions are set by hand."""

import threading
import time
from collections import Counter
from typing import Any

import build
from silverball.kit.edge.backend import Backend, FrontDoorLimits
from silverball.kit.edge.computing_line import Computing
from silverball.kit.edge.front import FrontDoor
from silverball.kit.errors import Refusal
from silverball.kit.http.endpoints import Caller, HttpResponse, Request
from silverball.kit.http.refusals import refusal_response
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.tournaments import paths

STANDINGS = "/api/tournaments/42/standings"
PER_USER = "/api/arenas"
RESULT = "/api/tournaments/42/games/10/result"
BIG = b'{"name":"' + b"Meteor Shower " * 200 + b'"}'


class Clock:
    """A clock set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class StubBackend:
    """The program behind the front door."""

    def __init__(self) -> None:
        self.revisions = {0: 1, 42: 917, 7: 1}
        # Revisions in the database that memory does not know yet.
        self.newer_revisions: dict[int, int] = {}
        self.accounts: dict[bytes, AuthenticatedCaller] = {
            b"Bearer ada": build.caller(7),
            b"Bearer bo": build.caller(8),
            b"Bearer shy": build.caller(9, is_hidden=True),
        }
        # In the order of the changes.
        # Account id -> the number of its newest change.
        self.account_changes: dict[int, int] = {}
        self.computed: Counter[str] = Counter()
        self.lookup_count = 0
        self.status = 200
        self.body = BIG
        self.is_throttled = False
        # The number of hidings so far.
        self.hidings = 0
        # Whether visitors see what callers see.
        self.is_public = False
        self.seconds = 0.0
        # Cleared, no answer is finished until it is set.
        self.released = threading.Event()
        # Cleared, nobody who is looked up is found until it is set.
        self.callers_released = threading.Event()
        self.callers_released.set()
        # Set once an answer is being computed.
        self.is_computing = threading.Event()
        self.released.set()
        self.calls: list[tuple[str, int | None]] = []
        self.requests: list[Request] = []
        # User id and tournament id of the tournaments that users are running.
        # How long the database has not been asked; 0 while it can be.
        self.outage_seconds = 0.0
        self.running_tournaments: set[tuple[int, int]] = set()
        self.quota_lookup_count = 0
        self.lock = threading.Lock()

    def hide(self) -> None:
        self.hidings += 1

    def make_ada_admin(self) -> None:
        self.accounts[b"Bearer ada"] = build.caller(7, role="admin")
        self.account_changes[7] = max(self.account_changes.values(), default=0) + 1

    def find_caller(self, authorization: bytes) -> Caller | None:
        if self.outage_seconds:
            raise ConnectionError
        self.lookup_count += 1
        found = self.accounts.get(authorization)
        self.callers_released.wait(60)
        return found

    def refresh(self, scope_id: int) -> int:
        if self.outage_seconds:
            raise ConnectionError
        self.revisions.update(
            {scope_id: self.newer_revisions[scope_id]} if scope_id in self.newer_revisions else {}
        )
        return self.revisions.get(scope_id, 0)

    def answer(self, request: Request) -> HttpResponse:
        self.is_computing.set()
        time.sleep(self.seconds)
        self.released.wait(60)
        with self.lock:
            self.computed[request.path] += 1
            self.calls.append((request.method, request.caller.user_id if request.caller else None))
            self.requests.append(request)
        if request.caller is None and not self.is_public:
            return HttpResponse(401, b'{"message":"Unauthenticated."}')
        if request.method == "PUT":
            self.revisions[42] += 1
            return HttpResponse(200, b'{"written":true}', headers=((b"x-tournament-revision", b"918"),))
        if request.method not in ("GET", "HEAD"):
            return HttpResponse(405, b'{"message":"no"}', headers=((b"allow", b"GET, HEAD"),))
        return HttpResponse(self.status, self.body, is_throttled=self.is_throttled)

    def has_own_quota(self, caller: Caller, scope_id: int) -> bool:
        self.quota_lookup_count += 1
        self.callers_released.wait(60)
        return (caller.user_id, scope_id) in self.running_tournaments

    def answer_error(self, error: Exception) -> HttpResponse:
        if isinstance(error, Refusal):
            return refusal_response(error)
        status = 503 if isinstance(error, ConnectionError) else 500
        return HttpResponse(status, b'{"message":"Server Error"}')


def front_door(
    backend: StubBackend, clock: Clock, *, computing: Computing | None = None, **limits: Any
) -> FrontDoor:
    """A front door over the stub backend."""
    program = Backend(
        find_caller=backend.find_caller,
        version_of=lambda scope_id: 0 if backend.outage_seconds else backend.revisions.get(scope_id, 0),
        outage_seconds=lambda: backend.outage_seconds,
        last_version_of=lambda scope_id: backend.revisions.get(scope_id, 0),
        hidden_at=lambda: backend.hidings,
        refresh=backend.refresh,
        answer=backend.answer,
        answer_error=backend.answer_error,
        scope_for=paths.tournament_in,
        is_uncounted=paths.is_uncounted,
        costs_a_page=paths.costs_a_page,
        has_own_quota=backend.has_own_quota,
        account_changes=backend.account_changes,
        newest_account_change=lambda: max(backend.account_changes.values(), default=0),
        methods_for=lambda path: ["GET", "HEAD", "PUT"] if path == RESULT else [],
        computing=computing,
        per_user_paths=[PER_USER, "/api/tournaments/{tournament_id}/journal"],
    )
    return FrontDoor(program, FrontDoorLimits(**limits), clock=clock, wall_clock=lambda: 1_770_000_000.0)
