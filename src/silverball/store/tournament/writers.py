"""Changes as rows: one writer for each type of change.

A house test compares `WRITERS` with `rules/model/changes.py`, so that no type is missing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import groupby
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Table,
    bindparam,
    delete,
    func,
    insert,
    select,
    text,
    update,
)

from silverball.rules.model import fields
from silverball.rules.model.changes import Added, Altered, Change, Removed, TournamentAltered
from silverball.rules.model.fields import PartField
from silverball.rules.model.tournament import OUTSIDE_FACTS, EngineState, Game, Tournament
from silverball.store import tables
from silverball.store.database.statements import Statement, insert_rows
from silverball.store.tournament import rows as tournament_rows
from silverball.store.tournament import snapshot
from silverball.store.tournament.journal import CHANGES

Values = dict[str, Any]
# Takes changes of one type.
Writer = Callable[[Connection, Tournament, Sequence[Any]], None]


class StoredPart(Struct, frozen=True):
    """The table of one part of a tournament, its key, and the function for a row's values."""

    table: Table
    key: str
    values: Callable[[Any], Values]


STORED_PARTS: Mapping[str, StoredPart] = {
    "entrants": StoredPart(tables.entrant, "player_id", tournament_rows.entrant_values),
    "lineup": StoredPart(tables.lineup_arena, "arena_id", tournament_rows.lineup_arena_values),
    "banks": StoredPart(
        tables.lineup_bank, "bank_id", lambda bank: {"bank_id": bank.bank_id, "place": bank.place}
    ),
    "rounds": StoredPart(tables.round_, "round_id", tournament_rows.round_values),
    "games": StoredPart(tables.game, "game_id", tournament_rows.game_values),
    "suggestions": StoredPart(tables.suggestion, "suggestion_id", tournament_rows.suggestion_values),
    "single_player_games": StoredPart(
        tables.single_player_game, "single_player_game_id", tournament_rows.single_player_game_values
    ),
    "cards": StoredPart(tables.card, "card_id", tournament_rows.card_values),
    "queue": StoredPart(tables.queue_entry, "queue_id", tournament_rows.queue_spot_values),
    "scorekeepers": StoredPart(tables.scorekeeper, "user_id", tournament_rows.scorekeeper_values),
    "purchases": StoredPart(tables.entry, "entry_id", tournament_rows.purchase_values),
    "sign_ups": StoredPart(tables.sign_up, "player_id", tournament_rows.sign_up_values),
}
# Values of new rows in columns that the rules do not know.
NEW_ROW_DEFAULTS: Mapping[str, Values] = {
    "games": {"scorbit_verified": False},
    "single_player_games": {"scorbit_verified": False},
}
# Attributes of a tournament that are columns of its row, beside its id.
_ATTRIBUTES = tuple(
    field for field in fields.TOURNAMENT if field.place == "attribute" and field.kind != "key"
)
# A result's change of one seat.
UPDATE_SEAT = Statement(
    update(tables.game_player)
    .where(
        tables.game_player.c.game_id == bindparam("own_game_id"),
        tables.game_player.c.slot == bindparam("own_slot"),
    )
    .values(
        {
            name: bindparam(f"new_{name}", type_=tables.game_player.c[name].type)
            for name in ("result_position", "points", "score")
        }
    )
)
DELETE_SEATS = Statement(
    delete(tables.game_player).where(tables.game_player.c.game_id == bindparam("own_game_id"))
)

# New ids on SQLite.
RAISE_SEQUENCE = Statement(
    text("UPDATE sqlite_sequence SET seq = seq + :count WHERE name = :name RETURNING seq")
)
ADD_SEQUENCE = Statement(text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :count)"))


def write_changes(db: Connection, tournament: Tournament, changes: Sequence[Change]) -> None:
    """Write these changes as rows, in their order. Takes the tournament as it is before them.

    Neighbours of one type are written with one statement.
    """
    for kind, neighbours in groupby(changes, key=type):
        WRITERS[kind](db, tournament, list(neighbours))


def _write_added(db: Connection, tournament: Tournament, changes: Sequence[Added[Any]]) -> None:
    part = STORED_PARTS[changes[0].part]
    defaults = {"tournament_id": tournament.tournament_id, **NEW_ROW_DEFAULTS.get(changes[0].part, {})}
    insert_rows(db, part.table, [{**defaults, **part.values(change.subject)} for change in changes])
    _insert_seats(db, tournament, [each.subject for each in changes if isinstance(each.subject, Game)])


def _write_removed(db: Connection, tournament: Tournament, changes: Sequence[Removed[Any]]) -> None:
    part = STORED_PARTS[changes[0].part]
    rows_removed = [_row_key(part, tournament, change.subject) for change in changes]
    _delete_statement(part.table, part.key).run_many(db, rows_removed)


def _write_altered(db: Connection, tournament: Tournament, changes: Sequence[Altered[Any]]) -> None:
    part = STORED_PARTS[changes[0].part]
    # Names of the columns -> the rows of which they change.
    waiting: dict[tuple[str, ...], list[Values]] = {}
    keys: set[Any] = set()
    for change in changes:
        key = getattr(change.before, part.key)
        if key in keys:
            # The later change of a row counts.
            _update_rows(db, part, waiting)
            waiting, keys = {}, set()
        keys.add(key)
        before, after = part.values(change.before), part.values(change.after)
        differing = {f"new_{name}": value for name, value in after.items() if before[name] != value}
        if differing:
            row = differing | _row_key(part, tournament, change.before)
            waiting.setdefault(tuple(differing), []).append(row)
    _update_rows(db, part, waiting)
    _update_seats(db, tournament, [change for change in changes if isinstance(change.after, Game)])


def _update_rows(
    db: Connection, part: StoredPart, rows_by_names: Mapping[tuple[str, ...], Sequence[Values]]
) -> None:
    for names, waiting in rows_by_names.items():
        _update_statement(part.table, part.key, names).run_many(db, waiting)


def _row_key(part: StoredPart, tournament: Tournament, value: Any) -> Values:
    return {"own_tournament_id": tournament.tournament_id, "own_key": getattr(value, part.key)}


def _is_row(table: Table, key: str) -> list[ColumnElement[bool]]:
    """The conditions for one row; the tournament's id is in some keys and finds the other rows faster."""
    return [table.c.tournament_id == bindparam("own_tournament_id"), table.c[key] == bindparam("own_key")]


@cache
def _update_statement(table: Table, key: str, names: tuple[str, ...]) -> Statement:
    columns = {name.removeprefix("new_"): name for name in names}
    values = {name: bindparam(new, type_=table.c[name].type) for name, new in columns.items()}
    return Statement(update(table).where(*_is_row(table, key)).values(values))


@cache
def _delete_statement(table: Table, key: str) -> Statement:
    return Statement(delete(table).where(*_is_row(table, key)))


def _insert_seats(db: Connection, tournament: Tournament, games: Sequence[Game]) -> None:
    own = {"tournament_id": tournament.tournament_id}
    seats = [own | seat for game in games for seat in tournament_rows.seat_values(game)]
    insert_rows(db, tables.game_player, seats)


def _update_seats(db: Connection, tournament: Tournament, changes: Sequence[Altered[Game]]) -> None:
    changed: list[Values] = []
    for change in changes:
        before, after = change.before, change.after
        if before.player_ids != after.player_ids:
            DELETE_SEATS.run(db, own_game_id=after.game_id)
            _insert_seats(db, tournament, [after])
            continue
        for slot, (old, new) in enumerate(zip(_seat_results(before), _seat_results(after), strict=True)):
            if new != old:
                position, points, score = new
                changed.append(
                    {
                        "own_game_id": after.game_id,
                        "own_slot": slot,
                        "new_result_position": position,
                        "new_points": points,
                        "new_score": score,
                    }
                )
    if changed:
        UPDATE_SEAT.run_many(db, changed)


def _seat_results(game: Game) -> Iterator[tuple[Any, ...]]:
    """The values of each seat that a result changes, in playing order."""
    return zip(game.result_positions, game.result_points, game.result_scores, strict=True)


def _write_tournament(db: Connection, tournament: Tournament, changes: Sequence[TournamentAltered]) -> None:
    for change in changes:
        _write_tournament_change(db, tournament, change)


def _write_tournament_change(db: Connection, tournament: Tournament, change: TournamentAltered) -> None:
    values: Values = {
        field.stored_in: _attribute_value(field, change.after[field.name])
        for field in _ATTRIBUTES
        if field.name in change.after
    }
    details = change.after.get("details", {})
    before = change.before.get("details", {})
    if "details" in change.after:
        values |= snapshot.detail_values(details, before)
    if values:
        is_row = tables.tournament.c.tournament_id == tournament.tournament_id
        db.execute(update(tables.tournament).where(is_row).values(**values))
    for name, replace_rows in RELATED.items():
        if name in details and details[name] != before.get(name):
            replace_rows(db, tournament.tournament_id, details)


def _attribute_value(field: PartField, value: Any) -> Any:
    if isinstance(value, EngineState):
        return stored_state(value)
    return msgspec.to_builtins(value) if field.kind == "json" else value


def stored_state(state: EngineState) -> Values:
    """The stored part of the engine's state, without facts that are looked up again for each draw."""
    stored: Values = msgspec.to_builtins(state)
    for name in OUTSIDE_FACTS:
        stored.pop(name, None)
    return stored


def _replace_links(db: Connection, tournament_id: int, details: Mapping[str, Any]) -> None:
    link = tables.tournament_link
    db.execute(delete(link).where(link.c.tournament_id == tournament_id))
    for place, values in enumerate(details[snapshot.LINKS]):
        db.execute(insert(link).values(tournament_id=tournament_id, place=place, **values))


def _replace_shortcut(db: Connection, tournament_id: int, details: Mapping[str, Any]) -> None:
    slug = tables.shortcut
    db.execute(delete(slug).where(slug.c.tournament_id == tournament_id))
    if details[snapshot.SHORTCUT] is not None:
        db.execute(insert(slug).values(slug=details[snapshot.SHORTCUT], tournament_id=tournament_id))


def _replace_occasion(db: Connection, tournament_id: int, details: Mapping[str, Any]) -> None:
    entry = tables.occasion_tournament
    db.execute(delete(entry).where(entry.c.tournament_id == tournament_id))
    occasion_id = details[snapshot.EVENT]
    if occasion_id is None:
        return
    places = select(entry.c.place).where(entry.c.occasion_id == occasion_id).order_by(entry.c.place.desc())
    last_place = db.execute(places.limit(1)).scalar_one_or_none()
    values = {
        "occasion_id": occasion_id,
        "user_id": details["organizer_id"],
        "tournament_id": tournament_id,
        "place": 0 if last_place is None else last_place + 1,
        "labels": [],
        "external": {},
    }
    db.execute(insert(entry).values(**values))


# Detail -> the function that replaces the rows in which it is stored.
RELATED: Mapping[str, Callable[[Connection, int, Mapping[str, Any]], None]] = {
    snapshot.LINKS: _replace_links,
    snapshot.SHORTCUT: _replace_shortcut,
    snapshot.EVENT: _replace_occasion,
}


def _writer_for(kind: type[Change]) -> Writer:
    if issubclass(kind, Added):
        return _write_added
    if issubclass(kind, Removed):
        return _write_removed
    return _write_altered if issubclass(kind, Altered) else _write_tournament


def write_new_tournament(db: Connection, planned: Tournament, now: datetime, epoch: str) -> int:
    """Insert a new tournament, which has no entrants yet, and return its id."""
    details = planned.details
    values = snapshot.detail_values(details)
    for field in _ATTRIBUTES:
        values[field.stored_in] = _attribute_value(field, getattr(planned, field.name))
    row = insert(tables.tournament).values(
        **values,
        created_at=now,
        updated_at=now,
        revision=0,
        epoch=epoch,
        seq=0,
        seq_low=0,
    )
    tournament_id = int(db.execute(row.returning(tables.tournament.c.tournament_id)).scalar_one())
    for name, replace_rows in RELATED.items():
        if details[name]:
            replace_rows(db, tournament_id, details)
    return tournament_id


# An import is written by `imports.write_import`.
WRITERS: Mapping[type[Change], Writer] = {kind: _writer_for(kind) for kind in CHANGES.values()}


def reserve_ids(db: Connection, part_name: str, count: int) -> list[int]:
    """New ids for rows of a part, ascending; none was ever used before."""
    part = STORED_PARTS[part_name]
    if db.dialect.name == "postgresql":
        return sorted(int(value) for (value,) in _next_values(part.table, part.key).rows(db, count=count))
    parameters = {"count": count, "name": part.table.name}
    raised = RAISE_SEQUENCE.rows(db, **parameters)
    if not raised:
        ADD_SEQUENCE.run(db, **parameters)
    last = int(raised[0][0]) if raised else count
    return list(range(last - count + 1, last + 1))


@cache
def _next_values(table: Table, key: str) -> Statement:
    """The next values of a key's sequence, on PostgreSQL."""
    sequence = func.pg_get_serial_sequence(f'"{table.name}"', key)
    count = bindparam("count", type_=Integer)
    return Statement(select(func.nextval(sequence)).select_from(func.generate_series(1, count)))
