"""The journal of a tournament as its organizer reads it, newest first."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from msgspec import Struct, structs
from sqlalchemy import ColumnElement, Connection, func, select

from silverball.kit.errors import Invalid, NotFound
from silverball.kit.http.fields import one_of
from silverball.kit.http.query import PageNumber, Query
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.core.calls import PageRows, refuse_deep_pagination
from silverball.service.journal import texts
from silverball.service.journal.texts import Names
from silverball.service.users import reads as users_reads
from silverball.store import tables
from silverball.store.database.conditions import is_among
from silverball.store.tournament import chain, journal, undoing
from silverball.store.tournament.journal import Action
from silverball_wire import base
from silverball_wire.base import Id
from silverball_wire.pages import Page
from silverball_wire.tournaments import ActivityLog, JournalAction, JournalChange, JournalMeta, JournalPage

PER_PAGE = 50
_JOURNAL = tables.journal.c


class JournalQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET .../journal."""

    page: PageNumber = 1


class LastAction(Struct, frozen=True):
    """An action in one line, and whether an undo may take it back."""

    action: JournalAction
    summary: str
    can_undo: bool


class JournalRows(PageRows[JournalAction], frozen=True):
    """The actions of one page, and the one that an undo would reverse now, which may be on another page."""

    undoable: JournalAction | None
    # The hash of the newest line.
    head: str | None = None
    # What was done last; a player's report does not hide it.
    last: LastAction | None = None


def journal_page(
    db: Connection, tournament_id: int, query: JournalQuery, viewer: AuthenticatedCaller | None
) -> JournalRows:
    """One page of the actions. Raises NotFound, and NotAllowed for all but the organizer and admins."""
    status = users_reads.require_director(db, tournament_id, viewer)
    refuse_deep_pagination(query.page, PER_PAGE)
    newest = select(func.max(_JOURNAL.action_id)).where(_JOURNAL.tournament_id == tournament_id)
    total = int(db.execute(newest).scalar_one() or 0)
    # Actions are numbered without gaps.
    before = total + 1 - PER_PAGE * (query.page - 1)
    actions = journal.newest_actions(db, tournament_id, before=before, limit=PER_PAGE)
    undone = _undone_action_ids(db, tournament_id)
    # A completed tournament is reopened first.
    offered: Sequence[Action] = ()
    if status != "completed":
        offered = undoing.load_history(db, tournament_id, actions if query.page == 1 else ()).offered
    shown_ids = {action.action_id for action in actions}
    described = [*actions, *(action for action in offered if action.action_id not in shown_ids)]
    names = load_names(db, tournament_id, described)
    actors = users_reads.actor_names(db, tournament_id, [action.action_id for action in described])
    # While draws may follow, nobody may know them before; the seed is committed to meanwhile.
    shows_seeds = status == "completed"
    undoable_id = offered[0].action_id if offered else None
    rows = [
        _journal_action(action, names, actors, undone, undoable_id, shows_seeds=shows_seeds)
        for action in described
    ]
    newest_undoable = next((row for row in rows if row.can_undo), None)
    head = chain.journal_head(db, tournament_id)
    last = _last_action(described, offered, rows, names)
    return JournalRows(rows[: len(actions)], total, newest_undoable, head, last)


def _last_action(
    actions: Sequence[Action], offered: Sequence[Action], rows: Sequence[JournalAction], names: Names
) -> LastAction | None:
    """The newest action that undo may name, below reports of players; without undo the newest of all."""
    if not actions:
        return None
    acted = [action for action in offered if not action.is_call]
    # What people did is news before whom they called, but a night may begin with a timer.
    last = next(iter(acted[-1:] or offered[:1] or actions[:1]))
    row = next(row for row in rows if row.action_id == last.action_id)
    return LastAction(row, texts.action_summary(last.entries, names), bool(offered))


def envelope(page: Page[JournalAction], rows: JournalRows) -> JournalPage:
    """The page with the number of the action that undo would revert, and the head of the journal."""
    undoable = None if rows.undoable is None else rows.undoable.action_id
    meta = JournalMeta(**structs.asdict(page.meta), undoable=undoable)
    return JournalPage(data=page.data, links=page.links, meta=meta, journal_head=rows.head)


def _undone_action_ids(db: Connection, tournament_id: int) -> set[int]:
    """Ids of the actions that were undone."""
    statement = select(_JOURNAL.data).where(
        _JOURNAL.tournament_id == tournament_id, _JOURNAL.change == journal.ACTION_UNDONE
    )
    return {
        int(data["action"]) for data in db.execute(statement.order_by(_JOURNAL.journal_id)).scalars().all()
    }


def load_names(db: Connection, tournament_id: int, actions: Sequence[Action]) -> Names:
    """Names of the players, arenas and users in these actions."""
    ids = {name: sorted(_ids_in(actions, name)) for name in ("player_id", "arena_id", "user_id", "round_id")}
    player, arena, user = tables.player.c, tables.arena.c, tables.user.c
    tournament, round_ = tables.tournament.c, tables.round_.c
    entrants = select(tables.entrant.c.player_id).where(tables.entrant.c.tournament_id == tournament_id)
    names = select(player.player_id, player.name)
    players = _names_by_id(db, names.where(player.player_id.in_(entrants)))
    # Those who were removed; one condition for both would look through the players of all tournaments.
    if others := [player_id for player_id in ids["player_id"] if player_id not in players]:
        players |= _names_by_id(db, names.where(player.player_id.in_(others)))
    actors = {action.actor_id for action in actions if action.actor_id is not None}
    arenas = select(arena.arena_id, arena.name).where(arena.arena_id.in_(ids["arena_id"]))
    rounds = select(round_.round_id, round_.name).where(round_.round_id.in_(ids["round_id"]))
    names_of_parts = Names(
        players=players,
        arenas=_names_by_id(db, arenas) if ids["arena_id"] else {},
        users=_names_by_id(
            db, select(user.user_id, user.name).where(user.user_id.in_({*ids["user_id"], *actors}))
        ),
        rounds=_names_by_id(db, rounds) if ids["round_id"] else {},
        games=_players_by_game(db, sorted(_game_ids_without_players(actions))),
        type=db.execute(
            select(tournament.type).where(tournament.tournament_id == tournament_id)
        ).scalar_one(),
    )
    lines = {action.action_id: texts.action_summary(action.entries, names_of_parts) for action in actions}
    return structs.replace(names_of_parts, actions=lines)


def _players_by_game(db: Connection, game_ids: Sequence[int]) -> dict[int, list[int]]:
    """Game id -> its players in playing order."""
    if not game_ids:
        return {}
    seat = tables.game_player.c
    rows = select(seat.game_id, seat.player_id).where(seat.game_id.in_(game_ids))
    players: dict[int, list[int]] = {}
    for game_id, player_id in db.execute(rows.order_by(seat.game_id, seat.slot)).all():
        players.setdefault(game_id, []).append(player_id)
    return players


def _game_ids_without_players(actions: Sequence[Action]) -> set[int]:
    """Ids of games that reports, notes and calls name by nothing else."""
    game_ids: set[int] = set()
    for action in actions:
        for change, data in action.entries:
            if change == journal.GAME_NOTED:
                game_ids.add(data["game"])
            elif change in (journal.SUGGESTION_MADE, journal.SUGGESTION_DECIDED):
                game_ids.add(data["thing"]["game_id"])
            elif change in journal.TIMEKEEPING:
                state = data["after"].get("state") or {}
                game_ids |= {
                    int(game_id) for key in ("calls", "game_ends") for game_id in state.get(key) or ()
                }
    return game_ids


def _ids_in(actions: Sequence[Action], name: str) -> set[int]:
    snapshots = (
        side
        for action in actions
        for _, data in action.entries
        for side in (data.get("thing"), data.get("after"))
        if isinstance(side, dict)
    )
    ids: set[int] = set()
    for values in snapshots:
        if isinstance(values.get(name), int):
            ids.add(values[name])
        if name == "arena_id":
            ids.update(values.get("arena_ids") or ())
    if name == "arena_id":
        lines = [data for action in actions for _, data in action.entries]
        ids |= {data[key] for data in lines for key in ("arena", "remaining_arena") if key in data}
    if name == "player_id":
        merged = (
            data for action in actions for change, data in action.entries if change == journal.PLAYERS_MERGED
        )
        ids |= {data["remaining"] for data in merged}
    return ids


def _names_by_id(db: Connection, statement: Any) -> dict[int, str]:
    return {key: name for key, name in db.execute(statement).all()}  # noqa: C416  # rows are no pairs to mypy


def _journal_action(
    action: Action,
    names: Names,
    actors: Mapping[int, str],
    undone: set[int],
    undoable: int | None,
    *,
    shows_seeds: bool,
) -> JournalAction:
    is_account = action.actor_id is not None
    return JournalAction(
        action_id=action.action_id,
        at=base.iso(action.at),
        actor_id=action.actor_id,
        actor_name=names.user(action.actor_id) if is_account else actors.get(action.action_id),
        source=action.source,
        dice_seed=action.dice_seed if shows_seeds else None,
        changes=tuple(
            JournalChange(change=change, text=texts.change_sentence(change, data, names))
            for change, data in action.entries
        ),
        undone=action.action_id in undone,
        undoes=action.undone_action_id,
        can_undo=action.action_id == undoable,
    )


# The lines of the journal as a list of activities, which existing clients ask for.


ACTIVITIES_PER_PAGE = 25
# The names that a line can have.
ACTIONS = frozenset(
    {
        *journal.CHANGES,
        *journal.NOTES,
        journal.ACTION_UNDONE,
        journal.TOURNAMENT_CREATED,
        journal.TOURNAMENT_IMPORTED,
        *journal.MERGES,
    }
)
ActionName = Annotated[str, one_of(lambda: ACTIONS)]
_LINE, _TOURNAMENT = tables.journal.c, tables.tournament.c


class ActivityQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/activity-logs. Source: interface.md 1."""

    tournament: Id | None = None
    """Id of a tournament; without it, all that the caller organizes."""
    action: ActionName | None = None
    """Name of a change: only changes of that name."""
    page: PageNumber = 1


def activity_page(db: Connection, query: ActivityQuery, viewer: AuthenticatedCaller) -> PageRows[ActivityLog]:
    """One page of lines, newest first.

    Raises NotAllowed for all but the organizer and admins, and Invalid for an unknown tournament.
    """
    refuse_deep_pagination(query.page, ACTIVITIES_PER_PAGE)
    conditions = _conditions(db, query, viewer)
    total = db.execute(select(func.count()).select_from(tables.journal).where(*conditions)).scalar_one()
    # Zero is added because PostgreSQL would read the journal from its end until it has found enough of them,
    # which is all of it for somebody whose lines are old.
    newest = select(_LINE.journal_id).where(*conditions).order_by((_LINE.journal_id + 0).desc())
    page = newest.limit(ACTIVITIES_PER_PAGE).offset(ACTIVITIES_PER_PAGE * (query.page - 1))
    rows = (
        select(_LINE.journal_id, _LINE.tournament_id, _LINE.action_id, _LINE.change, _LINE.data, _LINE.at)
        .where(is_among(_LINE.journal_id, page))
        .order_by(_LINE.journal_id.desc())
    )
    lines = db.execute(rows).all()
    merges = journal.load_merges(db, {line.tournament_id for line in lines})
    for line in lines:
        journal.rename_merged(line.data, merges, line.tournament_id, line.action_id)
    return PageRows([_activity_log(line) for line in lines], total)


def _conditions(
    db: Connection, query: ActivityQuery, viewer: AuthenticatedCaller
) -> list[ColumnElement[bool]]:
    if query.tournament is None:
        own = select(_TOURNAMENT.tournament_id).where(_TOURNAMENT.organizer_id == viewer.user_id)
        run = own.union(users_reads.directed_ids(viewer.user_id))
        conditions: list[ColumnElement[bool]] = [_LINE.tournament_id.in_(run)]
    else:
        try:
            users_reads.require_director(db, query.tournament, viewer)
        except NotFound as error:
            raise Invalid({"tournament": ["The selected tournament is invalid."]}) from error
        conditions = [_LINE.tournament_id == query.tournament]
    if query.action is not None:
        conditions.append(_LINE.change == query.action)
    return conditions


def _activity_log(line: Any) -> ActivityLog:
    return ActivityLog(
        activity_log_id=line.journal_id,
        tournament_id=line.tournament_id,
        action=line.change,
        player_ids=tuple(dict.fromkeys(_players_in(line.data))),
        created_at=base.iso(line.at),
    )


def _players_in(data: Mapping[str, Any]) -> Iterable[int]:
    """Ids of the players whom a line names, before and after the change."""
    if "remaining" in data:
        yield data["remaining"]
    for side in ("thing", "before", "after"):
        subject = data.get(side)
        if isinstance(subject, dict):
            yield from subject.get("player_ids") or ()
            if isinstance(subject.get("player_id"), int):
                yield subject["player_id"]
