"""Finals of 2 to 128 players: played to the end, verified, undone. Source: formats, sections 14 and 26."""

from typing import Any

import pytest

from rules.night import a_night
from rules.test_giving_up import open_attempts
from rules.verify.walked_nights import JournalledNight, journalled
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.outcome import AttemptOutcome, GameOutcome
from silverball.rules.model.tournament import SinglePlayerGame

FINALS: dict[str, dict[str, Any]] = {
    "bracket": {},
    "double_bracket": {},
    "group_bracket": {},
    "golf_bracket": {},
    "amazingrace": {},
    "amazingrace with byes": {"amazing_race_byes": 4, "amazing_race_bye_rounds": 3},
}
SIZES = (2, 3, 5, 9, 12, 16, 24, 41, 128)
# A race of 128 has 8,255 scores; its rules are those of 41.
CASES = [(kind, players) for kind in FINALS for players in SIZES if players <= 41 or "race" not in kind]


def a_final(kind: str, players: int) -> JournalledNight:
    """A planned final that is seeded in the order of the ids."""
    arenas = min(40, max(6, players // 2))
    settings = {"seeding": "manual", **FINALS[kind]}
    return journalled(a_night(kind.split(maxsplit=1)[0], players=players, arenas=arenas, **settings))


def play_to_its_end(night: JournalledNight) -> None:
    """Play until the format says that it is over; the better seed wins everything."""
    form = tournament_commands.format_of(night.tournament)
    while not form.is_over(night.tournament):
        for game in night.open_games():
            night.record(GameOutcome(game_id=game.game_id, finishing_order=tuple(sorted(game.player_ids))))
        for attempt in open_attempts(night)[:1]:
            night.record(a_result_by_seed(night, attempt))
        if not night.open_games() and not open_attempts(night) and not form.is_over(night.tournament):
            night.open_round()


def a_result_by_seed(night: JournalledNight, attempt: SinglePlayerGame) -> AttemptOutcome:
    """A result that is better than those of all worse seeds in the group."""
    stages = tournament_commands.format_of(night.tournament).group_stages
    attempt_id = attempt.single_player_game_id
    if stages is None:
        return AttemptOutcome(single_player_game_id=attempt_id, score=10_000 - attempt.player_id)
    newest = night.tournament.newest_round
    assert newest is not None
    groups = stages.round_result(night.tournament, newest).groups
    (group,) = [sorted(group) for group in groups if attempt.player_id in group]
    return AttemptOutcome(single_player_game_id=attempt_id, strokes=1 + group.index(attempt.player_id))


@pytest.mark.sample(14)
@pytest.mark.parametrize(("kind", "players"), CASES)
def test_a_final_of_any_size_is_played_to_its_end_verified_and_undone(kind: str, players: int) -> None:
    night = a_final(kind, players)
    night.start()
    play_to_its_end(night)
    assert night.faults() == []
    places = night.places()
    assert (places[1], places[2], len(places)) == (1, 2, len(night.tournament.entrants))
    night.complete()
    while night.journal:
        night.undo()
    assert night.tournament == night.planned
    assert night.faults() == []
