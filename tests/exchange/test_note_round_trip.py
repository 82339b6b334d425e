"""A bundle holds the notes on games, with author and time, for those who may read them."""

from typing import Any

import pytest

import build
from exchange import bundles
from service.desk import Desk, a_desk
from silverball.exchange.bundle.checks import BrokenBundle
from silverball.store.database.engine import Store


def noted_desk(store: Store) -> tuple[Desk, dict[str, Any]]:
    """A night with a warning of a player, a note on the game, and one that was undone."""
    desk = a_desk(store, "group_matchplay", players=4, arenas=2)
    game: dict[str, Any] = desk.open_round()[0]
    path = f"/games/{game['gameId']}/notes"
    desk.ok("POST", path, {"kind": "yellow", "text": "Shook the machine", "playerId": game["playerIds"][0]})
    desk.ok("POST", path, {"kind": "other", "text": "The left flipper is weak"})
    desk.ok("POST", path, {"kind": "red", "text": "A mistake", "playerId": game["playerIds"][1]})
    desk.undo()
    return desk, game


def notes(store: Store, tournament_id: int, game_id: int, by: int) -> Any:
    return build.do(store, "GET", f"/api/tournaments/{tournament_id}/games/{game_id}/notes", by=by)


@pytest.mark.parametrize("with_journal", [False, True])
def test_notes_go_along_with_author_and_time(store: Store, second: Store, with_journal: bool) -> None:
    desk, game = noted_desk(store)
    tournament_id, owner_id = desk.night.tournament_id, desk.night.organizer_id
    exported = bundles.export_bundle(store, tournament_id, with_journal=with_journal)
    assert [note["text"] for note in exported["engine"]["notes"]] == [
        "Shook the machine",
        "The left flipper is weak",
    ]
    bundles.import_bundle(second, exported)
    again = bundles.export_bundle(second, tournament_id, with_journal=with_journal)
    assert again["engine"] == exported["engine"]
    there = notes(second, tournament_id, game["gameId"], owner_id)[1]["data"]
    here = notes(store, tournament_id, game["gameId"], owner_id)[1]["data"]
    unnumbered = [[{**note, "noteId": 0} for note in side] for side in (here, there)]
    assert unnumbered[0] == unnumbered[1]
    assert [note["userId"] for note in there] == [owner_id, owner_id]


@pytest.mark.both_databases
def test_only_who_may_record_results_reads_imported_notes(store: Store, second: Store) -> None:
    desk, game = noted_desk(store)
    tournament_id = desk.night.tournament_id
    bundles.import_bundle(second, bundles.export_bundle(store, tournament_id))
    stranger = build.a_user(second, name="Nobody's Friend", role="organizer")
    assert notes(second, tournament_id, game["gameId"], stranger)[0] == 403
    shown = build.do(second, "GET", f"/api/tournaments/{tournament_id}/games/{game['gameId']}", by=stranger)
    assert "flipper" not in str(shown)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_notes_get_the_new_ids_of_their_games_and_players(store: Store, second: Store) -> None:
    desk, game = noted_desk(store)
    exported = bundles.export_bundle(store, desk.night.tournament_id)
    moved = bundles.import_bundle(second, exported, new_ids=True)
    again = bundles.export_bundle(second, moved.tournament_id)["engine"]["notes"]
    assert again[0]["gameId"] == moved.ids["gameId"][game["gameId"]]
    assert again[0]["playerId"] == moved.ids["playerId"][game["playerIds"][0]]
    # The same file again brings no note twice.
    bundles.import_bundle(second, exported, new_ids=True)
    assert len(bundles.export_bundle(second, moved.tournament_id)["engine"]["notes"]) == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gameId", 999_999),
        ("playerId", 999_999),
        ("createdAt", "yesterday"),
        ("text", "x" * 1_001),
        ("kind", "praise"),
    ],
)
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_faulty_note_is_refused_with_its_place(
    store: Store, second: Store, name: str, value: object
) -> None:
    desk, _ = noted_desk(store)
    exported = bundles.export_bundle(store, desk.night.tournament_id)
    exported["engine"]["notes"][0][name] = value
    with pytest.raises(BrokenBundle) as refused:
        bundles.import_bundle(second, exported)
    assert f"$.engine.notes[0].{name}" in str(refused.value)


def test_undo_of_an_imported_note_takes_it_away(store: Store, second: Store) -> None:
    desk, game = noted_desk(store)
    tournament_id, owner_id = desk.night.tournament_id, desk.night.organizer_id
    bundles.import_bundle(second, bundles.export_bundle(store, tournament_id, with_journal=True))
    path = f"/api/tournaments/{tournament_id}/undo"
    # The refusal of a wrong id names the right one.
    refusal = build.do(second, "POST", path, {"action": 10**6}, by=owner_id)[1]["message"]
    newest = int(refusal.split(": action ")[1].split(" ")[0])
    assert build.do(second, "POST", path, {"action": newest}, by=owner_id)[0] == 200
    left = notes(second, tournament_id, game["gameId"], owner_id)[1]["data"]
    assert [note["kind"] for note in left] == ["yellow"]
