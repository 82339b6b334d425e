"""A format is data: its wire name, its settings and its functions."""

from collections.abc import Callable
from dataclasses import dataclass

from silverball.rules.ranking.standing import Standing
from silverball.rules.settings import Settings
from silverball.rules.tournament import Tournament
from silverball.rules.words import TournamentType

SettingsType = type[Settings]


@dataclass(frozen=True, kw_only=True)
class Format:
    """How a tournament of one type is played."""

    type: TournamentType
    # Field names are the wire keys, in the order they are shown; Meta holds limits and help.
    settings: SettingsType
    # The settings a list shows first: wire keys.
    primary_settings: tuple[str, ...]
    # The standings, by position, then by player id.
    rank: Callable[[Tournament], list[Standing]]
    # Whether the end condition is met; the organizer still closes the tournament.
    is_over: Callable[[Tournament], bool]
