"""With its journal a tournament is the same elsewhere, to the last action that can be undone."""

import json
from typing import Any

import pytest

import build
from exchange import bundles
from exchange.test_engine_round_trip import a_walked_night
from rules.test_corrections import ALL
from service import stored_nights
from silverball.exchange.bundle.checks import BrokenBundle
from silverball.kit.errors import Conflict
from silverball.service.core import enact
from silverball.service.journal.reads import verification
from silverball.service.series import reads as series_reads
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import chain, journal, undoing

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def exported_night(store: Store, kind: str) -> Any:
    """The bundle of a walked night, with its journal."""
    stored_nights.skip_disk_sync(store)
    night = a_walked_night(store, kind, f"journal {kind}")
    return bundles.export_bundle(store, night.tournament.tournament_id, with_journal=True)


def undo_all(store: Store, tournament_id: int) -> int:
    """Undo action by action as far as it goes; returns how often it was possible."""
    for undone in range(200):
        with store.write(tournament_id) as transaction:
            offered = undoing.load_history(transaction.connection, tournament_id).offered
            if not offered:
                return undone
            context = enact.ActionContext(actor_id=None, source="test", now=bundles.NOW)
            try:
                enact.undo_action(transaction, tournament_id, offered[0].action_id, context)
            except Conflict:
                return undone
    raise AssertionError("Undoing does not end.")


@pytest.mark.sample(4)
@pytest.mark.parametrize("kind", sorted(ALL))
def test_export_after_import_is_the_identity_and_undo_and_verify_reach_back(
    store: Store, second: Store, kind: str
) -> None:
    exported = exported_night(store, kind)
    tournament_id, head = exported["tournament"]["tournamentId"], exported["journalHead"]
    imported = bundles.import_bundle(second, exported)
    assert (imported.outcome, imported.is_journal_left) == ("new", False)
    assert bundles.export_bundle(second, tournament_id, with_journal=True) == exported
    assert bundles.import_bundle(second, exported).outcome == "unchanged"
    for database in (store, second):
        with database.read() as db:
            assert verification.verify_tournament(db, tournament_id, head).faults == []
            assert verification.verify_draws(db, tournament_id).faults == []
    assert undo_all(second, tournament_id) == undo_all(store, tournament_id)
    with second.read() as db:
        assert verification.verify_tournament(db, tournament_id, head).faults == []
        assert chain.journal_head(db, tournament_id) != head


def test_a_night_with_a_merged_machine_is_the_same_elsewhere(store: Store, second: Store) -> None:
    night = exported_night(store, "matchplay")["tournament"]
    tournament_id, organizer_id = night["tournamentId"], night["organizerId"]
    gone = next(arena for arena in night["arenas"])
    kept_id = build.an_arena(store, organizer_id, name=gone["name"], opdb_id=gone["opdbId"])
    path = f"/api/arenas/{gone['arenaId']}/merge"
    assert build.do(store, "POST", path, {"arenaId": kept_id}, by=organizer_id)[0] == 200
    exported = bundles.export_bundle(store, tournament_id, with_journal=True)
    assert exported["journal"][-1]["change"] == journal.ARENAS_MERGED
    assert [arena["arenaId"] for arena in exported["formerArenas"]] == [gone["arenaId"]]
    imported = bundles.import_bundle(second, exported)
    assert (imported.outcome, imported.is_journal_left) == ("new", False)
    assert bundles.export_bundle(second, tournament_id, with_journal=True) == exported
    for database in (store, second):
        with database.read() as db:
            assert verification.verify_tournament(db, tournament_id, exported["journalHead"]).faults == []
            assert verification.verify_draws(db, tournament_id).faults == []
    assert undo_all(second, tournament_id) == undo_all(store, tournament_id) > 1
    with second.read() as db:
        assert verification.verify_tournament(db, tournament_id).faults == []


def test_a_journal_is_left_behind_where_ids_or_the_organizer_change(store: Store, second: Store) -> None:
    exported = exported_night(store, "knockout")
    owner_id = build.a_user(second, name="Demo", role="organizer", user_id=4711)
    for options in ({"owner_id": owner_id}, {"new_ids": True}):
        imported = bundles.import_bundle(second, exported, **options)
        assert imported.is_journal_left, options
        with second.read() as db:
            assert verification.verify_tournament(db, imported.tournament_id).faults == []
            (action,) = journal.all_actions(db, imported.tournament_id)
        assert [name for name, _ in action.entries] == [journal.TOURNAMENT_IMPORTED]


def test_a_changed_removed_or_invented_line_is_refused_with_its_place(store: Store, second: Store) -> None:
    exported = exported_night(store, "knockout")
    lines = exported["journal"]
    noted = {**lines[1], "change": "Rewritten"}
    elsewhere = {**lines[1], "at": "2020-01-01T00:00:00.000000Z"}
    for changed, sentence in [
        ([*lines[:1], elsewhere, *lines[2:]], "$.journal[1].hash: The line, or one before it, was changed"),
        ([*lines[:1], noted, *lines[2:]], "$.journal[1].change: 'Rewritten' is not a line of a journal."),
        ([*lines[:1], {**lines[1], "data": {}}], "$.journal[1].data: It is not that of a "),
        (lines[-1:], f"$.journal[0].actionId: Action {lines[-1]['actionId']} does not follow 0."),
        ([*lines[:2], *lines[3:]], "$.journal["),
        ([{**lines[0], "at": "soon"}], "$.journal[0].at: 'soon' is not a date and time."),
        ([], "$.journal: It has no line."),
    ]:
        with pytest.raises(BrokenBundle) as fault:
            bundles.import_bundle(second, {**exported, "journal": json.loads(json.dumps(changed))})
        assert str(fault.value).startswith(sentence), fault.value
    assert bundles.import_bundle(second, exported).outcome == "new"


def test_an_empty_night_of_a_series_counts_as_a_night_after_import(store: Store, second: Store) -> None:
    night = build.a_tournament(store, status="planned", players=0, arenas=0)
    series_id = build.row(store, tables.series, organizer_id=night.organizer_id, name="Winter")
    values = {"series_id": series_id, "status": "completed", "completed_at": build.NOW}
    with store.write() as transaction:
        transaction.connection.execute(tables.tournament.update().values(**values))
    bundles.import_bundle(second, bundles.export_bundle(store, night.tournament_id))
    for database in (store, second):
        with database.read() as db:
            points = series_reads.series_details(db, series_id, None).tournament_points
        assert points == {night.tournament_id: ()}
