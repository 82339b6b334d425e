"""Frenzy: one queue, a clock, and games that follow one another. Source: formats, section 14.14.

The clock is `state.clock_ends_at` while it runs; `frenzyPausedSecondsLeft` holds the seconds left while it
is paused. Where `useQueues` is off the organizer makes the games and nothing follows from a result.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random

import msgspec

from silverball.kit.errors import Conflict, Invalid
from silverball.kit.values import replace
from silverball.rules.drawing import arenas, balanced
from silverball.rules.mechanics import free_games, lineups, queues, results, rounds
from silverball.rules.model import settings_protocols
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import (
    Change,
    ClockChanged,
    GameChanged,
    GameCompleted,
    GameOpened,
    tournament_changes,
)
from silverball.rules.model.outcome import GameOutcome, Outcome
from silverball.rules.model.refusals import GameWithoutResult
from silverball.rules.model.settings_protocols import HasClock, has
from silverball.rules.model.tournament import Entrant, Game, LineupArena, QueueSpot, Tournament

GAMES_MAX = 1000


class NoArenaToPlayOn(Conflict):
    sentence = "There is no arena to play on. Add one before you start."


class QueueTooLarge(Conflict):
    sentence = "A queue of {size} leaves nobody to play. Make the queue smaller."


class QueueDecidesGames(Conflict):
    sentence = "The queue decides who plays next. Turn queues off before the start to make games."


class ClockHasStopped(Conflict):
    sentence = "No game can start: the clock is paused or has run out. Resume it or add time."


class PlayerInOpenGame(Conflict):
    sentence = "{player} plays {game}. Record its result first."


def _settings(tournament: Tournament) -> HasClock:
    assert has(tournament.settings, HasClock)
    return tournament.settings


def has_queue(tournament: Tournament) -> bool:
    """Whether the queue decides who plays; otherwise the organizer makes the games."""
    return settings_protocols.uses_queues(tournament.settings)


def duration(tournament: Tournament) -> timedelta:
    """The time on the clock at the start."""
    return timedelta(minutes=_settings(tournament).frenzy_duration)


def paused_seconds(tournament: Tournament) -> int:
    """Seconds left when the clock was paused; 0 while it runs."""
    return _settings(tournament).frenzy_paused_seconds_left


def is_clock_running(tournament: Tournament, now: datetime) -> bool:
    """Whether new games may start: started, not paused, time left."""
    ends = tournament.state.clock_ends_at
    return (
        tournament.status == "started" and not paused_seconds(tournament) and ends is not None and now < ends
    )


def seconds_left(tournament: Tournament, now: datetime) -> int:
    """Seconds on the clock, running or paused; 0 before the start and after the end."""
    if paused_seconds(tournament):
        return paused_seconds(tournament)
    ends = tournament.state.clock_ends_at
    # A begun second counts as a whole one, so that a pause never loses the last one.
    return 0 if ends is None else max(0, -((now - ends) // timedelta(seconds=1)))


def start(tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
    """Start the clock and draw the first games; the other players wait. Source: formats, 14.14.

    Raises Conflict without an arena and when the queue leaves too few players for a game.
    """
    clock = set_clock(tournament, ends=now + duration(tournament), paused=0)
    if not has_queue(tournament):
        return clock
    available = lineups.available_arenas(tournament)
    if not available:
        raise NoArenaToPlayOn
    players = len(tournament.active_ids)
    wanted = (players - max(_queue_size_wanted(tournament), players % 2)) // 2
    if wanted <= 0:
        raise QueueTooLarge(size=_queue_size_wanted(tournament))
    drawn = balanced.random_order(tournament.active_ids, dice)
    # Who is busy in another tournament of the room waits, as do machines that are busy there.
    busy = tournament.state.busy_player_ids
    ready = [player_id for player_id in drawn if player_id not in busy]
    order = [*ready, *(player_id for player_id in drawn if player_id in busy)]
    free = lineups.without_busy(tournament, available)
    games = min(len(free), wanted, len(ready) // 2)
    pairs = [(order[2 * at], order[2 * at + 1]) for at in range(games)]
    assigned = arenas.assign_balanced(pairs, free, {}, waves=1, dice=dice)
    opened = [
        GameOpened(rounds.new_game(-1 - at, pair, now=now, arena_id=lineup[0]))
        for at, (pair, lineup) in enumerate(zip(pairs, assigned, strict=True))
    ]
    return [*clock, *opened, *queues.insert_players(tournament, order[2 * games :], place=0, now=now)]


def _queue_size_wanted(tournament: Tournament) -> int:
    """Number of players that the organizer wants in the queue."""
    return _settings(tournament).frenzy_queue_size


def set_clock(tournament: Tournament, *, ends: datetime | None, paused: int) -> list[Change]:
    """Set the end of a running clock, or the seconds that a paused one has left."""
    settings = msgspec.structs.replace(tournament.settings, frenzy_paused_seconds_left=paused)
    state = replace(tournament.state, clock_ends_at=ends)
    return tournament_changes(ClockChanged, tournament, settings=settings, state=state)


def settle(tournament: Tournament, outcome: Outcome, dice: Random, now: datetime) -> list[Change]:
    """Record a result and call up the next players, or correct one. Source: formats, 14.14."""
    assert isinstance(outcome, GameOutcome)
    game = results.find_game(tournament, outcome.game_id)
    if set(outcome.gave_up_ids) == set(game.player_ids) and not game.is_tiebreak:
        # Nobody played it: it is as if it had not been opened.
        return delete_game(tournament, game, dice, now)
    changes = results.complete_game(tournament, outcome, results.score_by_points_map(tournament), now)
    is_new = any(isinstance(change, GameCompleted) for change in changes)
    if not is_new or game.is_tiebreak or not has_queue(tournament):
        return changes
    current = apply_changes(tournament, changes)
    following = _open_next_game(current, game, dice, now)
    return [*changes, *following, *fill_arenas(apply_changes(current, following), dice, now)]


def _open_next_game(tournament: Tournament, ended: Game, dice: Random, now: datetime) -> list[Change]:
    """Slot 1 goes to the end of the queue, slot 0 moves to slot 1, the head of the queue takes slot 0.

    While no game may start, slot 0 waits at the head of the queue.
    """
    staying, leaving = ended.player_ids
    changes = join_at_end(tournament, [leaving], now)
    waiting = apply_changes(tournament, changes)
    queue = _callable_spots(waiting)
    active = staying in tournament.active_ids and staying not in tournament.state.busy_player_ids
    if not (active and queue and is_clock_running(tournament, now)):
        return [*changes, *_join_at_head(waiting, [staying], now)]
    pair = (queue[0].player_id, staying)
    arena_id = _choose_arena(tournament, pair, ended.arena_id, dice)
    if arena_id is None:
        return [*changes, *_join_at_head(waiting, [staying], now)]
    changes += queues.complete_spot(waiting, queue[0], now)
    return [*changes, *_open_game(tournament, pair, arena_id, now)]


def _callable_spots(tournament: Tournament) -> list[QueueSpot]:
    """The queue without those who are busy in another tournament of the room; they keep their places."""
    busy = tournament.state.busy_player_ids
    return [spot for spot in queues.waiting_spots(tournament) if spot.player_id not in busy]


def _open_game(tournament: Tournament, pair: Sequence[int], arena_id: int, now: datetime) -> list[Change]:
    return [
        GameOpened(rounds.new_game(free_games.next_game_id(tournament), pair, now=now, arena_id=arena_id))
    ]


def _choose_arena(
    tournament: Tournament, pair: Sequence[int], vacated: int | None, dice: Random
) -> int | None:
    """A free arena that the two have played least; the vacated one only as a last resort."""
    free = lineups.free_arenas(tournament)
    plays = lineups.arena_plays_of(tournament, pair)
    chosen = arenas.draw_replacement(pair, free, plays, () if vacated is None else (vacated,), dice)
    return chosen if chosen is not None else arenas.draw_replacement(pair, free, plays, (), dice)


def join_at_end(tournament: Tournament, player_ids: Sequence[int], now: datetime) -> list[Change]:
    """Put these players at the end of the queue if they are free to wait."""
    place = len(queues.waiting_spots(tournament))
    return queues.insert_players(
        tournament, _players_free_to_wait(tournament, player_ids), place=place, now=now
    )


def _join_at_head(tournament: Tournament, player_ids: Sequence[int], now: datetime) -> list[Change]:
    return queues.insert_players(tournament, _players_free_to_wait(tournament, player_ids), place=0, now=now)


def _players_free_to_wait(tournament: Tournament, player_ids: Sequence[int]) -> list[int]:
    """Those who are active, in no game and not waiting already."""
    busy = {seat for game in tournament.open_games for seat in game.player_ids}
    busy.update(spot.player_id for spot in queues.waiting_spots(tournament))
    return [
        player_id for player_id in player_ids if player_id in tournament.active_ids and player_id not in busy
    ]


def fill_arenas(tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
    """Open games on free arenas while the clock runs and the queue is longer than wanted.

    The head of the queue takes slot 0. Source: formats, 14.14.
    """
    changes: list[Change] = []
    current = tournament
    for _ in range(GAMES_MAX):
        queue = _callable_spots(current)
        kept_waiting = _queue_size_wanted(current) if current.open_games else 0
        is_long = len(queues.waiting_spots(current)) >= kept_waiting + 2 and len(queue) >= 2
        if not (has_queue(current) and is_clock_running(current, now) and is_long):
            break
        pair = (queue[0].player_id, queue[1].player_id)
        arena_id = _choose_arena(current, pair, None, dice)
        if arena_id is None:
            break
        step = queues.complete_spot(current, queue[0], now)
        second = _callable_spots(apply_changes(current, step))[0]
        step += queues.complete_spot(apply_changes(current, step), second, now)
        step += _open_game(current, pair, arena_id, now)
        current = apply_changes(current, step)
        changes += step
    return changes


def roster_changed(tournament: Tournament, entrant: Entrant, dice: Random, now: datetime) -> list[Change]:
    """Queue a new player; take a leaving player out of the queue and delete their game.

    The opponent in that game goes to the head of the queue. Source: formats, 14.14.
    """
    if not has_queue(tournament):
        return []
    if entrant.is_active:
        changes = join_at_end(tournament, [entrant.player_id], now)
    else:
        changes = queues.leave_all_queues(tournament, entrant.player_id)
        for game in tournament.open_games:
            if entrant.player_id in game.player_ids and not game.is_tiebreak:
                changes += _abandon_game(apply_changes(tournament, changes), game, now)
    return [*changes, *fill_arenas(apply_changes(tournament, changes), dice, now)]


def _abandon_game(tournament: Tournament, game: Game, now: datetime) -> list[Change]:
    """Delete a started game; its active players are next."""
    changes = free_games.delete_game(tournament, game)
    return [*changes, *_join_at_head(apply_changes(tournament, changes), game.player_ids, now)]


def lineup_changed(
    tournament: Tournament, lineup_arena: LineupArena, dice: Random, now: datetime
) -> list[Change]:
    """Move the game of an arena out of service, or queue its players; fill a new arena.

    Source: formats, 14.14.
    """
    if not has_queue(tournament):
        return []
    changes: list[Change] = []
    stranded = [game for game in tournament.open_games if game.arena_id == lineup_arena.arena_id]
    for game in stranded if not lineup_arena.is_active else ():
        current = apply_changes(tournament, changes)
        arena_id = lineups.draw_other_arena(current, game, dice)
        if arena_id is not None:
            changes.append(GameChanged(game, replace(game, arena_id=arena_id)))
        elif not game.is_tiebreak:
            changes += _abandon_game(current, game, now)
    return [*changes, *fill_arenas(apply_changes(tournament, changes), dice, now)]


def delete_game(tournament: Tournament, game: Game, dice: Random, now: datetime) -> list[Change]:
    """Delete a game. A completed one leaves the queue alone; the players of a started one are next."""
    if game.status == "completed" or not has_queue(tournament):
        return free_games.delete_game(tournament, game)
    changes = _abandon_game(tournament, game, now)
    return [*changes, *fill_arenas(apply_changes(tournament, changes), dice, now)]


def clear_game(tournament: Tournament, game: Game) -> list[Change]:
    """Delete a completed game, because its players play elsewhere by now."""
    if game.status != "completed":
        raise GameWithoutResult(game=game.game_id)
    return free_games.delete_game(tournament, game)


def create_game(
    tournament: Tournament, player_ids: Sequence[int], arena_id: int | None, dice: Random, now: datetime
) -> list[Change]:
    """Start a game of two by hand. Raises Conflict while the queue decides, or out of time."""
    if has_queue(tournament):
        raise QueueDecidesGames
    if not is_clock_running(tournament, now):
        raise ClockHasStopped
    if len(player_ids) != 2:
        raise Invalid({"playerIds": [f"A frenzy game has two players, not {len(player_ids)}."]})
    for game in tournament.open_games:
        for player_id in player_ids:
            if player_id in game.player_ids:
                raise PlayerInOpenGame(player=player_id, game=game.game_id)
    return free_games.create_by_hand(
        tournament, player_ids, arena_id, in_round=None, positions={}, dice=dice, now=now
    )


def at_reopen(tournament: Tournament) -> list[Change]:
    """Queue all players in the order in which they were added."""
    if not has_queue(tournament) or tournament.completed_at is None:
        return []
    return join_at_end(tournament, tournament.active_ids, tournament.completed_at)


def is_over(tournament: Tournament) -> bool:
    """Whether the time is over and every game has its result.

    While the clock runs a game is open, so no open game means that the time has run out. Without a queue
    the organizer decides alone.
    """
    if tournament.status == "planned" or not has_queue(tournament) or paused_seconds(tournament):
        return False
    could_play = len(tournament.active_ids) > 1 and bool(lineups.available_arenas(tournament))
    return could_play and bool(tournament.games) and not tournament.open_games
