"""Open play on many arenas, one score after the other: shared by best games and cards.

Source: formats, sections 14.18, 14.19 and 18.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from random import Random
from typing import Any

from silverball.kit.errors import Conflict, Invalid
from silverball.kit.values import replace
from silverball.rules.mechanics import attempts, queues
from silverball.rules.mechanics.attempts import attempts_of_player
from silverball.rules.mechanics.shared_room import ArenaBusyElsewhere, PlayerBusyElsewhere
from silverball.rules.model import settings_protocols
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
from silverball.rules.model.outcome import AttemptOutcome, NewAttempt
from silverball.rules.model.part_index import find_by_id, require_by_id
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.tournament import Card, Entrant, SinglePlayerGame, Tournament
from silverball.rules.ranking import bestgame


class QueuesExcludeSuggestions(Conflict):
    sentence = "Queues and results reported by players exclude each other. Turn one of them off first."


class PlayerIsPlaying(Conflict):
    sentence = "{player} is playing single player game {attempt}. Record or delete it first."


class ArenaIsPlayed(Conflict):
    sentence = "{arena} is taken by single player game {attempt}. Record or delete it first."


class AnotherPlayerIsUpOnArena(Conflict):
    sentence = "{player} is up on {arena}. Move or remove that player."


def start(tournament: Tournament, _dice: Random, _now: datetime) -> list[Change]:
    """Make nothing. Raises Conflict when queues and suggested results are both on."""
    if setting_faults(tournament.settings):
        raise QueuesExcludeSuggestions
    return []


def setting_faults(settings: TournamentSettings) -> Mapping[str, str]:
    """Wire key -> sentence, for settings with queues and suggested results."""
    if (
        settings_protocols.uses_queues(settings)
        and settings_protocols.suggestion_mode(settings) != "disabled"
    ):
        return dict.fromkeys(("useQueues", "suggestions"), QueuesExcludeSuggestions.sentence)
    return {}


def defaults_beside(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """No suggested results where players wait in queues."""
    return {"suggestions": "disabled"} if given.get("useQueues") is True else {}


def uses_queues(tournament: Tournament) -> bool:
    """Whether players wait in queues."""
    return settings_protocols.uses_queues(tournament.settings)


def running_attempt(tournament: Tournament, player_id: int, arena_id: int) -> SinglePlayerGame | None:
    """The started single player game of this player on this arena."""
    for attempt in tournament.started_attempts:
        if (attempt.player_id, attempt.arena_id) == (player_id, arena_id):
            return attempt
    return None


def outcome_of_running_attempt(tournament: Tournament, new_attempt: NewAttempt) -> AttemptOutcome | None:
    """The score for the player's running game on the arena; None when it is for another game."""
    playing = running_attempt(tournament, new_attempt.player_id, new_attempt.arena_id)
    if playing is None or new_attempt.score is None:
        return None
    return AttemptOutcome(
        single_player_game_id=playing.single_player_game_id,
        score=new_attempt.score,
        recorded_by=new_attempt.recorded_by,
    )


def require_player_and_arena_free(tournament: Tournament, player_id: int, arena_id: int) -> None:
    """Refuse a player or an arena in another game of the room, or a player who is not up. Raises Conflict."""
    if player_id in tournament.state.busy_player_ids:
        raise PlayerBusyElsewhere(player=player_id)
    if arena_id in tournament.state.busy_arena_ids:
        raise ArenaBusyElsewhere(arena=arena_id)
    for attempt in tournament.started_attempts:
        if attempt.player_id == player_id:
            raise PlayerIsPlaying(player=player_id, attempt=attempt.single_player_game_id)
        if attempt.arena_id == arena_id:
            raise ArenaIsPlayed(arena=arena_id, attempt=attempt.single_player_game_id)
    up = queues.spot_that_is_up(tournament, arena_id=arena_id)
    if up is not None and up.player_id != player_id:
        raise AnotherPlayerIsUpOnArena(player=up.player_id, arena=arena_id)


def create_attempt(
    tournament: Tournament, new_attempt: NewAttempt, now: datetime, *, card_id: int | None, game_index: int
) -> list[Change]:
    """Start the single player game, or complete it when there is a score; a queue spot is done."""
    is_over = new_attempt.score is not None
    attempt = SinglePlayerGame(
        single_player_game_id=-1,
        player_id=new_attempt.player_id,
        status="completed" if is_over else "started",
        arena_id=new_attempt.arena_id,
        card_id=card_id,
        score=new_attempt.score,
        game_index=game_index,
        scorekeeper_id=new_attempt.recorded_by if is_over else None,
        created_at=now,
        updated_at=now,
        started_at=None if is_over else now,
    )
    changes = attempts.open_attempts([attempt])
    for spot in queues.spots_of_player(tournament, new_attempt.player_id):
        if spot.arena_id == new_attempt.arena_id:
            changes += queues.complete_spot(tournament, spot, now)
    return changes


def record_score(tournament: Tournament, outcome: AttemptOutcome, now: datetime) -> list[Change]:
    """Record or correct a score. Points follow from all scores, so none are stored here."""
    if outcome.score is None or outcome.strokes is not None or outcome.rolls or outcome.is_advanced:
        raise Invalid({"score": ["Enter the score: nothing else counts in this tournament."]})
    attempt = attempts.find_attempt(tournament, outcome.single_player_game_id)
    return attempts.record_attempt(attempt, outcome, points=None, now=now)


def leave_queues_when_inactive(
    tournament: Tournament, entrant: Entrant, _dice: Random, _now: datetime
) -> list[Change]:
    """Take an inactive player out of the queues; a game in progress may still be completed."""
    return [] if entrant.is_active else queues.leave_all_queues(tournament, entrant.player_id)


def store_final_marks(tournament: Tournament) -> list[Change]:
    """Store the final points and marks of every score for good. Source: formats, 14.18."""
    marks = bestgame.game_marks(tournament)
    in_progress = {card.card_id for card in tournament.cards if card.status != "completed"}
    changes: list[Change] = []
    for attempt in tournament.single_player_games:
        points, is_best = marks[attempt.single_player_game_id]
        if attempt.card_id in in_progress:
            points = bestgame.NO_MARK.points
        changes += changes_between(
            SinglePlayerGameChanged, attempt, replace(attempt, points=points, is_best=is_best)
        )
    best = bestgame.is_best_by_card(tournament)
    for card in tournament.cards:
        changes += changes_between(CardChanged, card, replace(card, is_best=best[card.card_id]))
    return changes


def clear_marks(tournament: Tournament) -> list[Change]:
    """Clear points and marks, which follow from the scores again."""
    changes: list[Change] = []
    for attempt in tournament.single_player_games:
        changes += changes_between(
            SinglePlayerGameChanged, attempt, replace(attempt, points=None, is_best=False)
        )
    for card in tournament.cards:
        changes += changes_between(CardChanged, card, replace(card, is_best=False))
    return changes


# Cards: a fixed number of single player games on different arenas, scored as one. Source: formats, 14.19.
#
# A card is opened by its first score and completes when it is full. A voided card takes its games with it.


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
    return require_by_id(tournament.cards, "card_id", card_id, "Card")


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


def open_card(player_id: int, now: datetime) -> list[Change]:
    """Open an empty card of a player."""
    card = Card(card_id=-1, player_id=player_id, status="started", created_at=now, updated_at=now)
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
