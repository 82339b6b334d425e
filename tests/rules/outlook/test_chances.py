"""Chances from ratings: hand-checked cases and properties."""

import numpy as np
import pytest

from rules.night import Night, a_night
from silverball.rules.outlook.chances import chances
from silverball.rules.outlook.forecast import Chance
from silverball.rules.registry import FORMATS


def of(night: Night, ratings: dict[int, float]) -> dict[int, Chance]:
    found = chances(night.tournament, FORMATS[night.tournament.type], ratings, np.random.default_rng(7))
    assert found is not None
    return {chance.player_id: chance for chance in found}


def test_in_the_last_game_of_two_the_ratings_say_who_wins() -> None:
    night = a_night("round_robin", players=2)
    night.start()
    better, worse = night.tournament.active_ids
    found = of(night, {better: 1700.0, worse: 1300.0})
    # 400 points: ten to one.
    assert found[better].win == pytest.approx(10 / 11, abs=0.03)
    assert found[better].win + found[worse].win == pytest.approx(1)
    assert found[better].cut is None
    # Without ratings they are equals, and so is one rated player against the mean of the rated ones.
    assert of(night, {})[better].win == pytest.approx(0.5, abs=0.05)
    assert of(night, {better: 1900.0})[better].win == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("type_", "settings"),
    [
        ("knockout", {"knockout_strike_count": 2}),
        ("group_knockout", {}),
        ("matchplay", {"duration": 4}),
        ("group_matchplay", {"duration": 3}),
    ],
)
def test_chances_add_up_to_one_winner_and_the_best_rated_player_leads(
    type_: str, settings: dict[str, int]
) -> None:
    night = a_night(type_, players=9, **settings)
    night.start()
    night.open_round()
    best = night.tournament.active_ids[4]
    found = of(night, dict.fromkeys(night.tournament.active_ids, 1500.0) | {best: 1900.0})
    assert sum(chance.win for chance in found.values()) == pytest.approx(1)
    assert max(found.values(), key=lambda chance: chance.win).player_id == best


def test_who_is_struck_out_has_no_chance() -> None:
    night = a_night("knockout", players=4, knockout_strike_count=1)
    night.start()
    night.open_round()
    night.finish_round()
    night.open_round()
    alive = FORMATS["knockout"].playing_ids(night.tournament)
    found = of(night, {})
    assert sum(found[player_id].win for player_id in alive) == pytest.approx(1)


@pytest.mark.parametrize("type_", ["ladder", "frenzy", "manual_matchplay", "best_game"])
def test_other_formats_have_no_chances(type_: str) -> None:
    night = a_night(type_, players=6)
    form = FORMATS[type_]
    assert chances(night.tournament, form, {}, np.random.default_rng(7)) is None
