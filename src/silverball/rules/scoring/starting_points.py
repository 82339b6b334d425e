"""The points that a new tournament starts with, by its settings. Source: formats, section 11.

Each function takes the settings and the organizer's own points where the settings ask for them, and
returns the points by group size and place, as on the wire.
"""

from collections.abc import Mapping
from typing import Any

from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.settings_protocols import HasBestGameScoring, HasScoring, HasStrikesByPlace, has
from silverball.rules.scoring import curves, point_maps
from silverball.rules.scoring.point_maps import WireRows

CustomPoints = Mapping[str, Any] | None


def no_points(_settings: TournamentSettings, _custom: CustomPoints) -> None:
    """No points: places in a game earn none."""


def one_point_per_win(_settings: TournamentSettings, _custom: CustomPoints) -> WireRows:
    """One point for the first, nothing for the others."""
    return point_maps.HEAD_TO_HEAD


def points_of_scoring(settings: TournamentSettings, custom: CustomPoints) -> WireRows:
    """The points of the chosen `scoring`. Raises Invalid for points of their own that are not complete."""
    assert has(settings, HasScoring)
    if settings.scoring == point_maps.CUSTOM:
        return point_maps.parse_custom_map(custom or {})
    return point_maps.map_of_scoring(settings.scoring)


def curve_of_best_game(settings: TournamentSettings, custom: CustomPoints) -> WireRows | None:
    """The organizer's own curve, the only row of ranks; None for a published curve.

    Raises Invalid for a curve that is none.
    """
    assert has(settings, HasBestGameScoring)
    if settings.best_game_scoring != curves.CUSTOM:
        return None
    return (curves.parse_custom_curve(custom or {}),)


def points_for_strikes(settings: TournamentSettings, _custom: CustomPoints) -> WireRows:
    """The map that stands for the strikes of a group.

    Fair and progressive strikes have maps of their own; standard strikes show the IFPA map though their
    games do not use it.
    """
    assert has(settings, HasStrikesByPlace)
    return point_maps.map_of_strikes(fair=settings.knockout_fair, progressive=settings.knockout_progressive)
