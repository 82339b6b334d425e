"""T13: every answer to generated requests conforms to the OpenAPI document, whoever sends them.

`make soak` sends a thousand other ones to each operation: half of them valid, half not,
and each on both databases.
"""

import re
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from itertools import product
from random import Random
from typing import Any

# Hypothesis looks at it, and must not find it half loaded by a thread of the program.
import numpy as np  # noqa: F401
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import CheckFunction
from schemathesis.specs.openapi import checks
from sqlalchemy import update
from starlette.testclient import TestClient

import build
from selection import IS_SOAK, LARGE_IN_SOAK, examples
from silverball import app
from silverball.kit.http import openapi
from silverball.kit.http.endpoints import collect_endpoints
from silverball.service.users import writes as users_writes
from silverball.settings import Settings
from silverball.slices import ROUTE_MODULES
from silverball.store import tables
from silverball.store.database import migrate
from silverball.store.database.engine import Store

pytestmark = LARGE_IN_SOAK

# Beside those without a token: its user, their role, and the token's ability.
CALLERS = {
    "organizer": ("Olga Ramp", "organizer", "manage"),
    "reader": ("Rita Reader", "player", "read"),
    "admin": ("Ada Admin", "admin", "admin"),
}
RUNNING_ID, COMPLETED_ID = 1, 2
# Of each of the two modes; each example is sent by one of the callers, or by nobody.
EXAMPLES = 500 if IS_SOAK else 25
# Around the largest number of 32 and of 64 bits, and beyond all of them.
NUMBERS = (2**31 - 1, 2**31, 2**63 - 1, 2**63, 2**64, 10**24, 10**30, -(2**63) - 1)
PATH_PARAMETER = re.compile(r"\{(\w+)\}")
# `feed/test_replay.py` tests the routes that wait.
ROUTES = sorted(
    (endpoint.method, openapi.documented_path(endpoint))
    for endpoint in collect_endpoints(*ROUTE_MODULES)
    if not endpoint.is_async
)
CHECKS: list[CheckFunction] = [
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]


def _fill(store: Store) -> dict[str, str]:
    """Create a row of each kind, owned by the organizer, and return the tokens of all callers."""
    user_ids = {
        caller: build.a_user(store, name=name, role=role) for caller, (name, role, _) in CALLERS.items()
    }
    user_id = user_ids["organizer"]
    for tournament_id, status in ((RUNNING_ID, "started"), (COMPLETED_ID, "completed")):
        night = build.a_tournament(store, organizer_id=user_id, status=status)
        assert night.tournament_id == tournament_id
        round_id = build.a_round(store, night.tournament_id)
        build.a_game(
            store,
            night.tournament_id,
            night.player_ids,
            round_id=round_id,
            arena_id=night.arena_ids[0],
            status="completed",
            points=["7", "5", "3", "1"],
            positions=night.player_ids,
        )
    build.row(store, tables.club, user_id=user_id)
    build.a_rating(store, user_id=user_id, ifpa_id=1)
    build.row(store, tables.location, organizer_id=user_id)
    build.row(store, tables.series, organizer_id=user_id)
    build.row(store, tables.occasion, organizer_id=user_id)
    submission_id = build.row(store, tables.rating_submission, submitter_id=user_id, status="needs_players")
    player = {"place": 0, "name": "Ada", "settled": False, "candidates": []}
    build.row(store, tables.submission_player, rating_submission_id=submission_id, **player)
    build.row(store, tables.machine)
    # Inactive, so that nothing is sent.
    hook = build.row(store, tables.webhook, tournament_id=1, is_active=False)
    build.row(store, tables.webhook_delivery, webhook_id=hook)
    dice = Random(7)
    with store.write() as transaction:
        return {
            caller: users_writes.create_token(
                transaction.connection,
                user_ids[caller],
                "any",
                abilities=[ability],
                now=datetime.now(UTC),
                dice=dice,
            ).text
            for caller, (_, _, ability) in CALLERS.items()
        }


class Programs:
    """Programs with the same rows, of which the chosen answers."""

    def __init__(self, stores: list[Store]) -> None:
        limits = Settings(base_url=build.BASE_URL, rate_limit_per_minute=0, standings_interval_seconds=0)
        self._stores = stores
        self.front_doors = [app.build(store, limits) for store in stores]
        self.chosen = self.front_doors[0]

    def readmit_callers(self) -> None:
        """End what a request of the administrator may have done to the callers."""
        for store in self._stores:
            with store.write() as transaction:
                for name, role, _ in CALLERS.values():
                    own = update(tables.user).where(tables.user.c.name == name)
                    transaction.connection.execute(own.values(role=role, suspended_at=None))

    async def without_lifespan(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, but start nothing: Schemathesis runs the lifespan with each request."""
        if scope["type"] == "lifespan":
            for phase in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{phase}.complete"})
        else:
            await self.chosen(scope, receive, send)


@pytest.fixture(scope="module")
def programs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Programs, Any, dict[str, str]]]:
    """Running programs, their OpenAPI document, and the token of each caller."""
    with ExitStack() as stack:
        urls = [f"sqlite:///{tmp_path_factory.mktemp('any') / 'any.db'}"]
        if IS_SOAK:
            urls.append(request.getfixturevalue("postgresql").new_database())
        stores = [stack.enter_context(closing(Store(url))) for url in urls]
        tokens_made = []
        for store in stores:
            migrate.migrate(store)
            tokens_made.append(_fill(store))
        assert all(made == tokens_made[0] for made in tokens_made)
        running = Programs(stores)
        for front_door in running.front_doors:
            stack.enter_context(TestClient(front_door))
        document = schemathesis.openapi.from_asgi("/openapi.json", running.without_lifespan)
        yield running, document, tokens_made[0]


def test_no_number_in_a_query_is_too_large_for_an_answer(
    programs: tuple[Programs, Any, dict[str, str]],
) -> None:
    """A generated request has a number of more than 64 bits once in a thousand."""
    running, document, tokens_of_callers = programs
    running.readmit_callers()
    headers = {"authorization": f"Bearer {tokens_of_callers['admin']}"}
    asked = set()
    for path in [path for method, path in ROUTES if method == "GET"]:
        operation = document[path]["GET"]
        names = [parameter.name for parameter in operation.query]
        for name, number, tournament_id in product(names, NUMBERS, (RUNNING_ID, COMPLETED_ID)):
            case = operation.Case(
                path_parameters=dict.fromkeys(PATH_PARAMETER.findall(path), str(tournament_id)),
                query={name: str(number)},
            )
            for front_door in running.front_doors:
                running.chosen = front_door
                case.call_and_validate(headers=headers, checks=CHECKS)
            asked.add((path, name))
    assert asked >= {("/api/ifpa/{ifpaId}/rating-history", "page"), ("/api/games", "page")}


@pytest.mark.sample(150)
@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize(
    ("method", "path"),
    # The rows are deleted when everything else was asked of them.
    [route for route in ROUTES if route[0] != "DELETE"] + [route for route in ROUTES if route[0] == "DELETE"],
)
def test_every_answer_conforms_to_the_document(
    programs: tuple[Programs, Any, dict[str, str]], method: str, path: str, mode: GenerationMode
) -> None:
    running, document, tokens_of_callers = programs
    running.readmit_callers()

    @settings(
        max_examples=examples(EXAMPLES),
        deadline=None,
        # A soak sends others each time, and a failure prints how to send it again.
        derandomize=not IS_SOAK,
        print_blob=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        case=document[path][method].as_strategy(generation_mode=mode),
        caller=st.sampled_from(["nobody", *CALLERS]),
    )
    def send(case: Any, caller: str) -> None:
        token = tokens_of_callers.get(caller)
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        for front_door in running.front_doors:
            running.chosen = front_door
            case.call_and_validate(headers=headers, checks=CHECKS)

    send()
