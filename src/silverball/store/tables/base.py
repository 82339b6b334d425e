"""Helpers for all tables: one metadata, STRICT tables on SQLite, ids, references, collation."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import REAL, Column, Double, ForeignKey, Index, MetaData, Table, Text
from sqlalchemy import text as sql_text
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

from silverball.rules.model.fields import Audience, PartField
from silverball.store.types import Flag, Hundredths, Id, Instant, Json

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

Real: TypeEngine[float] = REAL().with_variant(Double(), "postgresql")
# OPDB ids differ by letter case only, so they are compared byte by byte on every database.
OpdbId = Text().with_variant(Text(collation="C"), "postgresql")


def table(
    name: str,
    *columns: SchemaItem,
    indexes: Sequence[tuple[str, ...]] = (),
    audiences: Mapping[Audience, str] | None = None,
) -> Table:
    """A table that refuses values of the wrong type on SQLite too.

    `audiences` names who may see the value of each column at all, audience by audience: a route may still
    ask for a token, and opt-outs hide more. A column that is not named leaves the program nowhere, and
    fails a test.
    """
    own = [column for column in columns if isinstance(column, Column) and column.primary_key]
    # An id is never used twice, even after its row was deleted.
    counted = len(own) == 1 and isinstance(own[0].type, Id) and not own[0].foreign_keys
    built = Table(name, metadata, *columns, sqlite_strict=True, sqlite_autoincrement=counted)
    for audience, named in (audiences or {}).items():
        for column_name in named.split():
            built.c[column_name].info["audience"] = audience
    for names in indexes:
        Index(None, *(built.c[column] for column in names))
    return built


def named_indexes(built: Table, **indexes: Sequence[str]) -> None:
    """Add indexes under short names: a name made of many columns is longer than PostgreSQL takes."""
    for name, columns in indexes.items():
        Index(name, *(built.c[column] for column in columns))


def key(name: str) -> Column[int]:
    """The id of a row."""
    return Column(name, Id, primary_key=True)


def reference(name: str, target: str, *, null: bool = False, cascade: bool = False) -> Column[int]:
    """A reference to the id column of another table: `reference("organizer_id", "user.user_id")`."""
    rule = ForeignKey(target, ondelete="CASCADE" if cascade else None)
    return Column(name, Id, rule, nullable=null)


def key_reference(name: str, target: str) -> Column[int]:
    """A reference in the row's own key; the row is deleted with the row that it refers to."""
    return Column(name, Id, ForeignKey(target, ondelete="CASCADE"), primary_key=True)


def text(name: str, *, null: bool = False) -> Column[str]:
    return Column(name, Text, nullable=null)


def integer(name: str, *, null: bool = False) -> Column[int]:
    return Column(name, Id, nullable=null)


def stamp(name: str) -> Column[int]:
    """A random number beside a revision; a program that does not know it leaves it as it is."""
    return Column(name, Id, nullable=False, server_default=sql_text("0"))


def flag(name: str, *, null: bool = False) -> Column[bool]:
    return Column(name, Flag, nullable=null)


def json(name: str, *, null: bool = False) -> Column[object]:
    return Column(name, Json, nullable=null)


_TYPES: dict[str | None, type[TypeEngine[Any]]] = {
    "text": Text,
    "integer": Id,
    "flag": Flag,
    "json": Json,
    "moment": Instant,
    "points": Hundredths,
}


def part_columns(fields: Sequence[PartField]) -> Iterator[Column[Any]]:
    """The columns of a part of a tournament, from its fields."""
    for field in fields:
        if field.kind is not None:
            column = _part_column(field, field.stored_in)
            column.info["audience"] = field.audience
            yield column


def _part_column(field: PartField, name: str) -> Column[Any]:
    if field.kind == "key":
        return key(name)
    if field.kind == "part_key":
        return key_reference(name, field.refers_to)
    if field.kind == "reference":
        return reference(name, field.refers_to, null=field.null, cascade=field.cascades)
    return stamp(name) if field.kind == "stamp" else Column(name, _TYPES[field.kind], nullable=field.null)
