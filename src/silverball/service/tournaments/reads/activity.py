"""The lines of the journal as a list of activities, which existing clients ask for."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from sqlalchemy import ColumnElement, Connection, func, select

from silverball.kit.errors import Invalid, NotFound
from silverball.kit.http.fields import one_of
from silverball.kit.http.query import PageNumber, Query
from silverball.service.access import AuthenticatedCaller
from silverball.service.directors import reads as directors
from silverball.service.pages import PageRows, refuse_deep_pagination
from silverball.store import journal, tables
from silverball.store.among import is_among
from silverball_wire import times
from silverball_wire.base import Id
from silverball_wire.journal import ActivityLog

PER_PAGE = 25
# The names that a line can have.
ACTIONS = frozenset(
    {
        *journal.CHANGES,
        *journal.NOTES,
        journal.ACTION_UNDONE,
        journal.TOURNAMENT_CREATED,
        journal.TOURNAMENT_IMPORTED,
        journal.PLAYERS_MERGED,
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
    refuse_deep_pagination(query.page, PER_PAGE)
    conditions = _conditions(db, query, viewer)
    total = db.execute(select(func.count()).select_from(tables.journal).where(*conditions)).scalar_one()
    # Zero is added because PostgreSQL would read the journal from its end until it has found enough of them,
    # which is all of it for somebody whose lines are old.
    newest = select(_LINE.journal_id).where(*conditions).order_by((_LINE.journal_id + 0).desc())
    page = newest.limit(PER_PAGE).offset(PER_PAGE * (query.page - 1))
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
        run = own.union(directors.directed_ids(viewer.user_id))
        conditions: list[ColumnElement[bool]] = [_LINE.tournament_id.in_(run)]
    else:
        try:
            directors.require_director(db, query.tournament, viewer)
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
        created_at=times.iso(line.at),
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
