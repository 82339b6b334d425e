"""One player of a book in place of another, wherever a tournament has him: entry, results, journal.

The journal is rewritten too. It says what happened to whom by number, and undo and verification read
it together with the rows: both have to know the same number.
"""

from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Text, select, type_coerce, update

from silverball.store import references, tables

NODES_MAX = 5_000_000
# Columns that hold a player's number without being references.
ID_COLUMNS = (
    tables.player_arena_summary.c.player_id,
    tables.match_summary.c.player_id,
    tables.match_summary.c.opponent_id,
    tables.game.c.player_id_advantage,
    tables.game.c.forfeited_by,
    tables.game_player.c.result_position,
    tables.suggestion.c.player_id,
    tables.device_action.c.player_id,
)
# Columns that hold numbers of players inside of a value.
JSON_COLUMNS = (
    tables.game.c.finishing_order,
    tables.suggestion.c.results,
    tables.suggestion.c.scores,
    tables.standing.c.row,
    tables.tournament.c.engine,
    tables.journal.c.data,
)
# Those of them that hold an object; the others hold a list or a map.
OBJECT_COLUMNS = frozenset({"row", "engine", "data"})
# Members of such a value: one number, or numbers in lists.
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
    }
)
# Members that are maps with players as their keys.
KEYED_MEMBERS = frozenset({"scores", "seed_facts"})


def tournaments_with(db: Connection, player_id: int) -> set[int]:
    """Every tournament that has the player now."""
    return set(references.all_tournaments_using(db, tables.player.c.player_id, player_id))


def tournaments_mentioning(db: Connection, organizer_id: int, player_id: int) -> set[int]:
    """Every tournament of the organizer whose journal names the player."""
    own, entry = tables.tournament.c, tables.journal.c
    rows = (
        select(entry.tournament_id, entry.data)
        .join(tables.tournament, own.tournament_id == entry.tournament_id)
        .where(own.organizer_id == organizer_id, _may_mention(entry.data, player_id))
    )
    return {
        tournament_id for tournament_id, data in db.execute(rows) if _replace_ids(data, player_id, -player_id)
    }


def replace_player(db: Connection, gone_id: int, kept_id: int, tournament_ids: Collection[int]) -> None:
    """In these tournaments the kept one is who the gone one was; he must not have been in any of them."""
    for column in (*references.referring_columns(tables.player.c.player_id), *ID_COLUMNS):
        here = column.table.c.tournament_id.in_(tournament_ids)
        db.execute(update(column.table).where(here, column == gone_id).values({column: kept_id}))
    for column in JSON_COLUMNS:
        _replace_in_json(db, column, gone_id, kept_id, tournament_ids)


def _replace_in_json(
    db: Connection, column: Column[Any], gone_id: int, kept_id: int, tournament_ids: Collection[int]
) -> None:
    table = column.table
    keys = list(table.primary_key)
    found = select(*keys, column).where(
        table.c.tournament_id.in_(tournament_ids), _may_mention(column, gone_id)
    )
    for *key, value in db.execute(found).all():
        # A list or a map by itself is put into one, so that it has a name too.
        holder = value if column.name in OBJECT_COLUMNS else {column.name: value}
        if _replace_ids(holder, gone_id, kept_id):
            own = [one == part for one, part in zip(keys, key, strict=True)]
            new = holder if column.name in OBJECT_COLUMNS else holder[column.name]
            db.execute(update(table).where(*own).values({column: new}))


def _may_mention(column: Column[Any], player_id: int) -> ColumnElement[bool]:
    """Whether the text has the digits; the rest is for a closer look."""
    return type_coerce(column, Text).contains(str(player_id))


def _replace_ids(value: Any, gone_id: int, kept_id: int) -> bool:
    """Write the kept one's number over the gone one's; whether there was any."""
    has_changed = False
    for holder in _nested_objects(value):
        for name in holder:
            if name in ID_MEMBERS:
                new = _replaced_value(holder[name], gone_id, kept_id)
            elif name in KEYED_MEMBERS and isinstance(holder[name], dict):
                new = {str(kept_id) if key == str(gone_id) else key: one for key, one in holder[name].items()}
            else:
                continue
            has_changed |= new != holder[name]
            holder[name] = new
    return has_changed


def _replaced_value(value: Any, gone_id: int, kept_id: int) -> Any:
    """A number, a list of them, or a list of pairs."""
    if not isinstance(value, list):
        return kept_id if value == gone_id else value
    return [
        [kept_id if deep == gone_id else deep for deep in one]
        if isinstance(one, list)
        else (kept_id if one == gone_id else one)
        for one in value
    ]


def _nested_objects(value: Any) -> Iterator[dict[str, Any]]:
    waiting = [value]
    for _ in range(NODES_MAX):
        if not waiting:
            return
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
