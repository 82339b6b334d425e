"""Random nights, one machine per format.

Fifty nights of forty steps each; `make soak` plays two thousand (test_machines_soak.py).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from random import Random

from rules.moves import (
    Moves,
    arena_any,
    create_any,
    delete_any,
    forfeit_any,
    open_round_any,
    order_any,
    points_without_adjustments,
    seat_any,
    unseat_any,
)
from rules.night import Night
from rules.night_machine import machine_of
from silverball.rules.commands import clocks
from silverball.rules.commands import games as game_commands
from silverball.rules.families import frenzy as frenzy_family
from silverball.rules.families import max_matchplay as max_matchplay_family
from silverball.rules.mechanics import queues
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Tournament

ROUNDS = {
    "pairing": ("balanced", "swiss", "strictswiss", "random"),
    "arena_assignment": ("balanced", "random", "disabled"),
    "player_order": ("balanced", "rotating", "position", "seed"),
}


TestMatchplay = machine_of(
    Moves(
        kind="matchplay",
        settings={
            **ROUNDS,
            "duration": (0, 4),
            "games_per_round": (1, 1, 2),
            "tiebreaker": ("standard", "disabled", "seed"),
            "byes": ("full", "half", "zero"),
        },
    )
)
TestKnockout = machine_of(
    Moves(
        kind="knockout",
        settings={**ROUNDS, "knockout_strike_count": (1, 2, 3), "byes": ("full", "zero")},
        points=points_without_adjustments,
    )
)
TestGroupKnockout = machine_of(
    Moves(
        kind="group_knockout",
        settings={
            **ROUNDS,
            "knockout_strike_count": (1, 3, 5),
            "knockout_four_player_strikes": (1, 2, 3, 100, 101),
            "knockout_three_player_strikes": (0, 1),
        },
        points=points_without_adjustments,
    )
)
GROUPS = {
    **ROUNDS,
    "first_round_pairing": ("random", "slaughter", "adjacent"),
    "games_per_round": (1, 1, 2),
    "scoring": ("ifpa", "pinburgh", "winnerbonus"),
}
TestGroupMatchplay = machine_of(
    Moves(
        kind="group_matchplay",
        settings={
            **GROUPS,
            "duration": (0, 3),
            "tiebreaker": ("disabled", "standard", "placement", "placement_last", "wins"),
        },
    )
)
TestTarget = machine_of(Moves(kind="target", settings={**GROUPS, "target_points": (7, 14, 24)}))
TestPaceMatchplay = machine_of(
    Moves(
        kind="pace_matchplay",
        settings={
            **GROUPS,
            "pace_initial_rounds": (1, 2, 3),
            "pace_initial_target": (0, 4, 12),
            "pace_increment": (0, 3, 7),
        },
    )
)


def manual_goes_on(night: Night, dice: Random) -> Sequence[Change]:
    """Create a game, now and then a round for the following ones."""
    return open_round_any(night, dice) if dice.random() < 0.3 else create_any(night, dice)


TestManualMatchplay = machine_of(
    Moves(
        kind="manual_matchplay",
        go_on=manual_goes_on,
        settings={"player_order": ("disabled", "balanced", "position"), "scoring": ("ifpa", "papa")},
        extra={
            "create": create_any,
            "forfeit": forfeit_any,
            "order": order_any,
            "arena": arena_any,
            "seat": seat_any,
            "unseat": unseat_any,
            "delete": delete_any,
        },
        one_group_per_round=False,
    )
)


def create_matches_any(night: Night, dice: Random) -> Sequence[Change]:
    """Create the matches of a max match play that can be played now."""
    return clocks.create_matches(night.tournament, dice, night.now)


def everybody_can_finish(tournament: Tournament) -> None:
    """Check that the schedule holds all games that players still need, but for one player at most."""
    if tournament.status == "started":
        right = apply_changes(tournament, max_matchplay_family.repair_schedule(tournament, Random(7)))
        planned = Counter(player_id for meeting in right.state.schedule for player_id in meeting)
        left = max_matchplay_family.games_left(right)
        short = {player_id for player_id in left if left[player_id] != planned[player_id]}
        assert len(short) <= 1
        assert all(left[player_id] > planned[player_id] for player_id in short)
        assert set(planned) <= set(left)
        assert max_matchplay_family.repair_schedule(right, Random(8)) == []


FREE = {"order": order_any, "arena": arena_any, "forfeit": forfeit_any, "delete": delete_any}
TestMaxMatchplay = machine_of(
    Moves(
        kind="max_matchplay",
        settings={
            "max_matchplay_duration": (2, 4, 5),
            "max_matchplay_max_active": (0, 0, 2),
            "arena_assignment": ("balanced", "disabled", "manual", "random"),
            "tiebreaker": ("disabled", "standard"),
        },
        go_on=create_matches_any,
        extra={**FREE, "create": create_matches_any},
        checks=(everybody_can_finish,),
        one_game_at_once=True,
        uneven=frozenset(),
    )
)


def net_wins(tournament: Tournament) -> Mapping[int, Decimal]:
    """Wins minus losses plus adjustments, counted game by game."""
    games = [game for game in tournament.games if game.status == "completed" and not game.is_tiebreak]
    return {
        entrant.player_id: entrant.points_adjustment
        + entrant.score_adjustment
        + sum(game.result_positions[0] == entrant.player_id for game in games)
        - sum(game.result_positions[1] == entrant.player_id for game in games)
        for entrant in tournament.entrants
    }


def frenzy_clock_any(night: Night, dice: Random) -> Sequence[Change]:
    """Pause, resume or set the clock, or let it run out."""
    night.tick(dice.choice([0, 60, 600]))
    asked: list[Callable[[], Sequence[Change]]] = [
        lambda: clocks.pause(night.tournament, night.now),
        lambda: clocks.resume(night.tournament, dice, night.now),
        lambda: clocks.change_time(night.tournament, dice.choice([-300, 300]), dice, night.now),
        lambda: clocks.start_waiting_games(night.tournament, dice, night.now),
    ]
    return dice.choice(asked)()


def frenzy_goes_on(night: Night, dice: Random) -> Sequence[Change]:
    """Start waiting players; without a queue the organizer creates a game of two."""
    if frenzy_family.has_queue(night.tournament):
        return clocks.start_waiting_games(night.tournament, dice, night.now)
    two = dice.sample(night.tournament.active_ids, min(2, len(night.tournament.active_ids)))
    return game_commands.create_game(night.tournament, two, None, dice=dice, now=night.now)


def frenzy_queue_any(night: Night, dice: Random) -> Sequence[Change]:
    """Move a player to the end of the queue, out of it, or back into it."""
    waiting = queues.waiting_spots(night.tournament)
    if not waiting or dice.random() < 0.3:
        player_id = dice.choice(night.tournament.entrants).player_id
        return clocks.join_queue(night.tournament, player_id, dice, night.now)
    ask = dice.choice([clocks.remove_from_queue, clocks.move_to_end])
    return ask(night.tournament, dice.choice(waiting).queue_id)


def queue_is_in_order(tournament: Tournament) -> None:
    """Check that places count from 0 without gaps, and that no player waits twice or while playing."""
    waiting = queues.waiting_spots(tournament)
    assert [spot.queue_index for spot in waiting] == list(range(len(waiting)))
    ids = [spot.player_id for spot in waiting]
    assert len(set(ids)) == len(ids)
    assert set(ids) <= set(tournament.active_ids)
    # A tiebreak is played beside the queue.
    started = [game for game in tournament.games if game.status == "started" and not game.is_tiebreak]
    assert not set(ids) & {player_id for game in started for player_id in game.player_ids}
    taken = [game.arena_id for game in started if game.arena_id is not None]
    assert len(set(taken)) == len(taken)


TestFrenzy = machine_of(
    Moves(
        kind="frenzy",
        settings={
            "frenzy_duration": (20, 60),
            "frenzy_queue_size": (0, 1, 2),
            "tiebreaker": ("wins", "losses", "disabled"),
            "use_queues": (True, True, False),
        },
        players=(4, 9),
        go_on=frenzy_goes_on,
        extra={**FREE, "clock": frenzy_clock_any, "queue": frenzy_queue_any, "queue more": frenzy_queue_any},
        checks=(queue_is_in_order,),
        points=net_wins,
        one_game_at_once=True,
    )
)
