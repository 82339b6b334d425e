"""Attendance, opponents and arenas of the players of a series."""

import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Select,
    bindparam,
    false,
    func,
    not_,
    select,
)

from silverball.kit.errors import NotFound
from silverball.service.access import AuthenticatedCaller
from silverball.service.players import reads as players
from silverball.service.series.reads import series as reads
from silverball.service.standings import reads as standings
from silverball.store import tables
from silverball.store.among import is_among
from silverball.store.listed import decode_listed, listed
from silverball_wire.players import Player
from silverball_wire.series import Aggregate, SeriesAttendance, SeriesStats
from silverball_wire.stats import CountRow
from silverball_wire.values import Number

if TYPE_CHECKING:
    from silverball.rules.ranking.meetings import CountsById

PLAYERS_MAX = 10_000
_T, _P, _G = tables.tournament.c, tables.player.c, tables.game.c
_SERIES = select(*reads.ROW.columns).where(tables.series.c.series_id == bindparam("series_id"))
_IN_SERIES = _T.series_id == bindparam("series_id")
_NAMES = select(_T.tournament_id, _T.name).where(_IN_SERIES)
_NIGHTS = select(_T.tournament_id).where(_IN_SERIES)
_PLAYERS = select(tables.entrant.c.player_id).where(is_among(tables.entrant.c.tournament_id, _NIGHTS))
_SEAT, _ALONE = tables.game_player.c, tables.single_player_game.c
# Games and their seats are joined here: the database would look up the seats of each game by themselves.
_GAMES = select(listed(_G.game_id), listed(func.coalesce(_G.arena_id, 0))).where(
    is_among(_G.tournament_id, _NIGHTS), _G.status == "completed", _G.bye.is_(false())
)
_SEATS = select(listed(_SEAT.game_id), listed(_SEAT.player_id)).where(is_among(_SEAT.tournament_id, _NIGHTS))


def _listed_by_night(
    player_id: Column[int],
    *others: ColumnElement[int],
    own: Sequence[ColumnElement[bool]] = (),
    nights: Sequence[ColumnElement[bool]] = (),
) -> Select[Any]:
    """The series' tournaments that meet conditions: id, and players and other columns of its own rows that
    do; null for none.

    A statement with GROUP BY would go through the tournaments of all series, to have them in order.
    """
    of_night = player_id.table.c.tournament_id == _T.tournament_id
    rows = select(listed(player_id, *others)).where(of_night, *own).scalar_subquery()
    return select(_T.tournament_id, rows).where(_IN_SERIES, *nights)


_STANDING_PLAYERS = _listed_by_night(
    tables.standing.c.player_id, nights=(_T.status != "planned", standings.IS_STORED)
)
_RUNNING_PLAYERS = _listed_by_night(
    tables.entrant.c.player_id, nights=(_T.status == "started", not_(standings.IS_STORED))
)
_PLAYED_ALONE = _listed_by_night(
    _ALONE.player_id,
    func.coalesce(_ALONE.arena_id, 0),
    own=(_ALONE.status == "completed", _ALONE.voided.is_(false())),
)


def _count_meetings_and_plays(db: Connection, series_id: int) -> tuple["CountsById", "CountsById"]:
    """How often each player met each other and played each arena."""
    # NumPy is loaded when somebody asks for statistics.
    from silverball.rules.ranking.meetings import count_meetings_and_plays

    key = {"series_id": series_id}
    game_ids, arena_ids = map(decode_listed, db.execute(_GAMES, key).one())
    seat_games, seat_players = map(decode_listed, db.execute(_SEATS, key).one())
    alone = [decode_listed(text) for _, text in db.execute(_PLAYED_ALONE, key).all()]
    # Every second number is an arena.
    alone_players, alone_arenas = (list(chain.from_iterable(ids[n::2] for ids in alone)) for n in (0, 1))
    return count_meetings_and_plays(
        (game_ids, arena_ids), (seat_games, seat_players), (alone_players, alone_arenas)
    )


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
    attended = _attended_nights(db, series_id)
    owners, names = _people(db, key, viewer)
    nights = _attendance_by_tournament(db, key, attended, owners, series.organizer_id)
    often = Counter(Counter(chain.from_iterable(attended.values())).values())
    meetings, plays = _count_meetings_and_plays(db, series_id)
    return SeriesStats(
        series=series,
        overall=_aggregate(night.total for night in nights.values()),
        members=_aggregate(night.members for night in nights.values()),
        guests=_aggregate(night.guests for night in nights.values()),
        tournaments=nights,
        player_attendances=dict(sorted(often.items())),
        opponent_counts=_opponent_counts(meetings, names),
        arena_counts=_arena_counts(plays, names),
    )


def _attendance_by_tournament(
    db: Connection,
    key: Mapping[str, int],
    attended: Mapping[int, Collection[int]],
    owners: Mapping[int, int],
    organizer_id: int,
) -> dict[int, SeriesAttendance]:
    names = {tournament_id: name for tournament_id, name in db.execute(_NAMES, key).all()}  # noqa: C416  # rows are no pairs to mypy
    attendance = {}
    for tournament_id, night in sorted(attended.items()):
        members = sum(owners.get(player_id) == organizer_id for player_id in night)
        attendance[tournament_id] = SeriesAttendance(
            name=names[tournament_id], total=len(night), members=members, guests=len(night) - members
        )
    return attendance


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


def _people(
    db: Connection, key: Mapping[str, int], viewer: AuthenticatedCaller | None
) -> tuple[dict[int, int], dict[int, str]]:
    """Player id -> the organizer whose book they are in, for all of the series; and player id -> name, for
    those whose statistics this viewer may see, by id.
    """
    columns = (_P.player_id, _P.organizer_id, _P.name, players.shows_stats_to(viewer))
    statement = players.player_rows().with_only_columns(*columns)
    rows = db.execute(statement.where(is_among(_P.player_id, _PLAYERS)).order_by(_P.player_id), key).all()
    owners = {player_id: organizer_id for player_id, organizer_id, _, _ in rows}
    shown = [(player_id, name) for player_id, _, name, is_shown in rows if is_shown]
    return owners, dict(shown[:PLAYERS_MAX])


def _opponent_counts(meetings: "CountsById", names: Mapping[int, str]) -> tuple[CountRow, ...]:
    """A row for each named player who met another one."""
    rows: list[CountRow] = []
    texts = {player_id: str(player_id) for player_id in names}
    for player_id, name in names.items():
        met = meetings.get(player_id, {})
        row: CountRow = {texts[other_id]: times for other_id, times in met.items() if other_id in names}
        if row:
            row["playerId"], row["name"] = player_id, name
            rows.append(row)
    return tuple(rows)


def _arena_counts(plays: "CountsById", names: Mapping[int, str]) -> tuple[CountRow, ...]:
    """A row for each named player who played an arena."""
    rows: list[CountRow] = []
    for player_id, name in names.items():
        if played := plays.get(player_id):
            row = {str(arena_id): times for arena_id, times in played.items()}
            rows.append({**row, "playerId": player_id, "name": name})
    return tuple(rows)


def _attended_nights(db: Connection, series_id: int) -> dict[int, list[int]]:
    """Tournament id -> the players who were there: all in the standings of a completed tournament, all in a
    running one. So a running bracket counts those who are still in too, and nobody has to be ranked for it.
    """
    attended: dict[int, list[int]] = {}
    for statement in (_STANDING_PLAYERS, _RUNNING_PLAYERS):
        for tournament_id, text in db.execute(statement, {"series_id": series_id}).all():
            if text is not None:
                attended[tournament_id] = decode_listed(text)
    return attended


def _attendances(db: Connection, series_id: int) -> Counter[int]:
    """Player id -> number of tournaments attended."""
    return Counter(chain.from_iterable(_attended_nights(db, series_id).values()))


def attendees(
    db: Connection, series_id: int, count: int, viewer: AuthenticatedCaller | None
) -> tuple[Player, ...]:
    """The players who attended exactly this many tournaments, by id. Raises NotFound.

    Exactly, because the list explains one number of `playerAttendances`.
    """
    key = {"series_id": series_id}
    if db.execute(_SERIES, key).first() is None:
        raise NotFound("Series", series_id)
    attended = [player_id for player_id, nights in _attendances(db, series_id).items() if nights == count]
    statement = players.player_rows().where(_P.player_id.in_(attended), players.shows_stats_to(viewer))
    statement = statement.order_by(_P.player_id).limit(PLAYERS_MAX)
    return tuple(players.player_item(row, viewer) for row in db.execute(statement).all())
