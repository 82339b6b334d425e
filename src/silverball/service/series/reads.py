"""Series and occasions: lists, one of them, and the results and attendance of a series."""

import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    exists,
    false,
    func,
    not_,
    or_,
    select,
    true,
)

from silverball.kit.errors import NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.kit.values import convert
from silverball.rules.ranking import series as rules
from silverball.rules.scoring import curves
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.core.calls import PageRows, refuse_deep_pagination
from silverball.service.players import reads as players
from silverball.service.standings.reads import standings
from silverball.service.standings.reads.standings import PlacesByTournament
from silverball.service.tournaments.reads import tournaments
from silverball.service.users import reads as users
from silverball.service.venues import reads as venues_reads
from silverball.store import tables
from silverball.store.database.conditions import decode_listed, is_among, listed
from silverball.store.database.statements import NamedRow, RowMapper
from silverball_wire import base
from silverball_wire.base import Id
from silverball_wire.occasions import Occasion, OccasionLink, OccasionTournament
from silverball_wire.parts import OccasionListItem, RsvpConfiguration
from silverball_wire.players import Player
from silverball_wire.series import (
    Aggregate,
    PointsByPlayer,
    PointsByTournament,
    Series,
    SeriesAttendance,
    SeriesDetails,
    SeriesListItem,
    SeriesStanding,
    SeriesStats,
)
from silverball_wire.standings import CountRow
from silverball_wire.tournaments import Tournament
from silverball_wire.values import EmptyList, Number, SeriesStatus

PER_PAGE = 25
NAMES_MAX = 500
_SERIES, _TOURNAMENT = tables.series.c, tables.tournament.c
ROW = RowMapper(
    _SERIES.series_id,
    _SERIES.name,
    _SERIES.status,
    _SERIES.organizer_id,
    _SERIES.test,
    _SERIES.removed_results,
    _SERIES.playoffs_cutoffs,
    _SERIES.scoring,
    _SERIES.estimated_tgp,
    _SERIES.scoring_custom,
)
_DETAILED_ROW = RowMapper(_SERIES.rsvp_configuration, series=ROW, organizer=users.ROW)
_ALL_SERIES = (
    select(*_DETAILED_ROW.columns)
    .select_from(tables.series)
    .join(tables.user, tables.user.c.user_id == _SERIES.organizer_id)
    .where(_SERIES.series_id == bindparam("series_id"))
)


class SeriesQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/series. Source: interface.md 1."""

    owner: Id | None = None
    played: Id | None = None
    status: SeriesStatus | None = None
    """Only series in this state."""
    page: PageNumber = 1


def series_item(row: NamedRow) -> Series:
    """The series in a row of ROW, as a part of something else."""
    return Series(**series_fields(row))


def series_fields(row: NamedRow) -> dict[str, Any]:
    """The fields of the series in a row of ROW."""
    return {
        "series_id": row.series_id,
        "name": row.name,
        "status": row.status,
        "organizer_id": row.organizer_id,
        "test": row.test,
        "removed_results": row.removed_results,
        "playoffs_cutoffs": row.playoffs_cutoffs,
        "scoring": row.scoring,
        "estimated_tgp": row.estimated_tgp,
        "scoring_custom": row.scoring_custom,
    }


def find_series(db: Connection, series_id: int, viewer: AuthenticatedCaller | None) -> Series:
    """The series with its organizer. Raises NotFound."""
    stored = db.execute(_ALL_SERIES, {"series_id": series_id}).first()
    if stored is None:
        raise NotFound("Series", series_id)
    row = _DETAILED_ROW.row(stored)
    return Series(
        **series_fields(row.series),
        organizer=users.user_item(row.organizer, viewer),
        rsvp_configuration=convert(row.rsvp_configuration, RsvpConfiguration | None),
    )


def series_page(
    db: Connection, query: SeriesQuery, viewer: AuthenticatedCaller | None
) -> PageRows[SeriesListItem]:
    """One page of the series, newest first. Raises NotAllowed when `played` is hidden."""
    refuse_deep_pagination(query.page, PER_PAGE)
    conditions = _conditions(db, query, viewer)
    total = db.execute(select(func.count()).select_from(tables.series).where(*conditions)).scalar_one()
    statement = select(*ROW.columns).where(*conditions).order_by(_SERIES.series_id.desc())
    return PageRows(
        series_list_items(db, statement.limit(PER_PAGE).offset(PER_PAGE * (query.page - 1))), total
    )


def active_series(db: Connection, organizer_id: int, *, limit: int) -> list[SeriesListItem]:
    """The organizer's newest active series."""
    statement = select(*ROW.columns).where(_SERIES.organizer_id == organizer_id, _SERIES.status == "active")
    return series_list_items(db, statement.order_by(_SERIES.series_id.desc()).limit(limit))


def series_list_items(db: Connection, statement: Select[Any]) -> list[SeriesListItem]:
    """The list items in the result of a statement of ROW, with the ids of their tournaments."""
    rows = db.execute(statement).all()
    tournament_ids: dict[int, list[int]] = {row.series_id: [] for row in rows}
    members = select(_TOURNAMENT.series_id, _TOURNAMENT.tournament_id).where(
        is_among(_TOURNAMENT.series_id, tournament_ids)
    )
    for series_id, tournament_id in db.execute(members.order_by(_TOURNAMENT.tournament_id)):
        tournament_ids[series_id].append(tournament_id)
    return [
        SeriesListItem(**series_fields(row), tournament_ids=tuple(tournament_ids[row.series_id]))
        for row in rows
    ]


def _conditions(
    db: Connection, query: SeriesQuery, viewer: AuthenticatedCaller | None
) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [true()]
    if query.owner is not None:
        conditions.append(_SERIES.organizer_id == query.owner)
    if query.status is not None:
        conditions.append(_SERIES.status == query.status)
    if query.played is not None:
        only_completed = users.shows_only_completed_to(db, query.played, viewer)
        conditions.append(
            _SERIES.series_id.in_(_played_series_ids(query.played, only_completed=only_completed))
        )
    return conditions


def _played_series_ids(user_id: int, *, only_completed: bool) -> Select[Any]:
    """Ids of the series in which a player claimed by the user was an entrant of a tournament."""
    entrant, player = tables.entrant.c, tables.player.c
    played = (
        select(_TOURNAMENT.series_id)
        .join(tables.entrant, entrant.tournament_id == _TOURNAMENT.tournament_id)
        .join(tables.player, player.player_id == entrant.player_id)
        .where(player.claimed_by == user_id, _TOURNAMENT.series_id.is_not(None))
    )
    return played.where(_TOURNAMENT.status == "completed") if only_completed else played


def series_names(db: Connection, organizer_id: int) -> list[tuple[int, str]]:
    """Id and name of the organizer's active series, newest first, for a choice."""
    rows = select(_SERIES.series_id, _SERIES.name)
    rows = rows.where(_SERIES.organizer_id == organizer_id, _SERIES.status == "active")
    rows = rows.order_by(_SERIES.series_id.desc()).limit(NAMES_MAX)
    return [(series_id, name) for series_id, name in db.execute(rows)]


CUSTOM_RANKS_MAX = 1000
PLAYERS_MAX = 10_000
_ST = tables.standing.c
_LINK = tables.tournament_link.c

_GAME, _ALONE = tables.game.c, tables.single_player_game.c
# Standings list the players before anything is played; a bye is no result.
_HAS_RESULT = or_(
    exists().where(
        _GAME.tournament_id == _TOURNAMENT.tournament_id, _GAME.status == "completed", _GAME.bye == false()
    ),
    exists().where(_ALONE.tournament_id == _TOURNAMENT.tournament_id, _ALONE.status == "completed"),
)
_HAS_GAMES = exists().where(_GAME.tournament_id == _TOURNAMENT.tournament_id)
_NIGHTS = (
    select(
        _TOURNAMENT.tournament_id,
        _TOURNAMENT.status,
        # Completed ones count whatever they have.
        and_(_TOURNAMENT.status != "completed", _HAS_RESULT).label("has_result"),
        and_(_TOURNAMENT.status != "completed", _HAS_GAMES).label("has_games"),
    )
    .where(_TOURNAMENT.series_id == bindparam("series_id"))
    .order_by(_TOURNAMENT.tournament_id)
)
_MAIN = tables.tournament.alias("main")
_PLAYOFFS = (
    select(_MAIN.c.tournament_id, _LINK.place, _ST.player_id, _ST.position)
    .select_from(_MAIN)
    .join(tables.tournament_link, _LINK.tournament_id == _MAIN.c.tournament_id)
    .join(tables.tournament, _TOURNAMENT.tournament_id == _LINK.linked_tournament_id)
    .join(tables.standing, _ST.tournament_id == _TOURNAMENT.tournament_id)
    .where(_MAIN.c.series_id == bindparam("series_id"))
    .where(_LINK.link_type == "playoff", _TOURNAMENT.status == "completed")
    .order_by(_MAIN.c.tournament_id, _LINK.place, _ST.position, _ST.player_id)
)


def series_details(db: Connection, series_id: int, viewer: AuthenticatedCaller | None) -> SeriesDetails:
    """The series with its results. Raises NotFound."""
    series = find_series(db, series_id, viewer)
    key = {"series_id": series_id}
    tournaments = db.execute(_NIGHTS, key).all()
    nights = _load_nights(db, series_id, tournaments)
    points = _points_earned(series, nights, load_playoffs(db, key) if _is_curve(series) else {})
    people = _load_players(db, key, viewer)
    return SeriesDetails(
        **{name: getattr(series, name) for name in Series.__struct_fields__},
        tournament_ids=tuple([row.tournament_id for row in tournaments]),
        players=people,
        player_labels={player.player_id: player.labels for player in people if player.labels} or (),
        standings=tuple(_series_standings(series, points)),
        tournament_points=_points_by_tournament(points),
    )


def _is_curve(series: Series) -> bool:
    return series.scoring in curves.CURVES


def _load_nights(db: Connection, series_id: int, tournaments: Sequence[Any]) -> PlacesByTournament:
    """Tournament id -> player id -> position and points, of the tournaments that count.

    Completed ones, empty ones too, and running ones from their first result on.
    """
    places = standings.places_where(db, _TOURNAMENT.series_id == series_id)
    return {
        night.tournament_id: places.get(night.tournament_id, {})
        for night in tournaments
        if night.status != "planned" and _is_counted(night, places)
    }


def _is_counted(night: Any, places: PlacesByTournament) -> bool:
    if night.status == "completed" or night.has_result:
        return True
    # A table without games was imported, and is a result when it has points.
    return not night.has_games and any(place.points for place in places.get(night.tournament_id, {}).values())


def load_playoffs(db: Connection, key: Mapping[str, int]) -> dict[int, list[dict[int, int]]]:
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
    in_series = select(entrant.player_id).join(
        tables.tournament, _TOURNAMENT.tournament_id == entrant.tournament_id
    )
    in_series = in_series.where(_TOURNAMENT.series_id == bindparam("series_id"))
    player_id = tables.player.c.player_id
    statement = players.player_rows().where(is_among(player_id, in_series))
    rows = db.execute(statement.order_by(player_id).limit(PLAYERS_MAX), key).all()
    return tuple([players.player_item(row, viewer) for row in rows])


if TYPE_CHECKING:
    from silverball.rules.ranking.meetings import CountsById


_PLAYER = tables.player.c
_SERIES_ROW = select(*ROW.columns).where(tables.series.c.series_id == bindparam("series_id"))
_IN_SERIES = _TOURNAMENT.series_id == bindparam("series_id")
_NAMES = select(_TOURNAMENT.tournament_id, _TOURNAMENT.name).where(_IN_SERIES)
_NIGHT_IDS = select(_TOURNAMENT.tournament_id).where(_IN_SERIES)
_PLAYERS = select(tables.entrant.c.player_id).where(is_among(tables.entrant.c.tournament_id, _NIGHT_IDS))
_SEAT = tables.game_player.c
# Games and their seats are joined here: the database would look up the seats of each game by themselves.
_GAMES = select(listed(_GAME.game_id), listed(func.coalesce(_GAME.arena_id, 0))).where(
    is_among(_GAME.tournament_id, _NIGHT_IDS), _GAME.status == "completed", _GAME.bye.is_(false())
)
_SEATS = select(listed(_SEAT.game_id), listed(_SEAT.player_id)).where(
    is_among(_SEAT.tournament_id, _NIGHT_IDS)
)


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
    of_night = player_id.table.c.tournament_id == _TOURNAMENT.tournament_id
    rows = select(listed(player_id, *others)).where(of_night, *own).scalar_subquery()
    return select(_TOURNAMENT.tournament_id, rows).where(_IN_SERIES, *nights)


_STANDING_PLAYERS = _listed_by_night(
    tables.standing.c.player_id, nights=(_TOURNAMENT.status != "planned", standings.IS_STORED)
)
_RUNNING_PLAYERS = _listed_by_night(
    tables.entrant.c.player_id, nights=(_TOURNAMENT.status == "started", not_(standings.IS_STORED))
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
    row = db.execute(_SERIES_ROW, key).first()
    if row is None:
        raise NotFound("Series", series_id)
    series = series_item(row)
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
        mean=_plain_number(sum(positive) / len(positive)) if positive else None,
        median=_plain_number(statistics.median(positive)) if positive else None,
        count=len(positive),
    )


def _plain_number(value: float) -> Number:
    return int(value) if value == int(value) else value


def _people(
    db: Connection, key: Mapping[str, int], viewer: AuthenticatedCaller | None
) -> tuple[dict[int, int], dict[int, str]]:
    """Player id -> the organizer whose book they are in, for all of the series; and player id -> name, for
    those whose statistics this viewer may see, by id.
    """
    columns = (_PLAYER.player_id, _PLAYER.organizer_id, _PLAYER.name, players.shows_stats_to(viewer))
    statement = players.player_rows().with_only_columns(*columns)
    rows = db.execute(
        statement.where(is_among(_PLAYER.player_id, _PLAYERS)).order_by(_PLAYER.player_id), key
    ).all()
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


def attendances(db: Connection, series_id: int) -> Counter[int]:
    """Player id -> number of tournaments attended."""
    return Counter(chain.from_iterable(_attended_nights(db, series_id).values()))


def attendees(
    db: Connection, series_id: int, count: int, viewer: AuthenticatedCaller | None
) -> tuple[Player, ...]:
    """The players who attended exactly this many tournaments, by id. Raises NotFound.

    Exactly, because the list explains one number of `playerAttendances`.
    """
    key = {"series_id": series_id}
    if db.execute(_SERIES_ROW, key).first() is None:
        raise NotFound("Series", series_id)
    attended = [player_id for player_id, nights in attendances(db, series_id).items() if nights == count]
    statement = players.player_rows().where(_PLAYER.player_id.in_(attended), players.shows_stats_to(viewer))
    statement = statement.order_by(_PLAYER.player_id).limit(PLAYERS_MAX)
    return tuple(players.player_item(row, viewer) for row in db.execute(statement).all())


ITEMS_MAX = 500
_OCCASION = tables.occasion.c
OCCASION_ROW = RowMapper(
    _OCCASION.occasion_id,
    _OCCASION.organizer_id,
    _OCCASION.location_id,
    _OCCASION.name,
    _OCCASION.status,
    _OCCASION.contact_email,
    _OCCASION.start_utc,
    _OCCASION.start_local,
    _OCCASION.end_utc,
    _OCCASION.end_local,
    _OCCASION.registration_utc,
    _OCCASION.registration_local,
    _OCCASION.timezone,
    _OCCASION.layout,
    _OCCASION.layout_order,
    _OCCASION.description,
    _OCCASION.description_collapse,
    _OCCASION.description_preview_html,
    _OCCASION.description_html,
    _OCCASION.banner,
    location=venues_reads.LOCATIONS_ROW,
)
_DETAILED_OCCASION = RowMapper(
    tables.shortcut.c.shortcut_id, tables.shortcut.c.slug, occasion=OCCASION_ROW, organizer=users.ROW
)


class OccasionQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/events. Source: wire.yaml."""

    page: PageNumber = 1


def occasion_rows(mapper: RowMapper = OCCASION_ROW) -> Select[Any]:
    """A query of ROW, or of a mapper with more columns, for all occasions with their locations."""
    return (
        select(*mapper.columns)
        .select_from(tables.occasion)
        .outerjoin(tables.location, tables.location.c.location_id == _OCCASION.location_id)
    )


def occasion_item(row: NamedRow) -> OccasionListItem:
    """The occasion in a row of ROW, as lists and tournaments show it."""
    return OccasionListItem(**_occasion_fields(row), is_favorite=None)


def _occasion_fields(row: NamedRow) -> dict[str, Any]:
    return {
        "event_id": row.occasion_id,
        "organizer_id": row.organizer_id,
        "location_id": row.location_id,
        "name": row.name,
        "status": row.status,
        "contact_email": row.contact_email,
        "start_utc": base.iso(row.start_utc),
        "start_local": row.start_local,
        "end_utc": base.iso_or_none(row.end_utc),
        "end_local": row.end_local,
        "registration_utc": base.iso_or_none(row.registration_utc),
        "registration_local": row.registration_local,
        "timezone": row.timezone,
        "layout": row.layout,
        "layout_order": row.layout_order,
        "description": row.description,
        "description_collapse": row.description_collapse,
        "description_preview_html": row.description_preview_html,
        "description_html": row.description_html,
        "banner": row.banner,
        "location": venues_reads.location_or_none(row.location),
    }


def occasions_page(db: Connection, query: OccasionQuery) -> PageRows[OccasionListItem]:
    """One page of the occasions, newest first."""
    refuse_deep_pagination(query.page, PER_PAGE)
    total = db.execute(select(func.count()).select_from(tables.occasion)).scalar_one()
    statement = (
        occasion_rows()
        .order_by(_OCCASION.occasion_id.desc())
        .limit(PER_PAGE)
        .offset(PER_PAGE * (query.page - 1))
    )
    return PageRows([occasion_item(row) for row in OCCASION_ROW.rows(db.execute(statement))], total)


_OCCASION_QUERY = (
    occasion_rows(_DETAILED_OCCASION)
    .join(tables.user, tables.user.c.user_id == _OCCASION.organizer_id)
    .outerjoin(tables.shortcut, tables.shortcut.c.occasion_id == _OCCASION.occasion_id)
    .where(_OCCASION.occasion_id == bindparam("occasion_id"))
    .order_by(tables.shortcut.c.shortcut_id)
    .limit(1)
)


def find_occasion(db: Connection, occasion_id: int, viewer: AuthenticatedCaller | None) -> Occasion:
    """The occasion with its organizer, links and tournaments. Raises NotFound."""
    stored = db.execute(_OCCASION_QUERY, {"occasion_id": occasion_id}).first()
    if stored is None:
        raise NotFound("Event", occasion_id)
    row = _DETAILED_OCCASION.row(stored)
    links, link_ids = _load_links(db, occasion_id)
    entries, entry_ids = _load_entries(db, occasion_id)
    return Occasion(
        **_occasion_fields(row.occasion),
        # The service has no favourites.
        is_favorite=False,
        organizer=users.user_item(row.organizer, viewer),
        links=links,
        link_ids=link_ids,
        event_tournaments=entries,
        event_tournament_ids=entry_ids,
        tournaments=_load_tournaments(db, occasion_id, viewer),
        shortcut_id=row.shortcut_id,
        shortcut_slug=row.slug,
    )


def _load_links(db: Connection, occasion_id: int) -> tuple[tuple[OccasionLink, ...], tuple[int, ...]]:
    """The links by id, and their ids in the organizer's order."""
    link = tables.occasion_link.c
    columns = (link.link_id, link.user_id, link.label, link.url, link.is_registration, link.embed)
    statement = (
        select(*columns, link.place)
        .where(link.occasion_id == occasion_id)
        .order_by(link.link_id)
        .limit(ITEMS_MAX)
    )
    rows = db.execute(statement).all()
    links = tuple(
        OccasionLink(
            link_id=id_, user_id=user_id, label=label, url=url, is_registration=is_registration, embed=embed
        )
        for id_, user_id, label, url, is_registration, embed, _ in rows
    )
    return links, _ids_by_place([(row.place, row.link_id) for row in rows])


def _load_entries(db: Connection, occasion_id: int) -> tuple[tuple[OccasionTournament, ...], tuple[int, ...]]:
    """The tournaments of the occasion by id, and their ids in the organizer's order."""
    entry = tables.occasion_tournament.c
    statement = select(tables.occasion_tournament).where(entry.occasion_id == occasion_id)
    rows = db.execute(statement.order_by(entry.event_tournament_id).limit(ITEMS_MAX)).all()
    return tuple(_occasion_tournament(row) for row in rows), _ids_by_place(
        [(row.place, row.event_tournament_id) for row in rows]
    )


def _occasion_tournament(row: Row[Any]) -> OccasionTournament:
    external = dict.fromkeys(_EXTERNAL_FIELDS.values()) | {
        _EXTERNAL_FIELDS[key]: value for key, value in row.external.items()
    }
    return OccasionTournament(
        event_tournament_id=row.event_tournament_id,
        event_id=row.occasion_id,
        user_id=row.user_id,
        tournament_id=row.tournament_id,
        labels=row.labels,
        label_color=row.label_color,
        player_limit=row.player_limit,
        tgp=row.tgp,
        **external,
    )


# The fields of a tournament on another site are stored under their wire names.
_EXTERNAL_FIELDS = {
    info.encode_name: info.name
    for info in msgspec.structs.fields(OccasionTournament)
    if info.name.startswith("external_")
}


def _ids_by_place(numbered: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    return tuple(id_ for _, id_ in sorted(numbered))


def _load_tournaments(
    db: Connection, occasion_id: int, viewer: AuthenticatedCaller | None
) -> tuple[Tournament, ...]:
    entry = tables.occasion_tournament.c
    statement = (
        tournaments.tournament_rows()
        .join(tables.occasion_tournament, entry.tournament_id == tables.tournament.c.tournament_id)
        .where(entry.occasion_id == occasion_id)
        .order_by(entry.event_tournament_id)
        .limit(ITEMS_MAX)
    )
    return tuple(tournaments.tournament_items(db, statement, viewer))
