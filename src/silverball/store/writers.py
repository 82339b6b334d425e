"""Changes as rows: one writer for each type of change.

A house test compares `WRITERS` with `rules/model/changes.py`, so that no type is missing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Table, bindparam, delete, func, insert, select, text, update

from silverball.rules.model.changes import Added, Altered, Change, Removed, TournamentAltered
from silverball.rules.model.tournament import EngineState, Game, Tournament
from silverball.store import rows, snapshot, tables
from silverball.store.journal import CHANGES

Values = dict[str, Any]
Writer = Callable[[Connection, Tournament, Any], None]


@dataclass(frozen=True)
class StoredPart:
    """The table of one part of a tournament, its key, and the function for a row's values."""

    table: Table
    key: str
    values: Callable[[Any], Values]


STORED_PARTS: Mapping[str, StoredPart] = {
    "entrants": StoredPart(tables.entrant, "player_id", rows.entrant_values),
    "lineup": StoredPart(tables.lineup_arena, "arena_id", rows.lineup_arena_values),
    "banks": StoredPart(
        tables.lineup_bank, "bank_id", lambda bank: {"bank_id": bank.bank_id, "place": bank.place}
    ),
    "rounds": StoredPart(tables.round_, "round_id", rows.round_values),
    "games": StoredPart(tables.game, "game_id", rows.game_values),
    "suggestions": StoredPart(tables.suggestion, "suggestion_id", rows.suggestion_values),
    "single_player_games": StoredPart(
        tables.single_player_game, "single_player_game_id", rows.single_player_game_values
    ),
    "cards": StoredPart(tables.card, "card_id", rows.card_values),
    "queue": StoredPart(tables.queue_entry, "queue_id", rows.queue_spot_values),
    "scorekeepers": StoredPart(tables.scorekeeper, "user_id", rows.scorekeeper_values),
    "purchases": StoredPart(tables.entry, "entry_id", rows.purchase_values),
}
# Values of new rows in columns that the rules do not know.
NEW_ROW_DEFAULTS: Mapping[str, Values] = {
    "games": {"scorbit_verified": False},
    "single_player_games": {"scorbit_verified": False},
}
# Fields of a tournament that are columns of its row under the same name.
OWN_COLUMNS = ("status", "completed_at", "points_map", "tiebreaker_points_map")
# A result's change of one seat.
UPDATE_SEAT = (
    update(tables.game_player)
    .where(
        tables.game_player.c.game_id == bindparam("new_game_id"),
        tables.game_player.c.slot == bindparam("new_slot"),
    )
    .values(
        {
            name: bindparam(f"new_{name}", type_=tables.game_player.c[name].type)
            for name in ("user_id", "result_position", "points", "score")
        }
    )
)


def write_changes(db: Connection, tournament: Tournament, changes: Sequence[Change]) -> None:
    """Write these changes as rows, in their order. Takes the tournament as it is before them."""
    for change in changes:
        WRITERS[type(change)](db, tournament, change)


def _write_added(db: Connection, tournament: Tournament, change: Added[Any]) -> None:
    part = STORED_PARTS[change.part]
    defaults = {"tournament_id": tournament.tournament_id, **NEW_ROW_DEFAULTS.get(change.part, {})}
    db.execute(insert(part.table).values(**defaults, **part.values(change.subject)))
    if isinstance(change.subject, Game):
        _insert_seats(db, tournament, change.subject)


def _write_removed(db: Connection, tournament: Tournament, change: Removed[Any]) -> None:
    part = STORED_PARTS[change.part]
    db.execute(delete(part.table).where(*_row_conditions(part, tournament, change.subject)))


def _write_altered(db: Connection, tournament: Tournament, change: Altered[Any]) -> None:
    part = STORED_PARTS[change.part]
    before, after = part.values(change.before), part.values(change.after)
    differing = {name: value for name, value in after.items() if before[name] != value}
    if differing:
        db.execute(
            update(part.table).where(*_row_conditions(part, tournament, change.before)).values(**differing)
        )
    if isinstance(change.after, Game):
        _update_seats(db, tournament, change.before, change.after)


def _row_conditions(part: StoredPart, tournament: Tournament, value: Any) -> list[ColumnElement[bool]]:
    """The conditions for one row; the tournament's id is in some keys and finds the other rows faster."""
    columns = part.table.c
    return [
        columns.tournament_id == tournament.tournament_id,
        columns[part.key] == getattr(value, part.key),
    ]


def _claiming_users(tournament: Tournament) -> dict[int, int | None]:
    """Player id -> account that claimed the player."""
    return {entrant.player_id: entrant.user_id for entrant in tournament.entrants}


def _insert_seats(db: Connection, tournament: Tournament, game: Game) -> None:
    seats = rows.seat_values(game, _claiming_users(tournament))
    db.execute(
        insert(tables.game_player), [{"tournament_id": tournament.tournament_id, **seat} for seat in seats]
    )


def _update_seats(db: Connection, tournament: Tournament, before: Game, after: Game) -> None:
    seat = tables.game_player
    if before.player_ids != after.player_ids:
        db.execute(delete(seat).where(seat.c.game_id == after.game_id))
        _insert_seats(db, tournament, after)
        return
    users = _claiming_users(tournament)
    pairs = zip(rows.seat_values(before, users), rows.seat_values(after, users), strict=True)
    changed = [new for old, new in pairs if new != old]
    if changed:
        db.execute(UPDATE_SEAT, [{f"new_{name}": value for name, value in seat.items()} for seat in changed])


def _write_tournament(db: Connection, tournament: Tournament, change: TournamentAltered) -> None:
    values: Values = {name: change.after[name] for name in OWN_COLUMNS if name in change.after}
    if "settings" in change.after:
        values["settings"] = msgspec.to_builtins(change.after["settings"])
    if "state" in change.after:
        values["engine"] = stored_state(change.after["state"])
    details = change.after.get("details", {})
    before = change.before.get("details", {})
    for name in snapshot.DETAIL_COLUMNS:
        if name in details and details[name] != before.get(name):
            values[name] = snapshot.column_value(name, details[name])
    if values:
        is_row = tables.tournament.c.tournament_id == tournament.tournament_id
        db.execute(update(tables.tournament).where(is_row).values(**values))
    for name, replace_rows in RELATED.items():
        if name in details and details[name] != before.get(name):
            replace_rows(db, tournament.tournament_id, details)


def stored_state(state: EngineState) -> Values:
    """The stored part of the engine's state, without facts that are looked up again for each draw."""
    stored: Values = msgspec.to_builtins(state)
    for name in ("series_groups", "series_plays", "seed_facts"):
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
    values = {name: snapshot.column_value(name, details[name]) for name in snapshot.DETAIL_COLUMNS}
    values |= {name: getattr(planned, name) for name in OWN_COLUMNS}
    row = insert(tables.tournament).values(
        **values,
        type=planned.type,
        settings=msgspec.to_builtins(planned.settings),
        engine=stored_state(planned.state),
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
        sequence = func.pg_get_serial_sequence(f'"{part.table.name}"', part.key)
        values = select(func.nextval(sequence)).select_from(func.generate_series(1, count))
        return sorted(int(value) for value in db.execute(values).scalars())
    raise_sequence = text("UPDATE sqlite_sequence SET seq = seq + :count WHERE name = :name RETURNING seq")
    parameters = {"count": count, "name": part.table.name}
    last = db.execute(raise_sequence, parameters).scalar_one_or_none()
    if last is None:
        db.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :count)"), parameters)
        last = count
    return list(range(int(last) - count + 1, int(last) + 1))
