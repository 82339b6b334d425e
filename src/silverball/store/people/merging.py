"""One player of an organizer's book in place of another, in every tournament: entry and results.

The journal is never rewritten. It gets a line that says who was merged into whom, and whoever reads an
earlier line reads it with the remaining player's id (`store/tournament/journal.py`).
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    ForeignKey,
    Select,
    Text,
    and_,
    exists,
    select,
    type_coerce,
    update,
)

from silverball.store import tables
from silverball.store.tables.base import metadata

# Tournaments that use a row of an organizer's book: a row in use may not be deleted.
#
# The references are those of the tables, so a new table is included by itself.


TOURNAMENTS_NAMED_MAX = 3


def tournaments_using(db: Connection, key: Column[int], row_id: int) -> Sequence[int]:
    """Ids of the first few tournaments that use the row, ascending. Takes the table's key column."""
    return list(db.execute(_select_using(key, row_id).limit(TOURNAMENTS_NAMED_MAX)).scalars())


def all_tournaments_using(db: Connection, key: Column[int], row_id: int) -> Sequence[int]:
    """Ids of all tournaments that use the row, ascending. Takes the table's key column."""
    return list(db.execute(_select_using(key, row_id)).scalars())


def _select_using(key: Column[int], row_id: int) -> Select[Any]:
    statements = [_select_referring(column, row_id) for column in referring_columns(key)]
    using = statements[0].union(*statements[1:]).subquery()
    return select(using.c.tournament_id).order_by(using.c.tournament_id)


def is_unreferenced(key: Column[int]) -> ColumnElement[bool]:
    """Whether the row of the outer statement can be deleted: only rows that go with it refer to it."""
    blocking = [
        column
        for table in metadata.sorted_tables
        for column in table.columns
        if any(
            reference.references(key.table) and not _is_deleted_along(column, reference)
            for reference in column.foreign_keys
        )
    ]
    return and_(*(~exists().where(column == key) for column in blocking))


def _is_deleted_along(column: Column[Any], reference: ForeignKey) -> bool:
    """Whether the referring row only belongs to the other row, and to no tournament."""
    is_in_tournament = "tournament_id" in column.table.c and column.table.name != "shortcut"
    return reference.ondelete == "CASCADE" and not is_in_tournament


def referring_columns(key: Column[int]) -> list[Column[int]]:
    """The columns of a tournament's tables that refer to this key."""
    return [
        column
        for table in metadata.sorted_tables
        if "tournament_id" in table.c
        for column in table.columns
        if any(reference.references(key.table) for reference in column.foreign_keys)
        and column.table is not key.table
    ]


def _select_referring(column: Column[int], row_id: int) -> Select[int]:
    tournament_id = column.table.c.tournament_id
    return select(tournament_id.label("tournament_id")).where(column == row_id, tournament_id.is_not(None))


NODES_MAX = 5_000_000
# Columns that hold a player's id without being references.
ID_COLUMNS = (
    tables.player_arena_summary.c.player_id,
    tables.match_summary.c.player_id,
    tables.match_summary.c.opponent_id,
    tables.game.c.player_id_advantage,
    tables.game.c.forfeited_by,
    tables.game_player.c.result_position,
    tables.suggestion.c.player_id,
    tables.device_action.c.player_id,
    tables.game_note.c.player_id,
    tables.sign_up_request.c.player_id,
)
# Columns whose JSON contains ids of players.
JSON_COLUMNS = (
    tables.game.c.finishing_order,
    tables.game.c.gave_up,
    tables.game.c.legs,
    tables.suggestion.c.results,
    tables.suggestion.c.scores,
    tables.standing.c.row,
    tables.tournament.c.engine,
    tables.tournament.c.prizes,
)
# Those of them that hold an object; the others hold a list or a map.
OBJECT_COLUMNS = frozenset({"row", "engine", "prizes"})
# Members of such an object: one id, or ids in lists.
ID_MEMBERS = frozenset(
    {
        "player_id",
        "playerId",
        "player_ids",
        "result_positions",
        "advantage_id",
        "finishing_order",
        "forfeited_by",
        "results",
        "schedule",
        "unfinished_ids",
        "left_ids",
        "given",
        "seeded",
        "gave_up",
        "pairs_apart",
        # Of a merge, and of the facts of a draw, in the journal.
        "remaining",
        "series_groups",
        "players_elsewhere",
    }
)
# Members that are maps with players' ids as keys.
KEYED_MEMBERS = frozenset({"scores", "seed_facts", "series_plays"})


def tournaments_with(db: Connection, player_id: int) -> set[int]:
    """Every tournament that the player is in now."""
    return set(all_tournaments_using(db, tables.player.c.player_id, player_id))


def tournaments_mentioning(db: Connection, organizer_id: int, player_id: int) -> set[int]:
    """Every tournament of the organizer whose journal mentions the player."""
    tournament, entry = tables.tournament.c, tables.journal.c
    rows = (
        select(entry.tournament_id, entry.data)
        .join(tables.tournament, tournament.tournament_id == entry.tournament_id)
        .where(tournament.organizer_id == organizer_id, may_mention(entry.data, player_id))
    )
    return {
        tournament_id for tournament_id, data in db.execute(rows) if replace_ids(data, player_id, -player_id)
    }


def replace_player(db: Connection, old_id: int, new_id: int, tournament_ids: Collection[int]) -> None:
    """Put the new player in the old one's place; the new one must not have been in these tournaments."""
    for column in (*referring_columns(tables.player.c.player_id), *ID_COLUMNS):
        in_tournaments = column.table.c.tournament_id.in_(tournament_ids)
        db.execute(update(column.table).where(in_tournaments, column == old_id).values({column: new_id}))
    for column in JSON_COLUMNS:
        _replace_in_json(db, column, old_id, new_id, tournament_ids)


def _replace_in_json(
    db: Connection, column: Column[Any], old_id: int, new_id: int, tournament_ids: Collection[int]
) -> None:
    table = column.table
    keys = list(table.primary_key)
    rows = select(*keys, column).where(table.c.tournament_id.in_(tournament_ids), may_mention(column, old_id))
    for *key_values, value in db.execute(rows).all():
        # A bare list or map is put into an object, so that it is a member too.
        holder = value if column.name in OBJECT_COLUMNS else {column.name: value}
        if replace_ids(holder, old_id, new_id):
            is_row = [key == key_value for key, key_value in zip(keys, key_values, strict=True)]
            replaced = holder if column.name in OBJECT_COLUMNS else holder[column.name]
            db.execute(update(table).where(*is_row).values({column: replaced}))


def may_mention(column: Column[Any], row_id: int) -> ColumnElement[bool]:
    """Whether the JSON text has the id's digits: a cheap test before the JSON is searched."""
    return type_coerce(column, Text).contains(str(row_id))


def replace_ids(value: Any, old_id: int, new_id: int) -> bool:
    """Replace the id in place, at any depth; returns whether it was there."""
    has_changed = False
    for holder in nested_objects(value):
        for name in holder:
            if name in ID_MEMBERS:
                replaced = _replaced_value(holder[name], old_id, new_id)
            elif name in KEYED_MEMBERS and isinstance(holder[name], dict):
                replaced = {
                    str(new_id) if key == str(old_id) else key: item for key, item in holder[name].items()
                }
            else:
                continue
            has_changed |= replaced != holder[name]
            holder[name] = replaced
    return has_changed


def _replaced_value(value: Any, old_id: int, new_id: int) -> Any:
    """An id, a list of ids, or a list of lists of ids, with the new id in place of the old one."""
    if not isinstance(value, list):
        return new_id if value == old_id else value
    return [
        [new_id if inner == old_id else inner for inner in item]
        if isinstance(item, list)
        else (new_id if item == old_id else item)
        for item in value
    ]


def nested_objects(value: Any) -> Iterator[dict[str, Any]]:
    """The value and what is in it at any depth, as far as these are objects of JSON."""
    unvisited = [value]
    for _ in range(NODES_MAX):
        if not unvisited:
            return
        node = unvisited.pop()
        if isinstance(node, dict):
            yield node
            unvisited.extend(node.values())
        elif isinstance(node, list):
            unvisited.extend(node)
