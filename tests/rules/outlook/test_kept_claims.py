"""Forecasts of small nights that are stored, loaded and published again while people change the night.

Every claim that is shown, kept ones included, is checked against every end that the night can come to.
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import msgspec
import pytest

from rules.night import NOON, Night, a_night, random_order
from rules.outlook import every_end
from rules.outlook.finished_nights import stored_and_loaded
from silverball.kit.errors import Refusal
from silverball.kit.values import replace
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import single_player as single_player_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.outcome import AttemptOutcome
from silverball.rules.model.settings import Band
from silverball.rules.outlook.forecast import CertainFacts, Forecast, certain_facts, cut_of
from silverball.rules.planning.nights import CertainBy
from silverball.rules.registry import FORMATS

Step = Callable[[Night, Random], None]
NIGHTS = 100
STEPS_MAX = 60
# At most so many states of a night are played to all their ends.
LOOKS_MAX = 8
# Format -> the values that its settings may have in these nights; the number of players among them.
SMALL_NIGHTS: dict[str, dict[str, Sequence[Any]]] = {
    "matchplay": {
        "players": (3, 4, 5, 6),
        "duration": (2, 3),
        "games_per_round": (1, 1, 2),
        "byes": ("full", "half", "zero"),
    },
    "group_matchplay": {"players": (3, 4, 5, 6), "duration": (2, 3), "scoring": ("ifpa", "papa")},
    "pace_matchplay": {"players": (4, 5, 6), "pace_initial_target": (4, 8), "pace_initial_rounds": (1, 2)},
    "max_matchplay": {"players": (3, 4, 5, 6), "max_matchplay_duration": (2, 4)},
    "round_robin": {"players": (3, 4, 5, 6)},
    "double_round_robin": {"players": (3, 4)},
    "knockout": {"players": (3, 4, 5, 6), "knockout_strike_count": (1, 2)},
    "group_knockout": {
        "players": (3, 4, 5, 6),
        "knockout_strike_count": (1, 2),
        "knockout_four_player_strikes": (1, 2, 3, 100, 101),
    },
    "bracket": {"players": (3, 4, 5, 6), "seeding": ("manual",)},
    "double_bracket": {"players": (3, 4, 5, 6), "seeding": ("manual",)},
    "group_bracket": {"players": (4, 6), "games_per_round": (1,)},
    "golf_bracket": {"players": (4, 6), "games_per_round": (1,)},
    "ladder": {"players": (3, 4, 5, 6), "ladder_type": ("regular", "fast"), "seeding": ("manual",)},
    "amazingrace": {"players": (3, 4, 5)},
}


def test_every_format_with_a_forecast_has_its_small_nights() -> None:
    certain = {form.type for form in FORMATS.values() if form.planning.certain_by is not CertainBy.NOTHING}
    assert set(SMALL_NIGHTS) == certain


def a_small_night(kind: str, dice: Random) -> Night:
    chosen = {name: dice.choice(list(values)) for name, values in SMALL_NIGHTS[kind].items()}
    players = chosen.pop("players")
    if kind in {"group_bracket", "golf_bracket"}:
        chosen["bracket_size"] = players
    if kind in {"bracket", "double_bracket"}:
        chosen["bracket_size"] = 4 if players <= 4 else 8
    night = a_night(kind, players=players, arenas=players, **chosen)
    bands = (Band(index=0, value=2, cumulative=2, text="", color=None),)
    if "playoffs_cutoffs" in FORMATS[kind].settings.__struct_fields__ and dice.random() < 0.7:
        settings: Any = msgspec.structs.replace(night.tournament.settings, playoffs_cutoffs=bands)
        night.tournament = replace(night.tournament, settings=settings)
    night.tournament = replace(
        night.tournament, state=replace(night.tournament.state, dice_seed=str(dice.random()))
    )
    night.start()
    return night


# What people do between two forecasts. A step that the rules refuse changes nothing.


class NothingToChange(Exception):
    """A step that makes no sense now."""


def play(night: Night, dice: Random) -> None:
    """Record a result, or go on when none is missing."""
    turns = every_end.attempt_outcomes(night.tournament)
    if night.open_games():
        game = dice.choice(night.open_games())
        night.record_order(game, *random_order(game, dice))
    elif turns:
        turn = dice.choice(turns)
        assert isinstance(turn, AttemptOutcome)
        night.apply(single_player_commands.record_attempt(night.tournament, turn, dice, night.now))
    else:
        every_end.take_next_step(night)


def swap(night: Night, dice: Random) -> None:
    if len(night.tournament.active_ids) < 2:
        raise NothingToChange
    night.apply(game_commands.swap_players(night.tournament, *dice.sample(night.tournament.active_ids, 2)))


def redraw(night: Night, _dice: Random) -> None:
    newest = night.tournament.newest_round
    if newest is None or any(
        game.status == "completed" and not game.is_bye
        for game in night.tournament.games_by_round.get(newest.round_id, ())
    ):
        raise NothingToChange
    night.apply(tournament_commands.delete_round(night.tournament, newest.round_id))
    draw = tournament_commands.next_draw_name(night.tournament)
    night.apply(tournament_commands.request_redraw(night.tournament, draw))
    night.open_round()


def drop(night: Night, dice: Random) -> None:
    """Take somebody out of an open game, or out of the night."""
    games = night.open_games()
    if games and dice.random() < 0.5:
        game = dice.choice(games)
        player_id = dice.choice(game.player_ids)
        night.apply(game_commands.remove_player(night.tournament, game.game_id, player_id))
    elif night.tournament.active_ids:
        night.leave(dice.choice(night.tournament.active_ids))


def seat(night: Night, dice: Random) -> None:
    """Bring somebody into a game or to a player with a bye: who is there, came back or is new."""
    away = [each.player_id for each in night.tournament.entrants if not each.is_active]
    way = dice.randrange(3)
    if way == 0 and away:
        night.come_back(dice.choice(away))
    elif way == 1 and len(night.tournament.entrants) < 6:
        night.join(100 + len(night.journal), points_adjustment=dice.choice((0, 1)))
    newest = night.tournament.newest_round
    games = night.tournament.games_by_round.get(newest.round_id, ()) if newest is not None else ()
    if not games:
        raise NothingToChange
    player_id = dice.choice(night.tournament.active_ids)
    night.apply(
        game_commands.add_player(
            night.tournament, dice.choice(games).game_id, player_id, night.dice(), night.now
        )
    )


def adjust(night: Night, dice: Random) -> None:
    night.adjust(dice.choice(night.tournament.active_ids), dice.choice((-1, 1, 2)))


def correct(night: Night, dice: Random) -> None:
    done = [game for game in night.tournament.games if game.status == "completed" and not game.is_bye]
    if not done:
        raise NothingToChange
    game = dice.choice(done)
    night.correct(game, *random_order(game, dice))


def take_back(night: Night, _dice: Random) -> None:
    if len(night.journal) < 2:
        raise NothingToChange
    night.undo()


PAIRINGS: tuple[Step, ...] = (swap, swap, redraw, drop, seat)
CHANGES: tuple[Step, ...] = (*PAIRINGS, adjust, correct, take_back)


def wrong_claims(night: Night, facts: CertainFacts) -> list[str] | None:
    """The claims that an end contradicts; None when there are too many ends."""
    cut = cut_of(night.tournament) or 0
    everything = every_end.all_ends(night.tournament)
    if everything is None:
        return None
    wrong = []
    for claim in facts.claims:
        ends = everything if claim.fact != "place" else every_end.all_ends(night.tournament, claim)
        if ends is not None and ends.contradicts(claim, 1 if claim.goal == "win" else cut):
            wrong.append(f"{claim}: best {ends.best}, worst {ends.worst}")
    return wrong


def next_step(published: Forecast | None, dice: Random) -> Step:
    """Mostly play; where a place in an open game is shown to be enough, often another pairing."""
    has_place = published is not None and any(claim.fact == "place" for claim in published.claims)
    if has_place and dice.random() < 0.4:
        return dice.choice(PAIRINGS)
    return play if dice.random() < 0.75 else dice.choice(CHANGES)


def walk(kind: str, number: int) -> Counter[str]:
    """Play a small night with changes, and check what is shown while its ends can be counted."""
    dice = Random(f"{kind} {number}")
    night = a_small_night(kind, dice)
    form = FORMATS[kind]
    published: Forecast | None = None
    seen: Counter[str] = Counter()
    for _ in range(STEPS_MAX):
        for _ in range(dice.choice((1, 1, 2, 3))):
            take_step(night, next_step(published, dice), dice)
        facts = certain_facts(night.tournament, form, published, NOON)
        published = stored_and_loaded(facts)
        if facts.claims and seen["looks"] < LOOKS_MAX:
            wrong = wrong_claims(night, facts)
            assert not wrong, (kind, number, wrong)
            seen["looks"] += 1
            seen["claims checked"] += 0 if wrong is None else len(facts.claims)
        if form.is_over(night.tournament):
            break
    return seen


def take_step(night: Night, step: Step, dice: Random) -> None:
    """Take a step, unless the rules or the state of the night do not allow it."""
    with contextlib.suppress(Refusal, NothingToChange):
        step(night, dice)


@pytest.mark.sample(4)
@pytest.mark.parametrize("kind", SMALL_NIGHTS)
@pytest.mark.parametrize("part", range(10))
def test_what_is_shown_as_certain_holds_in_every_end_of_a_small_night(kind: str, part: int) -> None:
    seen: Counter[str] = Counter()
    for number in range(part * NIGHTS // 10, (part + 1) * NIGHTS // 10):
        seen += walk(kind, number)
    assert seen["claims checked"], seen
