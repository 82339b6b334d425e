"""Moves of single player formats: pingolf, bowling, best games, cards, the amazing race."""

from collections.abc import Sequence
from random import Random

from rules.moves import choose_any
from rules.night import Night
from rules.single_player_checks import completed_games, pending_games
from silverball.kit.errors import Conflict
from silverball.kit.values import replace
from silverball.rules.commands import sign_ups
from silverball.rules.commands import single_player as single_player_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model import outcome
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import ArenaChanged, Change, changes_between
from silverball.rules.model.outcome import AttemptOutcome, NewAttempt
from silverball.rules.model.tournament import Purchase, SinglePlayerGame, Tournament

# A small range of scores, so that ties are common.
SCORES = range(0, 90, 10)
STRIKE, SPARE, OPEN = (10,), (7, 3), (4, 5)
FRAMES = (STRIKE, SPARE, OPEN)
LAST_FRAMES = ((10, 10, 10), (10, 4, 5), (7, 3, 8), (4, 5))


def record_attempt(night: Night, outcome: AttemptOutcome, dice: Random) -> Sequence[Change]:
    return single_player_commands.record_attempt(night.tournament, outcome, dice, night.now)


def delete_any(night: Night, dice: Random) -> Sequence[Change]:
    game = choose_any(completed_games(night.tournament), dice, "result")
    return single_player_commands.delete_attempt(night.tournament, game.single_player_game_id, night.now)


def start_any(night: Night, dice: Random) -> Sequence[Change]:
    game = choose_any(pending_games(night.tournament), dice, "waiting game")
    return single_player_commands.start_attempt(night.tournament, game.single_player_game_id, night.now)


def void_any(night: Night, dice: Random) -> Sequence[Change]:
    game = choose_any(night.tournament.single_player_games, dice, "game")
    return single_player_commands.void_attempt(night.tournament, game.single_player_game_id, night.now)


def unvoid_any(night: Night, dice: Random) -> Sequence[Change]:
    voided = [game for game in night.tournament.single_player_games if game.is_voided]
    game = choose_any(voided, dice, "voided game")
    return single_player_commands.unvoid_attempt(night.tournament, game.single_player_game_id, night.now)


def change_round_arena(night: Night, dice: Random) -> Sequence[Change]:
    """Set the arena of a round, and the target of a hole."""
    round_ = choose_any(night.tournament.rounds, dice, "round")
    arena_id = dice.choice(night.tournament.lineup).arena_id
    score = round_.score if night.tournament.type == "amazingrace" else dice.choice((None, 100))
    return single_player_commands.set_round(
        night.tournament, round_.round_id, arena_id=arena_id, score=score, now=night.now
    )


def strokes_of_any(night: Night, dice: Random) -> Sequence[Change]:
    return _strokes(night, dice, pending_games(night.tournament))


def correct_strokes(night: Night, dice: Random) -> Sequence[Change]:
    return _strokes(night, dice, completed_games(night.tournament))


def _strokes(night: Night, dice: Random, games: Sequence[SinglePlayerGame]) -> Sequence[Change]:
    game = choose_any(games, dice, "game")
    has_target = bool(night.tournament.round_by_id[game.round_id or 0].score)
    outcome = AttemptOutcome(single_player_game_id=game.single_player_game_id, strokes=dice.randint(1, 10))
    if has_target and dice.randint(0, 1):
        outcome = replace(outcome, strokes=None, score=dice.choice(SCORES))
    return record_attempt(night, outcome, dice)


def rolls_of_any(night: Night, dice: Random) -> Sequence[Change]:
    return _rolls(night, dice, pending_games(night.tournament))


def correct_rolls(night: Night, dice: Random) -> Sequence[Change]:
    return _rolls(night, dice, completed_games(night.tournament))


def _rolls(night: Night, dice: Random, games: Sequence[SinglePlayerGame]) -> Sequence[Change]:
    frame = choose_any(games, dice, "frame")
    is_last = frame.game_index == len(night.tournament.rounds) - 1
    rolls = dice.choice(LAST_FRAMES if is_last else FRAMES)
    return record_attempt(
        night, AttemptOutcome(single_player_game_id=frame.single_player_game_id, rolls=rolls), dice
    )


def scores_any(night: Night, dice: Random) -> Sequence[Change]:
    """Record several scores at once, so that nights of forty steps fill; skip refused ones."""
    tournament, made = night.tournament, list[Change]()
    for _ in range(dice.choice((1, 6, 12))):
        try:
            stated = _one_score(tournament, night, dice)
        except Conflict:
            continue
        # Real ids, because the next score depends on them.
        real = outcome.assign_ids(stated, lambda _kind: next(night._ids))
        made += real
        tournament = apply_changes(tournament, real)
    return made or _one_score(tournament, night, dice)


def _one_score(tournament: Tournament, night: Night, dice: Random) -> Sequence[Change]:
    """Record a score of a player on any arena, or start a game there."""
    # Mostly the same few players, so that their attempts and cards run out.
    field = tournament.entrants[: dice.choice((2, 3, len(tournament.entrants)))]
    attempt = NewAttempt(
        player_id=dice.choice(field).player_id,
        arena_id=dice.choice(tournament.lineup).arena_id,
        score=None if dice.randint(0, 7) == 0 else dice.choice(SCORES),
        recorded_by=7,
    )
    return single_player_commands.open_attempt(tournament, attempt, night.now)


def correct_score(night: Night, dice: Random) -> Sequence[Change]:
    game = choose_any(night.tournament.single_player_games, dice, "game")
    outcome = AttemptOutcome(single_player_game_id=game.single_player_game_id, score=dice.choice(SCORES))
    return record_attempt(night, outcome, dice)


def join_any(night: Night, dice: Random) -> Sequence[Change]:
    tournament = night.tournament
    entrant, arena = dice.choice(tournament.entrants), dice.choice(tournament.lineup)
    return single_player_commands.join_queue(tournament, entrant.player_id, arena.arena_id, night.now)


def queue_any(night: Night, dice: Random) -> Sequence[Change]:
    """Let a waiting player leave, move behind the next one, or play."""
    tournament = night.tournament
    queue_id = choose_any([spot for spot in tournament.queue if not spot.is_done], dice, "spot").queue_id
    way = dice.randint(0, 3)
    if way == 0:
        return single_player_commands.leave_queue(tournament, queue_id)
    if way == 1:
        return single_player_commands.move_behind_next(tournament, queue_id)
    return single_player_commands.start_from_queue(tournament, queue_id, night.now)


def block_any(night: Night, dice: Random) -> Sequence[Change]:
    arena = dice.choice(night.tournament.lineup)
    after = replace(arena, is_blocked=not arena.is_blocked, is_queue_closed=dice.randint(0, 1) == 0)
    return changes_between(ArenaChanged, arena, after)


def sell_any(night: Night, dice: Random) -> Sequence[Change]:
    """Sell or refund entries."""
    player_id = dice.choice(night.tournament.entrants).player_id
    quantity = dice.choice((-1, 1, 2))
    sold = Purchase(
        entry_id=-1,
        player_id=player_id,
        type="refund" if quantity < 0 else "regular",
        quantity=quantity,
        created_at=night.now,
    )
    return sign_ups.record_purchase(night.tournament, sold)


def card_any(night: Night, dice: Random) -> Sequence[Change]:
    """Void, unvoid or delete a card."""
    tournament = night.tournament
    card_id = choose_any(tournament.cards, dice, "card").card_id
    way = dice.randint(0, 2)
    if way == 0:
        return single_player_commands.delete_card(tournament, card_id)
    ask = single_player_commands.void_card if way == 1 else single_player_commands.unvoid_card
    return ask(tournament, card_id, night.now)


def race_any(night: Night, dice: Random) -> Sequence[Change]:
    """Record a score of a player due to play, or advance a player."""
    game = choose_any(pending_games(night.tournament), dice, "waiting game")
    if dice.randint(0, 4) == 0:
        return single_player_commands.advance_player(
            night.tournament, game.player_id, recorded_by=7, dice=dice, now=night.now
        )
    outcome = AttemptOutcome(single_player_game_id=game.single_player_game_id, score=dice.choice(SCORES))
    return record_attempt(night, outcome, dice)


def correct_race(night: Night, dice: Random) -> Sequence[Change]:
    game = choose_any(completed_games(night.tournament), dice, "score")
    outcome = AttemptOutcome(single_player_game_id=game.single_player_game_id, score=dice.choice(SCORES))
    return record_attempt(night, outcome, dice)


def leave_any(night: Night, dice: Random) -> Sequence[Change]:
    player_id = choose_any(night.tournament.active_ids, dice, "player")
    return tournament_commands.set_active(
        night.tournament, player_id, is_active=False, dice=dice, now=night.now
    )
