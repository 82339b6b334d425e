"""Games of two to four entrants: the games of a tournament, pages over tournaments, one game.

Whose account a player is says the claim of now, in every game that they ever played.

A list of games takes three statements: games, seats, suggestions. Rows are grouped in one pass, because
uncached lists are read every second of a tournament night.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from types import MappingProxyType, SimpleNamespace
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Integer,
    Select,
    Text,
    and_,
    bindparam,
    cast,
    func,
    or_,
    select,
    type_coerce,
)

from silverball.kit.errors import Invalid, NotFound, WrongFormat
from silverball.kit.http.fields import IGNORED_WHEN_INVALID
from silverball.kit.http.query import PageNumber, Query
from silverball.kit.values import compile_builder
from silverball.rules.model import fields
from silverball.rules.model import tournament as rules
from silverball.rules.model.part_index import find_by_id
from silverball.rules.ranking.standing import StoredResult
from silverball.rules.ranking.summaries import GameRecord
from silverball.service.core.calls import PageRows, refuse_deep_pagination
from silverball.service.tournaments.reads import tournaments
from silverball.service.venues import reads as venues_reads
from silverball.store.database.conditions import is_among
from silverball.store.database.statements import NamedRow, RowMapper, Statement, rows_of_all
from silverball.store.tables import game, game_player, player, round_, suggestion, tournament
from silverball.store.tournament import rows as tournament_rows
from silverball.store.tournament.loaded import LoadedTournament
from silverball.store.types import IsoText, PointsText, encode_hundredths, points_text
from silverball_wire import base
from silverball_wire.arenas import Arena
from silverball_wire.base import ID_MAX, Id
from silverball_wire.games import Game, Leg, Suggestion
from silverball_wire.values import GameStatus

PAGE_SIZE = 100
ROUNDS_MAX = 50
LATEST = "latest"
ACTIVE_OR_LATEST = "activeOrLatest"

_SHOWN = fields.shown_columns(fields.GAME)
# How columns of these kinds are read: moments straight into the texts of the interface, flags as in SQLite.
_READ_AS = {"moment": IsoText, "flag": Integer}
ROW = RowMapper(
    *(
        type_coerce(game.c[field.stored_in], _READ_AS[field.kind])
        if field.kind in _READ_AS
        else game.c[field.stored_in]
        for field in _SHOWN
    )
)


def _zero_for_none(round_id: int | None) -> int:
    """The id of a round; games of formats without rounds have round 0 on the wire."""
    return round_id or 0


def _true_or_unset(flag: int | None) -> bool | UnsetType:
    """The mark of a tiebreak game, which other games do not have."""
    return True if flag else UNSET


_build_game: Callable[..., Game] = compile_builder(
    Game,
    fields.published_sources(
        _SHOWN, {"flag": bool, "round_id": _zero_for_none, "is_tiebreak": _true_or_unset}
    ),
    others=("player_ids", "user_ids", "result_positions", "result_points", "result_scores", "suggestions"),
)
SEAT_ROW = RowMapper(
    game_player.c.game_id,
    game_player.c.player_id,
    player.c.claimed_by.label("user_id"),
    game_player.c.result_position,
    type_coerce(game_player.c.points, PointsText),
    # A score is text in a game, a number in a single player game.
    cast(game_player.c.score, Text).label("score"),
)
SUGGESTION_ROW = RowMapper(
    suggestion.c.game_id,
    suggestion.c.suggestion_id,
    suggestion.c.tournament_id,
    suggestion.c.player_id,
    suggestion.c.user_id,
    suggestion.c.results,
    suggestion.c.arena_id,
    suggestion.c.scores,
    suggestion.c.scorbit_data,
    suggestion.c.partial,
)
# Built once, because building a statement costs as much as running a small one.
GAMES = select(*ROW.columns).order_by(game.c.game_id)
SEATS = (
    select(*SEAT_ROW.columns)
    .join(player, player.c.player_id == game_player.c.player_id)
    .order_by(game_player.c.game_id, game_player.c.slot)
)
SUGGESTIONS = select(*SUGGESTION_ROW.columns).order_by(suggestion.c.game_id, suggestion.c.suggestion_id)
_TOURNAMENT: BindParameter[int] = bindparam("tournament_id")
ALL_GAMES = Statement(GAMES.where(game.c.tournament_id == _TOURNAMENT), is_list=True)
ALL_SEATS = Statement(SEATS.where(game_player.c.tournament_id == _TOURNAMENT), is_list=True)
ALL_SUGGESTIONS = Statement(SUGGESTIONS.where(suggestion.c.tournament_id == _TOURNAMENT), is_list=True)
GAMES_BY_ID = Statement(GAMES.where(is_among(game.c.game_id, "ids")), mapper=ROW)
PARTS_OF_GAMES = {
    "games": GAMES_BY_ID,
    "seats": Statement(SEATS.where(is_among(game_player.c.game_id, "ids")), mapper=SEAT_ROW),
    "suggestions": Statement(SUGGESTIONS.where(is_among(suggestion.c.game_id, "ids")), mapper=SUGGESTION_ROW),
}
_GAME_ID = attrgetter("game_id")
# Columns of a game and of a suggestion that the rules do not know.
_NOT_IN_RULES: Mapping[str, Any] = MappingProxyType(
    dict.fromkeys(
        ("challenge_id", "scorbit_id", "scorbit_log", "scorbit_verified", "arena_id", "scorbit_data")
    )
)
NO_SEATS = SEAT_ROW.row(((),) * len(SEAT_ROW.columns))
Condition = ColumnElement[bool]


class GameNotInTournament(WrongFormat):
    sentence = "Game not in tournament"


class TournamentGamesQuery(Query, frozen=True, kw_only=True):
    """Parameters of the games of one tournament."""

    round: Annotated[str, Meta(max_length=1100)] | None = None
    """Id of a round, several with commas, `latest`, or `activeOrLatest`: only their games."""
    player: Id | None = None
    arena: Id | None = None
    bank: Id | None = None
    status: Annotated[GameStatus, IGNORED_WHEN_INVALID] | None = None
    """Only games in this state."""
    at: Id | None = None
    """Id of an action of the journal: the games as they were after it. Without it, as they are now."""


class GamesQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/games (limits: interface section 8)."""

    tournaments: Annotated[tuple[Id, ...], Meta(max_length=25)] = ()
    """Ids of the tournaments; these or `series` are needed."""
    series: Annotated[tuple[Id, ...], Meta(max_length=5)] = ()
    """Ids of series: games of all their tournaments."""
    ids: Annotated[tuple[Id, ...], Meta(max_length=50)] = ()
    round: Id | None = None
    player: Id | None = None
    arena: Id | None = None
    bank: Id | None = None
    status: Annotated[GameStatus, IGNORED_WHEN_INVALID] | None = None
    """Only games in this state."""
    page: PageNumber = 1


def games_in_tournament(db: Connection, tournament_id: int, query: TournamentGamesQuery) -> tuple[Game, ...]:
    """The games that pass the filters, by id. Raises NotFound for an unknown tournament."""
    filters = _filter_conditions(query, [tournament_id])
    if query.round is not None:
        filters.append(_rounds_condition(tournament_id, query.round))
    games = _load_games(db, tournament_id, filters)
    if not games:
        tournaments.require_tournament(db, tournament_id)
    return games


def started_games(db: Connection, tournament_id: int) -> tuple[Game, ...]:
    """Games in progress, by id, without suggestions."""
    return _load_games(db, tournament_id, [game.c.status == "started"], with_suggestions=False)


def selected_games(db: Connection, tournament_id: int, game_ids: Sequence[int]) -> tuple[Game, ...]:
    """Those of the given games that are in the tournament, by id."""
    found = rows_of_all(db, PARTS_OF_GAMES, ids=game_ids)
    seats = SEAT_ROW.grouped(found["seats"])
    suggestions = _group_suggestions(found["suggestions"])
    own = [row for row in found["games"] if row.tournament_id == tournament_id]
    return tuple([_game_item(row, seats, suggestions) for row in own])


def with_arenas(db: Connection, games: Sequence[Game]) -> dict[int, Game]:
    """Game id -> the game with its arena."""
    arena_ids = {game_.arena_id for game_ in games if game_.arena_id is not None}
    if not arena_ids:
        return {game_.game_id: game_ for game_ in games}
    arenas_by_id = {arena.arena_id: arena for arena in venues_reads.existing_arenas(db, sorted(arena_ids))}
    return {game_.game_id: _with_arena(game_, arenas_by_id) for game_ in games}


def _with_arena(game_: Game, arenas_by_id: Mapping[int, Arena]) -> Game:
    """The game with its arena; a game without one has no such member, as clients take null for a fault."""
    arena = UNSET if game_.arena_id is None else arenas_by_id.get(game_.arena_id, UNSET)
    return msgspec.structs.replace(game_, arena=arena)


def games_page(db: Connection, query: GamesQuery) -> PageRows[Game]:
    """One page of the games of some tournaments or series, by id.

    Raises Invalid when the query names neither.
    """
    conditions = _page_conditions(query)
    refuse_deep_pagination(query.page, PAGE_SIZE)
    total = db.execute(select(func.count()).select_from(game).where(*conditions)).scalar_one()
    # The sum keeps PostgreSQL from reading all games by id until it meets enough of these.
    ids = select(game.c.game_id).where(*conditions).order_by(game.c.game_id + 0)
    game_ids = db.execute(ids.limit(PAGE_SIZE).offset(PAGE_SIZE * (query.page - 1))).scalars().all()
    games = ROW.rows(db.execute(GAMES.where(is_among(game.c.game_id, game_ids))))
    seats = _load_seats(db, is_among(game_player.c.game_id, game_ids))
    suggestions = _load_suggestions(db, is_among(suggestion.c.game_id, game_ids))
    return PageRows([_game_item(row, seats, suggestions) for row in games], total)


def find_game(db: Connection, tournament_id: int, game_id: int) -> Game:
    """A game with its arena. Raises NotFound, and WrongFormat for a game of another tournament."""
    by_id = with_arenas(db, selected_games(db, tournament_id, [game_id]))
    if not by_id:
        require_game(db, tournament_id, game_id)
    return by_id[game_id]


def require_game(db: Connection, tournament_id: int, game_id: int) -> None:
    """Raise NotFound for an unknown tournament or game, and WrongFormat for a game of another tournament."""
    tournaments.require_tournament(db, tournament_id)
    found = GAMES_BY_ID.rows(db, ids=[game_id])
    if not found:
        raise NotFound("Game", game_id)
    if found[0].tournament_id != tournament_id:
        raise GameNotInTournament


def _load_games(
    db: Connection, tournament_id: int, filters: list[Condition], *, with_suggestions: bool = True
) -> tuple[Game, ...]:
    if not filters:
        return _load_all_games(db, tournament_id, with_suggestions=with_suggestions)
    conditions = [game.c.tournament_id == tournament_id, *filters]
    games = ROW.rows(db.execute(GAMES.where(*conditions)))
    seats = _load_seats(db, game_player.c.game_id.in_(select(game.c.game_id).where(*conditions)))
    suggestions = None
    if with_suggestions:
        suggestions = _load_suggestions(db, suggestion.c.tournament_id == tournament_id)
    return tuple([_game_item(row, seats, suggestions) for row in games])


def _load_all_games(db: Connection, tournament_id: int, *, with_suggestions: bool) -> tuple[Game, ...]:
    """All games of a tournament, by prepared statements: the list that every screen loads."""
    games = ALL_GAMES.rows(db, tournament_id=tournament_id)
    seats = ALL_SEATS.grouped(db, tournament_id=tournament_id)
    suggestions = None
    if with_suggestions:
        suggestions = _group_suggestions(ALL_SUGGESTIONS.rows(db, tournament_id=tournament_id))
    return tuple([_game_item(row, seats, suggestions) for row in games])


def _filter_conditions(
    query: TournamentGamesQuery | GamesQuery, tournament_ids: Sequence[int] | Select[tuple[int]]
) -> list[Condition]:
    """The filters that both lists share, for games of these tournaments."""
    filters: list[Condition] = []
    if query.player is not None:
        theirs = select(game_player.c.game_id).where(
            game_player.c.player_id == query.player, is_among(game_player.c.tournament_id, tournament_ids)
        )
        filters.append(is_among(game.c.game_id, theirs))
    if query.arena is not None:
        filters.append(game.c.arena_id == query.arena)
    if query.bank is not None:
        filters.append(game.c.bank_id == query.bank)
    if query.status is not None:
        filters.append(game.c.status == query.status)
    return filters


def _page_conditions(query: GamesQuery) -> list[Condition]:
    if not query.tournaments and not query.series:
        raise Invalid(
            {
                "tournaments": ["The tournaments field is required when series is not present."],
                "series": ["The series field is required when tournaments is not present."],
            }
        )
    within = select(tournament.c.tournament_id).where(tournament.c.series_id.in_(query.series))
    conditions = _filter_conditions(query, within if query.series else query.tournaments)
    if query.tournaments:
        conditions.append(game.c.tournament_id.in_(query.tournaments))
    if query.series:
        conditions.append(is_among(game.c.tournament_id, within))
    if query.ids:
        conditions.append(game.c.game_id.in_(query.ids))
    if query.round is not None:
        conditions.append(game.c.round_id == query.round)
    return conditions


def _rounds_condition(tournament_id: int, text: str) -> Condition:
    """The rounds in the `round` parameter: ids, the newest one, or those in progress."""
    if text not in (LATEST, ACTIVE_OR_LATEST):
        return game.c.round_id.in_(round_ids(text))
    rounds = select(round_.c.round_id).where(round_.c.tournament_id == tournament_id)
    newest = rounds.order_by(round_.c.round_index.desc(), round_.c.round_id.desc()).limit(1).scalar_subquery()
    if text == LATEST:
        return game.c.round_id == newest
    active = rounds.where(round_.c.status == "started")
    return or_(game.c.round_id.in_(active), and_(~active.exists(), game.c.round_id == newest))


def round_ids(text: str) -> list[int]:
    """The ids in the `round` parameter. Raises Invalid."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if len(words) > ROUNDS_MAX:
        raise Invalid({"round": [f"The round field must not have more than {ROUNDS_MAX} items."]})
    if not words or not all(_is_id(word) for word in words):
        raise Invalid({"round": ["The selected round is invalid."]})
    return [int(word) for word in words]


def _is_id(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= 19 and 1 <= int(word) <= ID_MAX


# Game id -> the columns of SEAT_ROW, each a tuple in playing order.
Seats = dict[int, NamedRow]
Suggestions = dict[int, tuple[NamedRow, ...]]


def _load_seats(db: Connection, seated: Condition) -> Seats:
    return SEAT_ROW.grouped(db.execute(SEATS.where(seated)))


def _load_suggestions(db: Connection, suggested: Condition) -> Suggestions:
    return _group_suggestions(SUGGESTION_ROW.rows(db.execute(SUGGESTIONS.where(suggested))))


def _group_suggestions(suggested: Sequence[NamedRow]) -> Suggestions:
    return {game_id: tuple(grouped) for game_id, grouped in groupby(suggested, _GAME_ID)}


def _game_item(row: NamedRow, seats: Seats, suggestions: Suggestions | None) -> Game:
    seat_columns: NamedRow = seats.get(row.game_id, NO_SEATS)
    return _build_game(
        row,
        player_ids=seat_columns.player_id,
        user_ids=seat_columns.user_id,
        result_positions=seat_columns.result_position,
        result_points=seat_columns.points,
        result_scores=seat_columns.score,
        suggestions=UNSET
        if suggestions is None
        else _suggestion_items(suggestions.get(row.game_id, ()), row.round_id or 0),
    )


def shape_game(
    tournament_id: int,
    game_: rules.Game,
    users: Mapping[int, int | None],
    suggestions: Sequence[rules.Suggestion] = (),
) -> Game:
    """A game of a snapshot, from the rows that are stored of it. Takes player id -> account of the player."""
    values = {**_NOT_IN_RULES, **tournament_rows.game_values(game_), "tournament_id": tournament_id}
    for name in ("started_at", "waiting_since"):
        values[name] = base.iso_or_none(values[name])
    seats = SimpleNamespace(
        player_id=game_.player_ids,
        user_id=tuple(map(users.get, game_.player_ids)),
        result_position=game_.result_positions,
        points=tuple([points_text(encode_hundredths(points)) for points in game_.result_points]),
        score=tuple([None if score is None else str(score) for score in game_.result_scores]),
    )
    suggested = [
        SimpleNamespace(
            **_NOT_IN_RULES, **tournament_rows.suggestion_values(each), tournament_id=tournament_id
        )
        for each in suggestions
    ]
    game_id = game_.game_id
    return _game_item(SimpleNamespace(**values), {game_id: seats}, {game_id: tuple(suggested)})


def _suggestion_items(suggested: tuple[NamedRow, ...], round_id: int) -> tuple[Suggestion, ...]:
    return tuple([_suggestion_item(row, round_id) for row in suggested])


def _suggestion_item(row: NamedRow, round_id: int) -> Suggestion:
    return Suggestion(
        suggestion_id=row.suggestion_id,
        game_id=row.game_id,
        round_id=round_id,
        tournament_id=row.tournament_id,
        player_id=row.player_id,
        user_id=row.user_id,
        results=tuple(row.results),
        arena_id=row.arena_id,
        scores=row.scores,
        scorbit_data=row.scorbit_data,
        partial=row.partial,
    )


# Games as a change has just left them, for its events and for the answer to who made it.
#
# Where the change wrote all that a game shows, the game is what was written; any other game is read again.


def games_after_changes(
    db: Connection, before: LoadedTournament, after: rules.Tournament, game_ids: Sequence[int]
) -> dict[int, Game]:
    """Game id -> the game with its arena, for those of these games that exist after the changes."""
    known: list[Game] = []
    others: list[int] = []
    for game_id in game_ids:
        game = find_by_id(after.games, "game_id", game_id)
        if game is None:
            continue
        if _is_all_written(before, after, game):
            known.append(shape_game(after.tournament_id, game, _claims_of_players(before.tournament, game)))
        else:
            others.append(game_id)
    if others:
        known += selected_games(db, after.tournament_id, others)
    return with_arenas(db, known)


def _is_all_written(before: LoadedTournament, after: rules.Tournament, game: rules.Game) -> bool:
    """Whether the tournament tells all that the game shows: no report, no fact of an import, no new entrant.

    An entrant who came with these changes may have the claim of an earlier time, from the journal.
    """
    known = before.tournament.entrant_by_id
    return (
        not after.suggestions
        and game.game_id not in before.imported_fact_ids
        and all(player_id in known for player_id in game.player_ids)
    )


def _claims_of_players(tournament: rules.Tournament, game: rules.Game) -> dict[int, int | None]:
    """Player id -> the account that has claimed the player, for the players of a game."""
    entrants = tournament.entrant_by_id
    return {player_id: entrants[player_id].user_id for player_id in game.player_ids}


LEGS = select(game.c.game_id, game.c.tournament_id, game.c.legs)


def legs_of_game(db: Connection, tournament_id: int, game_id: int) -> tuple[Leg, ...]:
    """The single games of a match, in playing order.

    Raises NotFound, and WrongFormat for a game of another tournament.
    """
    own = LEGS.where(game.c.game_id == game_id, game.c.tournament_id == tournament_id)
    row = db.execute(own).one_or_none()
    if row is None:
        require_game(db, tournament_id, game_id)
    return tuple(_leg_items(row))


def find_leg(db: Connection, tournament_id: int, game_id: int, number: int) -> Leg:
    """A single game of a match, counted from 1. Raises as `legs_of_game` does, and NotFound."""
    legs = legs_of_game(db, tournament_id, game_id)
    if not 1 <= number <= len(legs):
        raise NotFound("Leg", number)
    return legs[number - 1]


def legs_in_tournament(db: Connection, tournament_id: int) -> tuple[Leg, ...]:
    """The single games of all matches of a tournament, by match, in playing order."""
    own = LEGS.where(game.c.tournament_id == tournament_id, game.c.legs.is_not(None))
    return tuple(leg for row in db.execute(own.order_by(game.c.game_id)) for leg in _leg_items(row))


def _leg_items(row: Any) -> Iterator[Leg]:
    for number, leg in enumerate(row.legs or (), start=1):
        recorded_at = leg["recorded_at"]
        yield Leg(
            game_id=row.game_id,
            tournament_id=row.tournament_id,
            leg=number,
            arena_id=leg["arena_id"],
            result_positions=tuple(leg["finishing_order"]),
            recorded_at=None if recorded_at is None else base.iso(base.parse_moment(recorded_at)),
        )


_SEATS = RowMapper(
    game_player.c.game_id,
    game_player.c.player_id,
    game_player.c.result_position,
    game_player.c.points,
)
_NO_SEATS = _SEATS.row(((), (), (), ()))


class CompletedGame(Struct, frozen=True):
    """A completed game with its result."""

    game_id: int
    arena_id: int | None
    is_bye: bool
    started_at: datetime | None
    duration_seconds: int | None
    result: StoredResult

    @property
    def record(self) -> GameRecord:
        """The game in the form that the rules summarize."""
        result = self.result
        return GameRecord(
            self.arena_id,
            result.player_ids,
            result.result_positions,
            result.result_points,
            is_bye=self.is_bye,
        )


def completed_games(db: Connection, tournament_id: int) -> list[CompletedGame]:
    """The completed games of a tournament, byes included, by id."""
    rows = select(game.c.game_id, game.c.arena_id, game.c.bye, game.c.started_at, game.c.duration_seconds)
    rows = rows.where(game.c.tournament_id == tournament_id, game.c.status == "completed")
    seated = select(*_SEATS.columns).where(game_player.c.tournament_id == tournament_id)
    seats = _SEATS.grouped(db.execute(seated.order_by(game_player.c.game_id, game_player.c.slot)))
    return [
        CompletedGame(*row, _stored_result(seats.get(row.game_id, _NO_SEATS)))
        for row in db.execute(rows.order_by(game.c.game_id))
    ]


def _stored_result(seats: NamedRow) -> StoredResult:
    return StoredResult(seats.player_id, seats.result_position, seats.points)


def mean_seconds(durations: Iterable[float | None]) -> int | None:
    """The mean of the known durations in whole seconds, halves up; None when none is known."""
    known = [duration for duration in durations if duration is not None]
    return mean_from_total(sum(known), len(known))


def mean_from_total(total: float | None, count: int) -> int | None:
    """The mean from a sum and a count; None when the count is 0."""
    if total is None or count == 0:
        return None
    return int((2 * total + count) // (2 * count))
