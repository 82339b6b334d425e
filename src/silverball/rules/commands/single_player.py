"""Commands on single player games, cards and their queues, for organizers and scorekeepers.

Each function returns changes or refuses; results go through `commands.tournament.record_result`.
Source: formats, 14.16 to 14.21, 18 and 19.
"""

from datetime import datetime
from random import Random

from silverball.kit.errors import Conflict, Invalid, Sentence
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.families import amazing_race
from silverball.rules.families import best_game as best_game_family
from silverball.rules.format import PlayKind
from silverball.rules.mechanics import attempts, queues, rounds
from silverball.rules.mechanics.attempts import AttemptRules
from silverball.rules.mechanics.shared_room import PlayerBusyElsewhere
from silverball.rules.model.changes import Change, QueueLeft
from silverball.rules.model.outcome import AttemptOutcome, NewAttempt
from silverball.rules.model.refusals import NoCards, NoSinglePlayerGames, NotAnAmazingRace
from silverball.rules.model.tournament import QueueSpot, SinglePlayerGame, Tournament


class NothingOpenThere(Conflict):
    sentence = "{player} has nothing open to play there. Correct a result instead."


class NothingToPlay(Conflict):
    sentence = "{player} has nothing to play now. Correct the last score instead."


class QueuesNotUsed(Conflict):
    sentence = "This tournament has no queues to join. Turn on useQueues, or record scores directly."


class QueueClosed(Conflict):
    sentence = "The queue of {arena} is closed. Open it or choose another arena."


class PlayerAlreadyInQueue(Conflict):
    sentence = "{player} waits for {arena}. Leave that queue first."


class PlayerMustPlayRound(Conflict):
    sentence = "{player} has to play this round. Set the player inactive to leave."


class AnotherPlayerIsUp(Conflict):
    sentence = "{player} is up. Move or remove that player first."


class NothingToPlayInRound(Conflict):
    sentence = "{player} has nothing to play in this round."


class AttemptsMadeByFormat(Conflict):
    sentence = "The single player games of this tournament are there already: record their results."


class RoundsWithoutArena(Conflict):
    sentence = "This tournament has no rounds to set an arena or a target for."


class ScoresStayWithMachines(Conflict):
    sentence = "Scores leave with their machine in a best game only; here they stay."


def attempt_rules(tournament: Tournament) -> AttemptRules:
    """The format's rules of single player games. Raises WrongFormat for a format without them."""
    found = tournament_commands.format_of(tournament).attempts
    if found is None:
        raise NoSinglePlayerGames
    return found


def open_attempt(tournament: Tournament, new_attempt: NewAttempt, now: datetime) -> list[Change]:
    """Record a score for a player and an arena; without a score, start a game to record later."""
    open_ = attempt_rules(tournament).open
    tournament_commands.require_started(tournament)
    if open_ is None:
        raise AttemptsMadeByFormat
    return open_(tournament, new_attempt, now)


def find_open_attempt(
    tournament: Tournament, player_id: int, *, arena_id: int | None = None, round_id: int | None = None
) -> SinglePlayerGame | None:
    """The open game of a player where the format makes the games; None where they are started by hand.

    Raises NotFound for a stranger, Conflict when nothing is open, Invalid when several games match.
    """
    if attempt_rules(tournament).open is not None:
        return None
    tournament_commands.require_started(tournament)
    tournament_commands.find_entrant(tournament, player_id)
    matching = [
        attempt
        for attempt in tournament.single_player_games
        if attempt.player_id == player_id
        and attempt.status != "completed"
        and arena_id in (None, attempt.arena_id)
        and round_id in (None, attempt.round_id)
    ]
    # A started game is meant rather than a pending one.
    matching = [attempt for attempt in matching if attempt.status == "started"] or matching
    if not matching:
        raise NothingOpenThere(player=player_id)
    if len({attempt.round_id for attempt in matching}) > 1:
        raise Invalid(
            {"roundId": [Sentence("{player} has several open games. Name the round.", player=player_id)]}
        )
    if len(matching) > 1:
        sentence = (
            f"Player {player_id} has several open games in this round. Say on which arena, or use its id."
        )
        raise Invalid({"arenaId": [sentence]})
    return matching[0]


def record_attempt(
    tournament: Tournament, outcome: AttemptOutcome, dice: Random, now: datetime
) -> list[Change]:
    """Record or correct the result of a single player game, with the consequences."""
    attempt_rules(tournament)
    return tournament_commands.record_result(tournament, outcome, dice, now)


def advance_player(
    tournament: Tournament, player_id: int, *, recorded_by: int | None, dice: Random, now: datetime
) -> list[Change]:
    """Advance a player of an amazing race who is above the bar, without an exact score.

    Raises WrongFormat elsewhere and Conflict for a player without an open game.
    """
    if tournament_commands.format_of(tournament).play is not PlayKind.RACE:
        raise NotAnAmazingRace
    tournament_commands.require_started(tournament)
    attempts.require_player(tournament, player_id)
    attempt = amazing_race.find_open_attempt(tournament, player_id)
    if attempt is None:
        raise NothingToPlay(player=player_id)
    outcome = AttemptOutcome(
        single_player_game_id=attempt.single_player_game_id, is_advanced=True, recorded_by=recorded_by
    )
    return record_attempt(tournament, outcome, dice, now)


def start_attempt(tournament: Tournament, single_player_game_id: int, now: datetime) -> list[Change]:
    """Start a pending single player game."""
    rules, attempt = _find_attempt(tournament, single_player_game_id)
    attempts.require_player(tournament, attempt.player_id)
    return rules.start(tournament, attempt, now)


def void_attempt(tournament: Tournament, single_player_game_id: int, now: datetime) -> list[Change]:
    """Void a single player game; it still uses up its entry."""
    rules, attempt = _find_attempt(tournament, single_player_game_id)
    return rules.void(tournament, attempt, now)


def unvoid_attempt(tournament: Tournament, single_player_game_id: int, now: datetime) -> list[Change]:
    """Count a voided single player game again."""
    rules, attempt = _find_attempt(tournament, single_player_game_id)
    return rules.unvoid(tournament, attempt, now)


def delete_attempt(tournament: Tournament, single_player_game_id: int, now: datetime) -> list[Change]:
    """Delete a single player game, or clear its result where the format made the game."""
    rules, attempt = _find_attempt(tournament, single_player_game_id)
    return rules.delete(tournament, attempt, now)


def remove_scores(tournament: Tournament, arena_id: int, now: datetime) -> list[Change]:
    """Delete all games on an arena, whose entries are free again, and take everybody out of its queue.

    Raises Conflict where nobody opens games by hand, and with cards, which keep their games.
    """
    rules, form = attempt_rules(tournament), tournament_commands.format_of(tournament)
    tournament_commands.require_started(tournament)
    if rules.open is None or form.has_cards:
        raise ScoresStayWithMachines
    changes: list[Change] = [QueueLeft(spot) for spot in queues.waiting_spots(tournament, arena_id=arena_id)]
    for attempt in tournament.single_player_games:
        if attempt.arena_id == arena_id:
            changes += rules.delete(tournament, attempt, now)
    return changes


def _find_attempt(
    tournament: Tournament, single_player_game_id: int
) -> tuple[AttemptRules, SinglePlayerGame]:
    form = attempt_rules(tournament)
    tournament_commands.require_started(tournament)
    return form, attempts.find_attempt(tournament, single_player_game_id)


def set_round(
    tournament: Tournament, round_id: int, *, arena_id: int | None, score: int | None, now: datetime
) -> list[Change]:
    """Set the arena of a round (a hole, a frame, a race) and its target; both are replaced."""
    form = attempt_rules(tournament)
    tournament_commands.require_started(tournament)
    attempts.check_score(score)
    round_ = rounds.find_round(tournament, round_id)
    if arena_id is not None and arena_id != round_.arena_id:
        attempts.require_arena(tournament, arena_id)
    if form.set_round is None:
        raise RoundsWithoutArena
    return form.set_round(tournament, round_, arena_id, score, now)


def void_card(tournament: Tournament, card_id: int, now: datetime) -> list[Change]:
    """Void a card with its games; it still uses up its entry."""
    _require_cards(tournament)
    return best_game_family.void_card(tournament, card_id, now)


def unvoid_card(tournament: Tournament, card_id: int, now: datetime) -> list[Change]:
    """Count a voided card again."""
    _require_cards(tournament)
    return best_game_family.unvoid_card(tournament, card_id, now)


def delete_card(tournament: Tournament, card_id: int) -> list[Change]:
    """Delete a card with its games; its entry is free again."""
    _require_cards(tournament)
    return best_game_family.delete_card(tournament, card_id)


def _require_cards(tournament: Tournament) -> None:
    if not tournament_commands.format_of(tournament).has_cards:
        raise NoCards
    tournament_commands.require_started(tournament)


def join_queue(tournament: Tournament, player_id: int, arena_id: int, now: datetime) -> list[Change]:
    """Add a player to an arena's queue. Raises Conflict for a player who waits elsewhere or may not play."""
    form = attempt_rules(tournament)
    tournament_commands.require_started(tournament)
    if not best_game_family.uses_queues(tournament):
        raise QueuesNotUsed
    entrant = attempts.require_player(tournament, player_id)
    arena = attempts.require_arena(tournament, arena_id)
    if arena.is_queue_closed:
        raise QueueClosed(arena=arena_id)
    for spot in queues.spots_of_player(tournament, player_id):
        raise PlayerAlreadyInQueue(player=player_id, arena=spot.arena_id)
    form.check_entries_left(tournament, entrant, arena_id)
    return queues.join_queue(tournament, [player_id], now=now, arena_id=arena_id)


def leave_queue(tournament: Tournament, queue_id: int) -> list[Change]:
    """Give up a spot in an arena's queue."""
    spot = _find_spot(tournament, queue_id)
    if spot.round_id is not None:
        raise PlayerMustPlayRound(player=spot.player_id)
    return queues.leave_queue(tournament, spot)


def move_behind_next(tournament: Tournament, queue_id: int) -> list[Change]:
    """Move a no-show behind the next player."""
    return queues.move_behind_next(tournament, _find_spot(tournament, queue_id))


def start_from_queue(tournament: Tournament, queue_id: int, now: datetime) -> list[Change]:
    """Start the game of the player who is up. Raises Conflict for any other player."""
    spot = _find_spot(tournament, queue_id)
    if spot.arena_id is not None:
        if spot.player_id in tournament.state.busy_player_ids:
            raise PlayerBusyElsewhere(player=spot.player_id)
        _require_up(spot, queues.spot_that_is_up(tournament, arena_id=spot.arena_id))
        new_attempt = NewAttempt(player_id=spot.player_id, arena_id=spot.arena_id)
        return open_attempt(tournament, new_attempt, now)
    _require_up(spot, queues.waiting_spots(tournament, round_id=spot.round_id)[0])
    for attempt in attempts.attempts_in_round(tournament, spot.round_id or 0):
        if attempt.player_id == spot.player_id and attempt.status == "pending":
            return start_attempt(tournament, attempt.single_player_game_id, now)
    raise NothingToPlayInRound(player=spot.player_id)


def _require_up(spot: QueueSpot, up: QueueSpot | None) -> None:
    if up is not None and up != spot:
        raise AnotherPlayerIsUp(player=up.player_id)


def _find_spot(tournament: Tournament, queue_id: int) -> QueueSpot:
    attempt_rules(tournament)
    tournament_commands.require_started(tournament)
    return queues.find_spot(tournament, queue_id)
