"""Statistics of a tournament, also while it runs."""

from dataclasses import dataclass
from typing import Any

import pytest

import build
from silverball.service.core.access import AuthenticatedCaller
from silverball.store import tables
from silverball.store.database.engine import Store


@dataclass(frozen=True)
class Night:
    """A running knockout with two games, a bye and an open game; the fourth player is hidden."""

    store: Store
    tournament_id: int
    organizer_id: int
    players: list[int]
    arenas: list[int]
    rounds: list[int]
    hidden_user: int

    def stats(self, path: str, by: AuthenticatedCaller | None = None) -> Any:
        route = f"/api/tournaments/{self.tournament_id}/stats/{path}"
        status, body = build.ask(self.store, route, by=by or self.organizer_id)
        assert status == 200, body
        return body


@pytest.fixture
def night(store: Store) -> Night:
    hidden = build.a_user(store, name="Hidden Canary", stats_opt_out=True)
    made = build.a_tournament(store, players=3)
    canary = build.a_player(store, made.organizer_id, name="Canary", claimed_by=hidden)
    tournament_id, (ann, bob, cy) = made.tournament_id, made.player_ids
    rounds = [
        build.a_round(store, tournament_id, 0, status="completed", duration_seconds=994),
        build.a_round(store, tournament_id, 1),
    ]
    here, there = made.arena_ids
    done = {"status": "completed", "round_id": rounds[0]}
    build.a_game(
        store,
        tournament_id,
        [ann, bob, cy, canary],
        arena_id=here,
        duration_seconds=600,
        points=["1.00", "0.00", "1.00", "0.00"],
        positions=[None, None, None, cy],
        **done,
    )
    build.a_game(
        store,
        tournament_id,
        [bob, ann],
        arena_id=here,
        duration_seconds=701,
        points=["0.00", "1.00"],
        positions=[ann, bob],
        **done,
    )
    build.a_game(store, tournament_id, [cy], bye=True, points=["1.00"], positions=[cy], **done)
    build.a_game(store, tournament_id, [ann, bob], arena_id=there, round_id=rounds[1])
    players = [ann, bob, cy, canary]
    return Night(store, tournament_id, made.organizer_id, players, made.arena_ids, rounds, hidden)


@pytest.fixture
def admin(store: Store) -> AuthenticatedCaller:
    return build.caller(build.a_user(store, role="admin"), role="admin", ability="admin")


@pytest.mark.both_databases
def test_byes_count_as_games_of_the_match_play(night: Night) -> None:
    # Seven seats, four people. Source: samples/stats-matchplay.json (58 games, 3 byes, 113 seats of 19).
    assert night.stats("matchplay") == {"avgGamesPerPlayer": 1.75, "totalGames": 3}


def test_a_mean_without_decimals_is_a_whole_number(store: Store) -> None:
    made = build.a_tournament(store, players=2)
    path = f"/api/tournaments/{made.tournament_id}/stats/matchplay"
    _, body = build.ask(store, path, by=1)
    assert body == {"avgGamesPerPlayer": 0, "totalGames": 0}
    build.a_game(store, made.tournament_id, made.player_ids, status="completed")
    _, body = build.ask(store, path, by=1)
    assert (body["avgGamesPerPlayer"], type(body["avgGamesPerPlayer"])) == (1, int)


def test_rounds_are_counted_oldest_first(night: Night) -> None:
    rows = night.stats("rounds")
    assert [(row["roundId"], row["gameCount"]) for row in rows] == [
        (night.rounds[0], 3),
        (night.rounds[1], 1),
    ]
    assert rows[0] == {
        "roundId": night.rounds[0],
        "tournamentId": night.tournament_id,
        "index": 0,
        "name": "Round 1",
        "duration": 994,
        "createdAt": "2026-03-05 19:30:00Z",
        "completedAt": None,
        "gameCount": 3,
    }


def test_the_holes_of_a_golf_count_single_player_games(store: Store) -> None:
    made = build.a_tournament(store, type="golf")
    round_id = build.a_round(store, made.tournament_id)
    for voided in (False, False, True):
        build.row(
            store,
            tables.single_player_game,
            tournament_id=made.tournament_id,
            player_id=made.player_ids[0],
            arena_id=made.arena_ids[0],
            round_id=round_id,
            voided=voided,
        )
    night = Night(store, made.tournament_id, made.organizer_id, [], [], [round_id], 0)
    assert [row["gameCount"] for row in night.stats("rounds")] == [2]
    assert [row["gameCount"] for row in night.stats("arenas")] == [2]
    players = night.stats("players")
    assert players["positionCounts"] == players["opponentCounts"] == []
    assert players["arenaCounts"] == [{str(made.arena_ids[0]): 2, "playerId": made.player_ids[0]}]


def test_arenas_tell_how_long_their_completed_games_took(night: Night) -> None:
    assert night.stats("arenas") == [
        {
            "arenaId": night.arenas[0],
            "name": "Machine 1",
            "gameCount": 2,
            # 650.5 seconds, halves up.
            "avgDuration": 651,
            "minDuration": 600,
            "maxDuration": 701,
        }
    ]


def test_an_arena_without_known_durations_has_none(store: Store) -> None:
    made = build.a_tournament(store)
    build.a_game(store, made.tournament_id, made.player_ids, arena_id=made.arena_ids[0], status="completed")
    _, (row,) = build.ask(store, f"/api/tournaments/{made.tournament_id}/stats/arenas", by=1)
    assert (row["avgDuration"], row["minDuration"], row["maxDuration"]) == (None, None, None)


def test_players_are_counted_by_place_arena_and_opponent(night: Night, admin: AuthenticatedCaller) -> None:
    ann, bob, cy, canary = night.players
    here = str(night.arenas[0])
    found = night.stats("players", admin)
    # Two strikes of four: the two without share place 0, the two with one share place 2.
    assert found["positionCounts"] == [
        {"0": 2, "playerId": ann},
        {"1": 1, "2": 1, "playerId": bob},
        {"0": 1, "playerId": cy},
        {"2": 1, "playerId": canary},
    ]
    assert found["arenaCounts"] == [
        {here: 2, "playerId": ann},
        {here: 2, "playerId": bob},
        {here: 1, "playerId": cy},
        {here: 1, "playerId": canary},
    ]
    assert found["opponentCounts"][0] == {str(bob): 2, str(cy): 1, str(canary): 1, "playerId": ann}


def test_opponents_are_counted_from_both_sides(night: Night, admin: AuthenticatedCaller) -> None:
    ann, bob, _, canary = night.players
    rows = night.stats("matches", admin)
    keys = [(row["playerId"], row["opponentId"]) for row in rows]
    assert keys == sorted(keys)
    assert len(keys) == 12
    assert rows[0] == {"playerId": ann, "opponentId": bob, "games": 2, "wins": 2, "losses": 0}
    (even,) = [row for row in rows if (row["playerId"], row["opponentId"]) == (bob, canary)]
    assert (even["games"], even["wins"], even["losses"]) == (1, 0, 0)


def test_opted_out_players_are_in_no_statistics(night: Night, admin: AuthenticatedCaller) -> None:
    canary = night.players[3]
    rows = night.stats("matches")
    assert rows
    assert all(canary not in (row["playerId"], row["opponentId"]) for row in rows)
    players = night.stats("players")
    for counts in players.values():
        assert [row["playerId"] for row in counts] == night.players[:3]
    assert all(str(canary) not in row for row in players["opponentCounts"])
    hidden_viewer = build.caller(night.hidden_user, is_hidden=True)
    assert night.stats("players", hidden_viewer) == night.stats("players", admin)
    assert night.stats("matches", hidden_viewer) == night.stats("matches", admin)


def test_opted_out_single_players_are_hidden_too(night: Night) -> None:
    store, made = night.store, build.a_tournament(night.store, type="best_game")
    canary = night.players[3]
    build.row(
        store,
        tables.single_player_game,
        tournament_id=made.tournament_id,
        player_id=canary,
        arena_id=made.arena_ids[0],
    )
    status, body = build.ask(
        store, f"/api/tournaments/{made.tournament_id}/stats/players", by=made.organizer_id
    )
    assert (status, body["arenaCounts"]) == (200, [])


@pytest.mark.both_databases
def test_a_best_game_counts_games_and_cards_and_voided_ones_apart(store: Store) -> None:
    made = build.a_tournament(store, type="card_best_game")
    common = {"tournament_id": made.tournament_id, "player_id": made.player_ids[0]}
    for voided in (True, False, False):
        build.row(store, tables.single_player_game, **common, voided=voided)
    for voided in (True, True, False):
        build.row(store, tables.card, **common, voided=voided)
    path = f"/api/tournaments/{made.tournament_id}/stats/bestgame"
    _, body = build.ask(store, path, by=1)
    assert body == {"gameCount": 2, "voidedCount": 1, "cardCount": 1, "voidedCardCount": 2}
    empty = build.a_tournament(store, type="best_game")
    _, body = build.ask(store, f"/api/tournaments/{empty.tournament_id}/stats/bestgame", by=1)
    assert set(body.values()) == {0}


@pytest.mark.parametrize(
    "kind", ["best_game", "card_best_game", "golf", "golf_bracket", "bowling", "amazingrace"]
)
@pytest.mark.parametrize("path", ["matchplay", "matches"])
def test_formats_without_opponents_have_no_match_play(store: Store, kind: str, path: str) -> None:
    made = build.a_tournament(store, type=kind)
    status, body = build.ask(store, f"/api/tournaments/{made.tournament_id}/stats/{path}", by=1)
    assert (status, body["message"]) == (400, "Tournament is not Match Play")


@pytest.mark.parametrize("path", ["matchplay", "rounds", "arenas", "players", "matches", "bestgame"])
def test_statistics_of_an_unknown_tournament_are_not_found(store: Store, path: str) -> None:
    status, body = build.ask(store, f"/api/tournaments/7/stats/{path}", by=1)
    assert (status, body["message"]) == (404, r"No query results for model [App\Models\Tournament] 7")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("rounds", []),
        ("arenas", []),
        ("matches", []),
        ("players", {"positionCounts": [], "arenaCounts": [], "opponentCounts": []}),
    ],
)
def test_a_tournament_without_games_has_empty_statistics(store: Store, path: str, expected: Any) -> None:
    made = build.a_tournament(store, status="planned")
    asked = build.ask(store, f"/api/tournaments/{made.tournament_id}/stats/{path}", by=1)
    assert asked == (200, expected)
