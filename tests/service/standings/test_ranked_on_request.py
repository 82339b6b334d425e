"""Standings of a running tournament are ranked when somebody asks; only completed ones are stored."""

import threading
from typing import Any

import pytest
from sqlalchemy import func, select

from service.desk import Desk, a_desk
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import snapshot
from silverball.store.tournament.loaded import DerivedOnce


def stored_positions(store: Store, desk: Desk) -> dict[int, int]:
    """Player id -> stored position."""
    columns = tables.standing.c
    rows = select(columns.player_id, columns.position).where(
        columns.tournament_id == desk.night.tournament_id
    )
    with store.read() as db:
        return {row.player_id: row.position for row in db.execute(rows)}


def read_positions(desk: Desk) -> dict[int, int]:
    rows: list[dict[str, Any]] = desk.ok("GET", "/standings", by="reader")
    return {row["playerId"]: row["position"] for row in rows}


def play_round(desk: Desk) -> None:
    for game in desk.open_round():
        desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]})


def test_results_store_no_standings_and_completion_does(store: Store) -> None:
    desk = a_desk(store)
    play_round(desk)
    assert stored_positions(store, desk) == {}
    places = read_positions(desk)
    assert sorted(places) == sorted(desk.night.player_ids)
    assert len(set(places.values())) > 1
    desk.ok("POST", "/complete")
    assert stored_positions(store, desk) == read_positions(desk) == places


def test_reopening_deletes_the_rows_and_shows_the_same(store: Store) -> None:
    desk = a_desk(store)
    play_round(desk)
    desk.ok("POST", "/complete")
    places = read_positions(desk)
    desk.ok("POST", "/reopen")
    assert stored_positions(store, desk) == {}
    assert read_positions(desk) == places
    desk.ok("POST", "/complete")
    assert stored_positions(store, desk) == places


def test_a_result_in_another_process_is_ranked_here(store: Store) -> None:
    desk = a_desk(store)
    play_round(desk)
    elsewhere = Store(store.url.render_as_string(hide_password=False))
    other = Desk(elsewhere, desk.night, desk.callers)
    assert read_positions(other) == read_positions(desk)
    play_round(desk)
    assert read_positions(other) == read_positions(desk)
    elsewhere.close()


def test_what_a_writer_ranked_is_kept_only_after_its_commit(store: Store) -> None:
    desk = a_desk(store)
    play_round(desk)
    answered = desk.ok("POST", "/tiebreaks", {"order": _tied_players(desk)})
    assert {row["playerId"]: row["position"] for row in answered["data"]} == read_positions(desk)


def _tied_players(desk: Desk) -> list[int]:
    places = read_positions(desk)
    return [player_id for player_id, place in places.items() if place == min(places.values())]


@pytest.mark.parametrize("kind", ["knockout", "group_knockout"])
def test_a_result_that_the_format_cannot_rank_is_refused(store: Store, kind: str) -> None:
    desk = a_desk(store, kind, players=8)
    game = desk.open_round()[0]
    points = ["9.00"] * len(game["playerIds"])
    desk.expect_refusal(422, "PUT", f"/games/{game['gameId']}/result", {"resultPoints": points})


def test_one_computes_while_others_wait() -> None:
    derived, computed, is_asked = DerivedOnce(), [], threading.Event()

    def compute() -> int:
        is_asked.wait(60)
        computed.append(1)
        return 7

    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(derived.get(compute))) for _ in range(8)]
    for thread in threads:
        thread.start()
    is_asked.set()
    for thread in threads:
        thread.join()
    assert (found, computed) == ([7] * 8, [1])


def test_a_failed_computation_is_tried_again() -> None:
    derived = DerivedOnce()
    with pytest.raises(ZeroDivisionError):
        derived.get(lambda: 1 // 0)
    assert derived.get(lambda: 3) == 3


def test_readers_of_one_revision_share_a_snapshot(store: Store) -> None:
    desk = a_desk(store)
    store.forget()
    with store.read() as db:
        tournament_id = desk.night.tournament_id
        revision = store.tournament_revisions([tournament_id])[tournament_id]
        first = snapshot.load_at_revision(db, tournament_id, revision)
        again = store.snapshots.add(snapshot._load_from_rows(db, tournament_id, revision))
    assert again is first
    with store.read() as db:
        assert db.execute(select(func.count()).select_from(tables.standing)).scalar_one() == 0
