"""Giving up a game, leaving, not coming: every format, several states, any number of players.

Source: formats, sections 20 and 26.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from random import Random
from typing import Any

import pytest

from rules.night import Night, a_night
from rules.verify.walked_nights import JournalledNight, journalled
from silverball.kit.errors import Conflict, Invalid, Refusal
from silverball.rules.commands import clocks, giving_up, roster
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import single_player as single_player_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.format import PlayKind, ResultUnit
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change
from silverball.rules.model.outcome import AttemptOutcome, GameOutcome, NewAttempt
from silverball.rules.model.tournament import Game, SinglePlayerGame
from silverball.rules.registry import FORMATS

KINDS = tuple(FORMATS)
SETTINGS: dict[str, dict[str, Any]] = {
    "group_bracket": {"games_per_round": 1},
    "golf_bracket": {"games_per_round": 1},
    "golf": {"golf_duration": 2},
    "bowling": {"golf_duration": 2},
    "max_matchplay": {"max_matchplay_duration": 2},
    "card_best_game": {"card_best_game_games_per_card": 2},
}
STATES = ("first game", "after some results", "near the end")


def begin(kind: str, players: int = 8, **given: Any) -> JournalledNight:
    """A running night with something to play."""
    night = journalled(a_night(kind, players=players, **{**SETTINGS.get(kind, {}), **given}))
    night.start()
    bring_games(night)
    return night


def bring_games(night: Night) -> None:
    """Open what there is to play next, by the means of the format; nothing where all is played."""
    form = tournament_commands.format_of(night.tournament)
    tournament = night.tournament
    steps: list[Callable[[], Any]] = []
    if form.play is PlayKind.SCORES:
        steps += [partial(start_attempt, night, player_id) for player_id in tournament.active_ids[:3]]
    elif form.has_match_requests:
        steps.append(lambda: night.apply(clocks.create_matches(night.tournament, night.dice(), night.now)))
    elif tournament.type == "manual_matchplay":
        steps.append(
            lambda: night.apply(
                game_commands.create_game(
                    night.tournament, night.tournament.active_ids[:4], 501, dice=night.dice(), now=night.now
                )
            )
        )
    elif form.can_open_rounds:
        steps.append(night.open_round)
    for step in steps:
        try:
            step()
        except Refusal:
            # Everything is played, or a tie is in the way.
            continue


def start_attempt(night: Night, player_id: int) -> None:
    new = NewAttempt(player_id=player_id, arena_id=500 + player_id)
    night.apply(single_player_commands.open_attempt(night.tournament, new, night.now))


def play(night: Night, count: int) -> None:
    """Record so many results, by seed; open what follows."""
    for _ in range(count):
        if not night.open_games() and not open_attempts(night):
            bring_games(night)
        if night.open_games():
            game = night.open_games()[0]
            # In a bracket, those who left still have a seat in the games that follow.
            order = tuple(sorted(set(game.player_ids) - set(game.gave_up_ids)))
            night.record(GameOutcome(game_id=game.game_id, finishing_order=order))
        elif open_attempts(night):
            night.record(a_result(night, open_attempts(night)[0]))


def a_result(night: Night, attempt: SinglePlayerGame) -> AttemptOutcome:
    """A result that differs from player to player, and from arena to arena."""
    unit = tournament_commands.format_of(night.tournament).result_unit
    number, attempt_id = attempt.player_id, attempt.single_player_game_id
    if unit is ResultUnit.STROKES:
        return AttemptOutcome(single_player_game_id=attempt_id, strokes=1 + number % 6)
    if unit is ResultUnit.ROLLS:
        return AttemptOutcome(single_player_game_id=attempt_id, rolls=(number % 9, 0))
    return AttemptOutcome(single_player_game_id=attempt_id, score=10_000 - 10 * number)


def open_attempts(night: Night) -> list[SinglePlayerGame]:
    return [each for each in night.tournament.single_player_games if each.status != "completed"]


def give_up(night: Night, game: Game, player_ids: Sequence[int]) -> None:
    night.record(GameOutcome(game_id=game.game_id, gave_up=tuple(player_ids)))


def reach(kind: str, state: str) -> JournalledNight:
    """A night with something open, after as many results as the state has and the format allows."""
    for count in range({"first game": 0, "after some results": 3, "near the end": 9}[state], -1, -1):
        night = begin(kind)
        play(night, count)
        if not night.open_games() and not open_attempts(night):
            bring_games(night)
        if night.open_games() or open_attempts(night):
            return night
    raise AssertionError(f"{kind} has nothing to play")


def check(night: JournalledNight) -> None:
    assert night.faults() == []


@pytest.mark.sample(12)
@pytest.mark.parametrize("how_many", [1, 2, 99])
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kind", KINDS)
def test_any_number_gives_up_a_game_in_each_format_and_state(kind: str, state: str, how_many: int) -> None:
    night = reach(kind, state)
    before = night.tournament
    if night.open_games():
        game = night.open_games()[0]
        gone = sorted(game.player_ids)[-how_many:]
        give_up(night, game, gone)
        after = next((each for each in night.tournament.games if each.game_id == game.game_id), None)
        if after is not None:
            assert set(after.gave_up_ids) == set(gone)
            others = [player_id for player_id in game.player_ids if player_id not in gone]
            assert (after.status == "completed") == (len(others) < 2)
            if len(others) > 1:
                night.record(GameOutcome(game_id=game.game_id, finishing_order=tuple(sorted(others))))
                check_worth(night, game.game_id, gone)
    else:
        for attempt in open_attempts(night)[:how_many]:
            if any(
                each.single_player_game_id == attempt.single_player_game_id for each in open_attempts(night)
            ):
                night.apply(
                    tournament_commands.give_up_attempt(night.tournament, attempt, night.dice(), night.now)
                )
    assert night.tournament != before
    check(night)
    play(night, 4)
    check(night)
    while night.journal:
        night.undo()
    check(night)


def check_worth(night: Night, game_id: int, gone: Sequence[int]) -> None:
    """Who gave up has the least, and all of them the same."""
    game = night.game(game_id)
    points = dict(zip(game.player_ids, game.result_points, strict=True))
    (worth,) = {points[player_id] for player_id in gone}
    assert worth is not None
    assert all((points[player_id] or 0) >= worth for player_id in game.player_ids)


@pytest.mark.sample(12)
@pytest.mark.parametrize("how_many", [1, 2, 99])
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kind", KINDS)
def test_any_number_leaves_each_format_in_each_state(kind: str, state: str, how_many: int) -> None:
    night = reach(kind, state)
    games = night.open_games()
    ids = sorted(games[0].player_ids if games else (each.player_id for each in open_attempts(night)))
    for player_id in dict.fromkeys(ids[-how_many:]):
        night.apply(giving_up.leave(night.tournament, player_id, night.dice(), night.now))
        assert not night.tournament.entrant_by_id[player_id].is_active
        assert not tournament_commands.has_open_games(night.tournament, player_id) or is_waiting_for_others(
            night, player_id
        )
    check(night)
    play(night, 6)
    check(night)
    while night.journal:
        night.undo()
    check(night)


def is_waiting_for_others(night: Night, player_id: int) -> bool:
    """Whether the others still play the games that this player gave up."""
    own = [game for game in night.open_games() if player_id in game.player_ids]
    return all(player_id in game.gave_up_ids for game in own) and not [
        each for each in open_attempts(night) if each.player_id == player_id
    ]


@pytest.mark.sample(12)
@pytest.mark.parametrize("has_results", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_who_did_not_come_is_gone_or_has_left(kind: str, has_results: bool) -> None:
    night = begin(kind)
    if has_results:
        play(night, 3)
    (player_id,) = [each.player_id for each in night.tournament.entrants][-1:]
    night.apply(giving_up.take_out_who_did_not_come(night.tournament, player_id, night.dice(), night.now))
    entrant = night.tournament.entrant_by_id.get(player_id)
    assert entrant is None or not entrant.is_active
    if has_results:
        assert entrant is not None
    check(night)
    play(night, 5)
    check(night)


@pytest.mark.parametrize("kind", ["matchplay", "group_matchplay", "knockout", "round_robin"])
def test_before_the_first_result_it_is_as_if_they_had_never_entered(kind: str) -> None:
    night = begin(kind)
    night.apply(giving_up.take_out_who_did_not_come(night.tournament, 8, night.dice(), night.now))
    assert 8 not in night.tournament.entrant_by_id
    assert all(8 not in game.player_ids for game in night.tournament.games)


# Hand-checked: what it is worth.


def test_two_of_four_share_the_last_place_and_the_others_have_the_first_two() -> None:
    # PAPA: 4, 2, 1, 0 in a group of four. The third and the fourth have nothing, not 1 and 0.
    night = begin("group_bracket", players=8)
    game = night.game_with(1)
    give_up(night, game, [5])
    give_up(night, night.game(game.game_id), [4])
    night.record(GameOutcome(game_id=game.game_id, finishing_order=(8, 1)))
    after = night.game(game.game_id)
    earned = dict(zip(after.player_ids, after.result_points, strict=True))
    assert earned == {8: Decimal(4), 1: Decimal(2), 4: Decimal(0), 5: Decimal(0)}
    assert after.result_positions == (8, 1, None, None)
    assert (after.gave_up, after.forfeited_by) == ((4, 5), None)


def test_one_of_four_is_last_without_the_points_of_the_last() -> None:
    # IFPA: 7, 5, 3, 1.
    night = begin("group_matchplay", players=4, scoring="ifpa")
    (game,) = night.open_games()
    first, two, three, four = game.player_ids
    night.record(GameOutcome(game_id=game.game_id, finishing_order=(first, two, three), gave_up=(four,)))
    after = night.game(game.game_id)
    assert after.result_points == (Decimal(7), Decimal(5), Decimal(3), Decimal(0))
    assert after.result_positions == (first, two, three, four)


@pytest.mark.parametrize(
    ("given", "gone", "points"),
    [
        # Standard: 1.00 without a strike, 0.00 with one. Two of four get a strike.
        ({"knockout_four_player_strikes": 2}, 1, ["1.00", "1.00", "0.00", "0.00"]),
        ({"knockout_four_player_strikes": 1}, 2, ["1.00", "1.00", "0.00", "0.00"]),
        ({"knockout_four_player_strikes": 1}, 4, ["0.00", "0.00", "0.00", "0.00"]),
        # Fair: 0.01 is two strikes, those of the last place.
        ({"knockout_fair": True}, 2, ["1.00", "0.02", "0.01", "0.01"]),
        # Progressive: 0.01 is three strikes in a group of four.
        ({"knockout_progressive": True}, 3, ["1.00", "0.01", "0.01", "0.01"]),
    ],
)
def test_strikes_are_those_of_the_last_place_for_each(
    given: dict[str, Any], gone: int, points: list[str]
) -> None:
    night = begin("group_knockout", players=4, **given)
    (game,) = night.open_games()
    quitters = game.player_ids[4 - gone :]
    others = game.player_ids[: 4 - gone]
    night.record(GameOutcome(game_id=game.game_id, finishing_order=others, gave_up=quitters))
    assert [str(earned) for earned in night.game(game.game_id).result_points] == points
    check(night)


def test_both_of_a_knockout_have_a_strike() -> None:
    night = begin("knockout", players=4, knockout_strike_count=2)
    game = night.open_games()[0]
    give_up(night, game, game.player_ids)
    assert [night.row(player_id).strike_count for player_id in game.player_ids] == [1, 1]


def test_an_empty_slot_goes_on_when_both_of_a_bracket_give_up() -> None:
    night = begin("bracket", players=4)
    give_up(night, night.game_with(1), [1, 4])
    night.record_order(night.game_with(2), 2, 3)
    # The final is a bye, and there is nobody to play for third place.
    assert not night.open_games()
    assert night.places() == {2: 1, 3: 3, 1: 3, 4: 3}
    check(night)


def test_who_leaves_a_bracket_gives_up_each_match_as_it_comes_up() -> None:
    night = begin("double_bracket", players=4)
    night.apply(giving_up.leave(night.tournament, 1, night.dice(), night.now))
    # Seed 1 has lost to 4, and loses the first match of the losers when its opponent is known.
    night.record_order(night.game_with(2), 2, 3)
    assert night.places()[1] == 4
    assert [game.gave_up_ids for game in night.tournament.games if game.gave_up_ids] == [(1,), (1,)]
    check(night)
    # Back again, the matches that were given up stay.
    night.come_back(1)
    assert night.places()[1] == 4


def test_of_a_ladder_all_who_give_up_are_out_and_share_the_place() -> None:
    night = begin("ladder", players=6)
    game = night.game_with(6)
    assert sorted(game.player_ids) == [3, 4, 5, 6]
    give_up(night, game, [5, 6])
    night.record(GameOutcome(game_id=game.game_id, finishing_order=(3, 4)))
    assert night.places() == {5: 5, 6: 5}
    assert sorted(night.open_games()[0].player_ids) == [1, 2, 3, 4]
    check(night)


def test_a_game_of_a_frenzy_that_both_give_up_is_gone() -> None:
    night = begin("frenzy", players=8, frenzy_queue_size=2)
    game = night.open_games()[0]
    give_up(night, game, game.player_ids)
    assert all(each.game_id != game.game_id for each in night.tournament.games)
    check(night)


def test_a_hole_costs_the_limit_and_ten_without_one() -> None:
    for limit, strokes in ((6, 6), (0, 10)):
        night = begin("golf", players=2, golf_stroke_limit=limit)
        attempt = open_attempts(night)[0]
        night.apply(tournament_commands.give_up_attempt(night.tournament, attempt, night.dice(), night.now))
        done = [each for each in night.tournament.single_player_games if each.status == "completed"]
        assert [each.points for each in done] == [Decimal(strokes)]


def test_who_gave_up_may_be_corrected_to_have_played() -> None:
    night = begin("group_matchplay", players=4)
    (game,) = night.open_games()
    first, two, three, four = game.player_ids
    night.record(GameOutcome(game_id=game.game_id, finishing_order=(first, two, three), gave_up=(four,)))
    night.record_order(night.game(game.game_id), first, two, four, three)
    assert night.game(game.game_id).gave_up_ids == ()
    # And the other way round: the others keep the order in which they finished.
    give_up(night, night.game(game.game_id), [two])
    after = night.game(game.game_id)
    assert (after.gave_up, after.result_positions) == ((two,), (first, four, three, two))


@pytest.mark.parametrize(
    ("gone", "order", "sentence"),
    [
        ((99,), (), "99 is not in"),
        ((1, 1), (), "named twice"),
        ((4,), (1, 2), "is missing"),
        ((4,), (1, 2, 3, 77), "77 is not in"),
        ((4,), (1, 4, 2, 3), "cannot stand before"),
    ],
)
def test_impossible_ones_are_refused_and_change_nothing(
    gone: tuple[int, ...], order: tuple[int, ...], sentence: str
) -> None:
    night = begin("group_matchplay", players=4)
    (game,) = night.open_games()
    before = night.tournament
    with pytest.raises(Invalid, match=sentence):
        night.record(GameOutcome(game_id=game.game_id, finishing_order=order, gave_up=gone))
    assert night.tournament == before


def test_who_has_nothing_open_is_told_so() -> None:
    night = begin("group_matchplay", players=4)
    night.finish_round()
    with pytest.raises(Conflict, match="nothing to forfeit"):
        tournament_commands.forfeit_open_games(night.tournament, 1, Random(1), night.now)


def sentence_of_refusal(attempt: Callable[[], Sequence[Change]]) -> str:
    """What the refusal says, in small letters; nothing where it works, or where no game is open."""
    try:
        attempt()
    except IndexError:
        return ""
    except Refusal as refusal:
        return refusal.text().lower()
    return ""


@pytest.mark.sample(12)
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kind", KINDS)
def test_no_refusal_names_a_way_that_is_refused_too(kind: str, state: str) -> None:
    """Each way out of a tournament that is refused names one that works."""
    night = reach(kind, state)
    here = night.open_games()[0].player_ids if night.open_games() else (open_attempts(night)[0].player_id,)
    player_id = min(here)

    def change(**fields: Any) -> Sequence[Change]:
        return roster.change_entrant(night.tournament, player_id, fields, night.dice(), night.now)

    ways: dict[str, Callable[[], Sequence[Change]]] = {
        "inactive": lambda: change(is_active=False),
        "forfeit": lambda: tournament_commands.forfeit_open_games(
            night.tournament, player_id, night.dice(), night.now
        ),
        "gives up": lambda: tournament_commands.forfeit_open_games(
            night.tournament, player_id, night.dice(), night.now
        ),
        "drop": lambda: change(is_active=False),
        "bring them back": lambda: gone_and_back(night, player_id),
        "delete it": lambda: game_commands.delete_game(
            night.tournament, night.open_games()[0].game_id, night.dice(), night.now
        ),
    }
    attempts: list[Callable[[], Sequence[Change]]] = [
        *ways.values(),
        lambda: change(is_active=False, open_game=roster.LAST_PLACE),
        lambda: change(is_active=False, open_game=roster.GOES_ON),
        lambda: change(away_rounds=1),
        lambda: tournament_commands.remove_entrant(
            night.tournament, player_id, dice=night.dice(), now=night.now
        ),
        lambda: game_commands.remove_player(night.tournament, night.open_games()[0].game_id, player_id),
    ]
    for attempt in attempts:
        sentence = sentence_of_refusal(attempt)
        for way in [way for words, way in ways.items() if words in sentence]:
            assert way() or not night.open_games(), sentence


def gone_and_back(night: Night, player_id: int) -> Sequence[Change]:
    """The changes that bring a player back once they have left."""
    left = giving_up.leave(night.tournament, player_id, night.dice(), night.now)
    return roster.change_entrant(
        apply_changes(night.tournament, left), player_id, {"is_active": True}, night.dice(), night.now
    )
