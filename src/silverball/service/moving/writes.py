"""The users and the organizer's things that a bundle brings along with its tournament."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, RowMapping, Table, bindparam, delete, insert, or_, select, update

from silverball.kit.errors import Conflict, NotFound
from silverball.service.core import enact, feed_events
from silverball.service.moving import reads
from silverball.service.moving.reads import ACTIVE, FAILED, FINISHED, STOPPED, ListedItem
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.database.transaction import Transaction
from silverball.store.people import encryption
from silverball.store.revisions import revisions
from silverball.store.tables import history_pull, history_pull_item, user
from silverball.store.tournament import chain, imports

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
    players = [chain.with_name_digest(values) for values in contents.players]
    if players_before := _upsert(db, tables.player, "player_id", players):
        claims = {values["player_id"]: values["claimed_by"] for values in players}
        ends_claim = any(row["claimed_by"] not in (None, claims[key]) for key, row in players_before.items())
        feed_events.announce_players(transaction, players_before, is_hiding=ends_claim)
    _store_banks(db, contents)
    _upsert(db, tables.occasion, "occasion_id", contents.occasions)
    moved = (tables.user, tables.location, tables.series, tables.arena, tables.player, tables.bank)
    imports.move_sequences(db, [*moved, tables.occasion])


def note_seed_export(store: Store, tournament_id: int, now: datetime) -> None:
    """Write into the journal of a tournament that is not over that its seed leaves. Raises NotFound."""
    with store.write(tournament_id) as transaction:
        enact.record_seed_export(
            transaction, tournament_id, enact.ActionContext(actor_id=None, source="shell", now=now)
        )


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


def _store_series(db: Connection, contents: BundleContents) -> dict[int, RowMapping]:
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


def _upsert(db: Connection, table: Table, key: str, rows: Rows) -> dict[int, RowMapping]:
    """Insert new rows and update changed ones; returns id -> row before, for the updated ones."""
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
    return {int(values[key]): stored[values[key]] for values in changed}


# The begin, the state and the end of a mirror.


_MIRROR = tables.mirror.c


class NotMirrored(Conflict):
    """The tournament is run here."""

    sentence = "Tournament {tournament_id} is no mirror: it is run here."


def begin_mirror(transaction: Transaction, tournament_id: int, host: str, remote_id: int) -> None:
    """Make an imported tournament a mirror, unless it is one: nobody changes it here from now on."""
    db = transaction.connection
    if reads.find_mirror(db, tournament_id) is not None:
        return
    db.execute(insert(tables.mirror).values(tournament_id=tournament_id, host=host, remote_id=remote_id))
    revisions.raise_tournaments(transaction, [tournament_id])


def stop_mirror(transaction: Transaction, tournament_id: int) -> None:
    """Make a mirror an ordinary tournament. Raises NotMirrored."""
    db = transaction.connection
    if reads.find_mirror(db, tournament_id) is None:
        raise NotMirrored(tournament_id=tournament_id)
    db.execute(delete(tables.mirror).where(_MIRROR.tournament_id == tournament_id))
    _show_change(transaction, tournament_id)


def note_loss(transaction: Transaction, tournament_id: int, lost_at: datetime | None) -> None:
    """Remember since when the other service is silent, or that it answers again; pages say so."""
    mirror = reads.find_mirror(transaction.connection, tournament_id)
    if mirror is None or mirror.lost_at == lost_at:
        return
    _set(transaction, tournament_id, lost_at=lost_at)
    _show_change(transaction, tournament_id)


def note_lag(transaction: Transaction, tournament_id: int, median: int, p99: int) -> None:
    """Remember how far the mirror is behind, in milliseconds."""
    _set(transaction, tournament_id, lag_median=median, lag_p99=p99)


def note_standings(transaction: Transaction, tournament_id: int, different: int) -> None:
    """Remember for how many players the standings there differ; pages say so."""
    mirror = reads.find_mirror(transaction.connection, tournament_id)
    if mirror is None or mirror.standings_differ == different:
        return
    _set(transaction, tournament_id, standings_differ=different)
    if different or mirror.standings_differ:
        _show_change(transaction, tournament_id)


def _set(transaction: Transaction, tournament_id: int, **values: Any) -> None:
    own = _MIRROR.tournament_id == tournament_id
    transaction.connection.execute(update(tables.mirror).where(own).values(**values))


def _show_change(transaction: Transaction, tournament_id: int) -> None:
    """Let pages and followers read the tournament again."""
    feed_events.announce_tournaments(transaction, [tournament_id])


# Start, stop, continue and work on the pulls of accounts. The secret goes when a pull ends.


_HISTORY_PULL, _HISTORY_PULL_ITEM = history_pull.c, history_pull_item.c
LEASE = timedelta(minutes=3)
# The token of a pull that was stopped is kept for so long.
STOPPED_KEPT = timedelta(days=7)


class PullRunsAlready(Conflict):
    sentence = "You bring something along already. Wait for its end, or give it up first."


class NoPullThere(Conflict):
    sentence = "There is no pull to do that with any more."


class ClaimedPull(Struct, frozen=True):
    """A pull that this process works on."""

    history_pull_id: int
    user_id: int
    address: str
    token: str
    wanted: dict[str, Any]
    is_dry_run: bool
    is_listed: bool
    remote_user: int | None
    requests: int
    foreign_requests: int
    seconds: int
    failures: int


def start_pull(
    db: Connection,
    user_id: int,
    *,
    address: str,
    token: str,
    wanted: dict[str, Any],
    is_dry_run: bool,
    now: datetime,
) -> None:
    """Start a pull in place of the account's earlier one. Raises PullRunsAlready, NoEncryptionKey."""
    _lock_account(db, user_id)
    row = select(_HISTORY_PULL.status).where(_HISTORY_PULL.user_id == user_id)
    if db.execute(row).scalar_one_or_none() in (ACTIVE, STOPPED):
        raise PullRunsAlready
    db.execute(delete(history_pull).where(_HISTORY_PULL.user_id == user_id))
    values = {
        "user_id": user_id,
        "address": address,
        "secret": encryption.encrypt(db, token) if token else None,
        "wanted": wanted,
        "is_dry_run": is_dry_run,
        "status": ACTIVE,
        "is_listed": False,
        **dict.fromkeys(("requests", "foreign_requests", "seconds", "failures"), 0),
        **dict.fromkeys(("due_at", "created_at", "updated_at"), now),
    }
    db.execute(insert(history_pull).values(**values))


def stop_pull(db: Connection, user_id: int, now: datetime) -> None:
    """Stop it until it is continued. Raises NoPullThere."""
    _change(db, user_id, [ACTIVE], status=STOPPED, reason=None, updated_at=now)


def continue_pull(db: Connection, user_id: int, now: datetime) -> None:
    """Go on with a pull that was stopped. Raises NoPullThere."""
    _change(db, user_id, [STOPPED], status=ACTIVE, failures=0, due_at=now, updated_at=now)


def give_up_pull(db: Connection, user_id: int, now: datetime) -> None:
    """End it and delete its token; what was taken stays. Raises NoPullThere."""
    reason = "You gave it up."
    _change(db, user_id, [ACTIVE, STOPPED], status=FAILED, reason=reason, secret=None, updated_at=now)


def end_lost_pulls(db: Connection, now: datetime) -> None:
    """End the pulls whose token no key of this server reads."""
    lost = update(history_pull).where(~encryption.is_readable(db, _HISTORY_PULL.secret))
    running = _HISTORY_PULL.status.in_([ACTIVE, STOPPED])
    reason = "The key for its token was lost. Begin again with a new token."
    db.execute(lost.where(running).values(status=FAILED, reason=reason, updated_at=now))
    db.execute(lost.values(secret=None))


def claim_next_pull(db: Connection, now: datetime) -> ClaimedPull | None:
    """Take the pull that has waited longest, for the time of a lease."""
    stale = update(history_pull).where(
        _HISTORY_PULL.status == STOPPED, _HISTORY_PULL.updated_at < now - STOPPED_KEPT
    )
    db.execute(stale.values(status=FAILED, reason="It was stopped for a week.", secret=None))
    rows = select(history_pull).where(_HISTORY_PULL.status == ACTIVE, _HISTORY_PULL.due_at <= now)
    rows = rows.where(or_(_HISTORY_PULL.busy_until.is_(None), _HISTORY_PULL.busy_until < now))
    # Without the key for its token a pull waits.
    rows = rows.where(encryption.is_readable(db, _HISTORY_PULL.secret))
    rows = rows.order_by(_HISTORY_PULL.due_at, _HISTORY_PULL.history_pull_id).limit(1)
    row = db.execute(rows.with_for_update(skip_locked=True)).mappings().one_or_none()
    if row is None:
        return None
    own = _HISTORY_PULL.history_pull_id == row["history_pull_id"]
    # A process that vanished has left its lease: perhaps it was this pull that it died of.
    failures = row["failures"] + (row["busy_until"] is not None)
    db.execute(update(history_pull).where(own).values(busy_until=now + LEASE, failures=failures))
    token = "" if row["secret"] is None else encryption.decrypt(db, row["secret"])
    names = [name for name in ClaimedPull.__struct_fields__ if name not in ("token", "failures")]
    return ClaimedPull(
        token=token, failures=failures, **{name: stored for name, stored in row.items() if name in names}
    )


def renew_claim(db: Connection, pull: ClaimedPull, now: datetime, **counts: int) -> bool:
    """Keep the pull for another lease, and store its counts. Returns whether to go on with it."""
    own = (_HISTORY_PULL.history_pull_id == pull.history_pull_id, _HISTORY_PULL.status == ACTIVE)
    row = update(history_pull).where(*own)
    return db.execute(row.values(busy_until=now + LEASE, **counts)).rowcount == 1


def store_list(
    db: Connection, pull: ClaimedPull, items: Sequence[ListedItem], remote_user: int | None
) -> None:
    """Store the tournaments to take, in their order."""
    own = _HISTORY_PULL.history_pull_id == pull.history_pull_id
    db.execute(update(history_pull).where(own).values(is_listed=True, remote_user=remote_user))
    rows = [
        {
            "history_pull_id": pull.history_pull_id,
            "remote_id": item.remote_id,
            "place": place,
            "name": item.name,
            "updated_at": item.updated_at,
        }
        for place, item in enumerate(items)
    ]
    if rows:
        db.execute(insert(history_pull_item), rows)


def store_report(db: Connection, pull: ClaimedPull, remote_id: int, report: Any) -> None:
    """Store the report of a tournament."""
    own = (
        _HISTORY_PULL_ITEM.history_pull_id == pull.history_pull_id,
        _HISTORY_PULL_ITEM.remote_id == remote_id,
    )
    db.execute(update(history_pull_item).where(*own).values(report=report))
    # What can be read is no fault any more.
    row = update(history_pull).where(_HISTORY_PULL.history_pull_id == pull.history_pull_id)
    db.execute(row.values(failures=0, reason=None))


def release_pull(db: Connection, pull: ClaimedPull, *, due_at: datetime, reason: str | None = None) -> None:
    """Give the pull back, to be gone on with at this moment."""
    values: dict[str, Any] = {"busy_until": None, "due_at": due_at, "reason": reason}
    if reason is not None:
        values["failures"] = _HISTORY_PULL.failures + 1
    own = _HISTORY_PULL.history_pull_id == pull.history_pull_id
    db.execute(update(history_pull).where(own, _HISTORY_PULL.status == ACTIVE).values(**values))
    db.execute(update(history_pull).where(own, _HISTORY_PULL.status != ACTIVE).values(busy_until=None))


def end_pull(db: Connection, pull: ClaimedPull, now: datetime, fault: str | None = None) -> None:
    """End the pull and delete its token."""
    values = {"status": FINISHED if fault is None else FAILED, "reason": fault, "secret": None}
    own = (_HISTORY_PULL.history_pull_id == pull.history_pull_id, _HISTORY_PULL.status == ACTIVE)
    row = update(history_pull).where(*own)
    db.execute(row.values(**values, busy_until=None, updated_at=now))


def _change(db: Connection, user_id: int, states: Sequence[str], **values: Any) -> None:
    row = (
        update(history_pull)
        .where(_HISTORY_PULL.user_id == user_id, _HISTORY_PULL.status.in_(states))
        .values(**values)
    )
    if not db.execute(row).rowcount:
        raise NoPullThere


def _lock_account(db: Connection, user_id: int) -> None:
    row = select(user.c.user_id).where(user.c.user_id == user_id).with_for_update()
    if db.execute(row).first() is None:
        raise NotFound("User", user_id)
