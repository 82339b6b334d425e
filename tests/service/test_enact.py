"""The one door: rows, standings, journal, revision and epoch of a change, on both databases."""

from datetime import timedelta
from random import Random
from typing import Any

import pytest
from sqlalchemy import select

from exchange import bundles
from rules import knockouts
from silverball.rules.model import changes
from silverball.rules.model.changes import Added, Altered, Removed, TournamentAltered, TournamentImported
from silverball.rules.registry import FORMATS
from silverball.service.core import enact
from silverball.service.standings.reads import standings
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import imports, snapshot, writers

CONTEXT = enact.ActionContext(actor_id=None, source="test", now=bundles.NOW + timedelta(days=1))


def _journal(store: Store) -> list[Any]:
    with store.read() as db:
        return list(db.execute(select(tables.journal).order_by(tables.journal.c.journal_id)).all())


def _tournament(store: Store) -> Any:
    with store.read() as db:
        return db.execute(select(tables.tournament)).one()


def test_an_import_is_journalled_with_its_actor_time_source_and_contents(store: Store) -> None:
    bundles.import_bundle(store, bundles.full_bundle())
    (entry,) = _journal(store)
    assert (entry.tournament_id, entry.action_id, entry.change) == (700, 1, "TournamentImported")
    assert (entry.actor_id, entry.source, entry.at) == (None, "import", bundles.NOW)
    assert entry.data["file"] == "test.json"
    assert (entry.data["games"], entry.data["rounds"], entry.data["entrants"]) == (3, 1, 3)
    assert len(entry.data["digest"]) == 64


def test_each_request_is_one_action_numbered_per_tournament(store: Store) -> None:
    night = bundles.full_bundle()
    bundles.import_bundle(store, night)
    bundles.import_bundle(store, bundles.real_night("00"))
    bundles.import_bundle(store, {**night, "tournament": {**night["tournament"], "name": "Again"}})
    assert [(entry.tournament_id == 700, entry.action_id) for entry in _journal(store)] == [
        (True, 1),
        (False, 1),
        (True, 2),
    ]


@pytest.mark.both_databases
def test_an_import_announces_nothing_but_begins_a_new_epoch(store: Store) -> None:
    bundles.import_bundle(store, bundles.full_bundle())
    before = _tournament(store)
    assert (before.seq, before.seq_low, before.revision, len(before.epoch)) == (0, 0, 1, 8)
    change = TournamentImported(tournament_id=700, parts=_parts(store), origin={})
    with store.write(700) as transaction:
        enact.enact_import(transaction, change, CONTEXT, Random(8))
    after = _tournament(store)
    assert (after.revision, after.epoch == before.epoch) == (2, False)
    with store.read() as db:
        assert db.execute(select(tables.announcement)).all() == []


def _parts(store: Store) -> dict[str, list[dict[str, Any]]]:
    """The parts of tournament 700 as they are stored."""
    parts = {}
    with store.read() as db:
        row = dict(db.execute(select(tables.tournament)).mappings().one())
        for name in imports.FEED_COLUMNS:
            del row[name]
        parts["tournament"] = [row]
        for name, table in imports.PARTS.items():
            parts[name] = [dict(values) for values in db.execute(select(table)).mappings()]
    return parts


@pytest.mark.both_databases
def test_standings_follow_from_the_rules_of_the_format(store: Store) -> None:
    night = bundles.real_night("17")
    imported = bundles.import_bundle(store, night)
    with store.read() as db:
        loaded = snapshot.load(db, imported.tournament_id)
        stored = db.execute(
            select(tables.standing.c.player_id, tables.standing.c.position).order_by(
                tables.standing.c.position
            )
        )
        stored_places = {row.player_id: row.position for row in stored}
    ranked = FORMATS["knockout"].rank(loaded)
    assert stored_places == {row.player_id: row.position for row in ranked}


def test_the_snapshot_has_the_imported_parts(store: Store) -> None:
    bundles.import_bundle(store, bundles.full_bundle())
    with store.read() as db:
        loaded = snapshot.load(db, 700)
    assert [(entrant.player_id, entrant.is_active, entrant.seed_rank) for entrant in loaded.entrants] == [
        (901, True, 2),
        (902, False, 1),
        (903, True, None),
    ]
    assert [(game.game_id, game.player_ids, game.is_bye, game.status) for game in loaded.games] == [
        (1301, (901, 902), False, "completed"),
        (1302, (903,), True, "completed"),
        (1303, (902, 903), False, "started"),
    ]
    assert [(arena.arena_id, arena.category_id, arena.amazing_race_seed) for arena in loaded.lineup] == [
        (801, 4, None),
        (802, 4, 1),
    ]
    assert [round_.round_id for round_ in loaded.rounds] == [1002]
    assert [game.single_player_game_id for game in loaded.single_player_games] == [1201, 1202, 1203]
    assert [(card.card_id, card.is_voided) for card in loaded.cards] == [(1101, False)]
    assert [(spot.queue_id, spot.is_done) for spot in loaded.queue] == [(1501, True)]


def test_every_type_of_change_has_its_writer() -> None:
    kinds = {kind for base in (Added, Altered, Removed, TournamentAltered) for kind in base.__subclasses__()}
    assert set(writers.WRITERS) == {kind for kind in kinds if kind.__module__ == changes.__name__}


def test_a_computed_row_has_the_numbers_and_texts_of_the_interface() -> None:
    played = knockouts.knockout_tournament([[{1: "1.00", 2: "0.01"}]], knockoutFair=True)
    row = standings.wire_standing(knockouts.standings(played)[1])
    assert (row.points, row.tiebreakers, row.adjustment, row.strike_count) == ("0.01", (1, 2), 0, 2)
