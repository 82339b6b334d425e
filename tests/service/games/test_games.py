"""Games of a tournament, of several tournaments, and one game."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

import build
from silverball.kit.http.fields import ID_MAX
from silverball.store import tables
from silverball.store.database.engine import Store


@dataclass(frozen=True)
class Evening:
    """Two rounds: the first is completed, the second has a running game and a bye."""

    store: Store
    night: build.Night
    bank_id: int
    rounds: list[int]
    games: list[int]

    def ask(self, path: str) -> tuple[int, Any]:
        return build.ask(self.store, path, by=self.night.organizer_id)

    def listed_ids(self, query: str = "") -> list[int]:
        """Ids of the games that the tournament's list shows."""
        status, body = self.ask(f"/api/tournaments/{self.night.tournament_id}/games{query}")
        assert status == 200, body
        return [game["gameId"] for game in body["data"]]

    def page_ids(self, query: str) -> list[int]:
        """Ids of the games on a page of the global list."""
        status, body = self.ask(f"/api/games?{query}")
        assert status == 200, body
        return [game["gameId"] for game in body["data"]]


@pytest.fixture
def evening(store: Store) -> Evening:
    night = build.a_tournament(store, players=5)
    tournament_id, (ann, bob, cy, dee, eve) = night.tournament_id, night.player_ids
    bank_id = build.row(store, tables.bank, organizer_id=night.organizer_id)
    rounds = [
        build.a_round(store, tournament_id, 0, status="completed"),
        build.a_round(store, tournament_id, 1),
    ]
    done = {"status": "completed", "duration_seconds": 609}
    games = [
        build.a_game(
            store,
            tournament_id,
            [ann, bob, cy, dee],
            round_id=rounds[0],
            arena_id=night.arena_ids[0],
            points=["1.00", "0.02", "0.02", "0.01"],
            positions=[ann, None, bob, dee],
            scores=[11_396_549_120, None, 5, 0],
            **done,
        ),
        build.a_game(
            store, tournament_id, [ann, bob], round_id=rounds[1], arena_id=night.arena_ids[1], bank_id=bank_id
        ),
        build.a_game(
            store,
            tournament_id,
            [eve],
            round_id=rounds[1],
            bye=True,
            set_number=9999,
            game_index=None,
            **done,
        ),
        build.a_game(store, tournament_id, [cy, dee], arena_id=night.arena_ids[0], player_id_advantage=cy),
    ]
    return Evening(store, night, bank_id, rounds, games)


def test_a_game_is_shown_slot_by_slot_in_playing_order(evening: Evening) -> None:
    ann, bob, cy, dee, _ = evening.night.player_ids
    _, body = evening.ask(f"/api/tournaments/{evening.night.tournament_id}/games")
    first = body["data"][0]
    assert first["playerIds"] == [ann, bob, cy, dee]
    assert first["userIds"] == [None] * 4
    assert first["resultPositions"] == [ann, None, bob, dee]
    assert first["resultPoints"] == ["1.00", "0.02", "0.02", "0.01"]
    assert first["resultScores"] == ["11396549120", None, "5", "0"]
    assert first["startedAt"] == "2026-03-05T19:30:00.000000Z"
    assert (first["status"], first["duration"], first["bye"]) == ("completed", 609, False)
    assert (first["scorbitVerified"], first["resultCountMismatch"]) == (False, False)
    assert first["suggestions"] == []
    assert "arena" not in first


def test_a_running_game_has_one_empty_result_per_player(evening: Evening) -> None:
    _, body = evening.ask(f"/api/tournaments/{evening.night.tournament_id}/games?status=started")
    assert body["data"][0]["resultPositions"] == [None, None]
    assert body["data"][0]["resultPoints"] == [None, None]
    assert body["data"][0]["resultScores"] == [None, None]


def test_a_game_outside_a_round_shows_round_zero(evening: Evening) -> None:
    _, body = evening.ask(f"/api/tournaments/{evening.night.tournament_id}/games/{evening.games[3]}")
    assert body["data"]["roundId"] == 0


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", [0, 1, 2, 3]),
        ("?status=completed", [0, 2]),
        ("?status=started", [1, 3]),
        ("?player={ann}", [0, 1]),
        ("?player={eve}", [2]),
        ("?player=99999999", []),
        ("?player=9223372036854775807", []),
        ("?arena={arena}", [0, 3]),
        ("?bank={bank}", [1]),
        ("?round={first}", [0]),
        ("?round={first},{second}", [0, 1, 2]),
        ("?round= {first} ,,", [0]),
        ("?round=latest", [1, 2]),
        ("?round=activeOrLatest", [1, 2]),
        ("?round=activeOrLatest&player={eve}&status=completed", [2]),
        ("?unknown=1&round=", [0, 1, 2, 3]),
    ],
)
def test_the_games_of_a_tournament_are_narrowed_by_its_filters(
    evening: Evening, query: str, expected: list[int]
) -> None:
    night = evening.night
    filters = query.format(
        ann=night.player_ids[0],
        eve=night.player_ids[4],
        arena=night.arena_ids[0],
        bank=evening.bank_id,
        first=evening.rounds[0],
        second=evening.rounds[1],
    )
    assert evening.listed_ids(filters) == [evening.games[index] for index in expected]


def test_a_filtered_game_keeps_all_its_players(evening: Evening) -> None:
    path = f"/api/tournaments/{evening.night.tournament_id}/games?player={evening.night.player_ids[0]}"
    _, body = evening.ask(path)
    assert body["data"][0]["playerIds"] == evening.night.player_ids[:4]


def test_several_rounds_can_be_active_and_the_newest_need_not_be(store: Store) -> None:
    night = build.a_tournament(store)
    statuses = ("started", "started", "completed")
    rounds = [
        build.a_round(store, night.tournament_id, n, status=status) for n, status in enumerate(statuses)
    ]
    games = [
        build.a_game(store, night.tournament_id, night.player_ids[:2], round_id=round_id)
        for round_id in rounds
    ]
    evening = Evening(store, night, 0, rounds, games)
    assert evening.listed_ids("?round=activeOrLatest") == games[:2]
    assert evening.listed_ids("?round=latest") == games[2:]


def test_the_latest_round_is_shown_when_none_is_active(store: Store) -> None:
    night = build.a_tournament(store)
    rounds = [build.a_round(store, night.tournament_id, n, status="completed") for n in range(2)]
    games = [
        build.a_game(store, night.tournament_id, night.player_ids[:2], round_id=round_id)
        for round_id in rounds
    ]
    assert Evening(store, night, 0, rounds, games).listed_ids("?round=activeOrLatest") == games[1:]


@pytest.mark.parametrize("word", ["latest", "activeOrLatest"])
def test_a_tournament_without_rounds_has_no_latest_games(store: Store, word: str) -> None:
    night = build.a_tournament(store, type="frenzy")
    game_id = build.a_game(store, night.tournament_id, night.player_ids[:2])
    assert Evening(store, night, 0, [], [game_id]).listed_ids(f"?round={word}") == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("round=newest", "round"),
        ("round=1,x", "round"),
        ("round=0", "round"),
        ("round=-1", "round"),
        ("round=%C2%B2", "round"),
        ("round=9223372036854775808", "round"),
        ("round=" + ",".join(["1"] * 51), "round"),
        ("round=" + "1," * 600, "round"),
        ("round=,", "round"),
        ("player=x", "player"),
        ("player=0", "player"),
        ("player=9223372036854775808", "player"),
        ("arena=1.0", "arena"),
        ("bank=%F0%9F%8E%B1", "bank"),
    ],
)
def test_a_filter_that_cannot_be_understood_is_refused_by_name(
    evening: Evening, query: str, field: str
) -> None:
    status, body = evening.ask(f"/api/tournaments/{evening.night.tournament_id}/games?{query}")
    assert (status, list(body["errors"])) == (422, [field])


def test_fifty_rounds_can_be_named(evening: Evening) -> None:
    assert evening.listed_ids("?round=" + ",".join([str(ID_MAX)] * 50)) == []


@pytest.mark.parametrize("tail", ["", "?status=started", "?round=latest", "/1"])
def test_games_of_a_tournament_that_does_not_exist_are_not_found(store: Store, tail: str) -> None:
    status, body = build.ask(store, f"/api/tournaments/99999999/games{tail}", by=1)
    assert status == 404
    assert body["message"] == r"No query results for model [App\Models\Tournament] 99999999"


@pytest.mark.both_databases
def test_one_game_comes_with_its_arena_and_its_suggestions(evening: Evening) -> None:
    ann, bob = evening.night.player_ids[:2]
    tournament_id, game_id = evening.night.tournament_id, evening.games[1]
    suggestion_id = build.row(
        evening.store,
        tables.suggestion,
        tournament_id=tournament_id,
        game_id=game_id,
        player_id=ann,
        results=[ann, bob],
        scores={str(ann): None, str(bob): "12"},
    )
    status, body = evening.ask(f"/api/tournaments/{tournament_id}/games/{game_id}")
    assert status == 200
    assert body["data"]["arena"]["arenaId"] == evening.night.arena_ids[1]
    assert "tournamentArena" not in body["data"]["arena"]
    assert body["data"]["suggestions"] == [
        {
            "suggestionId": suggestion_id,
            "gameId": game_id,
            "roundId": evening.rounds[1],
            "tournamentId": tournament_id,
            "playerId": ann,
            "userId": None,
            "results": [ann, bob],
            "arenaId": None,
            "scores": {str(ann): None, str(bob): "12"},
            "scorbitData": None,
            "partial": False,
        }
    ]
    _, listed = evening.ask(f"/api/tournaments/{tournament_id}/games")
    assert [len(game["suggestions"]) for game in listed["data"]] == [0, 1, 0, 0]


def test_a_game_without_an_arena_leaves_the_member_out(evening: Evening) -> None:
    _, body = evening.ask(f"/api/tournaments/{evening.night.tournament_id}/games/{evening.games[2]}")
    assert body["data"]["arenaId"] is None
    assert "arena" not in body["data"]


def test_a_game_of_another_tournament_is_refused(evening: Evening) -> None:
    other = build.a_tournament(evening.store)
    status, body = evening.ask(f"/api/tournaments/{other.tournament_id}/games/{evening.games[0]}")
    assert (status, body["message"]) == (400, "Game not in tournament")


@pytest.mark.parametrize("word", ["99999999", "0", "x", "9223372036854775808", "1.0", "-1"])
def test_a_game_that_does_not_exist_is_not_found(evening: Evening, word: str) -> None:
    status, body = evening.ask(f"/api/tournaments/{evening.night.tournament_id}/games/{word}")
    assert status == 404
    assert body["message"] == rf"No query results for model [App\Models\Game] {word}"


@pytest.mark.both_databases
def test_games_are_found_by_tournament_and_by_series(evening: Evening) -> None:
    store, organizer_id = evening.store, evening.night.organizer_id
    series_id = build.row(store, tables.series, organizer_id=organizer_id)
    other = build.a_tournament(store, organizer_id=organizer_id, series_id=series_id)
    theirs = build.a_game(store, other.tournament_id, other.player_ids[:2])
    own = evening.night.tournament_id
    assert evening.page_ids(f"tournaments={own}") == evening.games
    assert evening.page_ids(f"tournaments={own},{other.tournament_id}") == [*evening.games, theirs]
    assert evening.page_ids(f"series={series_id}") == [theirs]
    # Both narrow: nothing of this tournament is in the series.
    assert evening.page_ids(f"series={series_id}&tournaments={own}") == []
    assert evening.page_ids("tournaments=99999999") == []
    assert evening.page_ids("series=99999999,9223372036854775807") == []


@pytest.mark.sample(5)
@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("ids={second},{fourth},99999999", [1, 3]),
        ("status=completed", [0, 2]),
        ("round={round}", [1, 2]),
        ("player={ann}&status=started", [1]),
        ("arena={arena}", [0, 3]),
        ("bank={bank}", [1]),
        ("page=2", []),
    ],
)
def test_found_games_are_narrowed_by_the_filters(evening: Evening, query: str, expected: list[int]) -> None:
    filters = query.format(
        second=evening.games[1],
        fourth=evening.games[3],
        round=evening.rounds[1],
        ann=evening.night.player_ids[0],
        arena=evening.night.arena_ids[0],
        bank=evening.bank_id,
    )
    found = evening.page_ids(f"tournaments={evening.night.tournament_id}&{filters}")
    assert found == [evening.games[index] for index in expected]


def test_games_of_the_global_list_are_complete(evening: Evening) -> None:
    own = evening.night.tournament_id
    _, found = evening.ask(f"/api/games?tournaments={own}")
    _, listed = evening.ask(f"/api/tournaments/{own}/games")
    assert found["data"] == listed["data"]


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("", ["tournaments", "series"]),
        ("ids=1", ["tournaments", "series"]),
        ("tournaments=,", ["tournaments", "series"]),
        ("tournaments=" + ",".join(["1"] * 26), ["tournaments"]),
        ("tournaments=1,x", ["tournaments"]),
        ("tournaments=9223372036854775808", ["tournaments"]),
        ("series=1,2,3,4,5,6", ["series"]),
        ("tournaments=1&ids=" + ",".join(["1"] * 51), ["ids"]),
        ("tournaments=1&page=0", ["page"]),
        ("tournaments=1&page=x", ["page"]),
        ("tournaments=1&round=latest", ["round"]),
    ],
)
def test_a_search_for_games_outside_the_limits_is_refused_by_name(
    store: Store, query: str, fields: list[str]
) -> None:
    status, body = build.ask(store, f"/api/games?{query}", by=1)
    assert (status, list(body["errors"])) == (422, fields)


@pytest.mark.both_databases
def test_a_search_for_games_at_the_limits_is_answered(evening: Evening) -> None:
    many = ",".join(str(n) for n in range(1, 26))
    series = "1,2,3,4,5"
    ids = ",".join(str(n) for n in range(1, 51))
    assert evening.page_ids(f"tournaments={many}&series={series}&ids={ids}") == []


def test_a_hundred_games_fill_a_page(store: Store) -> None:
    night = build.a_tournament(store, players=2)
    game_ids = [build.a_game(store, night.tournament_id, night.player_ids) for _ in range(101)]
    evening = Evening(store, night, 0, [], game_ids)
    query = f"tournaments={night.tournament_id}"
    assert evening.page_ids(query) == game_ids[:100]
    assert evening.page_ids(f"{query}&page=2") == game_ids[100:]
    _, body = evening.ask(f"/api/games?{query}&page=2")
    assert (body["meta"]["per_page"], body["meta"]["total"], body["meta"]["last_page"]) == (100, 101, 2)
    assert body["links"]["prev"] == f"{build.BASE_URL}/api/games?{query}&page=1"
    assert evening.page_ids(f"{query}&page=100") == []
    status, body = evening.ask(f"/api/games?{query}&page=101")
    assert (status, body["message"]) == (403, "Do not scrape data by paginating deeply.")


def test_the_last_moment_of_a_microsecond_is_kept(store: Store) -> None:
    night = build.a_tournament(store)
    started_at = build.NOW + timedelta(microseconds=1)
    build.a_game(store, night.tournament_id, night.player_ids[:2], started_at=started_at)
    _, body = build.ask(store, f"/api/tournaments/{night.tournament_id}/games", by=1)
    assert body["data"][0]["startedAt"] == "2026-03-05T19:30:00.000001Z"
