"""Single player games: lists, the best of each arena, one game, the games of a card.

The points of a best game depend on all its scores. They are stored when the tournament completes;
before that they are computed here, from the tournament in memory.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta
from sqlalchemy import ColumnElement, Connection, Select, bindparam, false, func, select, true, type_coerce

from silverball.kit.errors import NotAllowed, NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.kit.values import compile_builder
from silverball.rules.model import fields, moments
from silverball.rules.model.tournament import Tournament
from silverball.rules.ranking import bestgame
from silverball.rules.ranking.bestgame import GameMark
from silverball.service.core.calls import PageRows, refuse_deep_pagination
from silverball.service.tournaments.reads import tournaments
from silverball.store.database.conditions import is_among
from silverball.store.database.statements import RowMapper, Statement
from silverball.store.revisions.stamps import Revision
from silverball.store.tables import card, queue_entry, single_player_game, tournament
from silverball.store.tournament import snapshot
from silverball.store.tournament.loaded import LoadedTournament
from silverball.store.types import IsoText, PointsText, points_text
from silverball_wire import base
from silverball_wire.base import Id
from silverball_wire.queues import ArenaQueues, EntriesByArena, QueueEntry
from silverball_wire.singleplayer import Card, SinglePlayerGame
from silverball_wire.values import AttemptStatus, Number

LIMIT_DEFAULT = 25
LIMIT_MAX = 500
TOP_SCORES_EACH = 5
_TOURNAMENT_FACTS = select(
    tournament.c.type, tournament.c.status, tournament.c.revision, tournament.c.stamp
).where(tournament.c.tournament_id == bindparam("tournament_id"))
# Single player game id -> its points and whether it counts.
Marks = Mapping[int, GameMark]
NO_MARKS: Marks = {}

_GAME = single_player_game.c
_SHOWN = fields.shown_columns(fields.SINGLE_PLAYER_GAME)
# How columns of these kinds are read, straight into the texts of the interface.
_READ_AS = {"points": PointsText, "moment": IsoText}
COLUMNS = tuple(
    type_coerce(_GAME[field.stored_in], _READ_AS[field.kind]).label(field.stored_in)
    if field.kind in _READ_AS
    else _GAME[field.stored_in]
    for field in _SHOWN
)
# What marks of a running tournament replace.
_MARKED = ("points", "is_best")
_build_game: Callable[..., SinglePlayerGame] = compile_builder(
    SinglePlayerGame,
    fields.published_sources([field for field in _SHOWN if field.name not in _MARKED], {}),
    others=tuple(str(field.published) for field in _SHOWN if field.name in _MARKED),
)

_ROW = RowMapper(*COLUMNS)
_GAMES_BY_ID = Statement(
    select(*COLUMNS)
    .where(is_among(_GAME.single_player_game_id, "ids"))
    .order_by(_GAME.single_player_game_id),
    mapper=_ROW,
)


class SinglePlayerGameFilters(Query, frozen=True, kw_only=True):
    """The filters of the list and of its CSV."""

    status: AttemptStatus | None = None
    """Only games in this state."""
    best_game: bool = False
    """Whether only games are listed that count for the standings."""
    voided: bool = False
    """Whether voided games are listed too."""
    round: Id | None = None
    player: Id | None = None
    arena: Id | None = None
    order_by: Literal["score"] | None = None
    """`score` lists the highest scores first; without it, the order is that of ids."""


class SinglePlayerGamesQuery(SinglePlayerGameFilters, frozen=True, kw_only=True):
    """Parameters of the single player games of a tournament (limits: interface 4.4 and 8)."""

    page: PageNumber = 1
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = LIMIT_DEFAULT
    ids: Annotated[tuple[Id, ...], Meta(max_length=50)] = ()


def running_best_game(db: Connection, tournament_id: int) -> Tournament | None:
    """The tournament, if its points are still computed from its scores; else None. Raises NotFound."""
    row = db.execute(_TOURNAMENT_FACTS, {"tournament_id": tournament_id}).one_or_none()
    if row is None:
        raise NotFound("Tournament", tournament_id)
    if not tournaments.is_best_game(row.type) or row.status == "completed":
        return None
    return snapshot.load_at_revision(db, tournament_id, Revision(row.revision, row.stamp)).tournament


def current_marks(running: Tournament | None) -> Marks:
    """The current points of the games; empty where points are stored with the games."""
    return NO_MARKS if running is None else bestgame.game_marks(running)


def single_player_games_page(
    db: Connection, tournament_id: int, query: SinglePlayerGamesQuery
) -> PageRows[SinglePlayerGame]:
    """One page of the games that pass the filters. Raises NotFound for an unknown tournament."""
    refuse_deep_pagination(query.page, query.limit)
    running = running_best_game(db, tournament_id)
    marks = current_marks(running)
    conditions = _conditions(tournament_id, query)
    if query.ids:
        conditions.append(_GAME.single_player_game_id.in_(query.ids))
    if running is not None and query.best_game:
        statement = _ordered(select(*COLUMNS).where(*conditions), query)
        games = _best_only(
            [_single_player_game_item(row, marks) for row in db.execute(statement).all()], running
        )
        return PageRows(games[query.limit * (query.page - 1) : query.limit * query.page], len(games))
    conditions += _stored_best_conditions(running, query)
    total = db.execute(select(func.count()).select_from(single_player_game).where(*conditions)).scalar_one()
    rows = _ordered(select(*COLUMNS).where(*conditions), query)
    rows = rows.limit(query.limit).offset(query.limit * (query.page - 1))
    return PageRows([_single_player_game_item(row, marks) for row in db.execute(rows).all()], total)


def single_player_games_in_tournament(
    db: Connection, tournament_id: int, filters: SinglePlayerGameFilters
) -> tuple[SinglePlayerGame, ...]:
    """The games that pass the filters. Raises NotFound for an unknown tournament."""
    running = running_best_game(db, tournament_id)
    marks = current_marks(running)
    conditions = _conditions(tournament_id, filters) + _stored_best_conditions(running, filters)
    rows = _ordered(select(*COLUMNS).where(*conditions), filters)
    games = [_single_player_game_item(row, marks) for row in db.execute(rows).all()]
    return tuple(_best_only(games, running) if filters.best_game else games)


def find_single_player_game(
    db: Connection,
    tournament_id: int,
    single_player_game_id: int,
    *,
    changed: LoadedTournament | None = None,
) -> SinglePlayerGame:
    """A single player game of this tournament. Raises NotFound.

    `changed` is the tournament, where this transaction has changed it already.
    """
    running = (
        running_best_game(db, tournament_id) if changed is None else _running_or_none(changed.tournament)
    )
    marks = current_marks(running)
    for row in _GAMES_BY_ID.rows(db, ids=[single_player_game_id]):
        if row.tournament_id == tournament_id:
            return _single_player_game_item(row, marks)
    raise NotFound("SinglePlayerGame", single_player_game_id)


def single_player_games_by_id(
    db: Connection, tournament: Tournament, single_player_game_ids: Sequence[int]
) -> dict[int, SinglePlayerGame]:
    """Id -> game with its current points, for those of the given games that are in the tournament."""
    marks = current_marks(_running_or_none(tournament))
    return {
        row.single_player_game_id: _single_player_game_item(row, marks)
        for row in _GAMES_BY_ID.rows(db, ids=single_player_game_ids)
        if row.tournament_id == tournament.tournament_id
    }


def _running_or_none(tournament: Tournament) -> Tournament | None:
    is_computed = tournaments.is_best_game(tournament.type) and tournament.status != "completed"
    return tournament if is_computed else None


def top_scores(db: Connection, tournament_id: int) -> tuple[SinglePlayerGame, ...]:
    """The five best scores of each arena, by arena id, best first."""
    marks = current_marks(running_best_game(db, tournament_id))
    place = func.row_number().over(
        partition_by=_GAME.arena_id, order_by=(_GAME.score.desc(), _GAME.single_player_game_id)
    )
    ranked = (
        select(*COLUMNS, place.label("place"))
        .where(
            _GAME.tournament_id == tournament_id,
            _GAME.status == "completed",
            _GAME.voided.is_(false()),
            _GAME.score.is_not(None),
            _GAME.arena_id.is_not(None),
        )
        .subquery()
    )
    best = select(ranked).where(ranked.c.place <= TOP_SCORES_EACH)
    rows = db.execute(best.order_by(ranked.c.arena_id, ranked.c.place)).all()
    return tuple(_single_player_game_item(row, marks) for row in rows)


def games_by_card(
    db: Connection, card_ids: Iterable[int] | Select[tuple[int]], marks: Marks
) -> dict[int, tuple[SinglePlayerGame, ...]]:
    """Card id -> its games in the order of the card."""
    rows = (
        select(*COLUMNS)
        .where(_GAME.card_id.in_(card_ids))
        .order_by(_GAME.card_id, _GAME.game_index, _GAME.single_player_game_id)
    )
    grouped = groupby(db.execute(rows).all(), lambda row: row.card_id)
    return {
        card_id: tuple(_single_player_game_item(row, marks) for row in played) for card_id, played in grouped
    }


def games_on_arena(db: Connection, tournament_id: int, arena_id: int) -> tuple[SinglePlayerGame, ...]:
    """The games on an arena of a tournament, voided ones included, by id. Raises NotFound."""
    marks = current_marks(running_best_game(db, tournament_id))
    rows = select(*COLUMNS).where(_GAME.tournament_id == tournament_id, _GAME.arena_id == arena_id)
    return tuple(
        _single_player_game_item(row, marks)
        for row in db.execute(rows.order_by(_GAME.single_player_game_id)).all()
    )


def _conditions(tournament_id: int, query: SinglePlayerGameFilters) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [_GAME.tournament_id == tournament_id]
    if query.status is not None:
        conditions.append(_GAME.status == query.status)
    if not query.voided:
        conditions.append(_GAME.voided.is_(false()))
    if query.round is not None:
        conditions.append(_GAME.round_id == query.round)
    if query.player is not None:
        conditions.append(_GAME.player_id == query.player)
    if query.arena is not None:
        conditions.append(_GAME.arena_id == query.arena)
    return conditions


def _stored_best_conditions(
    running: Tournament | None, query: SinglePlayerGameFilters
) -> list[ColumnElement[bool]]:
    """The filter `bestGame`, where the marks are stored."""
    return [_GAME.best_game.is_(true())] if query.best_game and running is None else []


def _best_only(games: list[SinglePlayerGame], running: Tournament | None) -> list[SinglePlayerGame]:
    """The games that hold a rank; a no-op where the statement has filtered already."""
    return games if running is None else [game for game in games if game.best_game]


def _ordered(rows: Select[Any], query: SinglePlayerGameFilters) -> Select[Any]:
    if query.order_by == "score":
        rows = rows.order_by(_GAME.score.desc().nulls_last())
    return rows.order_by(_GAME.single_player_game_id)


def _single_player_game_item(row: Any, marks: Marks) -> SinglePlayerGame:
    mark = marks.get(row.single_player_game_id)
    return _build_game(
        row,
        points=row.points if mark is None else points_text(int(mark.points * 100)),
        best_game=row.best_game if mark is None else mark.is_best,
    )


_build_card: Callable[..., Card] = compile_builder(
    Card,
    fields.published_sources(
        [field for field in fields.CARD if field.name != "is_best"], {"moment": base.iso}
    ),
    takes_more=True,
)


class CardsQuery(Query, frozen=True, kw_only=True):
    """Parameters of the cards of a tournament (limits: interface 4.4 and 8)."""

    page: PageNumber = 1
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = LIMIT_DEFAULT
    status: AttemptStatus | None = None
    """Only cards in this state."""
    best_game: bool = False
    """Whether only cards are listed that count for the standings."""
    voided: bool = False
    """Whether voided cards are listed too."""
    player: Id | None = None
    """Id of a player: only their cards."""


def cards_page(db: Connection, tournament_id: int, query: CardsQuery) -> PageRows[Card]:
    """One page of the cards that pass the filters, by id. Raises NotFound for an unknown tournament."""
    refuse_deep_pagination(query.page, query.limit)
    running = running_best_game(db, tournament_id)
    best = _best_cards(running)
    conditions = _card_conditions(tournament_id, query)
    if query.best_game and running is not None:
        conditions.append(card.c.card_id.in_([card_id for card_id, is_best in best.items() if is_best]))
    elif query.best_game:
        conditions.append(card.c.best_game.is_(true()))
    total = db.execute(select(func.count()).select_from(card).where(*conditions)).scalar_one()
    rows = select(card).where(*conditions).order_by(card.c.card_id)
    cards = db.execute(rows.limit(query.limit).offset(query.limit * (query.page - 1))).all()
    games = games_by_card(db, [row.card_id for row in cards], current_marks(running))
    return PageRows([_card_item(row, games.get(row.card_id, ()), best) for row in cards], total)


def cards_in_tournament(db: Connection, tournament_id: int) -> tuple[Card, ...]:
    """All cards of a tournament, voided ones included, by id. Raises NotFound."""
    running = running_best_game(db, tournament_id)
    rows = select(card).where(card.c.tournament_id == tournament_id).order_by(card.c.card_id)
    cards = db.execute(rows).all()
    theirs = select(card.c.card_id).where(card.c.tournament_id == tournament_id)
    games = games_by_card(db, theirs, current_marks(running))
    best = _best_cards(running)
    return tuple(_card_item(row, games.get(row.card_id, ()), best) for row in cards)


def find_card(db: Connection, tournament_id: int, card_id: int) -> Card:
    """A card of this tournament. Raises NotFound."""
    running = running_best_game(db, tournament_id)
    rows = select(card).where(card.c.card_id == card_id, card.c.tournament_id == tournament_id)
    row = db.execute(rows).one_or_none()
    if row is None:
        raise NotFound("Card", card_id)
    games = games_by_card(db, [card_id], current_marks(running))
    return _card_item(row, games.get(card_id, ()), _best_cards(running))


def cards_by_id(db: Connection, tournament: Tournament, card_ids: Sequence[int]) -> dict[int, Card]:
    """Card id -> card, for those of the given cards that are in the tournament."""
    running = None if tournament.status == "completed" else tournament
    rows = select(card).where(card.c.tournament_id == tournament.tournament_id, card.c.card_id.in_(card_ids))
    games = games_by_card(db, card_ids, current_marks(running))
    best = _best_cards(running)
    return {row.card_id: _card_item(row, games.get(row.card_id, ()), best) for row in db.execute(rows)}


def _best_cards(running: Tournament | None) -> Mapping[int, bool]:
    """Card id -> whether it counts for its player now; empty where that is stored."""
    return {} if running is None else bestgame.is_best_by_card(running)


def _card_conditions(tournament_id: int, query: CardsQuery) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [card.c.tournament_id == tournament_id]
    if query.status is not None:
        conditions.append(card.c.status == query.status)
    if not query.voided:
        conditions.append(card.c.voided.is_(false()))
    if query.player is not None:
        conditions.append(card.c.player_id == query.player)
    return conditions


def _card_item(row: Any, games: tuple[SinglePlayerGame, ...], best: Mapping[int, bool]) -> Card:
    return _build_card(
        row,
        best_game=best.get(row.card_id, row.best_game),
        single_player_games=games,
        single_player_game_ids=tuple(game.single_player_game_id for game in games),
        arena_ids=tuple(game.arena_id for game in games),
        points_list=tuple(_points_number(game.points) for game in games),
    )


def _points_number(points: str | None) -> Number | None:
    """Points as a JSON number, whole ones without decimals."""
    if points is None:
        return None
    return int(points[:-3]) if points.endswith(".00") else float(points)


_spot_item: Callable[[Any], QueueEntry] = compile_builder(
    QueueEntry, fields.published_sources(fields.QUEUE_PLACE, {"moment": base.iso_or_none})
)


class NoArenaQueues(NotAllowed):
    sentence = "Tournament is not Best Game."


def queues_by_arena(db: Connection, tournament_id: int, busy_ids: Collection[int]) -> ArenaQueues:
    """The queue of each arena, with those of the busy players who wait in one.

    Raises NotAllowed for a format without such queues.
    """
    if not tournaments.tournament_facts(db, tournament_id).is_best_game:
        raise NoArenaQueues
    spots = waiting_spots(db, tournament_id)
    busy = sorted({spot.player_id for spot in spots}.intersection(busy_ids))
    return ArenaQueues(data=group_by_arena(spots) or (), busy_elsewhere=tuple(busy) or UNSET)


def waiting_spots(db: Connection, tournament_id: int) -> tuple[QueueEntry, ...]:
    """The spots of all waiting players of a tournament, by place, then by id."""
    rows = (
        select(queue_entry)
        .where(queue_entry.c.tournament_id == tournament_id, queue_entry.c.completed_at.is_(None))
        .order_by(queue_entry.c.queue_index, queue_entry.c.queue_id)
    )
    return tuple(_spot_item(row) for row in db.execute(rows).all())


def spots_in_line(
    db: Connection, tournament_id: int, arena_id: int | None, round_id: int | None
) -> tuple[QueueEntry, ...]:
    """The queue of an arena, of a round, or (both None) of the tournament, first in line first."""
    line = {"arena_id": arena_id, "round_id": round_id}
    given = {name: value for name, value in line.items() if value is not None}
    rows = _select_line(*given).rows(db, tournament_id=tournament_id, **given)
    return tuple([_spot_item(row) for row in rows])


@cache
def _select_line(*names: str) -> Statement:
    """The waiting spots of a line that has these ids; a line without an arena or a round has null there."""
    own = queue_entry.c
    return Statement(
        select(queue_entry)
        .where(
            own.tournament_id == bindparam("tournament_id"),
            *(
                own[name] == bindparam(name) if name in names else own[name].is_(None)
                for name in ("arena_id", "round_id")
            ),
            own.completed_at.is_(None),
        )
        .order_by(own.queue_index, own.queue_id)
    )


def find_spot(db: Connection, tournament_id: int, queue_id: int) -> QueueEntry:
    """A spot in a queue of this tournament. Raises NotFound."""
    own = (queue_entry.c.tournament_id == tournament_id, queue_entry.c.queue_id == queue_id)
    row = db.execute(select(queue_entry).where(*own)).one_or_none()
    if row is None:
        raise NotFound("Queue", queue_id)
    return _spot_item(row)


def all_spots(db: Connection, tournament_id: int) -> tuple[QueueEntry, ...]:
    """The spots of waiting players and of those already called, by id."""
    rows = select(queue_entry).where(queue_entry.c.tournament_id == tournament_id)
    return tuple(_spot_item(row) for row in db.execute(rows.order_by(queue_entry.c.queue_id)).all())


def wait_seconds(db: Connection, tournament_id: int) -> list[float]:
    """Seconds that each called player waited."""
    rows = select(queue_entry.c.created_at, queue_entry.c.completed_at).where(
        queue_entry.c.tournament_id == tournament_id,
        queue_entry.c.created_at.is_not(None),
        queue_entry.c.completed_at.is_not(None),
    )
    return [moments.seconds_between(created, completed) for created, completed in db.execute(rows).all()]


def group_by_arena(entries: tuple[QueueEntry, ...]) -> EntriesByArena:
    """Arena id -> the spots in its queue."""
    queues: dict[int, list[QueueEntry]] = {}
    for entry in entries:
        if entry.arena_id is not None:
            queues.setdefault(entry.arena_id, []).append(entry)
    return {arena_id: tuple(queues[arena_id]) for arena_id in sorted(queues)}
