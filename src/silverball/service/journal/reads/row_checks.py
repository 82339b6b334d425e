"""Checks of a tournament's rows by themselves: can they be read, and is each value one that is written?"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Column, Connection, RowMapping, Table, func, select, type_coerce
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import NULLTYPE

from silverball.kit.values import convert
from silverball.rules.model import fields, settings
from silverball.rules.model.apply import ID_FIELDS
from silverball.rules.model.fields import PartField
from silverball.rules.model.tournament import EngineState, PrizePlan, SignUpTerms, Tournament
from silverball.rules.registry import FORMATS
from silverball.rules.verify.replay import PART_NAMES
from silverball.store import tables
from silverball.store.tournament import announcements, chain, imports, journal, writers
from silverball.store.tournament.journal import Action

T = TypeVar("T")
# Every table with rows of one tournament that tell of its night, by the words for its rows.
TABLE_NAMES: Mapping[str, Table] = {
    "tournament": tables.tournament,
    **{PART_NAMES[part]: stored.table for part, stored in writers.STORED_PARTS.items()},
    "seat of game": tables.game_player,
    "link": tables.tournament_link,
    "note": tables.game_note,
    "standing of player": tables.standing,
    **{table.name: table for table in imports.SUMMARIES},
    "journal line": tables.journal,
    "announcement": tables.announcement,
}
_PART_FIELDS: Mapping[str, Sequence[PartField]] = {
    "entrant": fields.ENTRANT,
    "round": fields.ROUND,
    "game": fields.GAME,
    "single_player_game": fields.SINGLE_PLAYER_GAME,
    "card": fields.CARD,
    "queue_entry": fields.QUEUE_PLACE,
}
# Of JSON that is not read as a whole Struct: one that cannot be read is named.
_SHAPES: Mapping[str, Any] = {
    "journal.data": Mapping[str, Any],
    "journal.sealed_labels": Mapping[str, Any] | None,
    "standing.row": Mapping[str, Any],
    "suggestion.results": Sequence[int | None],
    "suggestion.scores": Mapping[int, int | None] | None,
    "lineup_arena.labels": Sequence[str],
}
ERROR_CHARACTERS_MAX = 300
CANNOT_BE_CHECKED = "cannot be checked"


def guarded(subject: str, check: Callable[[], Iterable[str]]) -> list[str]:
    """The faults that a check finds; where a value breaks it, those found before and that it could not be."""
    found: list[str] = []
    _, faults = read_guarded(subject, lambda: found.extend(check()))
    return found + faults


def read_guarded(subject: str, read: Callable[[], T]) -> tuple[T | None, list[str]]:
    """The value that is read, or None and the sentence that something in it breaks the reading.

    Faults of the database itself are raised: they say nothing about the tournament.
    """
    try:
        return read(), []
    except DBAPIError:
        raise
    except Exception as error:  # noqa: BLE001  # any stored value may break a check, and must not end the others
        return None, [f"The {subject} {CANNOT_BE_CHECKED}: {_error_text(error)}."]


def _error_text(error: Exception) -> str:
    text = f"{type(error).__name__}: {error}".rstrip(".")
    return text if len(text) <= ERROR_CHARACTERS_MAX else f"{text[:ERROR_CHARACTERS_MAX]}..."


# Values that cannot be read.


def unreadable_faults(db: Connection, tournament_id: int) -> Iterator[str]:
    """The values of the tournament that cannot be read, each with its row and field."""
    for name, table in TABLE_NAMES.items():
        raw = [type_coerce(column, NULLTYPE).label(column.name) for column in table.columns]
        rows = select(*raw).where(table.c.tournament_id == tournament_id).order_by(*table.primary_key)
        decoders = {column.name: _decoder(db, column) for column in table.columns}
        type_ = None
        for row in db.execute(rows):
            values = row._mapping
            type_ = values.get("type")
            own = [str(values[column.name]) for column in table.primary_key if column.name != "tournament_id"]
            where = f"{name} {', '.join(own) or tournament_id}"
            for column, decode in decoders.items():
                try:
                    value = decode(values[column])
                    _shape_reader(table, column, type_)(value)
                except Exception as error:  # noqa: BLE001  # a broken value may raise anything
                    yield f"The {column} of {where} cannot be read: {_error_text(error)}."


def _decoder(db: Connection, column: Column[Any]) -> Callable[[Any], Any]:
    """The function from a value of the driver to the value of the column."""
    processor = column.type.dialect_impl(db.dialect).result_processor(db.dialect, None)
    return processor or (lambda value: value)


def _shape_reader(table: Table, column: str, type_: Any) -> Callable[[Any], Any]:
    """The function that reads a decoded value as the rules do; it raises what they would."""
    if table is tables.tournament:
        return _tournament_reader(column, type_)
    shape: Any = _SHAPES.get(f"{table.name}.{column}")
    if shape is not None:
        return lambda value: convert(value, shape, strict=False)
    field = next((each for each in _PART_FIELDS.get(table.name, ()) if each.stored_in == column), None)
    read = None if field is None or field.place != "attribute" else field.form.read
    return read or (lambda value: value)


def _tournament_reader(column: str, type_: Any) -> Callable[[Any], Any]:
    if column == "settings" and type_ in FORMATS:
        return lambda stored: settings.read_settings(FORMATS[type_].settings, stored)
    shapes = {
        "engine": EngineState | None,
        "prizes": PrizePlan | None,
        "sign_up_terms": SignUpTerms | None,
        "rsvp_configuration": Mapping[str, Any] | None,
        "entry_configuration": Mapping[str, Any] | None,
        "primary_config_settings": Sequence[Any],
        "managers": Sequence[Any],
    }
    shape: Any = shapes.get(column)
    if shape is None:
        return lambda value: value
    # JSON has only text as keys of maps.
    return lambda value: convert(value, shape, strict=False)


# Values that the program does not write beside the others of their row.


def stored_value_faults(
    db: Connection, tournament: Tournament, made_here: Callable[[str, int], bool]
) -> Iterator[str]:
    """Values of rows that differ from those that are written for the same item.

    `made_here` tells for a part and an id whether a change made the row; an import brings others.
    """
    for part, stored in writers.STORED_PARTS.items():
        items = {getattr(item, ID_FIELDS[part]): item for item in getattr(tournament, part)}
        rows = select(stored.table).where(stored.table.c.tournament_id == tournament.tournament_id)
        for kept_row in db.execute(rows.order_by(*stored.table.primary_key)).mappings():
            item = items.get(kept_row[stored.key])
            if item is not None and made_here(part, kept_row[stored.key]):
                written = {**writers.NEW_ROW_DEFAULTS.get(part, {}), **stored.values(item)}
                subject = f"{PART_NAMES[part]} {kept_row[stored.key]}"
                yield from _row_faults(subject, kept_row, written, {"tournament_id", stored.key})
    yield from _seat_faults(db, tournament, made_here)


def _row_faults(
    subject: str, row: RowMapping, written: Mapping[str, Any], known: Collection[str]
) -> Iterator[str]:
    for name, value in row.items():
        expected = written.get(name)
        if isinstance(value, list | dict):
            # What is stored as JSON has lists and texts.
            expected = msgspec.json.decode(msgspec.json.encode(expected))
        # Rows of earlier versions have null for what is empty.
        if name in known or value == expected or not (value or expected):
            continue
        if name in written:
            yield f"The {name} of {subject} is stored as {value!s}, by its other values it is {expected!s}."
        else:
            yield f"The {name} of {subject} is stored as {value!s}, which only an import can bring."


def _seat_faults(
    db: Connection, tournament: Tournament, made_here: Callable[[str, int], bool]
) -> Iterator[str]:
    """Seats whose slots are not numbered from 0."""
    seat = tables.game_player.c
    seats = select(seat.game_id, seat.slot).where(seat.tournament_id == tournament.tournament_id)
    slots: dict[int, list[int]] = {}
    for game_id, slot in db.execute(seats.order_by(seat.game_id, seat.slot)):
        slots.setdefault(game_id, []).append(slot)
    for game_id, numbers in slots.items():
        if made_here("games", game_id) and numbers != list(range(len(numbers))):
            yield f"The seats of game {game_id} have the slots {numbers}, not {list(range(len(numbers)))}."


def link_faults(db: Connection, tournament_id: int) -> Iterator[str]:
    """Links that are not numbered from 0."""
    link = tables.tournament_link.c
    rows = select(link.place).where(link.tournament_id == tournament_id).order_by(link.place)
    places = list(db.execute(rows).scalars())
    if places != list(range(len(places))):
        yield f"The links of the tournament have the places {places}, not {list(range(len(places)))}."


# The feed channel, and names.


def feed_faults(db: Connection, tournament_id: int) -> Iterator[str]:
    """Faults of the feed channel's counters and of its announcements."""
    own = tables.tournament.c
    columns = select(own.epoch, own.seq, own.seq_low, own.revision).where(own.tournament_id == tournament_id)
    row = db.execute(columns).one()
    if not 0 <= row.seq_low <= row.seq + 1 or row.revision < 0 or not row.epoch:
        yield f"The channel cannot be at epoch {row.epoch!r} with announcements {row.seq_low} to {row.seq}."
        return
    if row.seq and chain.journal_end(db, tournament_id).action_id == 0:
        yield (
            f"The channel has sent {row.seq} announcements, and no line of the journal is this tournament's"
            " (tournament_id)."
        )
    message = tables.announcement.c
    stored = select(message.epoch, message.seq).where(message.tournament_id == tournament_id)
    numbers_by_epoch: dict[str, set[int]] = {}
    for epoch, seq in db.execute(stored):
        numbers_by_epoch.setdefault(epoch, set()).add(seq)
    yield from _number_faults(row, numbers_by_epoch.pop(row.epoch, set()), has_others=bool(numbers_by_epoch))
    for epoch, numbers in sorted(numbers_by_epoch.items()):
        yield (
            f"Announcement {min(numbers)} is stored in the epoch {epoch!r}, but the channel's is"
            f" {row.epoch!r}: announcements end with their epoch."
        )
    yield from _announcement_faults(db, tournament_id)


def _number_faults(row: Any, numbers: set[int], *, has_others: bool) -> Iterator[str]:
    """Gaps between the number up to which the channel is trimmed (`seq_low`) and its newest (`seq`)."""
    if has_others and not numbers:
        # The epoch itself was changed, which is said.
        return
    if numbers and max(numbers) > row.seq:
        yield f"Announcement {max(numbers)} is stored, but the channel has sent only {row.seq} (its seq)."
    early = sorted(seq for seq in numbers if seq <= row.seq_low)
    if early:
        yield f"Announcement {early[0]} is stored, but the channel is trimmed up to {row.seq_low} (seq_low)."
    missing = sorted(set(range(row.seq_low + 1, row.seq + 1)) - numbers)
    if missing:
        listed = str(missing[0]) if len(missing) == 1 else f"{missing[0]} to {missing[-1]} ({len(missing)})"
        yield f"Announcement {listed} is missing between {row.seq_low} (seq_low) and {row.seq} (seq)."


def _announcement_faults(db: Connection, tournament_id: int) -> Iterator[str]:
    """Announcements that are not what was announced; those of earlier versions have no digest."""
    message = tables.announcement.c
    columns = select(
        message.epoch, message.seq, message.name, message.data, message.digest, message.journal_head
    )
    has_chain = chain.journal_head(db, tournament_id) is not None
    is_digested = False
    rows = db.execute(columns.where(message.tournament_id == tournament_id).order_by(message.seq))
    for epoch, seq, name, data, digest, head in rows:
        if digest is None:
            if is_digested:
                yield f"Announcement {seq} ({name}) has no digest, as all after an earlier one have."
            continue
        is_digested = True
        if chain.announcement_digest(tournament_id, epoch, seq, name, data) != digest:
            yield (
                f"Announcement {seq} ({name}) is not what was announced: its body (data), name, number (seq)"
                " or epoch was changed, or its digest."
            )
        elif (head is not None) != (name == announcements.TOURNAMENT_UPDATED and has_chain):
            yield f"Announcement {seq} ({name}) has {'a' if head else 'no'} journal head, unlike others."


def name_faults(db: Connection, tournament_id: int) -> Iterator[str]:
    """Players whose names were changed past the program."""
    columns = select(tables.player.c.player_id, tables.player.c.name, tables.player.c.name_digest)
    entered = columns.join(tables.entrant, tables.entrant.c.player_id == tables.player.c.player_id).where(
        tables.entrant.c.tournament_id == tournament_id, tables.player.c.name_digest.is_not(None)
    )
    for player_id, name, digest in db.execute(entered.order_by(tables.player.c.player_id)):
        if chain.name_digest(name) != digest:
            yield (
                f"Player {player_id} is named {name!r}, which nobody entered: the name was changed in the"
                " database."
            )


# Notes, and the machines of summaries.


def note_faults(
    db: Connection, tournament_id: int, actions: Sequence[Action], first_action_id: int
) -> Iterator[str]:
    """Notes without their line in the journal, and lines without their note.

    Takes all actions, and the number of the first one that was done here.
    """
    note = tables.game_note.c
    notes = db.execute(
        select(tables.game_note).where(note.tournament_id == tournament_id).order_by(note.note_id)
    ).all()
    lines = {
        (action.action_id, data["game"]): data["kind"]
        for action in actions
        for name, data in action.entries
        if name == journal.GAME_NOTED
    }
    for row in notes:
        if row.action_id == 0:
            # It came with an import, and says itself when it was written.
            if row.written_at is None:
                yield f"Note {row.note_id} has neither a line in the journal nor a time (written_at)."
            continue
        kind = lines.get((row.action_id, row.game_id))
        if kind is None:
            yield (
                f"Note {row.note_id} names action {row.action_id} (action_id), game {row.game_id} (game_id),"
                " of which the journal has no note."
            )
        elif kind != row.kind:
            yield f"Note {row.note_id} is of kind {row.kind!r}, by its line in the journal it is {kind!r}."
        for name in ("author_id", "written_at"):
            if getattr(row, name) is not None:
                yield f"Note {row.note_id} has its own {name}, though its line in the journal says it."
    there = {(row.action_id, row.game_id) for row in notes}
    for action_id, game_id in sorted(lines.keys() - there):
        if action_id >= first_action_id:
            yield f"The note of action {action_id} on game {game_id} is missing."


def noted_player_faults(db: Connection, tournament: Tournament) -> Iterator[str]:
    """Notes about players who were never in the tournament."""
    note = tables.game_note.c
    rows = select(note.note_id, note.player_id).where(
        note.tournament_id == tournament.tournament_id, note.player_id.is_not(None)
    )
    for note_id, player_id in db.execute(rows.order_by(note.note_id)):
        if player_id not in tournament.entrant_by_id:
            yield f"Note {note_id} is about player {player_id} (player_id), who is not in the tournament."


def machine_faults(db: Connection, tournament_id: int) -> Iterator[str]:
    """Arenas that the summaries give several machines: they are all written at once."""
    machines: dict[int, Counter[str | None]] = {}
    for table in imports.SUMMARIES:
        rows = select(table.c.arena_id, table.c.opdb_id, func.count()).where(
            table.c.tournament_id == tournament_id
        )
        for arena_id, opdb_id, count in db.execute(rows.group_by(table.c.arena_id, table.c.opdb_id)):
            machines.setdefault(arena_id, Counter())[opdb_id] += count
    for arena_id, counts in sorted(machines.items()):
        if len(counts) > 1:
            listed = ", ".join(f"{opdb_id or 'none'} ({count})" for opdb_id, count in counts.most_common())
            yield f"The summaries of arena {arena_id} name several machines (opdb_id): {listed}."
