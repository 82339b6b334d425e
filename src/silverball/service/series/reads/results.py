"""The results of a series: its tournaments, players, points and standings."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, and_, bindparam, exists, false, or_, select

from silverball.rules.ranking import series as rules
from silverball.rules.scoring import curves
from silverball.service.access import AuthenticatedCaller
from silverball.service.players import reads as players
from silverball.service.series.reads import series as reads
from silverball.service.standings import reads as standing_reads
from silverball.service.standings.reads import PlacesByTournament
from silverball.store import tables
from silverball.store.among import is_among
from silverball_wire.players import Player
from silverball_wire.series import (
    LabelsByPlayer,
    PointsByPlayer,
    PointsByTournament,
    Series,
    SeriesDetails,
    SeriesStanding,
)
from silverball_wire.values import EmptyList, Number

CUSTOM_RANKS_MAX = 1000
PLAYERS_MAX = 10_000
_T, _ST, _LINK = tables.tournament.c, tables.standing.c, tables.tournament_link.c

_GAME, _ALONE = tables.game.c, tables.single_player_game.c
# Standings list the players before anything is played; a bye is no result.
_HAS_RESULT = or_(
    exists().where(
        _GAME.tournament_id == _T.tournament_id, _GAME.status == "completed", _GAME.bye == false()
    ),
    exists().where(_ALONE.tournament_id == _T.tournament_id, _ALONE.status == "completed"),
)
_HAS_GAMES = exists().where(_GAME.tournament_id == _T.tournament_id)
_NIGHTS = (
    select(
        _T.tournament_id,
        _T.status,
        # Completed ones count whatever they have.
        and_(_T.status != "completed", _HAS_RESULT).label("has_result"),
        and_(_T.status != "completed", _HAS_GAMES).label("has_games"),
    )
    .where(_T.series_id == bindparam("series_id"))
    .order_by(_T.tournament_id)
)
_MAIN = tables.tournament.alias("main")
_PLAYOFFS = (
    select(_MAIN.c.tournament_id, _LINK.place, _ST.player_id, _ST.position)
    .select_from(_MAIN)
    .join(tables.tournament_link, _LINK.tournament_id == _MAIN.c.tournament_id)
    .join(tables.tournament, _T.tournament_id == _LINK.linked_tournament_id)
    .join(tables.standing, _ST.tournament_id == _T.tournament_id)
    .where(_MAIN.c.series_id == bindparam("series_id"))
    .where(_LINK.link_type == "playoff", _T.status == "completed")
    .order_by(_MAIN.c.tournament_id, _LINK.place, _ST.position, _ST.player_id)
)


def series_details(db: Connection, series_id: int, viewer: AuthenticatedCaller | None) -> SeriesDetails:
    """The series with its results. Raises NotFound."""
    series = reads.find_series(db, series_id, viewer)
    key = {"series_id": series_id}
    tournaments = db.execute(_NIGHTS, key).all()
    nights = _load_nights(db, series_id, tournaments)
    points = _points_earned(series, nights, _load_playoffs(db, key) if _is_curve(series) else {})
    people = _load_players(db, key, viewer)
    return SeriesDetails(
        **{name: getattr(series, name) for name in Series.__struct_fields__},
        tournament_ids=tuple([row.tournament_id for row in tournaments]),
        players=people,
        player_labels=_labels_by_player(people),
        standings=tuple(_series_standings(series, points)),
        tournament_points=_points_by_tournament(points),
    )


def _is_curve(series: Series) -> bool:
    return series.scoring in curves.CURVES


def _load_nights(db: Connection, series_id: int, tournaments: Sequence[Any]) -> PlacesByTournament:
    """Tournament id -> player id -> position and points, of the tournaments that count.

    Completed ones, empty ones too, and running ones from their first result on.
    """
    places = standing_reads.places_where(db, _T.series_id == series_id)
    return {
        night.tournament_id: places.get(night.tournament_id, {})
        for night in tournaments
        if night.status != "planned" and _is_counted(night, places)
    }


def _is_counted(night: Any, places: PlacesByTournament) -> bool:
    if night.status == "completed" or night.has_result:
        return True
    # A table without games was imported, and is a result when it has points.
    return not night.has_games and _has_points(places, night.tournament_id)


def _has_points(places: PlacesByTournament, tournament_id: int) -> bool:
    return any(place.points for place in places.get(tournament_id, {}).values())


def _load_playoffs(db: Connection, key: Mapping[str, int]) -> dict[int, list[dict[int, int]]]:
    """Tournament id -> its completed playoffs in order: player id -> position there."""
    playoffs: dict[int, dict[int, dict[int, int]]] = {}
    for tournament_id, place, player_id, position in db.execute(_PLAYOFFS, key).all():
        playoffs.setdefault(tournament_id, {}).setdefault(place, {})[player_id] = position
    return {tournament_id: list(by_place.values()) for tournament_id, by_place in playoffs.items()}


def _points_earned(
    series: Series, nights: PlacesByTournament, playoffs: Mapping[int, list[dict[int, int]]]
) -> dict[int, dict[int, int | Decimal]]:
    """Tournament id -> player id -> points in the series."""
    if not _is_curve(series):
        return {
            tournament_id: {player_id: place.points or Decimal(0) for player_id, place in night.items()}
            for tournament_id, night in nights.items()
        }
    custom = _custom_curve(series.scoring_custom)
    earned: dict[int, dict[int, int | Decimal]] = {}
    for tournament_id, night in nights.items():
        positions = {player_id: place.position for player_id, place in night.items()}
        decided = rules.positions_after_playoffs(positions, playoffs.get(tournament_id, ()))
        earned[tournament_id] = {**rules.curve_points(decided, series.scoring or "", custom)}
    return earned


def best_result(series: Series) -> int | None:
    """The points of the best place of a night; None where nights count with their own points."""
    if not _is_curve(series):
        return None
    custom = _custom_curve(series.scoring_custom)
    return max(custom, default=0) if custom else curves.points_of_rank(series.scoring or "", 1)


def _custom_curve(stored: dict[str, Any] | None) -> tuple[int, ...]:
    """The organizer's own curve as a tuple; it is stored as rank -> points."""
    by_rank = {
        int(rank): int(points)
        for rank, points in (stored or {}).items()
        if rank.isdecimal() and isinstance(points, int | float)
    }
    ranks = min(max(by_rank, default=0), CUSTOM_RANKS_MAX)
    return tuple(by_rank.get(rank, 0) for rank in range(1, ranks + 1))


def _series_standings(series: Series, points: dict[int, dict[int, int | Decimal]]) -> list[SeriesStanding]:
    ranked = rules.series_standings(
        list(points.values()),
        scoring=series.scoring or "points",
        removed_results=series.removed_results or 0,
        cutoffs=series.playoffs_cutoffs,
    )
    return [
        SeriesStanding(
            player_id=standing.player_id,
            position=standing.position,
            points=_json_number(standing.points),
            points_adjusted=()
            if standing.points_adjusted is None
            else _json_number(standing.points_adjusted),
            on_cutoff_bubble=standing.on_cutoff_bubble,
            cutoff_bubble_color=standing.cutoff_bubble_color,
            on_cutoff_bubble2=standing.on_cutoff_bubble2,
            manual_tiebreaker_group=None,
        )
        for standing in ranked
    ]


def _json_number(points: Decimal) -> Number:
    """Points as a JSON number: 10, not 10.0."""
    whole = int(points)
    return whole if whole == points else float(points)


def _points_by_tournament(points: dict[int, dict[int, int | Decimal]]) -> PointsByTournament | EmptyList:
    """The points in their published shape: numbers under a curve, else texts (formats 21)."""
    by_tournament: dict[int, PointsByPlayer | EmptyList] = {
        tournament_id: {
            player_id: worth if isinstance(worth, int) else f"{worth:.2f}"
            for player_id, worth in night.items()
        }
        or ()
        for tournament_id, night in points.items()
    }
    return by_tournament or ()


def _load_players(
    db: Connection, key: Mapping[str, int], viewer: AuthenticatedCaller | None
) -> tuple[Player, ...]:
    entrant = tables.entrant.c
    in_series = select(entrant.player_id).join(tables.tournament, _T.tournament_id == entrant.tournament_id)
    in_series = in_series.where(_T.series_id == bindparam("series_id"))
    player_id = tables.player.c.player_id
    statement = players.player_rows().where(is_among(player_id, in_series))
    rows = db.execute(statement.order_by(player_id).limit(PLAYERS_MAX), key).all()
    return tuple([players.player_item(row, viewer) for row in rows])


def _labels_by_player(series_players: tuple[Player, ...]) -> LabelsByPlayer | EmptyList:
    return {player.player_id: player.labels for player in series_players if player.labels} or ()
