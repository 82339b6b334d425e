"""From a change to rows: one writer for each type of change.

`WRITERS` is complete: a house test holds it against `rules/model/changes.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Connection, Table, bindparam, delete, func, insert, select, text, update

from silverball.rules.model.changes import Added, Altered, Change, Removed, TournamentAltered
from silverball.rules.model.tournament import EngineState, Game, Tournament
from silverball.store import rows, snapshot, tables
from silverball.store.journal import CHANGES

Values = dict[str, Any]
Writer = Callable[[Connection, Tournament, Any], None]


@dataclass(frozen=True)
class StoredPart:
    """Where things of a kind are stored."""

    table: Table
    key: str
    values: Callable[[Any], Values]


STORED_PARTS: Mapping[str, StoredPart] = {
    "entrants": StoredPart(tables.entrant, "player_id", rows.entrant_values),
    "lineup": StoredPart(tables.lineup_arena, "arena_id", rows.lineup_arena_values),
    "banks": StoredPart(
        tables.lineup_bank, "bank_id", lambda one: {"bank_id": one.bank_id, "place": one.place}
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
# What a new row holds in columns that no rule knows.
NEW_ROW_DEFAULTS: Mapping[str, Values] = {
    "games": {"scorbit_verified": False},
    "single_player_games": {"scorbit_verified": False},
}
# Fields of a tournament that are columns of its row under the same name.
OWN_COLUMNS = ("status", "completed_at", "points_map", "tiebreaker_points_map")


# What a result changes about who sat where.
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
    """Make these changes rows, in their order; equal ones that follow each other go together.

    Takes the tournament as it is before them.
    """
    for change in changes:
        WRITERS[type(change)](db, tournament, change)


def _write_added(db: Connection, tournament: Tournament, change: Added[Any]) -> None:
    kind = STORED_PARTS[change.part]
    own = {"tournament_id": tournament.tournament_id, **NEW_ROW_DEFAULTS.get(change.part, {})}
    db.execute(insert(kind.table).values(**own, **kind.values(change.thing)))
    if isinstance(change.thing, Game):
        _insert_seats(db, tournament, change.thing)


def _write_removed(db: Connection, tournament: Tournament, change: Removed[Any]) -> None:
    kind = STORED_PARTS[change.part]
    db.execute(delete(kind.table).where(*_row_conditions(kind, tournament, change.thing)))


def _write_altered(db: Connection, tournament: Tournament, change: Altered[Any]) -> None:
    kind = STORED_PARTS[change.part]
    before, after = kind.values(change.before), kind.values(change.after)
    differing = {name: value for name, value in after.items() if before[name] != value}
    if differing:
        db.execute(
            update(kind.table).where(*_row_conditions(kind, tournament, change.before)).values(**differing)
        )
    if isinstance(change.after, Game):
        _update_seats(db, tournament, change.before, change.after)


def _row_conditions(kind: StoredPart, tournament: Tournament, thing: Any) -> list[Any]:
    """The row of a thing; the tournament's id belongs to the keys of some and finds the others faster."""
    columns = kind.table.c
    return [
        columns.tournament_id == tournament.tournament_id,
        columns[kind.key] == getattr(thing, kind.key),
    ]


def _claiming_users(tournament: Tournament) -> dict[int, int | None]:
    return {one.player_id: one.user_id for one in tournament.entrants}


def _insert_seats(db: Connection, tournament: Tournament, game: Game) -> None:
    own = {"tournament_id": tournament.tournament_id}
    seats = rows.seat_values(game, _claiming_users(tournament))
    db.execute(insert(tables.game_player), [{**own, **seat} for seat in seats])


def _update_seats(db: Connection, tournament: Tournament, before: Game, after: Game) -> None:
    seat = tables.game_player
    if before.player_ids != after.player_ids:
        db.execute(delete(seat).where(seat.c.game_id == after.game_id))
        _insert_seats(db, tournament, after)
        return
    users = _claiming_users(tournament)
    old, new = rows.seat_values(before, users), rows.seat_values(after, users)
    changed = [now for was, now in zip(old, new, strict=True) if was != now]
    if changed:
        db.execute(UPDATE_SEAT, [{f"new_{name}": value for name, value in now.items()} for now in changed])


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
        own = tables.tournament.c.tournament_id == tournament.tournament_id
        db.execute(update(tables.tournament).where(own).values(**values))
    for name, keep in RELATED.items():
        if name in details and details[name] != before.get(name):
            keep(db, tournament.tournament_id, details)


def stored_state(state: EngineState) -> Values:
    """What is kept of the engine's memory: not what is looked up anew for a draw."""
    kept: Values = msgspec.to_builtins(state)
    for name in ("series_groups", "series_plays", "seed_facts"):
        kept.pop(name, None)
    return kept


def _replace_links(db: Connection, tournament_id: int, details: Mapping[str, Any]) -> None:
    link = tables.tournament_link
    db.execute(delete(link).where(link.c.tournament_id == tournament_id))
    for place, one in enumerate(details[snapshot.LINKS]):
        db.execute(insert(link).values(tournament_id=tournament_id, place=place, **one))


def _replace_shortcut(db: Connection, tournament_id: int, details: Mapping[str, Any]) -> None:
    slug = tables.shortcut
    db.execute(delete(slug).where(slug.c.tournament_id == tournament_id))
    if details[snapshot.SHORTCUT] is not None:
        db.execute(insert(slug).values(slug=details[snapshot.SHORTCUT], tournament_id=tournament_id))


def _replace_occasion(db: Connection, tournament_id: int, details: Mapping[str, Any]) -> None:
    own = tables.occasion_tournament
    db.execute(delete(own).where(own.c.tournament_id == tournament_id))
    occasion_id = details[snapshot.EVENT]
    if occasion_id is None:
        return
    places = select(own.c.place).where(own.c.occasion_id == occasion_id).order_by(own.c.place.desc())
    newest = db.execute(places.limit(1)).scalar_one_or_none()
    values = {
        "occasion_id": occasion_id,
        "user_id": details["organizer_id"],
        "tournament_id": tournament_id,
        "place": 0 if newest is None else newest + 1,
        "labels": [],
        "external": {},
    }
    db.execute(insert(own).values(**values))


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
    """The row of a new tournament with what belongs to it; returns its id. Nobody is in it yet."""
    details = planned.details
    values = {name: snapshot.column_value(name, details[name]) for name in snapshot.DETAIL_COLUMNS}
    values |= {name: getattr(planned, name) for name in OWN_COLUMNS}
    done = db.execute(
        insert(tables.tournament).values(
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
    )
    key = done.inserted_primary_key
    assert key is not None
    tournament_id = int(key[0])
    for name, keep in RELATED.items():
        if details[name]:
            keep(db, tournament_id, details)
    return tournament_id


# An import is written by `imports.write_import`.
WRITERS: Mapping[type[Change], Writer] = {kind: _writer_for(kind) for kind in CHANGES.values()}


def reserve_ids(db: Connection, part: str, count: int) -> list[int]:
    """Ids that were never given out, ascending."""
    kind = STORED_PARTS[part]
    if db.dialect.name == "postgresql":
        sequence = func.pg_get_serial_sequence(f'"{kind.table.name}"', kind.key)
        found = select(func.nextval(sequence)).select_from(func.generate_series(1, count))
        return sorted(int(one) for one in db.execute(found).scalars())
    raised = text("UPDATE sqlite_sequence SET seq = seq + :count WHERE name = :name RETURNING seq")
    values = {"count": count, "name": kind.table.name}
    last = db.execute(raised, values).scalar_one_or_none()
    if last is None:
        db.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :count)"), values)
        last = count
    return list(range(int(last) - count + 1, int(last) + 1))
