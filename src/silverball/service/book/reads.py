"""Actions of a book, and machines of it that may be one."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, select

from silverball.service.core.access import AuthenticatedCaller
from silverball.store import tables
from silverball.store.people import arena_merging, book_actions
from silverball.store.people.book_actions import BookAction
from silverball.store.people.names import name_key
from silverball_wire import base
from silverball_wire import book as wire

REASONS = {
    book_actions.USED: "It is used by now: in a tournament or a bank, or by an account.",
    book_actions.CHANGED: "It was changed since.",
    book_actions.NUMBER: "The federation number is another one by now.",
}
# Of the newest machines of a book.
COMPARED_MAX = 5_000
_ARENA = tables.arena.c


class ArenaUse(Struct, frozen=True):
    """The place of a machine, which follows when it is merged."""

    arena_id: int
    name: str
    tournament_ids: frozenset[int]
    games: int


def actions_of(db: Connection, caller: AuthenticatedCaller) -> tuple[wire.BookAction, ...]:
    """Actions of the caller's book, newest first."""
    return tuple(_on_wire(action) for action in book_actions.newest(db, caller.user_id))


def find_action(db: Connection, action_id: int) -> wire.BookAction:
    """The action. Raises NotFound."""
    return _on_wire(book_actions.find(db, action_id))


def _on_wire(action: BookAction) -> wire.BookAction:
    data = action.data
    is_merge = action.kind == book_actions.ARENAS_MERGED
    return wire.BookAction(
        book_action_id=action.book_action_id,
        kind=action.kind,  # type: ignore[arg-type]  # one of the kinds
        at=base.iso(action.at),
        undone_at=None if action.undone_at is None else base.iso(action.undone_at),
        arena_ids=(data["removed_id"], data["remaining_id"])
        if is_merge
        else _ids(data, "arenas", "arena_id"),
        player_ids=_ids(data, "players", "player_id"),
        numbered_player_ids=_ids(data, "numbers", "player_id"),
        kept=tuple(
            wire.BookKept(**{**each, "reason": REASONS[each["reason"]]}) for each in data.get("kept", ())
        ),
    )


def _ids(data: Mapping[str, Any], part: str, key: str) -> tuple[int, ...]:
    return tuple(each[key] for each in data.get(part, ()))


def likely_doubles(db: Connection, organizer_id: int, most: int) -> list[tuple[Any, Any]]:
    """Pairs of machines in use that may be one, the older entry first, and that no tournament has both of."""
    groups: defaultdict[tuple[Any, ...], list[Any]] = defaultdict(list)
    for row in reversed(_newest_arenas(db, organizer_id)):
        groups[_identity(row)].append(row)
    alike = [group for group in groups.values() if len(group) > 1]
    places = arena_merging.tournaments_by_arena(db, [row.arena_id for group in alike for row in group])
    pairs = (pair for group in alike for pair in combinations(group, 2))
    apart = [pair for pair in pairs if places[pair[0].arena_id].isdisjoint(places[pair[1].arena_id])]
    return apart[:most]


def uses_of_doubles(db: Connection, organizer_id: int, arena_id: int) -> list[ArenaUse]:
    """The machine and those in use that may be the same one, with where each is; only the others of it."""
    rows = _newest_arenas(db, organizer_id, arena_id)
    own = next((row for row in rows if row.arena_id == arena_id), None)
    alike = [row for row in rows if own is not None and _identity(row) == _identity(own)]
    ids = [row.arena_id for row in alike]
    places, games = arena_merging.tournaments_by_arena(db, ids), arena_merging.games_by_arena(db, ids)
    return [
        ArenaUse(row.arena_id, row.name, frozenset(places[row.arena_id]), games.get(row.arena_id, 0))
        for row in sorted(alike, key=lambda row: (row.arena_id != arena_id, row.arena_id))
    ]


def _newest_arenas(db: Connection, organizer_id: int, also_id: int = 0) -> Sequence[Any]:
    """The newest machines in use of the book, and this one whether or not it is."""
    columns = select(_ARENA.arena_id, _ARENA.name, _ARENA.opdb_id, _ARENA.category_id)
    in_use = (_ARENA.status == "active") | (_ARENA.arena_id == also_id)
    rows = columns.where(_ARENA.organizer_id == organizer_id, in_use)
    return db.execute(rows.order_by(_ARENA.arena_id.desc()).limit(COMPARED_MAX)).all()


def _identity(row: Any) -> tuple[Any, ...]:
    """Equal for machines that may be one: same OPDB id, or both without one and equal by name."""
    return row.opdb_id, row.category_id, None if row.opdb_id else name_key(row.name)
