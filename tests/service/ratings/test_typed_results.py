"""The same night gives the same ratings however it was typed. Source: formats, section 22; ratings.md A.4."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest
from sqlalchemy import select

from rules.ratings import oracle
from silverball.rules.ratings.formulas import DEFAULTS
from silverball.service.periods import rating_run
from silverball.store import tables
from silverball.store.database.engine import Store
from stories.hall import Hall

NOW = datetime(2026, 4, 1, 6, tzinfo=UTC)
UNTIL = date(2026, 3, 6)
PLAYERS = "Ann Bea Cid Dot"
Ids = dict[str, int]


def in_order(*names: str) -> Callable[[Ids], Any]:
    return lambda ids: {"resultPositions": [ids[name] for name in names]}


def by_scores(**scores: int) -> Callable[[Ids], Any]:
    return lambda ids: {"resultScores": {str(ids[name]): score for name, score in scores.items()}}


def by_strikes(*names: str) -> Callable[[Ids], Any]:
    return lambda ids: {"strikes": [ids[name] for name in names]}


def by_games(**won: int) -> Callable[[Ids], Any]:
    return lambda ids: {"games": {str(ids[name]): count for name, count in won.items()}}


def rate(store: Store) -> None:
    rating_run.rate_days(store, UNTIL, DEFAULTS, NOW)


def ratings_of(hall: Hall) -> dict[str, tuple[float, float, int]]:
    """Name -> rating, RD and number of results, of this organizer's players."""
    own = tables.rating.c
    rows = select(own.name, own.rating, own.rd, own.result_count)
    with hall.store.read() as db:
        found = db.execute(rows.where(own.organizer_id == hall.organizer.user_id, own.rating.is_not(None)))
        return {row.name: (row.rating, row.rd, row.result_count) for row in found}


def knockout_night(store: Store, body: Callable[[Ids], Any], **settings: Any) -> Hall:
    """One game of four, and the night is closed."""
    hall = Hall(store, "group_knockout", PLAYERS, arenas=0, seeding="manual", **settings)
    hall.start()
    (game,) = hall.open_round()
    hall.put(f"/games/{game['gameId']}/result", body(hall.ids))
    hall.complete()
    return hall


def expected(places: dict[int, int], *, drawless: bool) -> dict[str, tuple[float, float]]:
    """By the second implementation; players are 0 for Ann to 3 for Dot."""
    players = dict.fromkeys(range(4), (1500.0, 75.0))
    after = oracle.rated(players, [(4, places)], drawless={0} if drawless else ())
    return {name: after[at] for at, name in enumerate(PLAYERS.split())}


TWO_STRIKES = {"knockoutFourPlayerStrikes": 2, "knockoutStrikeCount": 2}
FAIR = {"knockoutFourPlayerStrikes": 101, "knockoutFair": True, "knockoutStrikeCount": 3}


@pytest.mark.parametrize(
    ("settings", "ways", "places"),
    [
        (
            TWO_STRIKES,
            [
                by_strikes("Cid", "Dot"),
                in_order("Ann", "Bea", "Cid", "Dot"),
                in_order("Bea", "Ann", "Dot", "Cid"),
                by_scores(Ann=4_000, Bea=3_000, Cid=2_000, Dot=1_000),
            ],
            {0: 0, 1: 0, 2: 1, 3: 1},
        ),
        (
            FAIR,
            [
                in_order("Ann", "Bea", "Cid", "Dot"),
                in_order("Ann", "Cid", "Bea", "Dot"),
                by_scores(Ann=4_000, Bea=3_000, Cid=2_000, Dot=1_000),
            ],
            {0: 0, 1: 1, 2: 1, 3: 2},
        ),
    ],
    ids=["two strikes", "fair strikes"],
)
def test_strikes_rate_the_same_however_they_were_typed(
    store: Store, settings: dict[str, Any], ways: list[Callable[[Ids], Any]], places: dict[int, int]
) -> None:
    halls = [knockout_night(store, way, **settings) for way in ways]
    rate(store)
    found = [ratings_of(hall) for hall in halls]
    assert all(ratings == found[0] for ratings in found)
    for name, (rating, rd) in expected(places, drawless=True).items():
        assert found[0][name][:2] == pytest.approx((rating, rd), abs=1e-9)
    # Of six pairs, two have equal strikes in the first case and one in the second.
    pairs = 6 - (2 if settings is TWO_STRIKES else 1)
    assert sum(results for _, _, results in found[0].values()) == 2 * pairs


@pytest.mark.both_databases
def test_progressive_strikes_have_an_order_and_no_equal_marks(store: Store) -> None:
    progressive = {"knockoutFourPlayerStrikes": 100, "knockoutProgressive": True, "knockoutStrikeCount": 4}
    hall = knockout_night(store, in_order("Ann", "Bea", "Cid", "Dot"), **progressive)
    rate(store)
    for name, (rating, rd) in expected({0: 0, 1: 1, 2: 2, 3: 3}, drawless=False).items():
        assert ratings_of(hall)[name][:2] == pytest.approx((rating, rd), abs=1e-9)


def match_night(store: Store, *bodies: tuple[str, Callable[[Ids], Any]]) -> Hall:
    """A final of two players, best of three, typed in one way."""
    hall = Hall(store, "bracket", "Ann Bea", arenas=0, seeding="manual", gamesPerRound=3)
    hall.start()
    (final,) = hall.open_games()
    path = f"/games/{final['gameId']}"
    for where, body in bodies:
        send = hall.post if where == "/legs" else hall.put
        send(path + where, body(hall.ids))
    hall.complete()
    return hall


def test_a_match_rates_the_same_as_a_total_as_single_games_or_as_a_winner(store: Store) -> None:
    halls = [
        match_night(store, ("/result", in_order("Ann", "Bea"))),
        match_night(store, ("/result", by_games(Ann=2, Bea=1))),
        match_night(store, ("/result", by_games(Ann=2))),
        match_night(
            store,
            ("/legs", in_order("Ann", "Bea")),
            ("/legs", in_order("Bea", "Ann")),
            ("/legs", in_order("Ann", "Bea")),
        ),
    ]
    rate(store)
    found = [ratings_of(hall) for hall in halls]
    assert all(ratings == found[0] for ratings in found)
    # Source: vectors/ratings.json, h2h_equal.
    assert found[0]["Ann"] == pytest.approx((1515.0847811835447, 73.39900793791708, 1), abs=1e-9)
