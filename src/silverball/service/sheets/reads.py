"""A look at a list: its rows as they will be, and the plan that storing them has to name."""

import hashlib
from collections.abc import Sequence

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, func, select

from silverball.kit.values import replace
from silverball.service.outlook.reads import federation
from silverball.service.sheets import decoding, matching
from silverball.service.sheets.matching import BookFacts, BookPlayer
from silverball.service.sheets.people import SheetPerson
from silverball.service.sheets.sources import ReadList
from silverball.store import tables
from silverball.store.people import person_numbers
from silverball.store.people.likely_doubles import is_erased
from silverball_wire.imports import (
    ImportColumn,
    ImportLeftOut,
    ImportNames,
    ImportRow,
    ImportSheet,
    PlayersImport,
)

BOOK_MAX = 20_000
_PLAYER = tables.player.c


class ImportTarget(Struct, frozen=True, kw_only=True):
    """The book that a list goes to, and the tournament that its people enter, if any."""

    organizer_id: int
    # Players that the book may have; 0 is no limit.
    players_max: int
    tournament_id: int | None = None
    present: frozenset[int] = frozenset()


def look_at_list(db: Connection, read: ReadList, target: ImportTarget) -> PlayersImport:
    """The list as it would be stored; without a plan where something has to be chosen first."""
    found = read.found
    about = PlayersImport(
        stored=False,
        plan=None,
        tournament_id=target.tournament_id,
        left_out=tuple(
            ImportLeftOut(line=row.line, text=row.text, reason=row.reason) for row in found.left_out
        ),
        columns=tuple(
            ImportColumn(header=column.header, example=column.example, kind=column.kind)
            for column in found.columns
        ),
        encoding=read.encoding,
        encodings=tuple(name for name in decoding.OFFERED if read.encoding not in (None, name)),
        sheets=tuple(
            ImportSheet(name=sheet.name, rows=len(sheet.table.rows), is_hidden=sheet.is_hidden)
            for sheet in read.sheets
        ),
        sheet=read.sheet,
        name_orders=tuple(
            ImportNames(name_order=each.name_order, names=each.names) for each in found.readings
        ),
        notes=read.notes,
    )
    if not found.people:
        return about
    planned = look_at_people(db, found.people, target)
    return replace(
        about,
        rows=planned.rows,
        plan=planned.plan,
        notes=(*about.notes, *planned.notes),
        new_players=planned.new_players,
    )


def look_at_people(db: Connection, people: Sequence[SheetPerson], target: ImportTarget) -> PlayersImport:
    """The people as they would be stored, with the plan: a digest of rows, decisions and matches."""
    facts = _book_facts(db, people, target)
    rows = matching.match_people(people, facts)
    new_count = sum(row.decision == "new" for row in rows)
    room = _room(db, target)
    fits = room is None or new_count <= room
    notes = () if fits else (f"The book has room for {room} more, and {new_count} of these are new.",)
    return PlayersImport(
        stored=False,
        plan=_digest(rows, facts, target, fits=fits),
        tournament_id=target.tournament_id,
        rows=tuple(rows),
        notes=notes,
        new_players=new_count,
    )


def _digest(rows: Sequence[ImportRow], facts: BookFacts, target: ImportTarget, *, fits: bool) -> str:
    """A digest of what decides, which a row that is sent back under its found name leaves as it is."""
    deciding = [
        (
            (row.line, row.name, row.ifpa_id, row.seed, row.fault),
            (row.decision, row.player_id, row.same_as, row.choices),
            "" if row.player_id is None else facts.players[row.player_id].name,
            row.player_id in facts.present,
        )
        for row in rows
    ]
    whole = msgspec.json.encode((deciding, target.organizer_id, target.tournament_id, fits))
    return hashlib.blake2b(whole, digest_size=16).hexdigest()


def _room(db: Connection, target: ImportTarget) -> int | None:
    """How many players the book can still get; None without a limit."""
    if not target.players_max:
        return None
    own = select(func.count()).select_from(tables.player).where(_PLAYER.organizer_id == target.organizer_id)
    return max(0, target.players_max - int(db.execute(own).scalar_one()))


def _book_facts(db: Connection, people: Sequence[SheetPerson], target: ImportTarget) -> BookFacts:
    wanted = {person.ifpa_id for person in people if person.ifpa_id is not None}
    numbers = person_numbers.numbers_in_book(db, target.organizer_id)
    rows = db.execute(
        select(_PLAYER.player_id, _PLAYER.name, _PLAYER.status)
        .where(_PLAYER.organizer_id == target.organizer_id)
        .order_by(_PLAYER.player_id.desc())
        .limit(BOOK_MAX)
    ).all()
    players = {
        row.player_id: BookPlayer(row.player_id, row.name, numbers.get(row.player_id), row.status == "active")
        for row in reversed(rows)
        if not is_erased(row)
    }
    holders = {
        number: tuple(player_id for player_id in found if player_id in players)
        for number, found in person_numbers.holders(db, target.organizer_id, wanted).items()
    }
    records = {record.ifpa_id: record.name for record in federation.records_by_ifpa(db, wanted)}
    return BookFacts(players=players, holders=holders, records=records, present=target.present)
