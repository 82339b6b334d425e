"""The body of an import: a list to look at, or decided rows to store."""

from typing import Annotated, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id, Line
from silverball.kit.values import replace
from silverball.service.sheets.columns import ColumnKind
from silverball.service.sheets.people import PEOPLE_MAX, SheetPerson
from silverball.service.sheets.sources import FILE_BYTES_MAX, MACHINES_MAX, ListSource
from silverball.service.sheets.tables import COLUMNS_MAX
from silverball_wire.imports import ImportDecision, MachineDecision, NameOrder

Encoding = Literal["utf-8", "utf-16-le", "utf-16-be", "windows-1252", "windows-1250", "mac-roman"]
FEDERATION_NUMBER_MAX = 9_999_999


class ListToRead(Body, frozen=True, kw_only=True):
    """A text or a file to look at, and what was chosen about it."""

    instead_of_file: ClassVar[tuple[str, ...]] = ("text", "rows", "plan")
    text: Annotated[str, Meta(max_length=1_000_000)] | UnsetType = UNSET
    """The list as a text with tabs, semicolons or commas."""
    file: Annotated[bytes, Meta(max_length=FILE_BYTES_MAX)] | UnsetType = UNSET
    """The list as a file (.csv, .txt, .xlsx or .ods) in base64, or a file of `multipart/form-data`."""
    encoding: Encoding | UnsetType = UNSET
    """What the file is read in; without it a rule finds it."""
    sheet: Line | UnsetType = UNSET
    """The sheet of a workbook with several."""
    columns: Annotated[tuple[ColumnKind, ...], Meta(max_length=COLUMNS_MAX)] | UnsetType = UNSET
    """What each column is; without it header and cells say it."""
    plan: Annotated[str, Meta(max_length=64)] | UnsetType = UNSET
    """The plan of the look that the rows are from."""

    @property
    def stores(self) -> bool:
        """Whether the rows are to be stored."""
        return self.plan is not UNSET

    @property
    def source(self) -> ListSource:
        """The list to be read."""
        return ListSource(
            text="" if isinstance(self.text, UnsetType) else self.text,
            file=b"" if isinstance(self.file, UnsetType) else self.file,
            encoding=None if isinstance(self.encoding, UnsetType) else self.encoding,
            sheet=None if isinstance(self.sheet, UnsetType) else self.sheet,
            columns=() if isinstance(self.columns, UnsetType) else self.columns,
        )

    def require_list(self, rows: object) -> None:
        """Raise Invalid unless there is a text, a file, or rows with their plan, and only one of them."""
        given = [value for value in (self.text, self.file, rows) if value is not UNSET]
        if len(given) != 1:
            raise Invalid({"text": ["Send a text, a file, or rows with their plan: one of them."]})
        if self.stores and rows is UNSET:
            raise Invalid({"plan": ["A plan is sent with the rows that it belongs to."]})


class DecidedMachine(Body, frozen=True, kw_only=True):
    """A machine of a look, with what was decided about it."""

    line: Annotated[int, Meta(ge=1, le=2**31)] = 1
    """Line of the text, or row of the sheet."""
    name: Annotated[str, Meta(max_length=1_000)] | None = None
    opdb_id: Annotated[str, Meta(max_length=40)] | None = None
    decision: MachineDecision | None = None
    """Null or left out for what the look says by itself."""


class MachinesToImport(ListToRead, frozen=True, kw_only=True):
    """A text, a file or rows of machines to look at; rows with `plan` are stored."""

    tournament_id: Id | UnsetType = UNSET
    """The tournament whose lineup gets them; without it only the book is filled."""
    rows: Annotated[tuple[DecidedMachine, ...], Meta(min_length=1, max_length=MACHINES_MAX)] | UnsetType = (
        UNSET
    )
    """Rows of a look, decided."""

    def __post_init__(self) -> None:
        self.require_list(self.rows)


class DecidedRow(Body, frozen=True, kw_only=True):
    """A row of a look, with what was decided about it."""

    line: Annotated[int, Meta(ge=1, le=2**31)] = 1
    """Line of the text, or row of the sheet."""
    name: Annotated[str, Meta(max_length=1_000)] | None = None
    ifpa_id: Annotated[int, Meta(ge=1, le=FEDERATION_NUMBER_MAX)] | None = None
    seed: Annotated[int, Meta(ge=0, le=100_000)] | None = None
    decision: ImportDecision | None = None
    """Null or left out for what the look says by itself."""
    player_id: Id | None = None
    """With the decision `player`: who of the book."""
    same_as: Annotated[int, Meta(ge=1, le=PEOPLE_MAX)] | None = None
    """With the decision `same`: the number of the earlier row."""

    @property
    def person(self) -> SheetPerson:
        """The row as it was read."""
        return SheetPerson(line=self.line, name=self.name or "", ifpa_id=self.ifpa_id, seed=self.seed)


class PlayersToImport(ListToRead, frozen=True, kw_only=True):
    """A text, a file or rows to look at; rows with `plan` are stored."""

    name_order: NameOrder | UnsetType = UNSET
    """How `Quill, Ada` is read."""
    tournament_id: Id | UnsetType = UNSET
    """The tournament that the people enter; without it only the book is filled."""
    rows: Annotated[tuple[DecidedRow, ...], Meta(min_length=1, max_length=PEOPLE_MAX)] | UnsetType = UNSET
    """Rows of a look, decided."""

    def __post_init__(self) -> None:
        self.require_list(self.rows)

    @property
    def source(self) -> ListSource:
        """The list to be read."""
        order = None if isinstance(self.name_order, UnsetType) else self.name_order
        return replace(super().source, name_order=order)
