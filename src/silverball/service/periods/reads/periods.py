"""Published rating periods. Source: ratings.md A.7."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, func, select

from silverball.kit.errors import NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.service.access import AuthenticatedCaller
from silverball.service.pages import PageRows, refuse_deep_pagination
from silverball.service.periods.reads.tournaments import counts_between
from silverball.service.submissions.reads import events as submitted
from silverball.service.tournaments.reads import tournaments as nights
from silverball.store import rating_days, tables
from silverball_wire.periods import ExtEvent, PeriodStatus, RatingPeriod, RatingPeriodBundle

PER_PAGE = 25
TOURNAMENTS_MAX = 1000
_P = tables.rating_period.c
COLUMNS = (
    _P.rating_period_id,
    _P.period_date,
    _P.status,
    _P.tournament_count,
    _P.challenge_count,
    _P.ext_event_count,
    _P.result_count,
    _P.player_count,
)


class PeriodQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/rating-periods."""

    page: PageNumber = 1


def period_item(values: Sequence[Any], now: datetime) -> RatingPeriod:
    """The period in a row of COLUMNS."""
    period_id, day, status, tournament_count, challenges, ext_events, results, players = values
    return RatingPeriod(
        rating_period_id=period_id,
        period_date=day,
        status=_period_status(status, day, now),
        tournament_count=tournament_count,
        challenge_count=challenges,
        ext_event_count=ext_events,
        result_count=results,
        player_count=players,
    )


def _period_status(stored: str, day: str, now: datetime) -> PeriodStatus:
    """The published status; a day that is not over yet is open."""
    if stored == rating_days.WAITING:
        return "open" if day >= rating_days.rating_day(now).isoformat() else "waiting"
    return "dirty" if stored == rating_days.DIRTY else "processed"


def periods_page(db: Connection, query: PeriodQuery, now: datetime) -> PageRows[RatingPeriod]:
    """One page of the periods, newest first."""
    refuse_deep_pagination(query.page, PER_PAGE)
    total = db.execute(select(func.count()).select_from(tables.rating_period)).scalar_one()
    rows = select(*COLUMNS).order_by(_P.period_date.desc())
    rows = rows.limit(PER_PAGE).offset(PER_PAGE * (query.page - 1))
    return PageRows([period_item(row, now) for row in db.execute(rows)], total)


def _ext_event_item(event: submitted.SubmittedEvent) -> ExtEvent:
    return ExtEvent(
        ext_event_id=event.event_id,
        name=event.name,
        type=event.format,
        submitter_name=event.submitter_name,
        submitter_id=event.submitter_id,
    )


def find_period(
    db: Connection, day: str, viewer: AuthenticatedCaller | None, now: datetime
) -> RatingPeriodBundle:
    """A period with the tournaments of its day that count. Raises NotFound."""
    row = db.execute(select(*COLUMNS).where(_P.period_date == day)).first()
    if row is None:
        raise NotFound("RatingPeriod", day)
    date_of_period = date.fromisoformat(day)
    own = tables.tournament.c
    rows = (
        nights.tournament_rows()
        .where(counts_between(date_of_period, date_of_period))
        .order_by(own.tournament_id)
    )
    return RatingPeriodBundle(
        rating_period=period_item(row, now),
        tournaments=tuple(nights.tournament_items(db, rows.limit(TOURNAMENTS_MAX), viewer)),
        challenges=(),
        ext_events=tuple(_ext_event_item(event) for event in submitted.counting_events(db, date_of_period)),
    )
