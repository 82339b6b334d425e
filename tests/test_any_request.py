"""Every answer to generated requests conforms to the OpenAPI document.

`make soak` sends a thousand other ones to each operation, on both databases.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import CheckFunction
from schemathesis.specs.openapi import checks
from starlette.testclient import TestClient

import build
from selection import IS_SOAK, examples
from silverball import app
from silverball.kit.http import openapi
from silverball.kit.http.endpoints import collect_endpoints
from silverball.service.tokens import writes as tokens
from silverball.settings import Settings
from silverball.store import migrate, tables
from silverball.store.engine import Store

EXAMPLES = 1_000 if IS_SOAK else 25
CHECKS: list[CheckFunction] = [
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]


def _fill(store: Store) -> str:
    """Create a row of each kind and return a token of their owner."""
    user_id = build.a_user(store, name="Olga Ramp", role="organizer")
    for status in ("started", "completed"):
        night = build.a_tournament(store, organizer_id=user_id, status=status)
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
    with store.write() as transaction:
        return tokens.create_token(
            transaction.connection, user_id, "any", now=datetime.now(UTC), dice=Random(7)
        ).text


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.soak)])
def openapi_schema(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Any, str]]:
    """The OpenAPI document of the running program, and a token."""
    if request.param == "sqlite":
        store = Store(f"sqlite:///{tmp_path_factory.mktemp('any') / 'any.db'}")
    else:
        store = Store(request.getfixturevalue("postgresql").new_database())
    migrate.migrate(store)
    token = _fill(store)
    limits = Settings(base_url=build.BASE_URL, rate_limit_per_minute=0, standings_interval_seconds=0)
    front_door = app.build(store, limits)

    async def without_lifespan(scope: Any, receive: Any, send: Any) -> None:
        # Schemathesis runs the lifespan with each request, which would restart the program.
        if scope["type"] == "lifespan":
            for phase in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{phase}.complete"})
        else:
            await front_door(scope, receive, send)

    with TestClient(front_door):
        yield schemathesis.openapi.from_asgi("/openapi.json", without_lifespan), token
    store.close()


@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize(
    ("method", "path"),
    sorted(
        (endpoint.method, openapi.documented_path(endpoint))
        for endpoint in collect_endpoints(*app.ROUTE_MODULES)
        # `feed/test_replay.py` tests the routes that wait.
        if not endpoint.is_async
    ),
)
def test_every_answer_conforms_to_the_document(
    openapi_schema: tuple[Any, str], method: str, path: str, mode: GenerationMode
) -> None:
    schema, token = openapi_schema
    headers = {"authorization": f"Bearer {token}"}

    @settings(
        max_examples=examples(EXAMPLES),
        deadline=None,
        # A soak sends others each time, and a failure prints how to send it again.
        derandomize=not IS_SOAK,
        print_blob=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=schema[path][method].as_strategy(generation_mode=mode))
    def send(case: Any) -> None:
        case.call_and_validate(headers=headers, checks=CHECKS)

    send()
