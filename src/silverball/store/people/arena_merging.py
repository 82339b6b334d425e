"""One arena of an organizer's book in place of another, in every tournament that used it, and back.

As with players (`store/people/merging.py`), the journal gets a line, and earlier lines are read with today's
ids. No tournament that is changed knows both arenas. So two ids change places, which is undone by the same,
also in what a draw took from other tournaments.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, and_, func, select, update

from silverball.store import tables
from silverball.store.people import merging

MERGED = "ArenasMerged"
# Columns that hold an arena's id without being references.
ID_COLUMNS = (
    tables.arena_summary.c.arena_id,
    tables.player_arena_summary.c.arena_id,
    tables.match_summary.c.arena_id,
    tables.suggestion.c.arena_id,
)
# Members of JSON: one id or a list of ids, a map by id, and maps by player of maps by id.
ID_MEMBERS = frozenset({"arena_id", "arena_ids", "arena", "remaining_arena", "arenas_elsewhere"})
KEYED_MEMBER, NESTED_MEMBER = "arena_limits", "series_plays"
# Those of them that say that the arena is in the tournament itself.
OWN_MEMBERS = frozenset({"arena_id", "arena_ids", "arena"})
_TOURNAMENT, _LINE = tables.tournament.c, tables.journal.c
_BANK_ARENA, _LINEUP_BANK = tables.bank_arena.c, tables.lineup_bank.c


def tournaments_by_arena(db: Connection, arena_ids: Collection[int]) -> dict[int, set[int]]:
    """Arena id -> the tournaments that it is in now, by itself or in a bank; every arena is named."""
    statements: list[Select[int, int]] = [
        select(column, column.table.c.tournament_id).where(column.in_(arena_ids))
        for column in merging.referring_columns(tables.arena.c.arena_id)
    ]
    in_banks = _LINEUP_BANK.bank_id == _BANK_ARENA.bank_id
    statements.append(
        select(_BANK_ARENA.arena_id, _LINEUP_BANK.tournament_id)
        .join_from(tables.bank_arena, tables.lineup_bank, in_banks)
        .where(_BANK_ARENA.arena_id.in_(arena_ids))
    )
    found: dict[int, set[int]] = {arena_id: set() for arena_id in arena_ids}
    for arena_id, tournament_id in db.execute(statements[0].union(*statements[1:])):
        found[arena_id].add(tournament_id)
    return found


def tournaments_with(db: Connection, arena_id: int) -> set[int]:
    """Every tournament that the arena is in now, by itself or in a bank."""
    return tournaments_by_arena(db, [arena_id])[arena_id]


def tournaments_mentioning(db: Connection, organizer_id: int, arena_id: int) -> set[int]:
    """Every tournament of the organizer that the arena was in, by its journal."""
    rows = (
        select(_LINE.tournament_id, _LINE.data)
        .join(tables.tournament, _TOURNAMENT.tournament_id == _LINE.tournament_id)
        .where(_TOURNAMENT.organizer_id == organizer_id, merging.may_mention(_LINE.data, arena_id))
    )
    return {tournament_id for tournament_id, data in db.execute(rows) if _mentions(data, arena_id)}


def tournaments_mentioning_since(db: Connection, tournament_ids: Collection[int], arena_id: int) -> set[int]:
    """Those of these tournaments whose journal names the arena again after it was merged into another."""
    rows = select(_LINE.tournament_id, _LINE.change, _LINE.data).where(
        _LINE.tournament_id.in_(tournament_ids), merging.may_mention(_LINE.data, arena_id)
    )
    found: set[int] = set()
    for tournament_id, change, data in db.execute(rows.order_by(_LINE.journal_id)):
        if change == MERGED and data["removed_arena"] == arena_id:
            found.discard(tournament_id)
        elif _mentions(data, arena_id):
            found.add(tournament_id)
    return found


def games_by_arena(db: Connection, arena_ids: Collection[int]) -> dict[int, int]:
    """Arena id -> number of games and single player games on it; arenas without any are left out."""
    found: dict[int, int] = {}
    for table in (tables.game, tables.single_player_game):
        column = table.c.arena_id
        rows = select(column, func.count()).where(column.in_(arena_ids)).group_by(column)
        for arena_id, count in db.execute(rows):
            found[arena_id] = found.get(arena_id, 0) + count
    return found


def banks_with(db: Connection, arena_id: int) -> list[int]:
    """The banks that the arena is in, ascending."""
    rows = select(_BANK_ARENA.bank_id).where(_BANK_ARENA.arena_id == arena_id)
    return list(db.execute(rows.order_by(_BANK_ARENA.bank_id)).scalars())


def played_banks(db: Connection, bank_ids: Collection[int], except_in: Collection[int]) -> Sequence[Any]:
    """Those of these banks that other tournaments are played with now, each with the first of them."""
    rows = (
        select(_LINEUP_BANK.bank_id, func.min(_LINEUP_BANK.tournament_id).label("tournament_id"))
        .join(tables.tournament, _TOURNAMENT.tournament_id == _LINEUP_BANK.tournament_id)
        .where(_LINEUP_BANK.bank_id.in_(bank_ids), _TOURNAMENT.status == "started")
        .where(_TOURNAMENT.tournament_id.not_in(except_in))
    )
    return db.execute(rows.group_by(_LINEUP_BANK.bank_id).order_by(_LINEUP_BANK.bank_id)).all()


def replace_arena(
    db: Connection, old_id: int, new_id: int, tournament_ids: Collection[int], bank_ids: Collection[int]
) -> None:
    """Put the new arena in the old one's place; the new one must be in none of these."""
    for column in (*merging.referring_columns(tables.arena.c.arena_id), *ID_COLUMNS):
        in_tournaments = column.table.c.tournament_id.in_(tournament_ids)
        db.execute(update(column.table).where(in_tournaments, column == old_id).values({column: new_id}))
    in_banks = and_(_BANK_ARENA.bank_id.in_(bank_ids), _BANK_ARENA.arena_id == old_id)
    db.execute(update(tables.bank_arena).where(in_banks).values(arena_id=new_id))
    game = tables.game.c
    rows = select(game.game_id, game.legs).where(
        game.tournament_id.in_(tournament_ids), merging.may_mention(game.legs, old_id)
    )
    for game_id, legs in db.execute(rows).all():
        if swap_ids(legs, old_id, new_id):
            db.execute(update(tables.game).where(game.game_id == game_id).values(legs=legs))


def swap_ids(value: Any, first_id: int, second_id: int) -> bool:
    """Put each of the two arenas in the other's place, at any depth; returns whether one was there."""
    swapped = {first_id: second_id, second_id: first_id}
    has_changed = False
    for holder in merging.nested_objects(value):
        for name, before in holder.items():
            if name in ID_MEMBERS:
                after = _swapped_ids(before, swapped)
            elif name == KEYED_MEMBER and isinstance(before, dict):
                after = _swapped_keys(before, swapped)
            elif name == NESTED_MEMBER and isinstance(before, dict):
                after = {key: _swapped_keys(counts, swapped) for key, counts in before.items()}
            else:
                continue
            has_changed |= after != before
            holder[name] = after
    return has_changed


def _swapped_ids(value: Any, swapped: Mapping[int, int]) -> Any:
    if isinstance(value, list):
        return [_swapped_ids(item, swapped) for item in value]
    return swapped.get(value, value) if isinstance(value, int) else value


def _swapped_keys(value: Mapping[str, Any], swapped: Mapping[int, int]) -> dict[str, Any]:
    return {str(swapped.get(int(key), key)): item for key, item in value.items()}


def _mentions(data: Any, arena_id: int) -> bool:
    """Whether it names the arena as one of the tournament itself."""
    return any(
        value == arena_id or (isinstance(value, list) and arena_id in value)
        for holder in merging.nested_objects(data)
        for name, value in holder.items()
        if name in OWN_MEMBERS
    )
