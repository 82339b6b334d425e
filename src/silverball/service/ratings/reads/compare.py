"""Ratings side by side, with head-to-head records. Source: ratings.md D; interface.md 2, row 3."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Annotated, Any

from msgspec import Meta, Struct
from sqlalchemy import ColumnElement, Connection, and_, or_, select

from silverball.kit.errors import Invalid
from silverball.kit.http.query import Query
from silverball.rules.ratings import formulas
from silverball.service.access import AuthenticatedCaller
from silverball.service.ratings.reads import ratings as reads
from silverball.service.ratings.reads.ratings import COLUMNS, CurrentPeriod
from silverball.store import names, published_ratings, rating_days, tables
from silverball.store.published_ratings import PUBLISHED
from silverball_wire.base import Id
from silverball_wire.ratings import HeadToHead, RatingComparison, RatingRange

IDS_MAX = 25
MEETING_PARTS = 4
_R, _V, _P = PUBLISHED.c, tables.rating_revision.c, tables.player.c
Ids = Annotated[tuple[Id, ...], Meta(max_length=IDS_MAX)]


class CompareQuery(Query, frozen=True, kw_only=True):
    """Parameters of POST /api/ratings/compare. Source: interface 4.7."""

    user_ids: Ids = ()
    """Ids of the accounts to compare."""
    ifpa_ids: Ids = ()
    player_ids: Ids = ()
    """Ids of the players to compare, by the accounts that they were claimed by."""


class PairRecord(Struct):
    """The results of one rating against another."""

    wins: int = 0
    losses: int = 0
    draws: int = 0
    last_played: str = ""


def comparison(db: Connection, query: CompareQuery, viewer: AuthenticatedCaller | None) -> RatingComparison:
    """The ratings of these people, by id, and their records against each other.

    People without a rating are left out. Raises Invalid for a person who is named twice.
    """
    at = reads.current_period(db)
    if at is None:
        return RatingComparison(
            global_rating_range=_rating_range(db), global_rating_percentiles={}, ratings=(), records=()
        )
    ids = _selected_rating_ids(db, query, viewer)
    rows = db.execute(select(*COLUMNS).where(_R.rating_id.in_(ids)).order_by(_R.rating_id)).all()
    return RatingComparison(
        global_rating_range=_rating_range(db),
        global_rating_percentiles=at.percentiles,
        ratings=tuple(reads.rating_items(db, rows, at, viewer)),
        records=tuple(_head_to_heads(db, rows, at)),
    )


def _selected_rating_ids(
    db: Connection, query: CompareQuery, viewer: AuthenticatedCaller | None
) -> list[int]:
    """Ids of the selected ratings that the viewer may see, in order."""
    conditions: dict[str, ColumnElement[bool]] = {
        "userIds": _R.user_id.in_(query.user_ids),
        "ifpaIds": and_(_R.ifpa_id.in_(query.ifpa_ids), reads.is_findable_by(viewer)),
        "playerIds": _belongs_to_players(db, query.player_ids),
    }
    selected_by: dict[int, str] = {}
    for parameter, wanted in conditions.items():
        rows = select(_R.rating_id, _R.name).where(wanted, reads.is_visible_to(viewer))
        for rating_id, holder in db.execute(rows.order_by(_R.rating_id)):
            if rating_id in selected_by:
                sentence = f"{holder} is in {selected_by[rating_id]} already. Name each player once."
                raise Invalid({parameter: [sentence]})
            selected_by[rating_id] = parameter
    return sorted(selected_by)


def _belongs_to_players(db: Connection, player_ids: Sequence[int]) -> ColumnElement[bool]:
    """Ratings of these players: by claiming user, else IFPA number, else name in the book."""
    columns = (_P.claimed_by, _P.ifpa_id, _P.organizer_id, _P.name)
    rows = db.execute(select(*columns).where(_P.player_id.in_(player_ids))).all()
    wanted: list[ColumnElement[bool]] = [_R.rating_id.in_(())]
    for claimed_by, ifpa_id, organizer_id, name in rows:
        if claimed_by is not None:
            wanted.append(_R.user_id == claimed_by)
        elif ifpa_id is not None:
            wanted.append(_R.ifpa_id == ifpa_id)
        else:
            wanted.append(and_(_R.organizer_id == organizer_id, _R.name_key == names.name_key(name)))
    return or_(*wanted)


def _rating_range(db: Connection) -> RatingRange:
    """The lowest and the highest listed rating; without any, a newcomer's rating."""
    # Nearly always all are in the table itself, whose index has the first and the last.
    own = _R if published_ratings.are_staged_ratings_shown(db) else tables.rating.c
    rows = select(own.rating).where(rating_days.is_listed(own)).limit(1)
    lowest = db.execute(rows.order_by(own.rating)).scalar_one_or_none()
    highest = db.execute(rows.order_by(own.rating.desc())).scalar_one_or_none()
    newcomer = formulas.DEFAULTS.rating_default
    return RatingRange(
        min=newcomer if lowest is None else round(lowest, 2),
        max=newcomer if highest is None else round(highest, 2),
    )


def _head_to_heads(db: Connection, rows: Sequence[Any], at: CurrentPeriod) -> list[HeadToHead]:
    by_id = {row.rating_id: row for row in rows}
    records = _pair_records(db, by_id)
    return [
        HeadToHead(
            rating_id=rating_id,
            opponent_rating_id=opponent_id,
            game_count=record.wins + record.losses + record.draws,
            win_count=record.wins,
            loss_count=record.losses,
            draw_count=record.draws,
            result_count=record.wins + record.losses + record.draws,
            efficiency_percent=reads.efficiency(record.wins, record.wins + record.losses + record.draws),
            expected_win_probability=_win_probability(by_id[rating_id], by_id[opponent_id], at),
            last_played=record.last_played,
        )
        for (rating_id, opponent_id), record in sorted(records.items())
    ]


def _pair_records(db: Connection, by_id: Mapping[int, Any]) -> dict[tuple[int, int], PairRecord]:
    """(rating id, opponent's rating id) -> record, in both directions, summed over all periods."""
    merged_rows = select(_R.rating_id, _R.merged_into).where(_R.merged_into.in_(by_id.keys()))
    merged = {row.rating_id: row.merged_into for row in db.execute(merged_rows)}
    ids = [*by_id, *merged]
    rows = select(_V.rating_id, _V.period_date, _V.meetings)
    rows = rows.where(_V.rating_id.in_(ids), _V.meetings.is_not(None)).order_by(_V.period_date)
    records: dict[tuple[int, int], PairRecord] = {}
    for stored_id, day, meetings in db.execute(rows):
        rating_id = merged.get(stored_id, stored_id)
        for start in range(0, len(meetings), MEETING_PARTS):
            stored_opponent_id, wins, losses, draws = meetings[start : start + MEETING_PARTS]
            opponent_id = merged.get(stored_opponent_id, stored_opponent_id)
            if opponent_id in by_id and opponent_id != rating_id:
                record = records.setdefault((rating_id, opponent_id), PairRecord())
                record.wins += wins
                record.losses += losses
                record.draws += draws
                record.last_played = day
    return records


def _win_probability(row: Any, opponent: Any, at: CurrentPeriod) -> float:
    return formulas.win_probability(
        row.rating, _current_rd(row, at), opponent.rating, _current_rd(opponent, at)
    )


def _current_rd(row: Any, at: CurrentPeriod) -> float:
    days = (at.day - date.fromisoformat(row.last_period)).days
    return formulas.deviation_after(row.rd, days, at.parameters)
