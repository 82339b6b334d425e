"""Chained lines as rows: new ones, those of an imported journal, and the stored ones."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Connection, Text, bindparam, insert, select, type_coerce

from silverball.store.database.statements import Statement
from silverball.store.tables import journal
from silverball.store.tournament import chain
from silverball.store.tournament.chain import JournalEnd, LineContent, WrittenLine
from silverball.store.types import instant_text

_LINE = journal.c
_NEW_LINE_COLUMNS = (
    "tournament_id",
    "action_id",
    "change",
    "data",
    "dice_seed",
    "draw_version",
    "actor_id",
    "source",
    "at",
)
_CHAIN_COLUMNS = ("source_salt", "source_hash", "sealed_labels", "digests", "hash")


def _column_type(name: str) -> Any:
    # The text of the data is made once, for the hash and for the row.
    return Text() if name == "data" else _LINE[name].type


_INSERT = Statement(
    insert(journal).values(
        {
            name: bindparam(f"new_{name}", type_=_column_type(name))
            for name in (*_NEW_LINE_COLUMNS, *_CHAIN_COLUMNS)
        }
    )
)
_SELECT_END = (
    select(_LINE.action_id, _LINE.hash)
    .where(_LINE.tournament_id == bindparam("own_id"))
    .order_by(_LINE.journal_id.desc())
    .limit(1)
)
_SELECT_HEAD = (
    select(_LINE.hash)
    .where(_LINE.tournament_id == bindparam("own_id"), _LINE.hash.is_not(None))
    .order_by(_LINE.journal_id.desc())
    .limit(1)
)


def journal_head(db: Connection, tournament_id: int) -> str | None:
    """The hash of the newest chained line; None for a journal that has none."""
    return db.execute(_SELECT_HEAD, {"own_id": tournament_id}).scalar_one_or_none()


def journal_end(db: Connection, tournament_id: int) -> JournalEnd:
    """The newest line, for a line that follows it. The caller holds the tournament's lock."""
    row = db.execute(_SELECT_END, {"own_id": tournament_id}).one_or_none()
    return JournalEnd() if row is None else JournalEnd(row.action_id, row.hash)


def append_action(
    db: Connection,
    tournament_id: int,
    entries: Sequence[tuple[str, Mapping[str, Any]]],
    end: JournalEnd,
    *,
    actor_id: int | None,
    source: str,
    now: datetime,
    dice_seed: str | None,
    draw_version: int | None,
) -> JournalEnd:
    """Append these entries as the lines of one action, and return the new end."""
    salt = chain.draw_salt()
    source_hash = chain.salted_hash(salt, source)
    action_digests = chain.action_digests(actor_id, now, dice_seed, draw_version, source_hash)
    action_id, previous = end.action_id + 1, end.hash
    own, at = (tournament_id, action_id), instant_text(now)
    facts = (dice_seed, draw_version, source_hash)
    rows = []
    for position, (change, data) in enumerate(entries, start=1):
        text, sealed = msgspec.json.encode(data).decode(), chain.seal_labels(data)
        covered = chain.covered_data(text, sealed)
        previous = chain.line_hash((previous, *own, position, actor_id, at, *facts, change, covered))
        rows.append(
            {
                "new_tournament_id": tournament_id,
                "new_action_id": action_id,
                "new_change": change,
                "new_data": text,
                "new_dice_seed": dice_seed,
                "new_draw_version": draw_version,
                "new_actor_id": actor_id,
                "new_source": source,
                "new_at": now,
                "new_source_salt": salt,
                "new_source_hash": source_hash,
                "new_sealed_labels": sealed,
                "new_digests": chain.digests_text((*action_digests, chain.change_digest(change, covered))),
                "new_hash": previous,
            }
        )
    _INSERT.run_many(db, rows)
    return JournalEnd(action_id, previous)


def store_lines(db: Connection, lines: Sequence[WrittenLine]) -> JournalEnd:
    """Store the lines of a journal as they were written elsewhere, and return the end."""
    rows = [
        {
            "new_tournament_id": line.content.tournament_id,
            "new_action_id": line.content.action_id,
            "new_change": line.content.change,
            "new_data": line.data_text,
            "new_dice_seed": line.content.dice_seed,
            "new_draw_version": line.content.draw_version,
            "new_actor_id": line.content.actor_id,
            "new_source": line.source,
            "new_at": line.content.at,
            "new_source_salt": line.source_salt,
            "new_source_hash": line.content.source_hash,
            "new_sealed_labels": line.sealed_labels,
            "new_digests": chain.digests_text(line.content.digests.values()),
            "new_hash": line.hash,
        }
        for line in lines
    ]
    _INSERT.run_many(db, rows)
    return JournalEnd(lines[-1].content.action_id, lines[-1].hash)


def load_lines(db: Connection, tournament_id: int) -> Iterator[tuple[Any, LineContent]]:
    """Each line of a journal as its row, with all that its hash covers; first to last."""
    columns = [_LINE[name] for name in ("journal_id", *_NEW_LINE_COLUMNS, *_CHAIN_COLUMNS) if name != "data"]
    rows = select(*columns, type_coerce(_LINE.data, Text).label("data_text")).where(
        _LINE.tournament_id == tournament_id
    )
    action_id = position = 0
    for row in db.execute(rows.order_by(_LINE.journal_id)):
        position = position + 1 if row.action_id == action_id else 1
        action_id = row.action_id
        yield (
            row,
            LineContent(
                tournament_id=tournament_id,
                action_id=action_id,
                position=position,
                actor_id=row.actor_id,
                at=row.at,
                dice_seed=row.dice_seed,
                draw_version=row.draw_version,
                source_hash=row.source_hash or "",
                change=row.change,
                data=chain.covered_data(row.data_text, row.sealed_labels),
            ),
        )
