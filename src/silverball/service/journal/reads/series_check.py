"""Verification of series: the published points and standings against those computed again."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, select

from silverball.rules.verify import series as checks
from silverball.rules.verify.series import SeriesNight
from silverball.service.journal.reads.row_checks import guarded
from silverball.service.series import reads as series_reads
from silverball.service.standings.reads import standings
from silverball.store import tables
from silverball_wire.series import SeriesDetails

_SERIES = tables.series.c


class SeriesReport(Struct, frozen=True):
    """The faults of a series, a sentence for each."""

    series_id: int
    name: str
    faults: list[str]


def verify_series(db: Connection) -> Iterator[SeriesReport]:
    """Compute every series again, and compare."""
    rows = select(_SERIES.series_id, _SERIES.name).order_by(_SERIES.series_id)
    for series_id, name in db.execute(rows).all():
        yield SeriesReport(series_id, name, guarded("series", partial(_series_faults, db, series_id)))


def _series_faults(db: Connection, series_id: int) -> Iterator[str]:
    series = series_reads.series_details(db, series_id, None)
    scoring, custom = series.scoring or "points", _custom_points(series)
    places = standings.places_where(db, tables.tournament.c.series_id == series_id)
    finals = series_reads.load_playoffs(db, {"series_id": series_id})
    published: Mapping[int, Any] = dict(series.tournament_points) if series.tournament_points else {}
    nights = []
    for tournament_id, shown in published.items():
        own = {
            player_id: (place.position, place.points or Decimal(0))
            for player_id, place in places.get(tournament_id, {}).items()
        }
        night = SeriesNight(places=own, finals=finals.get(tournament_id, ()))
        earned = checks.night_points(night, scoring, custom)
        nights.append(earned)
        shown_points = {player_id: Decimal(str(points)) for player_id, points in dict(shown or {}).items()}
        for player_id in sorted(earned.keys() | shown_points.keys()):
            if earned.get(player_id) != shown_points.get(player_id):
                yield (
                    f"Tournament {tournament_id} gives {shown_points.get(player_id)} points to player"
                    f" {player_id}, it should be {earned.get(player_id)}."
                )
    yield from _standing_faults(series, checks.series_table(nights, scoring, series.removed_results or 0))


def _custom_points(series: SeriesDetails) -> tuple[int, ...]:
    """The organizer's own points of the ranks from 1 on."""
    stored: Mapping[str, Any] = series.scoring_custom or {}
    by_rank = {int(rank): int(points) for rank, points in stored.items() if rank.isdecimal()}
    return tuple(by_rank.get(rank, 0) for rank in range(1, max(by_rank, default=0) + 1))


def _standing_faults(
    series: SeriesDetails, table: Mapping[int, tuple[int, Decimal, Decimal | None]]
) -> Iterator[str]:
    shown = {
        row.player_id: (
            row.position,
            Decimal(str(row.points)),
            None if row.points_adjusted in ((), None) else Decimal(str(row.points_adjusted)),
        )
        for row in series.standings
    }
    for player_id in sorted(table.keys() | shown.keys()):
        if table.get(player_id) != shown.get(player_id):
            yield (
                f"The standings show {_row_text(shown.get(player_id))} for player {player_id}, it should be"
                f" {_row_text(table.get(player_id))}."
            )


def _row_text(row: tuple[int, Decimal, Decimal | None] | None) -> str:
    if row is None:
        return "nothing"
    position, points, adjusted = row
    return f"place {position} with {points}" + ("" if adjusted is None else f" ({adjusted} count)")
