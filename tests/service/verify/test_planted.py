"""A hundred and nineteen planted corruptions, over all formats: the verifier names each with its cause."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import delete, select, update

from rules import test_machines, test_machines_brackets, test_machines_solo
from rules.moves import Moves
from rules.verify import walked_nights
from service import stored_nights
from service.stored_nights import StoredNight
from silverball.service.journal.reads import verification
from silverball.store import tables
from silverball.store.database.engine import Store

ALL: dict[str, Moves] = {
    case.machine.moves.kind: case.machine.moves
    for module in (test_machines, test_machines_brackets, test_machines_solo)
    for case in vars(module).values()
    if hasattr(case, "machine")
}
EACH = 7
STEPS = 12
SEEDS_MAX = 50
# Plants a corruption; False where the night has nothing of the kind.
Plant = Callable[[Any, int], bool]


class _Planted(Exception):
    """Ends the transaction without a trace."""


def _first(db: Any, table: Any, tournament_id: int, *conditions: Any) -> Any:
    rows = select(table).where(table.c.tournament_id == tournament_id, *conditions)
    return db.execute(rows.order_by(*table.primary_key).limit(1)).one_or_none()


def _change(db: Any, table: Any, found: Any, /, **values: Any) -> bool:
    if found is None:
        return False
    own = [column == found._mapping[column.name] for column in table.primary_key]
    db.execute(update(table).where(*own).values(values))
    return True


def _show(column: str, value: Any, db: Any, tournament_id: int) -> bool:
    """Change a column of the first shown row."""
    row = _first(db, tables.standing, tournament_id)
    if row is None:
        return False
    shown = {**row.row, column: value(row.row[column]) if callable(value) else value}
    assert shown != row.row
    return _change(db, tables.standing, row, row=shown)


def _rename(db: Any, tournament_id: int) -> bool:
    entered = _first(db, tables.entrant, tournament_id)
    here = tables.player.c.player_id == entered.player_id
    db.execute(update(tables.player).where(here).values(name="Another Name"))
    return True


def _falsify_announcement(db: Any, tournament_id: int) -> bool:
    message = _first(db, tables.announcement, tournament_id)
    assert "true" in message.data or ":" in message.data
    return _change(db, tables.announcement, message, data=message.data.replace(":", ": ", 1))


def _change_result(db: Any, tournament_id: int) -> bool:
    attempt = _first(
        db, tables.single_player_game, tournament_id, tables.single_player_game.c.status == "completed"
    )
    if attempt is not None:
        return _change(db, tables.single_player_game, attempt, score=(attempt.score or 0) + 1)
    seat = _first(db, tables.game_player, tournament_id, tables.game_player.c.points.is_not(None))
    return seat is not None and _change(db, tables.game_player, seat, points=seat.points + 1)


def _change_bands(db: Any, tournament_id: int) -> bool:
    row = _first(db, tables.tournament, tournament_id)
    if not row.settings.get("playoffsCutoffs"):
        return False
    first, *others = row.settings["playoffsCutoffs"]
    bands = [{**first, "cumulative": first["cumulative"] + 1}, *others]
    return _change(db, tables.tournament, row, settings={**row.settings, "playoffsCutoffs": bands})


def _delete_journal_line(db: Any, tournament_id: int) -> bool:
    line = _first(db, tables.journal, tournament_id, tables.journal.c.change == "TournamentStarted")
    if line is not None:
        db.execute(delete(tables.journal).where(tables.journal.c.journal_id == line.journal_id))
    return line is not None


def _change_entrant(column: str, value: Any, db: Any, tournament_id: int) -> bool:
    return _change(db, tables.entrant, _first(db, tables.entrant, tournament_id), **{column: value})


def _change_arena(db: Any, tournament_id: int) -> bool:
    return _change(
        db, tables.lineup_arena, _first(db, tables.lineup_arena, tournament_id), amazing_race_seed=77
    )


def _change_line(column: str, value: Any, db: Any, tournament_id: int) -> bool:
    """Change a column of the line of the start."""
    line = _first(db, tables.journal, tournament_id, tables.journal.c.change == "TournamentStarted")
    return line is not None and _change(
        db, tables.journal, line, **{column: value(line) if callable(value) else value}
    )


# Kind -> how it is planted, and the words that the report names it with.
KINDS: dict[str, tuple[Plant, str]] = {
    "the cut line": (partial(_show, "onCutoffBubble", lambda shown: not shown), "show onCutoffBubble"),
    "its color": (partial(_show, "cutoffBubbleColor", "#123456"), "show cutoffBubbleColor #123456"),
    "a hand-made tie": (partial(_show, "manualTiebreakerGroup", 77), "show manualTiebreakerGroup 77"),
    "the color of a game": (partial(_show, "activeGameColor", "red"), "show activeGameColor red"),
    "the counted cards": (
        partial(_show, "cardsCounted", [{"cardId": 77, "points": 1, "count": 1}]),
        "show cardsCounted",
    ),
    "a renamed player": (_rename, "is named 'Another Name', which nobody entered"),
    "the body of an announcement": (_falsify_announcement, "is not what was announced"),
    "a place": (partial(_show, "position", 77), "show position 77"),
    "a result": (_change_result, "is not what it is since action"),
    "the playoff bands": (_change_bands, "settings.playoffsCutoffs"),
    "the start in the journal": (_delete_journal_line, "status is"),
    "an adjustment": (partial(_change_entrant, "points_adjustment", 77), "points_adjustment is 77"),
    "an order by hand": (partial(_change_entrant, "tie_group", 77), "tie_group is 77"),
    "an arena": (_change_arena, "amazing_race_seed is 77"),
    "the actor of a line": (partial(_change_line, "actor_id", None), "its actor"),
    "the time of a line": (partial(_change_line, "at", lambda line: line.at - timedelta(days=1)), "its time"),
    "the dice seed of a line": (partial(_change_line, "dice_seed", "planted/start/0"), "its dice seed"),
}


def _night(store: Store, kind: str) -> StoredNight:
    """A random night of this format that is completed and has a table, and is clean."""
    for number in range(SEEDS_MAX):
        night = walked_nights.random_night(
            ALL[kind],
            f"planted {kind} {number}",
            steps=STEPS,
            prepare=lambda planned: stored_nights.a_stored_night(store, planned),
        )
        if night.tournament.status == "started":
            night.complete()
        has_started = night.tournament.status != "planned"
        if has_started and stored_nights.stored_standings(store, night.tournament.tournament_id):
            assert _faults_with(night, lambda _db, _id: True) == []
            return night
    raise AssertionError(f"no night of {kind} has a table")


def _faults_with(night: StoredNight, plant: Plant) -> list[str] | None:
    """The report with this corruption, which is taken back at once; None where it cannot be planted."""
    tournament_id = night.tournament.tournament_id
    faults: list[str] | None = None
    with pytest.raises(_Planted), night.store.write() as transaction:
        if plant(transaction.connection, tournament_id):
            faults = list(verification.verify_tournament(transaction.connection, tournament_id).faults)
        raise _Planted
    return faults


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_hundred_and_nineteen_planted_corruptions_are_named_with_their_cause(store: Store) -> None:
    stored_nights.skip_disk_sync(store)
    nights = {kind: _night(store, kind) for kind in sorted(ALL)}
    found: Counter[str] = Counter()
    for number, (name, (plant, words)) in enumerate(KINDS.items()):
        # Each kind begins with another format, so that they spread over all of them.
        formats = sorted(nights)[3 * number % len(nights) :] + sorted(nights)[: 3 * number % len(nights)]
        for kind in formats:
            faults = _faults_with(nights[kind], plant) if found[name] < EACH else None
            if faults is not None:
                assert any(words in fault for fault in faults), (name, kind, faults)
                found[name] += 1
    assert found == dict.fromkeys(KINDS, EACH)
    assert found.total() == 119
