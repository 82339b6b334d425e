"""Lists of players and machines on their way into a book: rows as they will be, and what is asked before."""

from typing import Literal

from silverball_wire.base import Wire

ImportDecision = Literal["new", "player", "same", "leaveOut"]
MachineDecision = Literal["new", "arena", "leaveOut"]
NameOrder = Literal["firstLast", "lastFirst"]


class ImportChoice(Wire, frozen=True, kw_only=True):
    """An answer to the question of a row. Our addition."""

    decision: ImportDecision
    """What it decides: a new player, one of the book, the person of an earlier row, or nobody."""
    player_id: int | None = None
    """The player of the book that is meant; null for other decisions."""
    same_as: int | None = None
    """The earlier row whose person is meant; null for other decisions."""
    text: str
    """The choice as a page words it."""


class ImportRow(Wire, frozen=True, kw_only=True):
    """A person of the list. Our addition."""

    row: int
    """Number of the row, from 1; decisions name it."""
    line: int
    """Line of the text, or row of the sheet."""
    name: str | None
    """Null where a number alone is not known here."""
    ifpa_id: int | None
    seed: int | None = None
    decision: ImportDecision | None
    """What will be done: a new player, a player of the book, the person of an earlier row, or nothing.
    Null until the question is answered."""
    player_id: int | None = None
    """The player of the book; after storing, whoever the row became."""
    same_as: int | None = None
    """The earlier row whose person this is; null for all others."""
    question: str | None = None
    """What has to be decided first, as a sentence; null for nothing."""
    choices: tuple[ImportChoice, ...] = ()
    """The answers that can be given."""
    notes: tuple[str, ...] = ()
    """What is worth knowing, as sentences."""
    fault: str | None = None
    """Why the row cannot be stored as it is; null when it can."""


class ImportLeftOut(Wire, frozen=True, kw_only=True):
    """A row of the table that holds no person. Our addition."""

    line: int
    """Line of the text, or row of the sheet."""
    text: str
    reason: str
    """Why it was left out, as a sentence."""


class ImportColumn(Wire, frozen=True, kw_only=True):
    """A column of the table, and what it is taken for. Our addition."""

    header: str
    """Empty without a header."""
    example: str
    """The first cell below the header that holds anything."""
    kind: str
    """What it is taken for; `columns` of a request names another."""


class ImportSheet(Wire, frozen=True, kw_only=True):
    """A filled sheet of a workbook. Our addition."""

    name: str
    """Name of the sheet."""
    rows: int
    """Its filled rows."""
    is_hidden: bool
    """Whether the workbook hides it."""


class ImportNames(Wire, frozen=True, kw_only=True):
    """The first names under one order of first and last name. Our addition."""

    name_order: NameOrder
    """The order: first name first, or last name first."""
    names: tuple[str, ...]
    """The first names of the list, read so."""


class ListImport(Wire, frozen=True, kw_only=True):
    """A list of players or machines, read or stored. Our addition."""

    stored: bool
    """Whether it was stored."""
    plan: str | None
    """Sent with the rows to store them; null after that, and where something has to be chosen before."""
    tournament_id: int | None
    """The tournament that they enter; null for the book alone."""
    book_action_id: int | None = None
    """What undoes a list that filled the book alone; null for all others."""
    left_out: tuple[ImportLeftOut, ...] = ()
    """Rows of the table that hold nobody, or no machine."""
    columns: tuple[ImportColumn, ...] = ()
    encoding: str | None = None
    """What the text was read in; null where none was read."""
    encodings: tuple[str, ...] = ()
    """Others that can be asked for."""
    sheets: tuple[ImportSheet, ...] = ()
    """The filled sheets of a workbook; with several, `sheet` of a request chooses."""
    sheet: str | None = None
    """The sheet that was read; null for a text, and where one has to be chosen."""


class PlayersImport(ListImport, frozen=True, kw_only=True):
    """A list of players, read or stored. Our addition."""

    rows: tuple[ImportRow, ...] = ()
    name_orders: tuple[ImportNames, ...] = ()
    """Both readings of `Quill, Ada`; `nameOrder` of a request chooses."""
    notes: tuple[str, ...] = ()
    """What else is worth knowing, as sentences."""
    new_players: int = 0
    """Players that the book gets."""


class MachineRow(Wire, frozen=True, kw_only=True):
    """A machine of the list. Our addition."""

    row: int
    """Number of the row, from 1."""
    line: int
    """Line of the text, or row of the sheet."""
    name: str | None
    """Null where neither the row nor the machine database says it."""
    opdb_id: str | None
    decision: MachineDecision | None
    """What will be done: a new arena, one of the book, or nothing. Null until the question is answered."""
    arena_id: int | None = None
    """The arena of the book; after storing, whatever the row became."""
    question: str | None = None
    """What has to be decided first, as a sentence, by `new` or `leaveOut`; null for nothing."""
    fault: str | None = None
    """Why the row cannot be stored as it is; null when it can."""


class MachinesImport(ListImport, frozen=True, kw_only=True):
    """A list of machines, read or stored. Our addition."""

    rows: tuple[MachineRow, ...] = ()
    new_arenas: int = 0
    """Arenas that the book gets."""
