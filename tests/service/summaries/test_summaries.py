"""Summaries of completed tournaments."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import insert

import build
from silverball.service.core import enact
from silverball.service.core.access import AuthenticatedCaller
from silverball.store import tables
from silverball.store.database.engine import Store


@dataclass(frozen=True)
class Night:
    """A completed group knockout on two arenas; the fourth player's user wants no statistics."""

    store: Store
    tournament_id: int
    organizer_id: int
    players: list[int]
    arenas: list[int]
    hidden_user: int

    def page(self, path: str, by: AuthenticatedCaller | None = None, query: str = "") -> Any:
        route = f"/api/tournaments/{self.tournament_id}/summary/{path}{query}"
        status, body = build.ask(self.store, route, by=by or self.organizer_id)
        assert status == 200, body
        return body

    def rows(self, path: str, by: AuthenticatedCaller | None = None) -> Any:
        return self.page(path, by)["data"]


def a_night(store: Store, **values: Any) -> Night:
    hidden = build.a_user(store, name="Hidden Canary", stats_opt_out=True)
    made = build.a_tournament(store, players=3, status="completed", **values)
    canary = build.a_player(store, made.organizer_id, name="Canary", claimed_by=hidden)
    known = build.an_arena(store, made.organizer_id, opdb_id="GweeP-Ml9pZ-ARZoY")
    night = Night(
        store,
        made.tournament_id,
        made.organizer_id,
        [*made.player_ids, canary],
        [known, made.arena_ids[0]],
        hidden,
    )
    ann, bob, cy, _ = night.players
    done = {"status": "completed"}
    # Two strikes of four: two winners beat two losers. Source: formats, section 22.
    points = ["0.00", "1.00", "0.00", "1.00"]
    positions = [None, None, None, canary]
    for _ in range(2):
        build.a_game(
            store,
            night.tournament_id,
            [ann, bob, cy, canary],
            arena_id=known,
            points=points,
            positions=positions,
            **done,
        )
    build.a_game(
        store,
        night.tournament_id,
        [ann, bob],
        arena_id=night.arenas[1],
        points=["1.00", "0.00"],
        positions=[None, ann],
        **done,
    )
    build.a_game(store, night.tournament_id, [cy], bye=True, points=["1.00"], positions=[cy], **done)
    build.a_game(store, night.tournament_id, [ann, bob], arena_id=known)
    return night


def store_summaries(night: Night) -> Night:
    with night.store.write(night.tournament_id) as transaction:
        enact.store_summaries(transaction.connection, night.tournament_id)
    return night


@pytest.fixture
def night(store: Store) -> Night:
    return store_summaries(a_night(store))


@pytest.fixture
def admin(store: Store) -> AuthenticatedCaller:
    return build.caller(build.a_user(store, role="admin"), role="admin", ability="admin")


def test_each_arena_has_one_row(night: Night) -> None:
    unknown, known = sorted(night.arenas)
    first, second = night.rows("arenas")
    assert (first["arenaId"], first["games"], first["opdbId"], first["opdbGroup"]) == (unknown, 1, None, None)
    assert second == {
        "tournamentId": night.tournament_id,
        "userId": night.organizer_id,
        "arenaId": known,
        "tournamentDate": "2026-03-05",
        "games": 2,
        "singlePlayerGames": 0,
        "totalGames": 2,
        "opdbGroup": "GweeP",
        "opdbId": "GweeP-Ml9pZ-ARZoY",
    }


def test_each_player_has_one_row_per_arena(night: Night, admin: AuthenticatedCaller) -> None:
    ann, bob, cy, canary = night.players
    known, unknown = night.arenas
    rows = night.rows("player-arenas", admin)
    found = [(row["arenaId"], row["playerId"], row["games"], row["wins"], row["losses"]) for row in rows]
    assert found == sorted(found)
    assert found == [
        (unknown, ann, 1, 1, 0),
        (unknown, bob, 1, 0, 1),
        (known, ann, 2, 0, 4),
        (known, bob, 2, 4, 0),
        (known, cy, 2, 0, 4),
        (known, canary, 2, 4, 0),
    ]


def test_each_pairing_appears_once_per_player(night: Night, admin: AuthenticatedCaller) -> None:
    ann, bob, _, canary = night.players
    rows = night.rows("matches", admin)
    found = {
        (row["arenaId"], row["playerId"], row["opponentId"]): (row["games"], row["wins"], row["losses"])
        for row in rows
    }
    assert list(found) == sorted(found)
    assert len(found) == 2 + 12
    known = night.arenas[0]
    assert found[known, ann, canary] == (2, 0, 2)
    assert found[known, canary, ann] == (2, 2, 0)
    # Both won, so neither beat the other.
    assert found[known, bob, canary] == (2, 0, 0)


@pytest.mark.parametrize("path", ["player-arenas", "matches"])
def test_opted_out_players_have_no_rows_from_either_side(
    night: Night, admin: AuthenticatedCaller, path: str
) -> None:
    canary = night.players[3]
    shown = night.page(path)
    assert all(canary not in (row["playerId"], row.get("opponentId")) for row in shown["data"])
    assert shown["meta"]["total"] == len(shown["data"])
    for who in (admin, build.caller(night.hidden_user, is_hidden=True)):
        rows = night.rows(path, who)
        assert any(row["playerId"] == canary for row in rows)
        assert len(rows) > len(shown["data"])


def test_without_a_token_the_hidden_stay_hidden(night: Night) -> None:
    path = f"/api/tournaments/{night.tournament_id}/summary/matches"
    _, body = build.ask(night.store, path, public_read=True)
    assert str(night.players[3]) not in {str(row["playerId"]) for row in body["data"]}


@pytest.mark.parametrize("path", ["arenas", "player-arenas", "matches"])
def test_a_page_past_the_end_is_empty_however_deep(night: Night, path: str) -> None:
    for page in (2, 4000, 2**62, 2**63 - 1):
        body = night.page(path, query=f"?page={page}")
        assert (body["data"], body["meta"]["from"], body["meta"]["per_page"]) == ([], None, 5000)


@pytest.mark.parametrize("path", ["arenas", "player-arenas", "matches"])
@pytest.mark.parametrize("page", ["0", "-1", "x", "1.0"])
def test_a_page_that_is_none_is_refused(night: Night, path: str, page: str) -> None:
    route = f"/api/tournaments/{night.tournament_id}/summary/{path}?page={page}"
    status, body = build.ask(night.store, route, by=1)
    assert (status, list(body["errors"])) == (422, ["page"])


@pytest.mark.parametrize("status", ["planned", "started"])
def test_before_completion_the_page_is_empty(store: Store, status: str) -> None:
    made = build.a_tournament(store, status=status)
    build.a_game(store, made.tournament_id, made.player_ids, arena_id=made.arena_ids[0], status="completed")
    night = store_summaries(Night(store, made.tournament_id, made.organizer_id, [], [], 0))
    for path in ("arenas", "player-arenas", "matches"):
        body = night.page(path)
        assert (body["data"], body["meta"]["total"], body["meta"]["last_page"]) == ([], 0, 1)


def test_summarising_again_changes_nothing(night: Night) -> None:
    before = [night.rows(path) for path in ("arenas", "player-arenas", "matches")]
    again = store_summaries(night)
    assert [again.rows(path) for path in ("arenas", "player-arenas", "matches")] == before


def test_positions_and_fair_strikes_are_counted_their_own_way(store: Store) -> None:
    fair = store_summaries(
        a_night(store, settings={"scorekeeping": "disabled", "playoffsCutoffs": [], "knockoutFair": True})
    )
    assert fair.rows("arenas")
    made = build.a_tournament(store, status="completed", type="group_matchplay")
    build.a_game(
        store,
        made.tournament_id,
        made.player_ids,
        arena_id=made.arena_ids[0],
        status="completed",
        points=["1.00", "7.00", "5.00", "3.00"],
        positions=[made.player_ids[n] for n in (1, 2, 3, 0)],
    )
    night = store_summaries(Night(store, made.tournament_id, made.organizer_id, made.player_ids, [], 0))
    wins = [(row["wins"], row["losses"]) for row in night.rows("player-arenas")]
    assert wins == [(0, 3), (3, 0), (2, 1), (1, 2)]


@pytest.mark.both_databases
def test_single_player_games_count_as_plays_without_a_record(store: Store) -> None:
    made = build.a_tournament(store, status="completed", type="best_game")
    ann, here = made.player_ids[0], made.arena_ids[0]
    for values in ({}, {}, {"voided": True}, {"status": "pending"}):
        build.row(
            store,
            tables.single_player_game,
            tournament_id=made.tournament_id,
            player_id=ann,
            arena_id=here,
            points=Decimal(1),
            **values,
        )
    night = store_summaries(Night(store, made.tournament_id, made.organizer_id, made.player_ids, [here], 0))
    (row,) = night.rows("player-arenas")
    assert (row["games"], row["singlePlayerGames"], row["totalGames"]) == (0, 2, 2)
    assert (row["wins"], row["losses"]) == (0, 0)
    assert night.rows("matches") == []


def test_five_thousand_rows_fill_a_page(store: Store) -> None:
    made = build.a_tournament(store, status="completed")
    row = {"tournament_id": made.tournament_id, "games": 1, "single_player_games": 0, "opdb_id": None}
    with store.write() as transaction:
        transaction.connection.execute(
            insert(tables.arena_summary), [{**row, "arena_id": n} for n in range(1, 5002)]
        )
    night = Night(store, made.tournament_id, made.organizer_id, [], [], 0)
    assert len(night.rows("arenas")) == 5000
    second = night.page("arenas", query="?page=2")
    assert [arena["arenaId"] for arena in second["data"]] == [5001]
    assert second["meta"]["last_page"] == 2


@pytest.mark.parametrize("path", ["arenas", "player-arenas", "matches"])
def test_summaries_of_an_unknown_tournament_are_not_found(store: Store, path: str) -> None:
    assert build.ask(store, f"/api/tournaments/7/summary/{path}", by=1)[0] == 404
