"""Players who are late, away or gone, and games that wait for their machine. Source: formats, section 20."""

from datetime import timedelta
from decimal import Decimal
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from rules.night import NOON, Night, a_night
from rules.verify import walked_nights
from rules.verify.walked_nights import JournalledNight
from silverball.kit.errors import Conflict, Refusal
from silverball.rules.commands import clocks, tiebreaks
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import roster as roster_commands
from silverball.rules.mechanics.rounds import game_ends_at, round_ends_at
from silverball.rules.model.tournament import Entrant
from silverball.rules.registry import FORMATS

MINUTE = timedelta(minutes=1)
DRAWN = ("matchplay", "group_matchplay", "knockout", "group_knockout", "pace_matchplay")
WAYS = (roster_commands.STAYS_IN, roster_commands.LAST_PLACE, roster_commands.GOES_ON)


def send_away(night: Night, player_id: int, rounds: int, open_game: str = roster_commands.STAYS_IN) -> None:
    wanted = {"away_rounds": rounds, "open_game": open_game}
    night.apply(
        roster_commands.change_entrants(night.tournament, [(player_id, wanted)], night.dice(), night.now)
    )


def drawn_ids(night: Night) -> set[int]:
    newest = night.tournament.newest_round
    assert newest is not None
    games = night.tournament.games_by_round[newest.round_id]
    return {player_id for game in games for player_id in game.player_ids}


@pytest.mark.parametrize(
    ("rounds", "missed"),
    [(1, [True, False, False]), (2, [True, True, False]), (3, [True, True, True])],
)
def test_somebody_away_for_so_many_rounds_misses_just_these(rounds: int, missed: list[bool]) -> None:
    night = a_night("group_matchplay", players=9)
    night.start()
    night.play_round()
    send_away(night, 4, rounds)
    found = []
    for _ in missed:
        night.open_round()
        found.append(4 not in drawn_ids(night))
        night.finish_round()
    assert found == missed


def test_who_is_away_is_active_again_once_their_last_round_is_drawn() -> None:
    night = walked_nights.journalled(a_night("knockout", players=6, knockout_strike_count=3))
    night.start()
    send_away(night, 2, 1)
    assert 2 not in night.tournament.active_ids
    night.open_round()
    # Sitting out the round that is played, they may still be seated, and are not out of a knockout.
    assert night.tournament.entrant_by_id[2].away_rounds == 0
    assert 2 in FORMATS["knockout"].playing_ids(night.tournament)
    night.finish_round()
    night.open_round()
    assert 2 in drawn_ids(night)
    assert night.faults() == []


# Points for a late player: 1 for each of the rounds that were drawn without them.
@pytest.mark.parametrize(
    ("rounds", "is_open", "is_seated", "points"),
    [(0, False, False, 0), (1, False, False, 1), (2, True, False, 2), (2, True, True, 1), (1, True, True, 0)],
)
def test_a_late_player_gets_points_for_each_round_they_missed(
    rounds: int, is_open: bool, is_seated: bool, points: int
) -> None:
    night = a_night("group_matchplay", players=7, late_points=1)
    night.start()
    for _ in range(rounds - is_open):
        night.play_round()
    if is_open:
        night.open_round()
    assert roster_commands.late_points(night.tournament, is_seated=is_seated) == Decimal(points)


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(DRAWN), st.integers(0, 2**32))
def test_whoever_comes_and_goes_the_night_verifies_and_everything_can_be_undone(kind: str, seed: int) -> None:
    dice = Random(seed)
    night = walked_nights.journalled(a_night(kind, players=9))
    planned = night.tournament
    night.start()
    for step in range(12):
        night.tick()
        try:
            _take_any_step(night, step, dice)
        except Refusal:
            continue
        away = {
            entrant.player_id
            for entrant in night.tournament.entrants
            if isinstance(entrant.away_rounds, int) and entrant.away_rounds > 0
        }
        assert away.isdisjoint(night.tournament.active_ids)
    assert night.faults() == []
    night.undo_all()
    assert night.tournament == planned


def _take_any_step(night: JournalledNight, step: int, dice: Random) -> None:
    player_id = dice.choice(night.tournament.entrants).player_id
    kind = dice.choice(("round", "round", "round", "away", "drop", "late", "rule"))
    open_games = night.open_games()
    if kind == "round" or not night.tournament.rounds:
        if dice.random() < 0.8:
            night.finish_round(lambda _player_id: dice.random())
        night.open_round()
    elif kind == "away":
        send_away(night, player_id, dice.randint(0, 3), dice.choice(WAYS) if open_games else WAYS[0])
    elif kind == "drop":
        wanted = {"is_active": False, "open_game": dice.choice(WAYS)}
        change = roster_commands.change_entrants(night.tournament, [(player_id, wanted)], dice, night.now)
        night.apply(change)
    elif kind == "late":
        new = Entrant(player_id=100 + step)
        seats = {new.player_id: dice.choice(open_games).game_id} if open_games else {}
        night.apply(roster_commands.add_entrants(night.tournament, [new], dice, night.now, seats=seats))
    elif open_games:
        game_id = dice.choice(open_games).game_id
        rule = dice.choice((tiebreaks.wait, tiebreaks.resume))
        night.apply(rule(night.tournament, game_id, night.now))
        night.apply(tiebreaks.start_over(night.tournament, game_id, None, dice, night.now))


def test_nobody_is_away_from_a_bracket() -> None:
    night = a_night("ladder", players=6)
    night.start()
    with pytest.raises(Conflict):
        send_away(night, 1, 1)


# Games that wait for their machine


def a_waiting_night() -> Night:
    """A round of 20 minutes; after 5 of them the machine of its first game is out of order for 10."""
    night = a_night("matchplay", players=4)
    night.start()
    night.apply(clocks.set_round_timer(night.tournament, 20, night.now))
    night.open_round()
    game = night.open_games()[0]
    assert game.arena_id is not None
    night.now = NOON + 5 * MINUTE
    change = roster_commands.change_arena(
        night.tournament, game.arena_id, night.dice(), night.now, is_active=False
    )
    night.apply(change)
    night.apply(tiebreaks.wait(night.tournament, game.game_id, night.now))
    night.now = NOON + 15 * MINUTE
    return night


def test_the_time_that_a_game_waits_is_no_time_of_play() -> None:
    night = a_waiting_night()
    first, other = night.open_games()
    assert game_ends_at(night.tournament, first) is None
    assert game_ends_at(night.tournament, other) == NOON + 20 * MINUTE
    assert first.arena_id is not None
    change = roster_commands.change_arena(
        night.tournament, first.arena_id, night.dice(), night.now, is_active=True
    )
    night.apply(change)
    back = night.game(first.game_id)
    assert back.started_at == NOON + 10 * MINUTE
    assert game_ends_at(night.tournament, back) == NOON + 30 * MINUTE
    assert round_ends_at(night.tournament) == NOON + 20 * MINUTE


def test_a_game_that_is_settled_while_it_waits_has_lasted_until_its_clock_stopped() -> None:
    night = a_waiting_night()
    game = night.open_games()[0]
    night.record_order(game, *game.player_ids)
    assert night.game(game.game_id).completed_at == NOON + 5 * MINUTE


def test_a_game_that_starts_over_elsewhere_has_all_its_time_again() -> None:
    night = a_waiting_night()
    game = night.open_games()[0]
    night.apply(tiebreaks.start_over(night.tournament, game.game_id, None, night.dice(), night.now))
    moved = night.game(game.game_id)
    assert moved.arena_id != game.arena_id
    assert moved.started_at == NOON + 15 * MINUTE
    assert game_ends_at(night.tournament, moved) == NOON + 35 * MINUTE


def test_a_game_that_is_moved_by_hand_no_longer_waits() -> None:
    night = a_waiting_night()
    game = night.open_games()[0]
    night.apply(game_commands.redraw_arena(night.tournament, game.game_id, night.dice()))
    assert night.game(game.game_id).waiting_since is UNSET
