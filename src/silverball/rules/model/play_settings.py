"""Settings that shared rules of play ask for: typed protocols, and readers with defaults.

`has(settings, HasPlayerOrder)` asks by the settings' keys, so that no shared rule names a format.
"""

from typing import Literal, Protocol

from silverball.rules.model import literals
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.settings_protocols import HasDuration, HasGamesPerRound, has


class HasSeeding(Protocol):
    """Settings of a format that ranks entrants before the first round."""

    @property
    def seeding(self) -> literals.Seeding: ...


class HasFirstRoundPairing(Protocol):
    """Settings of a format whose first round is drawn by seed."""

    @property
    def first_round_pairing(self) -> literals.FirstRoundPairing: ...


class HasPlayerOrder(Protocol):
    """Settings of a format that decides who plays first."""

    @property
    def player_order(self) -> literals.PlayerOrder: ...


class HasPlayerOrderOpen(Protocol):
    """Settings of a format that may let players decide who plays first."""

    @property
    def player_order_open(self) -> literals.PlayerOrderOpen: ...


class HasArenaAssignment(Protocol):
    """Settings of a format that gives arenas to games."""

    @property
    def arena_assignment(self) -> literals.ArenaAssignment: ...


class HasSuggestions(Protocol):
    """Settings of a format whose players may send in results."""

    @property
    def suggestions(self) -> literals.SuggestionMode: ...


class HasQueues(Protocol):
    """Settings of a format that may use queues."""

    @property
    def use_queues(self) -> bool: ...


class HasClock(Protocol):
    """Settings of a format with a clock and a queue."""

    @property
    def frenzy_duration(self) -> int: ...

    @property
    def frenzy_queue_size(self) -> int: ...

    @property
    def frenzy_paused_seconds_left(self) -> int: ...


class HasMatchRequests(Protocol):
    """Settings of a format whose matches are drawn on request."""

    @property
    def max_matchplay_duration(self) -> int: ...

    @property
    def max_matchplay_max_active(self) -> int: ...

    @property
    def max_matchplay_scorekeeper_create(self) -> Literal[0, 1]: ...


def seeding(settings: TournamentSettings) -> literals.Seeding:
    """The way entrants are ranked; by hand where the format has no choice."""
    return settings.seeding if has(settings, HasSeeding) else "manual"


def player_order(settings: TournamentSettings, *, default: literals.PlayerOrder) -> literals.PlayerOrder:
    """The rule for who plays first."""
    return settings.player_order if has(settings, HasPlayerOrder) else default


def may_players_set_order(settings: TournamentSettings) -> bool:
    """Whether the players of a game may decide who plays first."""
    return has(settings, HasPlayerOrderOpen) and settings.player_order_open == "players"


def arena_assignment(
    settings: TournamentSettings, *, default: literals.ArenaAssignment
) -> literals.ArenaAssignment:
    """The way a game gets its arena."""
    return settings.arena_assignment if has(settings, HasArenaAssignment) else default


def games_per_round(settings: TournamentSettings) -> int:
    """Games that each group plays in a round."""
    return settings.games_per_round if has(settings, HasGamesPerRound) else 1


def wins_needed(settings: TournamentSettings) -> int:
    """Single games that win a match of two: more than half of them; 1 where a game is just a game."""
    return (games_per_round(settings) + 1) // 2 if settings.has_matches else 1


def rounds_planned(settings: TournamentSettings) -> int:
    """The planned number of rounds; 0 leaves it open."""
    return settings.duration if has(settings, HasDuration) else 0


def suggestion_mode(settings: TournamentSettings) -> literals.SuggestionMode:
    """Whether players may send in results, and who approves them."""
    return settings.suggestions if has(settings, HasSuggestions) else "disabled"


def uses_queues(settings: TournamentSettings) -> bool:
    """Whether players wait for their turn in queues."""
    return has(settings, HasQueues) and settings.use_queues
