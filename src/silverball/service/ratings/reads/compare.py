"""Ratings side by side, and who has met whom. Source: ratings.md D; interface.md 2, row 3."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

from msgspec import Meta
from sqlalchemy import ColumnElement, Connection, and_, or_, select

from silverball.kit.errors import Invalid
from silverball.kit.http.query import Query
from silverball.rules.ratings import formulas
from silverball.service.access import AuthenticatedCaller
from silverball.service.ratings.reads import ratings as reads
from silverball.service.ratings.reads.ratings import COLUMNS, CurrentPeriod
from silverball.store import names, rating_days, tables
from silverball.wire.base import Id
from silverball.wire.ratings import HeadToHead, RatingComparison, RatingRange

IDS_MAX = 25
MEETING_PARTS = 4
_R, _V, _P = tables.rating.c, tables.rating_revision.c, tables.player.c
Ids = Annotated[tuple[Id, ...], Meta(max_length=IDS_MAX)]
_RATING_ID, _RATING, _RD, _LAST = (
    COLUMNS.index(one) for one in (_R.rating_id, _R.rating, _R.rd, _R.last_period)
)


class CompareQuery(Query, frozen=True, kw_only=True):
    """Whom POST /api/ratings/compare compares. Source: interface 4.7."""

    user_ids: Ids = ()
    ifpa_ids: Ids = ()
    player_ids: Ids = ()


@dataclass
class PairRecord:
    """What one rating did against another."""

    wins: int = 0
    losses: int = 0
    draws: int = 0
    last_played: str = ""


def comparison(db: Connection, query: CompareQuery, viewer: AuthenticatedCaller | None) -> RatingComparison:
    """The ratings of these people, by id, and their records against each other.

    Who is not rated is left out. Raises Invalid for somebody who is named in two ways.
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
    """Ids of the ratings that the viewer may see."""
    ways: dict[str, ColumnElement[bool]] = {
        "userIds": _R.user_id.in_(query.user_ids),
        "ifpaIds": and_(_R.ifpa_id.in_(query.ifpa_ids), reads.is_findable_by(viewer)),
        "playerIds": _belongs_to_players(db, query.player_ids),
    }
    found: dict[int, str] = {}
    for name, wanted in ways.items():
        rows = select(_R.rating_id, _R.name).where(wanted, reads.is_visible_to(viewer))
        for rating_id, who in db.execute(rows.order_by(_R.rating_id)):
            if rating_id in found:
                sentence = f"{who} is in {found[rating_id]} already. Name each player once."
                raise Invalid({name: [sentence]})
            found[rating_id] = name
    return sorted(found)


def _belongs_to_players(db: Connection, player_ids: Sequence[int]) -> ColumnElement[bool]:
    """Ratings of players of somebody's book: by who claimed them, by their number, by their name in it."""
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
    """The lowest and the highest rating that everybody may see; where there is none, that of a newcomer."""
    rows = select(_R.rating).where(rating_days.IS_LISTED).limit(1)
    lowest = db.execute(rows.order_by(_R.rating)).scalar_one_or_none()
    highest = db.execute(rows.order_by(_R.rating.desc())).scalar_one_or_none()
    newcomer = formulas.DEFAULTS.rating_default
    return RatingRange(
        min=newcomer if lowest is None else round(lowest, 2),
        max=newcomer if highest is None else round(highest, 2),
    )


def _head_to_heads(db: Connection, rows: Sequence[Any], at: CurrentPeriod) -> list[HeadToHead]:
    by_id = {row[_RATING_ID]: row for row in rows}
    met = _pair_records(db, by_id)
    return [
        HeadToHead(
            rating_id=one,
            opponent_rating_id=other,
            game_count=record.wins + record.losses + record.draws,
            win_count=record.wins,
            loss_count=record.losses,
            draw_count=record.draws,
            result_count=record.wins + record.losses + record.draws,
            efficiency_percent=reads.efficiency(record.wins, record.wins + record.losses + record.draws),
            expected_win_probability=_win_probability(by_id[one], by_id[other], at),
            last_played=record.last_played,
        )
        for (one, other), record in sorted(met.items())
    ]


def _pair_records(db: Connection, by_id: Mapping[int, Any]) -> dict[tuple[int, int], PairRecord]:
    """Both directions of every pair that has met, from what each period told of each of them."""
    gone = select(_R.rating_id, _R.merged_into).where(_R.merged_into.in_(by_id.keys()))
    merged = {row.rating_id: row.merged_into for row in db.execute(gone)}
    ids = [*by_id, *merged]
    rows = select(_V.rating_id, _V.period_date, _V.meetings)
    rows = rows.where(_V.rating_id.in_(ids), _V.meetings.is_not(None)).order_by(_V.period_date)
    met: dict[tuple[int, int], PairRecord] = {}
    for rating_id, day, flat in db.execute(rows):
        one = merged.get(rating_id, rating_id)
        for start in range(0, len(flat), MEETING_PARTS):
            opponent_id, wins, losses, draws = flat[start : start + MEETING_PARTS]
            other = merged.get(opponent_id, opponent_id)
            if other in by_id and other != one:
                record = met.setdefault((one, other), PairRecord())
                record.wins += wins
                record.losses += losses
                record.draws += draws
                record.last_played = day
    return met


def _win_probability(one: Any, other: Any, at: CurrentPeriod) -> float:
    return formulas.win_probability(
        one[_RATING], _current_rd(one, at), other[_RATING], _current_rd(other, at)
    )


def _current_rd(row: Any, at: CurrentPeriod) -> float:
    return formulas.deviation_after(row[_RD], (at.day - date.fromisoformat(row[_LAST])).days, at.parameters)
