"""What a new tournament begins with, by its format and settings."""

from collections.abc import Mapping
from typing import Any

from silverball.rules.model.settings import TournamentSettings
from silverball.rules.scoring import curves, point_maps
from silverball.rules.scoring.point_maps import WireRows


def points_map(
    type_: str, settings: TournamentSettings, custom: Mapping[str, Any] | None = None
) -> WireRows | None:
    """The points by group size and place, as on the wire; None for formats without such points.

    Fair and progressive strikes have maps of their own; standard strikes show the IFPA map though their
    games do not use it. Raises Invalid for a custom map that is not one. Source: formats, section 11.
    """
    scoring = getattr(settings, "scoring", "")
    if getattr(settings, "best_game_scoring", "") == "custom":
        # Ranks, not places: the only row is the curve. The interface shows it as it shows other maps.
        return (curves.parse_custom_curve(custom or {}),)
    if scoring == "custom":
        return point_maps.parse_custom_map(custom or {})
    if scoring:
        return point_maps.map_of_scoring(scoring)
    if type_ == "group_knockout":
        fair = bool(getattr(settings, "knockout_fair", False))
        progressive = bool(getattr(settings, "knockout_progressive", False))
        return point_maps.map_of_strikes(fair=fair, progressive=progressive)
    return point_maps.map_of_type(type_)
