"""Attendance, opponents and arenas of the players of a series."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain, permutations

from sqlalchemy import Connection, Text, bindparam, cast, false, func, select

from silverball.kit.errors import NotFound
from silverball.service.access import AuthenticatedCaller
from silverball.service.players import reads as players
from silverball.service.series.reads import series as reads
from silverball.service.standings import reads as standings
from silverball.service.standings.reads import PlacesByTournament
from silverball.store import tables
from silverball.wire.players import Player
from silverball.wire.series import Aggregate, SeriesAttendance, SeriesStats
from silverball.wire.stats import CountRow
from silverball.wire.values import Number

PLAYERS_MAX = 10_000
_T, _P, _G = tables.tournament.c, tables.player.c, tables.game.c
_SERIES = select(*reads.ROW.columns).where(tables.series.c.series_id == bindparam("series_id"))
_IN_SERIES = _T.series_id == bindparam("series_id")
_NAMES = select(_T.tournament_id, _T.name).where(_IN_SERIES)
_OWNERS = (
    select(_P.player_id, _P.organizer_id)
    .join(tables.entrant, tables.entrant.c.player_id == _P.player_id)
    .join(tables.tournament, _T.tournament_id == tables.entrant.c.tournament_id)
    .where(_IN_SERIES)
    .distinct()
)
_SEAT, _ALONE = tables.game_player.c, tables.single_player_game.c
# The arena and the player ids of each game that counts, ids with commas. Who met whom is counted here: in the
# database, the pairs of all games would be sorted first.
_GAMES = (
    select(_G.arena_id, func.aggregate_strings(cast(_SEAT.player_id, Text), ",").label("player_ids"))
    .select_from(tables.tournament)
    .join(tables.game, _G.tournament_id == _T.tournament_id)
    .join(tables.game_player, _SEAT.game_id == _G.game_id)
    .where(_IN_SERIES, _G.status == "completed", _G.bye.is_(false()))
    .group_by(_G.game_id, _G.arena_id)
)
_PLAYS_ALONE = (
    select(_ALONE.player_id, _ALONE.arena_id, func.count())
    .select_from(tables.tournament)
    .join(tables.single_player_game, _ALONE.tournament_id == _T.tournament_id)
    .where(_IN_SERIES, _ALONE.status == "completed", _ALONE.voided.is_(false()))
    .where(_ALONE.arena_id.is_not(None))
    .group_by(_ALONE.player_id, _ALONE.arena_id)
)
# Player and opponent, or player and arena -> number of games.
PairCounts = Counter[tuple[int, int]]


def _count_meetings_and_plays(db: Connection, series_id: int) -> tuple[PairCounts, PairCounts]:
    """How often each two players met, from both sides, and how often each player played each arena."""
    games = [(arena_id, ids.split(",")) for arena_id, ids in db.execute(_GAMES, {"series_id": series_id})]
    # Counted as texts, in one call: only the different pairs are turned into numbers.
    met = Counter(chain.from_iterable(permutations(ids, 2) for _, ids in games))
    meetings = PairCounts({(int(met_by), int(met_id)): count for (met_by, met_id), count in met.items()})
    played = Counter((each, arena_id) for arena_id, ids in games if arena_id is not None for each in ids)
    plays = PairCounts({(int(player_id), arena_id): count for (player_id, arena_id), count in played.items()})
    for player_id, arena_id, count in db.execute(_PLAYS_ALONE, {"series_id": series_id}):
        plays[player_id, arena_id] += count
    return meetings, plays


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
    nights = _attendance_by_tournament(db, key, attended, series.organizer_id)
    often = Counter(Counter(player_id for night in attended.values() for player_id in night).values())
    names = _visible_names(db, key, viewer)
    meetings, plays = _count_meetings_and_plays(db, series_id)
    return SeriesStats(
        series=series,
        overall=_aggregate(night.total for night in nights.values()),
        members=_aggregate(night.members for night in nights.values()),
        guests=_aggregate(night.guests for night in nights.values()),
        tournaments=nights,
        player_attendances=dict(sorted(often.items())),
        opponent_counts=_count_rows(meetings, names, {*names}),
        arena_counts=_count_rows(plays, names),
    )


def _attendance_by_tournament(
    db: Connection, key: Mapping[str, int], attended: PlacesByTournament, organizer_id: int
) -> dict[int, SeriesAttendance]:
    names = {tournament_id: name for tournament_id, name in db.execute(_NAMES, key)}  # noqa: C416  # rows are no pairs to mypy
    owners = {player_id: owner_id for player_id, owner_id in db.execute(_OWNERS, key)}  # noqa: C416  # as above
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
    counted: PairCounts, names: Mapping[int, str], others: set[int] | None = None
) -> tuple[CountRow, ...]:
    """One row for each named player; `others`, if given, are the ids that may appear in it."""
    by_player: dict[int, CountRow] = {}
    for (player_id, other_id), count in sorted(counted.items()):
        if player_id in names and (others is None or other_id in others):
            by_player.setdefault(player_id, {})[str(other_id)] = count
    return tuple(
        {**counts, "playerId": player_id, "name": names[player_id]} for player_id, counts in by_player.items()
    )


def _attended_nights(db: Connection, series_id: int) -> PlacesByTournament:
    """Tournament id -> its players: a standing in a tournament that has started counts as attendance."""
    return standings.places_where(db, (_T.series_id == series_id) & (_T.status != "planned"))


def _attendances(db: Connection, series_id: int) -> Counter[int]:
    """Player id -> number of tournaments attended."""
    nights = _attended_nights(db, series_id).values()
    return Counter(player_id for night in nights for player_id in night)


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
    return tuple(players.player_item(row, viewer) for row in db.execute(statement))
