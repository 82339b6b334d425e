"""Merging two entries of a book that are the same person."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import select

import build
from service import stored_nights
from service.desk import Desk, a_desk
from silverball.demo import nights as demo_nights
from silverball.service.journal.reads import verification
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import snapshot


def merge(store: Store, gone_id: int, kept_id: object, **who: Any) -> tuple[int, Any]:
    body = {"playerId": kept_id}
    status, got, _ = build.do(store, "POST", f"/api/players/{gone_id}/merge", body, **who)
    return status, got


def faults(store: Store, tournament_id: int) -> list[str]:
    with store.read() as db:
        return list(verification.verify_tournament(db, tournament_id).faults)


def places_of(store: Store, player_id: int) -> set[str]:
    """The columns of all tables that contain the player's id."""
    found = set()
    with store.read() as db:
        for table in tables.metadata.sorted_tables:
            for row in db.execute(select(table)).mappings():
                found |= {
                    f"{table.name}.{name}" for name, value in row.items() if _names(name, value, player_id)
                }
    return found


def _names(column: str, value: Any, player_id: int) -> bool:
    if isinstance(value, int) and not isinstance(value, bool):
        return value == player_id and "player" in column
    return str(player_id) in str(value) if isinstance(value, dict | list) else False


# Ids that nothing else has, so that they are found in any text.
GONE, KEPT = 700_000_001, 800_000_002


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory, empty_sqlite: Path) -> tuple[Path, int]:
    """A finished night of every format with the same players: its file and its organizer."""
    path = tmp_path_factory.mktemp("season") / "season.db"
    shutil.copy(empty_sqlite, path)
    store = Store(f"sqlite:///{path}")
    stored_nights.skip_disk_sync(store)
    organizer_id = build.a_user(store, name="Olga Ramp", role="organizer")
    build.a_player(store, organizer_id, name=demo_nights.NAMES[0], player_id=GONE)
    demo_nights.play_nights(store, Settings(base_url=build.BASE_URL), organizer_id, Random(1))
    with store.engine.connect() as db:
        db.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    return path, organizer_id


@pytest.fixture
def played(season: tuple[Path, int], tmp_path: Path) -> Iterator[tuple[Store, int]]:
    path, organizer_id = season
    shutil.copy(path, tmp_path / "season.db")
    opened = Store(f"sqlite:///{tmp_path / 'season.db'}")
    stored_nights.skip_disk_sync(opened)
    yield opened, organizer_id
    opened.close()


def test_a_night_of_every_format_still_matches_its_journal(played: tuple[Store, int]) -> None:
    store, organizer_id = played
    build.a_player(store, organizer_id, name="Ada Q.", player_id=KEPT)
    with store.read() as db:
        nights = verification.tournament_ids(db)
        before = {tournament_id: faults(store, tournament_id) for tournament_id in nights}
        types = set(db.execute(select(tables.tournament.c.type)).scalars())
    named = places_of(store, GONE)
    assert {"entrant.player_id", "game_player.player_id", "standing.row", "journal.data"} <= named
    assert len(types) == 21
    status, got = merge(store, GONE, KEPT, by=organizer_id)
    assert (status, got["data"]["playerId"], got["data"]["name"]) == (200, KEPT, "Ada Q.")
    # The lines of the journal stay as they were written.
    assert places_of(store, GONE) == {"journal.data"}
    assert places_of(store, KEPT) == named | {"player.player_id"}
    assert {tournament_id: faults(store, tournament_id) for tournament_id in nights} == before
    assert not any(before.values())


def test_the_snapshot_differs_by_the_id_only(played: tuple[Store, int]) -> None:
    store, organizer_id = played
    build.a_player(store, organizer_id, player_id=KEPT)
    with store.read() as db:
        nights = verification.tournament_ids(db)
        before = {tournament_id: str(snapshot.load(db, tournament_id)) for tournament_id in nights}
    merge(store, GONE, KEPT, by=organizer_id)
    with store.read() as db:
        after = {tournament_id: str(snapshot.load(db, tournament_id)) for tournament_id in nights}
    assert after == {
        tournament_id: text.replace(str(GONE), str(KEPT)) for tournament_id, text in before.items()
    }


def a_running_desk(store: Store) -> tuple[Desk, int]:
    """Two rounds of a running match play, and a player of the book without games."""
    desk = a_desk(store, "matchplay", players=4)
    for game in desk.open_round():
        desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]})
    desk.open_round()
    return desk, build.a_player(store, desk.night.organizer_id, name="The same")


def test_a_running_night_continues_with_the_other_id_and_can_be_undone(store: Store) -> None:
    desk, kept_id = a_running_desk(store)
    gone_id = desk.night.player_ids[1]
    status, _ = merge(store, gone_id, kept_id, by=desk.callers["owner"])
    assert status == 200
    assert faults(store, desk.night.tournament_id) == []
    desk.mirror.follow()
    games = desk.ok("GET", "/games?status=started")["data"]
    playing = next(game for game in games if kept_id in game["playerIds"])
    desk.ok("PUT", f"/games/{playing['gameId']}/result", {"resultPositions": playing["playerIds"]})
    for _ in range(4):
        desk.undo()
    assert faults(store, desk.night.tournament_id) == []
    assert gone_id not in [
        player["playerId"] for player in desk.ok("GET", "?includePlayers=1")["data"]["players"]
    ]


def test_followers_read_a_running_night_again(store: Store) -> None:
    desk, kept_id = a_running_desk(store)
    with store.read() as db:
        columns = select(tables.tournament.c.epoch, tables.tournament.c.revision)
        before = db.execute(columns).one()
        merge(store, desk.night.player_ids[1], kept_id, by=desk.callers["owner"])
    with store.read() as db:
        after = db.execute(columns).one()
    assert after.epoch != before.epoch
    assert after.revision > before.revision


@pytest.mark.both_databases
def test_details_of_either_entry_are_kept(store: Store) -> None:
    organizer_id, user_id = build.a_user(store, role="organizer"), build.a_user(store)
    claimant = build.a_user(store)
    gone = build.a_player(store, organizer_id, ifpa_id=77, claimed_by=user_id, labels=["junior", "b"])
    kept = build.a_player(store, organizer_id, name="Kept", labels=["a", "b"], status="inactive")
    build.row(store, tables.claim, player_id=kept, user_id=claimant, at=build.NOW)
    status, got = merge(store, gone, kept, by=organizer_id)
    assert status == 200
    shown = got["data"]
    assert (shown["name"], shown["ifpaId"], shown["claimedBy"], shown["status"]) == (
        "Kept",
        77,
        user_id,
        "active",
    )
    assert shown["labels"] == ["a", "b", "junior"]
    assert build.ask(store, "/api/players/claims", by=organizer_id)[1]["data"] == []


def test_games_of_both_are_rated_again(store: Store) -> None:
    night = build.a_tournament(store, status="completed", type="matchplay", completed_at=build.NOW)
    kept = build.a_player(store, night.organizer_id)
    assert merge(store, night.player_ids[0], kept, by=night.organizer_id)[0] == 200
    with store.read() as db:
        columns = select(tables.rating_period.c.period_date, tables.rating_period.c.status)
        assert [tuple(row) for row in db.execute(columns)] == [("2026-03-05", "waiting")]


@pytest.mark.both_databases
def test_pending_claims_move_to_the_remaining_entry(store: Store) -> None:
    organizer_id, first, second = (build.a_user(store, role="organizer") for _ in range(3))
    gone, kept = build.a_player(store, organizer_id), build.a_player(store, organizer_id)
    for player_id, user_id in ((gone, first), (gone, second), (kept, second)):
        build.row(store, tables.claim, player_id=player_id, user_id=user_id, at=build.NOW)
    assert merge(store, gone, kept, by=organizer_id)[0] == 200
    waiting = build.ask(store, "/api/players/claims", by=organizer_id)[1]["data"]
    assert {(claim["playerId"], claim["userId"]) for claim in waiting} == {(kept, first), (kept, second)}


def all_rows(store: Store) -> list[Any]:
    with store.read() as db:
        return [
            list(db.execute(select(table)))
            for table in tables.metadata.sorted_tables
            if table.name != "world"
        ]


def refused(store: Store, status: int, gone_id: int, kept_id: object, sentence: str, **who: Any) -> None:
    before = all_rows(store)
    got, body = merge(store, gone_id, kept_id, **who)
    assert (got, sentence in str(body)) == (status, True), body
    assert all_rows(store) == before


def test_players_of_the_same_tournament_cannot_be_merged(store: Store) -> None:
    night = build.a_tournament(store)
    first, second, *_ = night.player_ids
    refused(store, 409, first, second, f"tournament {night.tournament_id}", by=night.organizer_id)


def test_removed_entrants_count_as_players_of_the_tournament(store: Store) -> None:
    desk, kept_id = a_running_desk(store)
    late = desk.ok("POST", "/players", {"playerId": kept_id})
    assert late
    desk.undo()
    refused(store, 409, desk.night.player_ids[1], kept_id, "were in tournament", by=desk.callers["owner"])


def test_a_mistaken_entry_without_tournaments_is_merged(store: Store) -> None:
    desk, mistaken = a_running_desk(store)
    desk.ok("POST", "/players", {"playerId": mistaken})
    desk.undo()
    assert merge(store, mistaken, desk.night.player_ids[1], by=desk.callers["owner"])[0] == 200
    assert faults(store, desk.night.tournament_id) == []


@pytest.mark.parametrize("field", ["ifpa_id", "claimed_by"])
def test_different_people_cannot_be_merged(store: Store, field: str) -> None:
    organizer_id, *users = (build.a_user(store, role="organizer") for _ in range(3))
    first, second = (build.a_player(store, organizer_id, **{field: user_id}) for user_id in users)
    refused(store, 409, first, second, "two people", by=organizer_id)


def test_only_players_of_ones_own_book_can_be_merged(store: Store) -> None:
    organizer_id, other_id = (build.a_user(store, role="organizer") for _ in range(2))
    mine, foreign = build.a_player(store, organizer_id), build.a_player(store, other_id)
    refused(store, 422, mine, foreign, "belongs to another organizer", by=organizer_id)
    refused(store, 403, foreign, mine, "unauthorized", by=organizer_id)
    refused(store, 404, 999_999, mine, "No query results", by=organizer_id)
    refused(store, 422, mine, 999_999, "There is no player 999999", by=organizer_id)
    refused(store, 422, mine, mine, "into itself", by=organizer_id)
    for odd in (None, "x", 0, -1, 2**63, [1]):
        refused(store, 422, mine, odd, "player id", by=organizer_id)
