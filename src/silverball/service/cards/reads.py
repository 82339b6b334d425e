"""Cards: the list and one card, each with its games and their current points."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta
from sqlalchemy import ColumnElement, Connection, false, func, select, true

from silverball.kit.errors import NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.kit.values import compile_builder
from silverball.rules.model import fields
from silverball.rules.model.tournament import Tournament
from silverball.rules.ranking import bestgame
from silverball.service.pages import PageRows, refuse_deep_pagination
from silverball.service.singleplayer import reads as attempts
from silverball.store.tables import card
from silverball_wire import times
from silverball_wire.base import Id
from silverball_wire.cards import Card
from silverball_wire.singleplayer import SinglePlayerGame
from silverball_wire.values import AttemptStatus, Number

LIMIT_DEFAULT = 25
LIMIT_MAX = 500
_build_card: Callable[..., Card] = compile_builder(
    Card,
    fields.published_sources(
        [field for field in fields.CARD if field.name != "is_best"], {"moment": times.iso}
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
    running = attempts.running_best_game(db, tournament_id)
    best = _best_cards(running)
    conditions = _conditions(tournament_id, query)
    if query.best_game and running is not None:
        conditions.append(card.c.card_id.in_([card_id for card_id, is_best in best.items() if is_best]))
    elif query.best_game:
        conditions.append(card.c.best_game.is_(true()))
    total = db.execute(select(func.count()).select_from(card).where(*conditions)).scalar_one()
    rows = select(card).where(*conditions).order_by(card.c.card_id)
    cards = db.execute(rows.limit(query.limit).offset(query.limit * (query.page - 1))).all()
    games = attempts.games_by_card(db, [row.card_id for row in cards], attempts.current_marks(running))
    return PageRows([_card_item(row, games.get(row.card_id, ()), best) for row in cards], total)


def cards_in_tournament(db: Connection, tournament_id: int) -> tuple[Card, ...]:
    """All cards of a tournament, voided ones included, by id. Raises NotFound."""
    running = attempts.running_best_game(db, tournament_id)
    rows = select(card).where(card.c.tournament_id == tournament_id).order_by(card.c.card_id)
    cards = db.execute(rows).all()
    theirs = select(card.c.card_id).where(card.c.tournament_id == tournament_id)
    games = attempts.games_by_card(db, theirs, attempts.current_marks(running))
    best = _best_cards(running)
    return tuple(_card_item(row, games.get(row.card_id, ()), best) for row in cards)


def find_card(db: Connection, tournament_id: int, card_id: int) -> Card:
    """A card of this tournament. Raises NotFound."""
    running = attempts.running_best_game(db, tournament_id)
    rows = select(card).where(card.c.card_id == card_id, card.c.tournament_id == tournament_id)
    row = db.execute(rows).one_or_none()
    if row is None:
        raise NotFound("Card", card_id)
    games = attempts.games_by_card(db, [card_id], attempts.current_marks(running))
    return _card_item(row, games.get(card_id, ()), _best_cards(running))


def cards_by_id(db: Connection, tournament: Tournament, card_ids: Sequence[int]) -> dict[int, Card]:
    """Card id -> card, for those of the given cards that are in the tournament."""
    running = None if tournament.status == "completed" else tournament
    rows = select(card).where(card.c.tournament_id == tournament.tournament_id, card.c.card_id.in_(card_ids))
    games = attempts.games_by_card(db, card_ids, attempts.current_marks(running))
    best = _best_cards(running)
    return {row.card_id: _card_item(row, games.get(row.card_id, ()), best) for row in db.execute(rows)}


def _best_cards(running: Tournament | None) -> Mapping[int, bool]:
    """Card id -> whether it counts for its player now; empty where that is stored."""
    return {} if running is None else bestgame.is_best_by_card(running)


def _conditions(tournament_id: int, query: CardsQuery) -> list[ColumnElement[bool]]:
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
