"""Whatever is asked, the answer is one that the published description names."""

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
from selection import examples
from silverball import app
from silverball.kit.http import openapi
from silverball.kit.http.endpoints import collect_endpoints
from silverball.service.tokens import writes as tokens
from silverball.settings import Settings
from silverball.store import migrate, tables
from silverball.store.engine import Store

EXAMPLES = 25
CHECKS: list[CheckFunction] = [
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]


def _fill(store: Store) -> str:
    """A little of everything; returns a token of who owns it."""
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
    own = build.row(store, tables.rating_submission, submitter_id=user_id, status="needs_players")
    player = {"place": 0, "name": "Ada", "settled": False, "candidates": []}
    build.row(store, tables.submission_player, rating_submission_id=own, **player)
    build.row(store, tables.machine)
    # Switched off: nothing is to be sent from here.
    hook = build.row(store, tables.webhook, tournament_id=1, is_active=False)
    build.row(store, tables.webhook_delivery, webhook_id=hook)
    with store.write() as transaction:
        return tokens.create_token(
            transaction.connection, user_id, "any", now=datetime.now(UTC), dice=Random(7)
        ).text


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, str]]:
    """The description of the running program, and a token."""
    store = Store(f"sqlite:///{tmp_path_factory.mktemp('any') / 'any.db'}")
    migrate.migrate(store)
    token = _fill(store)
    limits = Settings(base_url=build.BASE_URL, rate_limit_per_minute=0, standings_interval_seconds=0)
    door = app.build(store, limits)

    async def without_lifespan(scope: Any, receive: Any, send: Any) -> None:
        # Schemathesis would begin and end the program's life with every request.
        if scope["type"] == "lifespan":
            for word in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{word}.complete"})
        else:
            await door(scope, receive, send)

    with TestClient(door):
        yield schemathesis.openapi.from_asgi("/openapi.json", without_lifespan), token
    store.close()


@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize(
    ("method", "path"),
    sorted(
        (one.method, openapi.documented_path(one))
        for one in collect_endpoints(*app.ROUTE_MODULES)
        # What may wait or never end is asked anything in `feed/test_replay.py`.
        if not one.is_async
    ),
)
def test_every_answer_is_as_described(
    described: tuple[Any, str], method: str, path: str, mode: GenerationMode
) -> None:
    description, token = described
    headers = {"authorization": f"Bearer {token}"}

    @settings(
        max_examples=examples(EXAMPLES),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=description[path][method].as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        case.call_and_validate(headers=headers, checks=CHECKS)

    ask()
