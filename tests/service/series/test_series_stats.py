"""Attendance of a series. Source: samples/series-stats.json, series-stats-attendance.json."""

from decimal import Decimal
from typing import Any

import pytest

import build
from silverball.store import tables
from silverball.store.database.engine import Store


class League:
    """A series of three nights: two players attend all, a guest and another player one."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.organizer = build.a_user(store, role="organizer")
        self.series_id = build.row(store, tables.series, organizer_id=self.organizer)
        other_book = build.a_user(store)
        self.ann, self.bob, self.once = (build.a_player(store, self.organizer, name=n) for n in "ABC")
        self.guest = build.a_player(store, other_book, name="G")
        self.nights = [
            self.night(self.ann, self.bob, self.once, self.guest),
            self.night(self.ann, self.bob),
            self.night(self.ann, self.bob),
        ]
        self.night(self.once, status="planned")

    def night(self, *player_ids: int, status: str = "completed") -> int:
        own = {"organizer_id": self.organizer, "series_id": self.series_id}
        night = build.row(self.store, tables.tournament, **own, status=status)
        for place, player_id in enumerate(player_ids):
            common = {"tournament_id": night, "player_id": player_id}
            build.row(self.store, tables.entrant, **common, place=place)
            build.row(self.store, tables.standing, **common, position=place + 1, points=Decimal(1), row={})
        return night

    def ask(self, path: str) -> Any:
        status, body = build.ask(self.store, f"/api/series/{self.series_id}{path}", by=self.organizer)
        assert status == 200, body
        return body


@pytest.fixture
def league(store: Store) -> League:
    return League(store)


def test_everybody_in_a_running_bracket_attends(league: League) -> None:
    names = {"A", "B", "C", "D"}
    ids = [build.a_player(league.store, league.organizer, name=f"{name} Runs") for name in sorted(names)]
    own = {"organizer_id": league.organizer, "series_id": league.series_id}
    night = build.row(league.store, tables.tournament, **own, type="bracket", status="started")
    for place, player_id in enumerate(ids):
        build.row(
            league.store, tables.entrant, tournament_id=night, player_id=player_id, place=place, seed=place
        )
    assert league.ask("/stats")["tournaments"][str(night)]["total"] == len(names)


def test_attendance_is_summed_over_members_and_guests(league: League) -> None:
    body = league.ask("/stats")
    assert body["overall"] == {"sum": 8, "max": 4, "min": 2, "mean": 8 / 3, "median": 2, "count": 3}
    assert body["members"] == {"sum": 7, "max": 3, "min": 2, "mean": 7 / 3, "median": 2, "count": 3}
    assert body["guests"] == {"sum": 1, "max": 1, "min": 1, "mean": 1, "median": 1, "count": 1}
    assert body["playerAttendances"] == {"1": 2, "3": 2}
    assert {
        key: (attendance["total"], attendance["members"], attendance["guests"])
        for key, attendance in body["tournaments"].items()
    } == {
        str(league.nights[0]): (4, 3, 1),
        str(league.nights[1]): (2, 2, 0),
        str(league.nights[2]): (2, 2, 0),
    }
    assert body["series"]["seriesId"] == league.series_id


def test_a_series_without_games_has_no_numbers(store: Store) -> None:
    organizer = build.a_user(store)
    series_id = build.row(store, tables.series, organizer_id=organizer)
    _, body = build.ask(store, f"/api/series/{series_id}/stats", by=organizer)
    nothing = {"sum": 0, "max": None, "min": None, "mean": None, "median": None, "count": 0}
    assert body["overall"] == body["members"] == body["guests"] == nothing
    assert (body["tournaments"], body["playerAttendances"]) == ({}, {})
    assert (body["opponentCounts"], body["arenaCounts"]) == ([], [])


def test_meetings_and_arenas_are_counted_over_all_nights(league: League) -> None:
    store, (first, second, _) = league.store, league.nights
    arena_id = build.an_arena(store, league.organizer)
    played: dict[str, Any] = {"status": "completed", "arena_id": arena_id}
    build.a_game(store, first, [league.ann, league.bob, league.once], **played)
    build.a_game(store, second, [league.bob, league.ann], **played)
    # These do not count: running, a bye, no arena (met, but played nowhere).
    build.a_game(store, second, [league.bob, league.ann], arena_id=arena_id)
    build.a_game(store, second, [league.bob], bye=True, **played)
    build.a_game(store, second, [league.bob, league.ann], status="completed")
    single = {"tournament_id": second, "player_id": league.ann, "arena_id": arena_id}
    build.row(store, tables.single_player_game, **single)
    build.row(store, tables.single_player_game, **single, voided=True)
    build.row(store, tables.single_player_game, **single, status="started")
    body = league.ask("/stats")
    ann, bob, once, arena = (str(key) for key in (league.ann, league.bob, league.once, arena_id))
    assert body["opponentCounts"] == [
        {bob: 3, once: 1, "playerId": league.ann, "name": "A"},
        {ann: 3, once: 1, "playerId": league.bob, "name": "B"},
        {ann: 1, bob: 1, "playerId": league.once, "name": "C"},
    ]
    assert body["arenaCounts"] == [
        {arena: 3, "playerId": league.ann, "name": "A"},
        {arena: 2, "playerId": league.bob, "name": "B"},
        {arena: 1, "playerId": league.once, "name": "C"},
    ]


def test_attendance_lists_those_behind_one_bar_of_the_histogram(league: League) -> None:
    def came(count: int) -> list[int]:
        return [player["playerId"] for player in league.ask(f"/stats/attendance?count={count}")["data"]]

    assert came(1) == [league.once, league.guest]
    assert came(2) == []
    assert came(3) == [league.ann, league.bob]
    assert came(2**31 - 1) == []


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "The count field is required."),
        ("?count=0", "The count field must be at least 1."),
        ("?count=x", "The count field must be an integer."),
        (f"?count={2**63}", "The count field must not be greater than 2147483647."),
    ],
)
def test_attendance_wants_a_number(store: Store, query: str, message: str) -> None:
    organizer = build.a_user(store)
    series_id = build.row(store, tables.series, organizer_id=organizer)
    status, body = build.ask(store, f"/api/series/{series_id}/stats/attendance{query}", by=organizer)
    assert (status, body["errors"]) == (422, {"count": [message]})
