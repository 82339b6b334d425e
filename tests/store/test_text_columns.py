"""Columns that are read straight into the texts of the interface."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select, type_coerce

import build
from rules.properties import quick
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.types import IsoText, points_text
from silverball_wire import base

pytestmark = pytest.mark.both_databases


@pytest.mark.parametrize(
    ("hundredths", "text"),
    [(0, "0.00"), (1, "0.01"), (750, "7.50"), (-50, "-0.50"), (-1234, "-12.34"), (None, None)],
)
def test_points_have_two_decimals(hundredths: int | None, text: str | None) -> None:
    assert points_text(hundredths) == text


@quick
@given(st.integers(-(2**63), 2**63 - 1))
def test_the_text_of_points_is_exact(hundredths: int) -> None:
    assert points_text(hundredths) == f"{Decimal(hundredths) / 100:.2f}" or abs(hundredths) >= 10**15
    assert Decimal(points_text(hundredths) or "") * 100 == hundredths


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2026, 3, 5, 19, 30, tzinfo=UTC),
        datetime(1999, 12, 31, 23, 59, 59, 1, tzinfo=UTC),
        datetime(2025, 10, 26, 1, 30, 59, 999_999, tzinfo=UTC),
    ],
)
def test_a_moment_reads_the_same_on_every_database(store: Store, moment: datetime) -> None:
    night = build.a_tournament(store)
    game_id = build.a_game(store, night.tournament_id, night.player_ids, started_at=moment)
    empty_id = build.a_game(store, night.tournament_id, night.player_ids, started_at=None)
    column = type_coerce(tables.game.c.started_at, IsoText)
    with store.read() as db:
        texts: dict[int, str | None] = dict(db.execute(select(tables.game.c.game_id, column)).all())
    assert texts == {game_id: base.iso(moment), empty_id: None}
