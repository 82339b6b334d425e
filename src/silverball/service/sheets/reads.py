"""A look at a list: its rows as they will be, and the plan that storing them has to name."""

import hashlib
from collections.abc import Collection, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, func, select

from silverball.kit.values import replace
from silverball.rules import opdb
from silverball.service.machines import reads as machines
from silverball.service.outlook.reads import federation
from silverball.service.roster import reads as roster_reads
from silverball.service.roster.reads import BookArena
from silverball.service.sheets import decoding, matching
from silverball.service.sheets.matching import BookFacts, BookPlayer
from silverball.service.sheets.people import NAME_LETTERS_MAX, SheetPerson, name_fault
from silverball.service.sheets.sources import ListedMachine, ReadList
from silverball.store import tables
from silverball.store.people import person_numbers
from silverball.store.people.likely_doubles import is_erased
from silverball.store.people.names import name_key
from silverball_wire.imports import (
    ImportColumn,
    ImportLeftOut,
    ImportNames,
    ImportRow,
    ImportSheet,
    MachineRow,
    MachinesImport,
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
        **_how_it_was_read(read, target),
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


def _how_it_was_read(read: ReadList, target: ImportTarget) -> dict[str, Any]:
    """The part of a look that lists of players and of machines have alike."""
    found = read.found
    return {
        "stored": False,
        "plan": None,
        "tournament_id": target.tournament_id,
        "left_out": tuple(
            ImportLeftOut(line=row.line, text=row.text, reason=row.reason) for row in found.left_out
        ),
        "columns": tuple(
            ImportColumn(header=each.header, example=each.example, kind=each.kind) for each in found.columns
        ),
        "encoding": read.encoding,
        "encodings": tuple(name for name in decoding.OFFERED if read.encoding not in (None, name)),
        "sheets": tuple(
            ImportSheet(name=sheet.name, rows=len(sheet.table.rows), is_hidden=sheet.is_hidden)
            for sheet in read.sheets
        ),
        "sheet": read.sheet,
    }


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


def look_at_machine_list(
    db: Connection, read: ReadList, target: ImportTarget, lineup: Collection[int]
) -> MachinesImport:
    """The list of machines as it would be stored; without a plan where a sheet has to be chosen first."""
    about = MachinesImport(**_how_it_was_read(read, target))
    if not read.machines:
        return about
    planned = look_at_machines(db, read.machines, target, lineup)
    return replace(about, rows=planned.rows, plan=planned.plan, new_arenas=planned.new_arenas)


def look_at_machines(
    db: Connection, listed: Sequence[ListedMachine], target: ImportTarget, lineup: Collection[int]
) -> MachinesImport:
    """The machines as they would be stored, with the plan. `lineup`: ids of the arenas of the tournament."""
    short_names = machines.ids_by_short_name(db, {each.short_name for each in listed if each.short_name})
    # A short name counts where the row has nothing better.
    ids = [each.opdb_id or (None if each.name else short_names.get(each.short_name)) for each in listed]
    titles = machines.entries_by_id(db, {opdb_id for opdb_id in ids if opdb_id is not None})
    in_book = roster_reads.active_arenas(db, target.organizer_id)
    taken = set(lineup)
    rows: list[MachineRow] = []
    for number, (machine, opdb_id) in enumerate(zip(listed, ids, strict=True), start=1):
        title = titles.get(opdb_id or "")
        name = machine.name or (title.name[:NAME_LETTERS_MAX] if title else machine.short_name)
        row = MachineRow(
            row=number,
            line=machine.line,
            name=name or None,
            opdb_id=opdb_id,
            decision=None,
            fault=_machine_fault(name, opdb_id, is_known=title is not None),
        )
        if row.fault is None:
            row = _match_machine(row, in_book, taken, has_lineup=target.tournament_id is not None)
        if row.decision == "new":
            # Named again further down, it is asked about.
            in_book.append(BookArena(-number, name_key(name), opdb_id))
            taken.add(-number)
        rows.append(row)
    facts = (rows, target.organizer_id, target.tournament_id)
    return MachinesImport(
        stored=False,
        plan=hashlib.blake2b(msgspec.json.encode(facts), digest_size=16).hexdigest(),
        tournament_id=target.tournament_id,
        rows=tuple(rows),
        new_arenas=sum(row.decision == "new" for row in rows),
    )


def _machine_fault(name: str, opdb_id: str | None, *, is_known: bool) -> str | None:
    parsed = None if opdb_id is None else opdb.parse_id(opdb_id)
    if opdb_id is not None and (parsed is None or (parsed.is_homebrew and not is_known)):
        return f"{opdb_id} is no id of the machine database."
    if not name:
        return f"The machine database has no {opdb_id}. Write the name."
    return name_fault(name) or None


def _match_machine(
    row: MachineRow, in_book: Sequence[BookArena], taken: set[int], *, has_lineup: bool
) -> MachineRow:
    """The row with the arena of the book that it is; one in the lineup already is asked."""
    known = roster_reads.arenas_called(in_book, row.name or "", row.opdb_id)
    free = [arena_id for arena_id in known if arena_id not in taken]
    if free:
        taken.add(free[0])
        return replace(row, decision="arena", arena_id=free[0])
    if known:
        where = "in the lineup or the list" if has_lineup else "in the list"
        return replace(row, question=f"{row.name} is {where} already. A second one?")
    return replace(row, decision="new")


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
