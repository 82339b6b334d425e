"""Compares two schemas: are they equal, and what of a change would trouble a node of the version before?"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, inspect


@dataclass(frozen=True)
class TableShape:
    """A table as the database describes it."""

    # Column -> type, nullable, whether it has a default.
    columns: dict[str, tuple[str, bool, bool]]
    # What can refuse a row: unique indexes and constraints, references, checks.
    rules: frozenset[str]


def table_shapes(db: Connection) -> dict[str, TableShape]:
    """The tables of a database by name."""
    inspector = inspect(db)
    return {name: _table_shape(inspector, name) for name in inspector.get_table_names()}


def _table_shape(inspector: Any, name: str) -> TableShape:
    columns = {
        column["name"]: (str(column["type"]), column["nullable"], column["default"] is not None)
        for column in inspector.get_columns(name)
    }
    unique = [index["column_names"] for index in inspector.get_indexes(name) if index["unique"]]
    unique += [constraint["column_names"] for constraint in inspector.get_unique_constraints(name)]
    references = [
        f"{key['constrained_columns']} references {key['referred_table']}"
        for key in inspector.get_foreign_keys(name)
    ]
    checks = [f"check {check['sqltext']}" for check in inspector.get_check_constraints(name)]
    return TableShape(columns, frozenset([*(f"unique {names}" for names in unique), *references, *checks]))


def breaking_changes(before: dict[str, TableShape], after: dict[str, TableShape]) -> list[str]:
    """A line for each change with which a node of the version before could not go on."""
    lines = [f"{name} is gone" for name in before if name not in after]
    for name in before.keys() & after.keys():
        lines += _breaking_changes_of(name, before[name], after[name])
    return sorted(lines)


def _breaking_changes_of(table: str, before: TableShape, after: TableShape) -> list[str]:
    lines = []
    for column, shape in before.columns.items():
        if column not in after.columns:
            lines.append(f"{table}.{column} is gone")
        elif after.columns[column][0] != shape[0]:
            lines.append(f"{table}.{column} has another type")
        elif shape[1] and not after.columns[column][1]:
            lines.append(f"{table}.{column} may no longer be null")
    for column in after.columns.keys() - before.columns.keys():
        _type, is_nullable, has_default = after.columns[column]
        if not is_nullable and not has_default:
            lines.append(f"{table}.{column} is needed and has no default")
    added = sorted(after.rules - before.rules)
    # A rule about new columns only refuses no row of the version before.
    return lines + [
        f"{table} has a new rule: {rule}" for rule in added if any(name in rule for name in before.columns)
    ]


# All that a database knows of its tables, but for the spelling of a statement.
SQLITE_DETAILS = """
    SELECT name, type, wr, strict FROM pragma_table_list WHERE schema = 'main';
    SELECT t.name, c.* FROM sqlite_schema t, pragma_table_xinfo(t.name) c WHERE t.type = 'table';
    SELECT t.name, k.* FROM sqlite_schema t, pragma_foreign_key_list(t.name) k WHERE t.type = 'table';
    SELECT t.name, i.name, i.'unique', i.origin, i.partial
    FROM sqlite_schema t, pragma_index_list(t.name) i WHERE t.type = 'table';
    SELECT i.name, c.* FROM sqlite_schema i, pragma_index_xinfo(i.name) c WHERE i.type = 'index';
    SELECT name, tbl_name, sql FROM sqlite_schema WHERE type <> 'table' AND sql IS NOT NULL;
    SELECT name, sql LIKE '%AUTOINCREMENT%' FROM sqlite_schema WHERE type = 'table'
"""
POSTGRESQL_DETAILS = """
    SELECT table_name, ordinal_position, column_name, data_type, is_nullable, column_default, collation_name
    FROM information_schema.columns WHERE table_schema = 'public';
    SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public';
    SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace;
    SELECT relname, relkind::text, relpersistence::text
    FROM pg_class WHERE relnamespace = 'public'::regnamespace;
    SELECT tgrelid::regclass::text, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
"""


def schema_details(db: Connection) -> list[list[str]]:
    """All that the database says of tables, columns, references, indexes, constraints and triggers."""
    statements = SQLITE_DETAILS if db.dialect.name == "sqlite" else POSTGRESQL_DETAILS
    return [
        sorted(repr(tuple(row)) for row in db.exec_driver_sql(statement))
        for statement in statements.split(";")
    ]
