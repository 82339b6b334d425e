"""The chain of a journal: the hash of each line covers the line and the hash of the line before.

A line's hash is SHA-256 of a JSON array: the hash before it (empty for the first line), tournament, action,
position in the action from 1, actor, time in UTC with microseconds, dice seed, version of the drawing rules,
salted hash of the source, name of the change, and its data as text. Personal values stand in it as salted
hashes: the source, and the labels of a player. Erasing somebody deletes value and salt; the hashes stay, so
the chain stays whole and says nothing about the person.
"""

import hashlib
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Text, bindparam, insert, select, type_coerce

from silverball.store.database.statements import Statement
from silverball.store.tables import journal
from silverball.store.types import instant_text

SALT_BYTES, SALTED_HASH_BYTES = 16, 16
# Salted hashes of the sides of a change, and their salt until the labels are erased.
SealedLabels = dict[str, Any]
# The columns of a line whose source is erased; its salted hash stays.
ERASED_SOURCE = {"source": "", "source_salt": None}
_ENCODE = msgspec.json.Encoder().encode


class JournalEnd(Struct, frozen=True):
    """The newest line of a journal: number of its action and its hash. 0 and empty without a line."""

    action_id: int = 0
    hash: str = ""


class LineContent(msgspec.Struct, frozen=True, kw_only=True):
    """All that a line's hash covers beside the hash before it."""

    tournament_id: int
    action_id: int
    # From 1 in each action.
    position: int
    actor_id: int | None
    at: datetime
    dice_seed: str | None
    draw_version: int | None
    source_hash: str
    change: str
    # The JSON text of the data, with hashes in place of sealed labels.
    data: str

    @property
    def digests(self) -> dict[str, str]:
        """A short digest of each value that a changed line can name."""
        action = action_digests(self.actor_id, self.at, self.dice_seed, self.draw_version, self.source_hash)
        names = ("actor", "time", "dice seed or draw version", "source")
        return dict(zip(names, action, strict=True)) | {"change": change_digest(self.change, self.data)}

    def hash_after(self, previous: str) -> str:
        """The hash of the line that follows the line with the hash `previous`."""
        head = (self.tournament_id, self.action_id)
        facts = (self.dice_seed, self.draw_version, self.source_hash)
        return line_hash(
            (
                previous,
                *head,
                self.position,
                self.actor_id,
                instant_text(self.at),
                *facts,
                self.change,
                self.data,
            )
        )


class WrittenLine(Struct, frozen=True, kw_only=True):
    """A line with its hash and all that its row has besides."""

    content: LineContent
    data_text: str
    source: str
    source_salt: str | None
    sealed_labels: SealedLabels | None
    hash: str


def line_hash(covered: tuple[Any, ...]) -> str:
    """The hash of a line, from the hash before it and the values of the line in the order named above."""
    return hashlib.sha256(_ENCODE(covered)).hexdigest()


def draw_salt() -> str:
    """A new salt."""
    return os.urandom(SALT_BYTES).hex()


def salted_hash(salt: str, value: str) -> str:
    """The hash that stands in a line for a personal value."""
    return hashlib.sha256(f"{salt}:{value}".encode()).hexdigest()[: 2 * SALTED_HASH_BYTES]


def seal_labels(data: Mapping[str, Any]) -> SealedLabels | None:
    """The salted hashes of the labels of a player in this data, and their salt; None without labels."""
    labels = {name: _labels_text(side) for name, side in data.items() if _has_labels(side)}
    if not labels:
        return None
    salt = draw_salt()
    return {"salt": salt, "hashes": {name: salted_hash(salt, text) for name, text in labels.items()}}


def has_false_labels(data: Mapping[str, Any], sealed: SealedLabels) -> bool:
    """Whether the labels are others than those sealed. Erased labels are not false."""
    salt = sealed.get("salt")
    return any(
        _has_labels(data.get(name)) and (salt is None or salted_hash(salt, _labels_text(data[name])) != hash_)
        for name, hash_ in sealed["hashes"].items()
    )


def covered_data(text: str, sealed: SealedLabels | None) -> str:
    """The text of the data as the hash covers it: with hashes in place of sealed labels."""
    if sealed is None:
        return text
    data = msgspec.json.decode(text)
    for name, hash_ in sealed["hashes"].items():
        data[name].update({"labels": hash_, "label_color": None})
    return _ENCODE(data).decode()


def action_digests(
    actor_id: int | None, at: datetime, dice_seed: str | None, draw_version: int | None, source_hash: str
) -> list[str]:
    """The short digests of the values that all lines of an action have."""
    actor, dice = _ENCODE(actor_id), _ENCODE((dice_seed, draw_version))
    return _short_digests(actor, instant_text(at).encode(), dice, source_hash.encode())


def change_digest(change: str, data: str) -> str:
    """The short digest of a change and of its data as the hash covers it."""
    return _short_digests(_ENCODE((change, data)))[0]


def digests_text(digests: Iterable[str]) -> str:
    """The short digests as a line stores them."""
    return ".".join(digests)


def changed_values(stored: str | None, digests: Mapping[str, str]) -> list[str]:
    """The names of the values whose short digests differ from those stored."""
    parts = (stored or "").split(".")
    if len(parts) != len(digests):
        return []
    return [name for (name, digest), part in zip(digests.items(), parts, strict=True) if digest != part]


def _has_labels(side: Any) -> bool:
    return (
        isinstance(side, dict) and "player_id" in side and bool(side.get("labels") or side.get("label_color"))
    )


def _labels_text(side: Mapping[str, Any]) -> str:
    return _ENCODE([side.get("labels"), side.get("label_color")]).decode()


def _short_digests(*texts: bytes) -> list[str]:
    # A checksum tells which value was changed; the hash of the line is what proves anything.
    return [f"{zlib.crc32(text):08x}" for text in texts]


# Digests of stored texts: `silverball verify` finds a text that was changed without the program.
#
# They are kept in a column beside the text, and written by whoever writes the text through the program.


DIGEST_BYTES = 16


def announcement_digest(tournament_id: int, epoch: str, seq: int, name: str, data: str) -> str:
    """The digest of an announcement: its place in the channel, its name and its payload."""
    return _digest(f"{tournament_id}:{epoch}:{seq}:{name}:{data}")


def name_digest(name: str) -> str:
    """The digest of a player's name."""
    return _digest(name)


def with_name_digest(values: Mapping[str, Any]) -> dict[str, Any]:
    """These columns of a player, with the digest of the name where they have a name."""
    return {**values, "name_digest": name_digest(values["name"])} if "name" in values else dict(values)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=DIGEST_BYTES).hexdigest()


# Chained lines as rows: new ones, those of an imported journal, and the stored ones.


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
    salt = draw_salt()
    source_hash = salted_hash(salt, source)
    digests = action_digests(actor_id, now, dice_seed, draw_version, source_hash)
    action_id, previous = end.action_id + 1, end.hash
    own, at = (tournament_id, action_id), instant_text(now)
    facts = (dice_seed, draw_version, source_hash)
    rows = []
    for position, (change, data) in enumerate(entries, start=1):
        text, sealed = msgspec.json.encode(data).decode(), seal_labels(data)
        covered = covered_data(text, sealed)
        previous = line_hash((previous, *own, position, actor_id, at, *facts, change, covered))
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
                "new_digests": digests_text((*digests, change_digest(change, covered))),
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
            "new_digests": digests_text(line.content.digests.values()),
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
                data=covered_data(row.data_text, row.sealed_labels),
            ),
        )
