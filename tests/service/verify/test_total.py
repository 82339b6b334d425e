"""The verifier is total: what it cannot read is a fault of one tournament, and the others are verified."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import Text, select, type_coerce, update

import selection
from rules.night import NOON, a_night
from service import stored_nights
from service.stored_nights import StoredNight
from service.verify import planting
from service.verify.planting import ALL_MOVES
from silverball.cli.main import silverball_group
from silverball.rules.ratings.formulas import DEFAULTS
from silverball.service.journal.reads import verification
from silverball.service.periods import rating_run
from silverball.service.periods.reads import rating_check
from silverball.store import tables
from silverball.store.database.engine import Store

NIGHTS = 300
# In `make test` each run draws others, by its seed.
NIGHTS_SAMPLED = 21


def _play(store: Store) -> StoredNight:
    night = stored_nights.a_stored_night(store, a_night("matchplay", players=4, arenas=2))
    night.start()
    night.play_round()
    night.complete()
    return night


def _write(store: Store, column: Any, value: str, tournament_id: int) -> None:
    """Write a text into a column of the tournament's rows that the program would never write."""
    with store.write() as transaction:
        own = column.table.c.tournament_id == tournament_id
        changed = update(column.table).where(own).values({column: type_coerce(value, Text)})
        transaction.connection.execute(changed)


def _faults(store: Store, tournament_id: int) -> list[str]:
    with store.read() as db:
        return list(verification.verify_tournament(db, tournament_id).faults)


# On PostgreSQL a moment is one, so only texts can be broken there.
UNREADABLE: dict[str, tuple[Any, str, str]] = {
    "settings": (tables.tournament.c.settings, '{"scorekeeping": "nobody"}', "The settings of tournament"),
    "settings that are no JSON": (tables.tournament.c.settings, "{", "The settings of tournament"),
    "the engine's state": (tables.tournament.c.engine, '{"dice_seed": 7}', "The engine of tournament"),
    "prizes": (tables.tournament.c.prizes, "[]", "The prizes of tournament"),
    "the single games of a match": (tables.game.c.legs, '[{"arena_id": "x"}]', "The legs of game"),
    "labels": (tables.lineup_arena.c.labels, "7", "The labels of arena"),
    "a shown row": (tables.standing.c.row, "[]", "The row of standing of player"),
    "a line of the journal": (tables.journal.c.data, "7", "The data of journal line"),
    "a line's sealed labels": (tables.journal.c.sealed_labels, "[1]", "The sealed_labels of journal line"),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("what", sorted(UNREADABLE))
def test_a_value_that_cannot_be_read_is_a_fault_with_its_field(store: Store, what: str) -> None:
    column, value, words = UNREADABLE[what]
    first, second = (_play(store).tournament.tournament_id for _ in range(2))
    _write(store, column, value, first)
    assert any(words in fault for fault in _faults(store, first)), _faults(store, first)
    assert _faults(store, second) == []


@pytest.mark.both_databases
def test_the_command_goes_on_past_a_tournament_that_it_cannot_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SILVERBALL_DATABASE_URL", store.url.render_as_string(hide_password=False))
    first, second = (_play(store).tournament.tournament_id for _ in range(2))
    _write(store, tables.tournament.c.prizes, "[]", first)
    with store.write() as transaction:
        own = tables.standing.c.tournament_id == second
        transaction.connection.execute(update(tables.standing).where(own).values(points=0))
    shown = CliRunner().invoke(silverball_group, ["verify"])
    assert (shown.exit_code, shown.exception.__class__) == (1, SystemExit)
    assert "The prizes of tournament" in shown.output
    assert "are stored as 0.00 and shown otherwise" in shown.output
    assert "2 tournaments verified, 2 with differences." in shown.output
    both = CliRunner().invoke(silverball_group, ["verify", "--draws"])
    assert (both.exit_code, both.exception.__class__) == (1, SystemExit)


@pytest.mark.both_databases
def test_a_format_that_nobody_knows_is_a_fault(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILVERBALL_DATABASE_URL", store.url.render_as_string(hide_password=False))
    tournament_id = _play(store).tournament.tournament_id
    _write(store, tables.tournament.c.type, "tiddlywinks", tournament_id)
    with store.write() as transaction:
        transaction.connection.execute(update(tables.game_player).values(points=0))
    shown = CliRunner().invoke(silverball_group, ["verify", "--json"])
    assert shown.exit_code == 1
    (report,) = json.loads(shown.output)
    (fault,) = report["faults"]
    assert fault.startswith(
        "The type of the tournament is 'tiddlywinks', a format that this version does not"
    )


def _drop_first(db: Any, table: Any, tournament_id: int) -> None:
    rows = select(*table.primary_key).where(table.c.tournament_id == tournament_id)
    key = db.execute(rows.order_by(*table.primary_key).limit(1)).one()
    planting.Plant(table, tuple(key)).apply(db)


def _forget_number(db: Any, tournament_id: int) -> None:
    own = tables.tournament.c.tournament_id == tournament_id
    db.execute(update(tables.tournament).where(own).values(seq=tables.tournament.c.seq + 1))


def _move_channel(db: Any, tournament_id: int) -> None:
    own = tables.tournament.c.tournament_id == tournament_id
    db.execute(update(tables.tournament).where(own).values(epoch="another"))


CHANNEL: dict[str, tuple[Callable[[Any, int], None], str]] = {
    "a gap": (lambda db, key: _drop_first(db, tables.announcement, key), "Announcement 1 is missing"),
    "a number too high": (_forget_number, "is missing between 0 (seq_low)"),
    "another epoch": (_move_channel, "is stored in the epoch"),
}


@pytest.mark.parametrize("what", sorted(CHANNEL))
@pytest.mark.both_databases
def test_announcements_have_no_gaps(store: Store, what: str) -> None:
    tamper, words = CHANNEL[what]
    tournament_id = _play(store).tournament.tournament_id
    with store.write() as transaction:
        tamper(transaction.connection, tournament_id)
    assert any(words in fault for fault in _faults(store, tournament_id)), _faults(store, tournament_id)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_three_hundred_healthy_nights_and_their_ratings_give_no_alarm(store: Store) -> None:
    stored_nights.skip_disk_sync(store)
    kinds = sorted(ALL_MOVES)
    first = 0 if selection.IS_ALL else int(selection.SEED) % NIGHTS
    count = NIGHTS if selection.IS_ALL else NIGHTS_SAMPLED
    for number in range(first, first + count):
        night = planting.a_walked_night(
            store,
            kinds[number % len(kinds)],
            seed=f"healthy {number}",
            steps=8 + number % 16,
            day=number % 5,
            is_completed=number % 4 != 0,
        )
        assert _faults(store, night.tournament.tournament_id) == []
    planting.give_names(store)
    rating_run.rate_days(store, planting.UNTIL, DEFAULTS, NOON)
    assert [report for report in rating_check.verify_ratings(store, DEFAULTS) if report.faults] == []
