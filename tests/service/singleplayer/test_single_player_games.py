"""Single player games: lists, limits, the best of each arena, one game."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

import build
from silverball.store import tables
from silverball.store.database.engine import Store


@dataclass(frozen=True)
class Qualifying:
    """A completed best game with four games: two good ones, a pending one and a voided one."""

    store: Store
    night: build.Night
    games: list[int]

    def ask(self, tail: str = "") -> tuple[int, Any]:
        path = f"/api/tournaments/{self.night.tournament_id}/single-player-games{tail}"
        return build.ask(self.store, path, by=self.night.organizer_id)

    def listed_ids(self, tail: str = "") -> list[int]:
        status, body = self.ask(tail)
        assert status == 200, body
        return [game["singlePlayerGameId"] for game in body["data"]]


def an_attempt(store: Store, tournament_id: int, player_id: int, **values: Any) -> int:
    return build.row(
        store, tables.single_player_game, tournament_id=tournament_id, player_id=player_id, **values
    )


@pytest.fixture
def qualifying(store: Store) -> Qualifying:
    night = build.a_tournament(store, type="best_game", status="completed")
    tournament_id, (ann, bob, *_) = night.tournament_id, night.player_ids
    here, there = night.arena_ids
    round_id = build.a_round(store, tournament_id)
    games = [
        an_attempt(
            store,
            tournament_id,
            ann,
            arena_id=here,
            score=5_109_360,
            points=Decimal("199.50"),
            best_game=True,
            game_index=0,
            duration_seconds=931,
        ),
        an_attempt(store, tournament_id, bob, arena_id=here, score=11_396_549_120, points=Decimal(200)),
        an_attempt(store, tournament_id, bob, arena_id=there, status="pending", round_id=round_id),
        an_attempt(store, tournament_id, ann, arena_id=there, score=7, voided=True),
    ]
    return Qualifying(store, night, games)


def test_a_single_player_game_is_shown_with_every_field(qualifying: Qualifying) -> None:
    _, body = qualifying.ask(f"/{qualifying.games[0]}")
    assert body["data"] == {
        "singlePlayerGameId": qualifying.games[0],
        "arenaId": qualifying.night.arena_ids[0],
        "playerId": qualifying.night.player_ids[0],
        "scorekeeperId": None,
        "status": "completed",
        "points": "199.50",
        "score": 5_109_360,
        "bestGame": True,
        "index": 0,
        "duration": 931,
        "createdAt": "2026-03-05T19:30:00.000000Z",
        "updatedAt": "2026-03-05T19:30:00.000000Z",
        "voided": False,
        "scorbitId": None,
        "scorbitLog": None,
        "scorbitVerified": False,
        "tournamentId": qualifying.night.tournament_id,
    }


@pytest.mark.both_databases
def test_a_game_of_a_round_names_it_and_others_do_not(qualifying: Qualifying) -> None:
    _, body = qualifying.ask(f"/{qualifying.games[2]}")
    assert body["data"]["roundId"] > 0
    assert "cardId" not in body["data"]


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", [0, 1, 2]),
        ("?voided=true", [0, 1, 2, 3]),
        ("?voided=1&player={ann}", [0, 3]),
        ("?voided=False", [0, 1, 2]),
        ("?bestGame=on", [0]),
        ("?bestGame=0", [0, 1, 2]),
        ("?status=pending", [2]),
        ("?status=completed&arena={here}", [0, 1]),
        ("?round={round}", [2]),
        ("?player=99999999", []),
        ("?arena=9223372036854775807", []),
        ("?orderBy=score", [1, 0, 2]),
        ("?ids={first},{fourth},99999999", [0]),
        ("?limit=2&page=2", [2]),
        ("?limit=500&page=3", []),
    ],
)
def test_the_list_is_narrowed_by_its_filters(qualifying: Qualifying, query: str, expected: list[int]) -> None:
    filters = query.format(
        ann=qualifying.night.player_ids[0],
        here=qualifying.night.arena_ids[0],
        round=1,
        first=qualifying.games[0],
        fourth=qualifying.games[3],
    )
    assert qualifying.listed_ids(filters) == [qualifying.games[index] for index in expected]


def test_twenty_five_games_fill_a_page_unless_a_limit_is_given(qualifying: Qualifying) -> None:
    _, body = qualifying.ask()
    assert (body["meta"]["per_page"], body["meta"]["total"]) == (25, 3)
    _, body = qualifying.ask("?limit=2")
    assert (body["meta"]["per_page"], body["meta"]["last_page"], len(body["data"])) == (2, 2, 2)
    assert body["links"]["next"].endswith("/single-player-games?limit=2&page=2")


def test_a_page_past_the_end_is_empty(qualifying: Qualifying) -> None:
    _, body = qualifying.ask("?page=4")
    assert (body["data"], body["meta"]["from"], body["meta"]["to"]) == ([], None, None)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=501", "limit"),
        ("limit=0", "limit"),
        ("page=0", "page"),
        ("page=-1", "page"),
        ("page=%E2%91%A0", "page"),
        ("ids=" + ",".join(["1"] * 51), "ids"),
        ("ids=9223372036854775808", "ids"),
        ("status=planned", "status"),
        ("orderBy=name", "orderBy"),
        ("player=0", "player"),
        ("round=latest", "round"),
    ],
)
def test_parameters_outside_the_limits_are_refused_by_name(
    qualifying: Qualifying, query: str, field: str
) -> None:
    status, body = qualifying.ask(f"?{query}")
    assert (status, list(body["errors"])) == (422, [field])


def test_pages_end_ten_thousand_rows_deep(qualifying: Qualifying) -> None:
    assert qualifying.ask("?limit=500&page=20")[0] == 200
    assert qualifying.ask("?limit=500&page=21")[0] == 403
    assert qualifying.ask(f"?page={2**63}")[0] == 403


def test_the_five_best_of_each_arena_are_the_top_scores(qualifying: Qualifying) -> None:
    store, night = qualifying.store, qualifying.night
    here, there = night.arena_ids
    scores = [30, 50, 50, 10, 20, 40]
    more = [
        an_attempt(store, night.tournament_id, night.player_ids[2], arena_id=there, score=score)
        for score in scores
    ]
    expected = [qualifying.games[1], qualifying.games[0], more[1], more[2], more[5], more[0], more[4]]
    assert qualifying.listed_ids("/top-scores") == expected
    _, body = qualifying.ask("/top-scores")
    assert [game["arenaId"] for game in body["data"]] == [here] * 2 + [there] * 5


def test_a_game_of_another_tournament_is_not_found(qualifying: Qualifying) -> None:
    other = build.a_tournament(qualifying.store)
    path = f"/api/tournaments/{other.tournament_id}/single-player-games/{qualifying.games[0]}"
    status, body = build.ask(qualifying.store, path, by=1)
    wording = rf"No query results for model [App\Models\SinglePlayerGame] {qualifying.games[0]}"
    assert (status, body["message"]) == (404, wording)


@pytest.mark.parametrize("tail", ["", "/top-scores", "/1"])
def test_single_player_games_of_an_unknown_tournament_are_not_found(store: Store, tail: str) -> None:
    status, body = build.ask(store, f"/api/tournaments/7/single-player-games{tail}", by=1)
    assert (status, body["message"]) == (404, r"No query results for model [App\Models\Tournament] 7")
