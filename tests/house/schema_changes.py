"""Compares two schemas: what of a change would trouble a node of the version before."""

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
