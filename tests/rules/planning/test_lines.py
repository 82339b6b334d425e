"""The line of a plan: by it nine of ten nights should end, in clubs that the planner was not made from.

`benchmarks/planner.py` fits the constants to 50 clubs called "fitted"; these are others.
"""

import numpy as np
import pytest

from rules.planning.invented_clubs import InventedClub, InventedNight, clubs
from selection import IS_ALL
from silverball.rules.outlook.plans import plan_night
from silverball.rules.planning.pace import DEFAULT_PACE, Pace, learn_pace
from silverball.rules.planning.simulation import calibrate
from silverball.rules.registry import FORMATS

# A thousand predicted nights; in `make test` a club of each format, and bounds for a hundred nights.
CLUBS = 100 if IS_ALL else 10
LEAST, MOST = (0.85, 0.95) if IS_ALL else (0.8, 0.97)


def is_held(club: InventedClub, night: InventedNight, pace: Pace) -> bool:
    """Whether the night ended by the line of its plan."""
    planned = plan_night(
        FORMATS[club.type],
        club.settings,
        {},
        players=night.players,
        machines=night.machines,
        pace=pace,
        dice=np.random.default_rng(7),
    )
    assert planned.line is not None
    return night.minutes <= planned.line


@pytest.fixture(scope="module")
def others() -> list[InventedClub]:
    return list(clubs("others", CLUBS))


def test_the_line_holds_in_nine_of_ten_nights_of_a_club_with_nights_of_its_own(
    others: list[InventedClub],
) -> None:
    held: list[bool] = []
    for club in others:
        for night, earlier in club.predicted():
            pace = learn_pace([each.past for each in earlier])
            finished = [each.finished for each in earlier]
            held.append(is_held(club, night, calibrate(pace, finished, np.random.default_rng(15))))
    assert len(held) == 10 * CLUBS
    assert LEAST <= sum(held) / len(held) <= MOST


def test_the_line_of_the_defaults_holds_in_clubs_that_play_for_the_first_time(
    others: list[InventedClub],
) -> None:
    held = [is_held(club, night, DEFAULT_PACE) for club in others for night, _ in club.predicted()]
    assert sum(held) / len(held) >= LEAST
