"""The users and the organizer's things that a bundle brings along with its tournament."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Table, bindparam, delete, insert, update

from silverball.service.bundles.reads import bundles as reads
from silverball.service.events import feed_events
from silverball.store import digests, imports, tables
from silverball.store.transaction import Transaction

Rows = Sequence[Mapping[str, Any]]
USER_NEW: dict[str, Any] = {"role": "player", **dict.fromkeys(tables.OPT_OUTS, False)}
SERIES_NEW: dict[str, Any] = {
    "status": "active",
    "test": False,
    "removed_results": 0,
    "playoffs_cutoffs": [],
    "scoring": "points",
}


class BundleContents(Struct, frozen=True, kw_only=True):
    """Stored fields of the things in a bundle besides its tournament, whether contained or only named."""

    organizer_id: int
    users: Rows = ()
    locations: Rows = ()
    series: Rows = ()
    arenas: Rows = ()
    players: Rows = ()
    banks: Rows = ()
    # Place and arena of each bank's arenas.
    bank_arenas: Rows = ()
    occasions: Rows = ()
    # User id -> name to show, for users that are named but not contained.
    users_named: Mapping[int, str] = msgspec.field(default_factory=dict)
    series_named: Collection[int] = ()


def store_contents(transaction: Transaction, contents: BundleContents, *, now: datetime) -> None:
    """Insert new things and update those that exist; the caller has refused those of other organizers.

    Accounts that people sign in to stay as they are, because a file is no authority on them. Tournaments
    that show a changed thing get a new revision.
    """
    db = transaction.connection
    _store_users(transaction, contents, now)
    # Nothing is looked up for what has not changed: most files name the regulars of earlier ones.
    if changed := _upsert(db, tables.location, "location_id", contents.locations):
        feed_events.announce_locations(transaction, changed)
    if changed := _store_series(db, contents):
        feed_events.announce_series(transaction, changed)
    if changed := _upsert(db, tables.arena, "arena_id", contents.arenas):
        feed_events.announce_arenas(transaction, changed)
    players = [digests.with_name_digest(values) for values in contents.players]
    if changed := _upsert(db, tables.player, "player_id", players):
        feed_events.announce_players(transaction, changed)
    _store_banks(db, contents)
    _upsert(db, tables.occasion, "occasion_id", contents.occasions)
    moved = (tables.user, tables.location, tables.series, tables.arena, tables.player, tables.bank)
    imports.move_sequences(db, [*moved, tables.occasion])


def join_occasion(db: Connection, occasion_id: int, tournament_id: int, user_id: int) -> None:
    """Add the tournament to the occasion, unless it belongs to it already."""
    if reads.is_in_occasion(db, occasion_id, tournament_id):
        return
    values = {"occasion_id": occasion_id, "tournament_id": tournament_id, "user_id": user_id}
    db.execute(insert(tables.occasion_tournament).values(**values, place=0, labels=[], external={}))


def _store_users(transaction: Transaction, contents: BundleContents, now: datetime) -> None:
    db = transaction.connection
    contained = {values["user_id"] for values in contents.users}
    stored = reads.rows_by_id(db, tables.user, "user_id", contained | set(contents.users_named))
    known = {user_id for user_id, values in stored.items() if not values["placeholder"]}
    rows = [{**values, "placeholder": False} for values in contents.users if values["user_id"] not in known]
    if changed := _upsert(db, tables.user, "user_id", rows):
        feed_events.announce_users(transaction, changed)
    new = [
        {**USER_NEW, "user_id": user_id, "name": name, "created_at": now, "placeholder": True}
        for user_id, name in sorted(contents.users_named.items())
        if user_id not in stored and user_id not in contained
    ]
    if new:
        db.execute(insert(tables.user), new)


def _store_series(db: Connection, contents: BundleContents) -> list[int]:
    rows = [{**values, "placeholder": False} for values in contents.series]
    changed = _upsert(db, tables.series, "series_id", rows)
    named_ids = set(contents.series_named) - {values["series_id"] for values in rows}
    stored = reads.rows_by_id(db, tables.series, "series_id", named_ids)
    for series_id in sorted(named_ids - set(stored)):
        values = {
            "series_id": series_id,
            "name": f"Series {series_id}",
            "organizer_id": contents.organizer_id,
        }
        db.execute(insert(tables.series).values(**SERIES_NEW, **values, placeholder=True))
    return changed


def _store_banks(db: Connection, contents: BundleContents) -> None:
    _upsert(db, tables.bank, "bank_id", contents.banks)
    bank_ids = [values["bank_id"] for values in contents.banks]
    db.execute(delete(tables.bank_arena).where(tables.bank_arena.c.bank_id.in_(bank_ids)))
    if contents.bank_arenas:
        db.execute(insert(tables.bank_arena), [dict(values) for values in contents.bank_arenas])


def _upsert(db: Connection, table: Table, key: str, rows: Rows) -> list[int]:
    """Insert new rows and update changed ones; returns the ids of the updated ones."""
    stored = reads.rows_by_id(db, table, key, [values[key] for values in rows])
    new = [dict(values) for values in rows if values[key] not in stored]
    changed = [
        values
        for values in rows
        if values[key] in stored and dict(stored[values[key]]) != {**stored[values[key]], **values}
    ]
    if new:
        db.execute(insert(table), new)
    if changed:
        names = [name for name in changed[0] if name != key]
        values = {name: bindparam(f"new_{name}", type_=table.c[name].type) for name in names}
        statement = update(table).where(table.c[key] == bindparam("own_id")).values(**values)
        db.execute(
            statement,
            [
                {"own_id": values[key], **{f"new_{name}": values[name] for name in names}}
                for values in changed
            ],
        )
    return [int(values[key]) for values in changed]
