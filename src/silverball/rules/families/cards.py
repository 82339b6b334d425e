"""Cards: a fixed number of single player games on different arenas, scored as one. Source: formats, 14.19.

A card is opened by its first score and completes when it is full. A voided card takes its games with it.
"""

from collections.abc import Sequence
from datetime import datetime

from silverball.kit.errors import Conflict, NotFound
from silverball.kit.values import replace
from silverball.rules.mechanics import attempts
from silverball.rules.mechanics.entries import attempts_of_player
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import (
    CardChanged,
    CardDeleted,
    CardOpened,
    Change,
    SinglePlayerGameChanged,
    SinglePlayerGameDeleted,
    changes_between,
)
from silverball.rules.model.part_index import find_by_id
from silverball.rules.model.tournament import Card, SinglePlayerGame, Tournament


class ArenaAlreadyOnCard(Conflict):
    sentence = "{arena} is on card {card} already. Choose another arena."


class CardIsFull(Conflict):
    sentence = "Card {card} has all its games. Record the one that is being played."


class PlayerFillsOtherCard(Conflict):
    sentence = (
        "{player} is filling card {other}: card {card} cannot be opened again. Complete or void card "
        "{other} first."
    )


class CardAlreadyVoided(Conflict):
    sentence = "Card {card} is voided already."


class CardNotVoided(Conflict):
    sentence = "Card {card} is not voided."


def find_card(tournament: Tournament, card_id: int) -> Card:
    """A card of the tournament. Raises NotFound."""
    card = find_by_id(tournament.cards, "card_id", card_id)
    if card is None:
        raise NotFound("Card", card_id)
    return card


def cards_of_player(tournament: Tournament, player_id: int) -> Sequence[Card]:
    """All cards of a player, voided ones too."""
    return tournament.cards_by_player.get(player_id, ())


def card_in_progress(tournament: Tournament, player_id: int) -> Card | None:
    """The only card that a player is filling, if any."""
    for card in cards_of_player(tournament, player_id):
        if card.status == "started" and not card.is_voided:
            return card
    return None


def games_on_card(tournament: Tournament, card_id: int) -> list[SinglePlayerGame]:
    """The games on a card, in the order in which they began."""
    card = find_by_id(tournament.cards, "card_id", card_id)
    # A card's games are all of one player.
    among = tournament.single_player_games if card is None else attempts_of_player(tournament, card.player_id)
    games = [attempt for attempt in among if attempt.card_id == card_id]
    return sorted(games, key=lambda game: game.game_index or 0)


def new_card(player_id: int, now: datetime) -> Card:
    """An empty card, not opened yet."""
    return Card(card_id=-1, player_id=player_id, status="started", created_at=now, updated_at=now)


def require_room_on_card(tournament: Tournament, card: Card, arena_id: int, *, games_per_card: int) -> None:
    """Refuse an arena that is on the card already, or a full card. Raises Conflict."""
    games = games_on_card(tournament, card.card_id)
    if any(game.arena_id == arena_id for game in games):
        raise ArenaAlreadyOnCard(arena=arena_id, card=card.card_id)
    if len(games) >= games_per_card:
        raise CardIsFull(card=card.card_id)


def update_card(
    tournament: Tournament, made: Sequence[Change], card_id: int, *, games_per_card: int, now: datetime
) -> list[Change]:
    """These changes with their consequences for the card: full, open again, or deleted with its last game.

    Raises Conflict when it would open again while the player fills another card.
    """
    after = apply_changes(tournament, made)
    card = find_card(after, card_id)
    games = games_on_card(after, card_id)
    if not games:
        return [*made, CardDeleted(card)]
    is_full = sum(game.status == "completed" for game in games) >= games_per_card
    if not is_full and card.status == "completed" and not card.is_voided:
        _require_no_other_card(after, card)
    status = replace(card, status="completed" if is_full else "started", updated_at=now)
    return [*made, *changes_between(CardChanged, card, status)] if made else []


def _require_no_other_card(tournament: Tournament, card: Card) -> None:
    other = card_in_progress(tournament, card.player_id)
    if other is not None and other.card_id != card.card_id:
        raise PlayerFillsOtherCard(player=card.player_id, other=other.card_id, card=card.card_id)


def open_card(card: Card) -> list[Change]:
    """Open this card."""
    return [CardOpened(card)]


def void_card(tournament: Tournament, card_id: int, now: datetime) -> list[Change]:
    """Void a card with its games; it stays used up. Raises Conflict for a voided one."""
    card = find_card(tournament, card_id)
    if card.is_voided:
        raise CardAlreadyVoided(card=card_id)
    changes: list[Change] = [CardChanged(card, replace(card, is_voided=True, updated_at=now))]
    for attempt in games_on_card(tournament, card_id):
        # What is being played is given up: its score could not be recorded any more.
        is_over = attempt.status == "completed"
        changes += attempts.void_attempt(attempt, now) if is_over else [SinglePlayerGameDeleted(attempt)]
    return changes


def unvoid_card(tournament: Tournament, card_id: int, now: datetime) -> list[Change]:
    """Count the card and its games again. Raises Conflict while the player fills another card."""
    card = find_card(tournament, card_id)
    if not card.is_voided:
        raise CardNotVoided(card=card_id)
    if card.status != "completed":
        _require_no_other_card(tournament, card)
    return [
        CardChanged(card, replace(card, is_voided=False, updated_at=now)),
        *(
            SinglePlayerGameChanged(attempt, replace(attempt, is_voided=False, updated_at=now))
            for attempt in games_on_card(tournament, card_id)
        ),
    ]


def delete_card(tournament: Tournament, card_id: int) -> list[Change]:
    """Delete the card with its games; its entry is free again."""
    card = find_card(tournament, card_id)
    games = games_on_card(tournament, card_id)
    return [*(SinglePlayerGameDeleted(game) for game in games), CardDeleted(card)]


def delete_empty_cards(tournament: Tournament) -> list[Change]:
    """Delete cards that lost their only game when the tournament closed; voided ones stay used up."""
    return [
        CardDeleted(card)
        for card in tournament.cards
        if not card.is_voided and not games_on_card(tournament, card.card_id)
    ]
