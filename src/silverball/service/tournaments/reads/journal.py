"""The journal of a tournament as its organizer reads it, newest first."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, func, select

from silverball.kit.errors import NotAllowed, NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.service.access import AuthenticatedCaller
from silverball.service.devices import reads as devices
from silverball.service.pages import PageRows, refuse_deep_pagination
from silverball.service.tournaments import journal_text
from silverball.service.tournaments.journal_text import Names
from silverball.store import journal, tables
from silverball.store.journal import Action
from silverball.wire import times
from silverball.wire.journal import JournalAction, JournalChange

PER_PAGE = 50
_J = tables.journal.c


class JournalQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET .../journal."""

    page: PageNumber = 1


def journal_page(
    db: Connection, tournament_id: int, query: JournalQuery, viewer: AuthenticatedCaller | None
) -> PageRows[JournalAction]:
    """One page of the actions. Raises NotFound, and NotAllowed for all but the organizer and admins."""
    status = require_reader(db, tournament_id, viewer)
    refuse_deep_pagination(query.page, PER_PAGE)
    newest = select(func.max(_J.action_id)).where(_J.tournament_id == tournament_id)
    total = int(db.execute(newest).scalar_one() or 0)
    # Actions are numbered without gaps.
    before = total + 1 - PER_PAGE * (query.page - 1)
    actions = journal.newest_actions(db, tournament_id, before=before, limit=PER_PAGE)
    undone = _undone_action_ids(db, tournament_id)
    undoable = None if status == "completed" else _undoable_action_id(db, tournament_id, undone)
    names = _load_names(db, tournament_id, actions)
    actors = devices.actor_names(db, tournament_id, [action.action_id for action in actions])
    return PageRows([_journal_action(action, names, actors, undone, undoable) for action in actions], total)


def require_reader(db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None) -> str:
    """The tournament's status. Raises NotFound, and NotAllowed for all but the organizer and admins."""
    columns = select(tables.tournament.c.status, tables.tournament.c.organizer_id)
    row = db.execute(columns.where(tables.tournament.c.tournament_id == tournament_id)).one_or_none()
    if row is None:
        raise NotFound("Tournament", tournament_id)
    if viewer is None or not (viewer.sees_everything or viewer.user_id == row.organizer_id):
        raise NotAllowed
    return str(row.status)


def _undone_action_ids(db: Connection, tournament_id: int) -> set[int]:
    """Ids of the actions that were undone."""
    statement = select(_J.data).where(_J.tournament_id == tournament_id, _J.change == journal.ACTION_UNDONE)
    return {int(data["action"]) for data in db.execute(statement.order_by(_J.journal_id)).scalars()}


def _undoable_action_id(db: Connection, tournament_id: int, undone: set[int]) -> int | None:
    """The action that an undo would reverse now: the newest one in force, if it can be undone."""
    undoing = select(_J.action_id).where(
        _J.tournament_id == tournament_id, _J.change == journal.ACTION_UNDONE
    )
    standing = select(func.max(_J.action_id)).where(
        _J.tournament_id == tournament_id, _J.action_id.not_in(undone), _J.action_id.not_in(undoing)
    )
    action_id = db.execute(standing).scalar_one()
    if action_id is None:
        return None
    (newest,) = journal.newest_actions(db, tournament_id, before=action_id + 1, limit=1)
    return newest.action_id if newest.is_undoable else None


def _load_names(db: Connection, tournament_id: int, actions: Sequence[Action]) -> Names:
    """Names of the players, arenas and users in these actions."""
    ids = {name: sorted(_ids_in(actions, name)) for name in ("player_id", "arena_id", "user_id")}
    player, arena, user = tables.player.c, tables.arena.c, tables.user.c
    entrants = select(tables.entrant.c.player_id).where(tables.entrant.c.tournament_id == tournament_id)
    is_named = player.player_id.in_(ids["player_id"]) | player.player_id.in_(entrants)
    actors = {action.actor_id for action in actions if action.actor_id is not None}
    return Names(
        players=_names_by_id(db, select(player.player_id, player.name).where(is_named)),
        arenas=_names_by_id(
            db, select(arena.arena_id, arena.name).where(arena.arena_id.in_(ids["arena_id"]))
        ),
        users=_names_by_id(
            db, select(user.user_id, user.name).where(user.user_id.in_({*ids["user_id"], *actors}))
        ),
    )


def _ids_in(actions: Sequence[Action], name: str) -> set[int]:
    snapshots = (
        side
        for action in actions
        for _, data in action.entries
        for side in (data.get("thing"), data.get("after"))
        if isinstance(side, dict)
    )
    return {values[name] for values in snapshots if isinstance(values.get(name), int)}


def _names_by_id(db: Connection, statement: Any) -> dict[int, str]:
    return {key: name for key, name in db.execute(statement)}  # noqa: C416  # rows are no pairs to mypy


def _journal_action(
    action: Action, names: Names, actors: Mapping[int, str], undone: set[int], undoable: int | None
) -> JournalAction:
    is_account = action.actor_id is not None
    return JournalAction(
        action_id=action.action_id,
        at=times.iso(action.at),
        actor_id=action.actor_id,
        actor_name=names.user(action.actor_id) if is_account else actors.get(action.action_id),
        source=action.source,
        dice_seed=action.dice_seed,
        changes=tuple(
            JournalChange(change=change, text=journal_text.change_sentence(change, data, names))
            for change, data in action.entries
        ),
        undone=action.action_id in undone,
        undoes=action.undone_action_id,
        can_undo=action.action_id == undoable,
    )
