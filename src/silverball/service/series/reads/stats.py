"""Attendance, opponents and arenas of the players of a series."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, Select, bindparam, false, func, select, union_all

from silverball.kit.errors import NotFound
from silverball.service.access import AuthenticatedCaller
from silverball.service.players import reads as players
from silverball.service.series.reads import series as reads
from silverball.store import tables
from silverball.wire.players import Player
from silverball.wire.series import Aggregate, SeriesAttendance, SeriesStats
from silverball.wire.stats import CountRow
from silverball.wire.values import Number

PLAYERS_MAX = 10_000
_T, _ST, _P, _G = tables.tournament.c, tables.standing.c, tables.player.c, tables.game.c
_SERIES = select(*reads.ROW.columns).where(tables.series.c.series_id == bindparam("series_id"))
_IN_SERIES = _T.series_id == bindparam("series_id")
# A standing in a tournament that has started counts as attendance.
_ATTENDED = (
    select(_T.tournament_id, _T.name, _ST.player_id, _P.organizer_id)
    .join(tables.standing, _ST.tournament_id == _T.tournament_id)
    .join(tables.player, _P.player_id == _ST.player_id)
    .where(_IN_SERIES, _T.status != "planned")
    .order_by(_T.tournament_id, _ST.player_id)
)
_PLAYER_SEAT, _OPPONENT_SEAT = tables.game_player.alias("one"), tables.game_player.alias("other")
_WAS_PLAYED = (_G.status == "completed", _G.bye.is_(false()))
_MEETINGS = (
    select(_PLAYER_SEAT.c.player_id, _OPPONENT_SEAT.c.player_id, func.count())
    .select_from(tables.tournament)
    .join(tables.game, _G.tournament_id == _T.tournament_id)
    .join(_PLAYER_SEAT, _PLAYER_SEAT.c.game_id == _G.game_id)
    .join(
        _OPPONENT_SEAT,
        (_OPPONENT_SEAT.c.game_id == _G.game_id) & (_OPPONENT_SEAT.c.player_id != _PLAYER_SEAT.c.player_id),
    )
    .where(_IN_SERIES, *_WAS_PLAYED)
    .group_by(_PLAYER_SEAT.c.player_id, _OPPONENT_SEAT.c.player_id)
    .order_by(_PLAYER_SEAT.c.player_id, _OPPONENT_SEAT.c.player_id)
)


def _plays_statement() -> Select[Any]:
    """Player, arena and number of the games and single player games there that count."""
    single, together = tables.single_player_game.c, tables.game_player.c
    games = (
        select(together.player_id.label("player_id"), _G.arena_id.label("arena_id"))
        .select_from(tables.tournament)
        .join(tables.game, _G.tournament_id == _T.tournament_id)
        .join(tables.game_player, together.game_id == _G.game_id)
        .where(_IN_SERIES, *_WAS_PLAYED, _G.arena_id.is_not(None))
    )
    alone = (
        select(single.player_id, single.arena_id)
        .select_from(tables.tournament)
        .join(tables.single_player_game, single.tournament_id == _T.tournament_id)
        .where(_IN_SERIES, single.status == "completed", single.voided.is_(false()))
        .where(single.arena_id.is_not(None))
    )
    both = union_all(games, alone).subquery()
    counted = select(both.c.player_id, both.c.arena_id, func.count()).group_by(
        both.c.player_id, both.c.arena_id
    )
    return counted.order_by(both.c.player_id, both.c.arena_id)


_PLAYS = _plays_statement()


def series_stats(db: Connection, series_id: int, viewer: AuthenticatedCaller | None) -> SeriesStats:
    """The statistics of the series. Raises NotFound.

    Members are players of the series organizer's own book, all others are guests. Players who opted out
    of statistics are counted but not named.
    """
    key = {"series_id": series_id}
    row = db.execute(_SERIES, key).first()
    if row is None:
        raise NotFound("Series", series_id)
    series = reads.series_item(row)
    attended = db.execute(_ATTENDED, key).all()
    nights = _attendance_by_tournament(attended, series.organizer_id)
    often = Counter(Counter(row.player_id for row in attended).values())
    names = _visible_names(db, key, viewer)
    return SeriesStats(
        series=series,
        overall=_aggregate(night.total for night in nights.values()),
        members=_aggregate(night.members for night in nights.values()),
        guests=_aggregate(night.guests for night in nights.values()),
        tournaments=nights,
        player_attendances=dict(sorted(often.items())),
        opponent_counts=_count_rows(db.execute(_MEETINGS, key), names, {*names}),
        arena_counts=_count_rows(db.execute(_PLAYS, key), names),
    )


def _attendance_by_tournament(attended: Iterable[Any], organizer_id: int) -> dict[int, SeriesAttendance]:
    names: dict[int, str] = {}
    totals: Counter[int] = Counter()
    members: Counter[int] = Counter()
    for tournament_id, name, _, owner_id in attended:
        names[tournament_id] = name
        totals[tournament_id] += 1
        members[tournament_id] += owner_id == organizer_id
    return {
        tournament_id: SeriesAttendance(
            name=name,
            total=totals[tournament_id],
            members=members[tournament_id],
            guests=totals[tournament_id] - members[tournament_id],
        )
        for tournament_id, name in names.items()
    }


def _aggregate(numbers: Iterable[int]) -> Aggregate:
    """Totals over the numbers above 0, as in the sample: tournaments without such players are left out."""
    positive = [number for number in numbers if number]
    return Aggregate(
        sum=sum(positive),
        max=max(positive, default=None),
        min=min(positive, default=None),
        mean=_json_number(sum(positive) / len(positive)) if positive else None,
        median=_json_number(statistics.median(positive)) if positive else None,
        count=len(positive),
    )


def _json_number(value: float) -> Number:
    return int(value) if value == int(value) else value


def _visible_names(
    db: Connection, key: Mapping[str, int], viewer: AuthenticatedCaller | None
) -> dict[int, str]:
    """Player id -> name, for players whose statistics this viewer may see."""
    entrant = tables.entrant.c
    in_series = select(entrant.player_id).join(tables.tournament, _T.tournament_id == entrant.tournament_id)
    statement = players.player_rows().where(_P.player_id.in_(in_series.where(_IN_SERIES)))
    statement = statement.where(players.shows_stats_to(viewer)).order_by(_P.player_id).limit(PLAYERS_MAX)
    return {row.player_id: row.name for row in db.execute(statement, key)}


def _count_rows(
    counted: Iterable[Any], names: Mapping[int, str], others: set[int] | None = None
) -> tuple[CountRow, ...]:
    """One row for each named player; `others`, if given, are the ids that may appear in it."""
    by_player: dict[int, CountRow] = {}
    for player_id, other_id, count in counted:
        if player_id in names and (others is None or other_id in others):
            by_player.setdefault(player_id, {})[str(other_id)] = count
    return tuple(
        {**counts, "playerId": player_id, "name": names[player_id]} for player_id, counts in by_player.items()
    )


def attendees(
    db: Connection, series_id: int, count: int, viewer: AuthenticatedCaller | None
) -> tuple[Player, ...]:
    """The players who attended exactly this many tournaments, by id. Raises NotFound.

    Exactly, because the list explains one number of `playerAttendances`.
    """
    key = {"series_id": series_id}
    if db.execute(_SERIES, key).first() is None:
        raise NotFound("Series", series_id)
    attended = (
        select(_ST.player_id)
        .join(tables.tournament, _T.tournament_id == _ST.tournament_id)
        .where(_IN_SERIES, _T.status != "planned")
        .group_by(_ST.player_id)
        .having(func.count() == count)
    )
    statement = players.player_rows().where(_P.player_id.in_(attended), players.shows_stats_to(viewer))
    statement = statement.order_by(_P.player_id).limit(PLAYERS_MAX)
    return tuple(players.player_item(row, viewer) for row in db.execute(statement, key))
