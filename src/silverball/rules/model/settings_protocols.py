"""Settings that only some formats have, as protocols: `has(settings, HasScoring)` asks for them.

Nobody asks which format a tournament has; a format has what its settings have.
"""

from functools import cache
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from msgspec import UnsetType

from silverball.rules.model import literals
from silverball.rules.model.settings import Band, TournamentSettings

if TYPE_CHECKING:
    from typing_extensions import TypeIs

P = TypeVar("P")


class HasScoring(Protocol):
    """Settings of a format whose games give points by place."""

    @property
    def scoring(self) -> literals.Scoring: ...


class HasBestGameScoring(Protocol):
    """Settings of a format that ranks scores on each arena."""

    @property
    def best_game_scoring(self) -> literals.BestGameScoring: ...


class HasCardScoring(Protocol):
    """Settings of a format that scores single player games by the card."""

    @property
    def card_best_game_scoring(self) -> Literal[0, 1]: ...

    @property
    def card_best_game_games_per_card(self) -> int: ...

    @property
    def card_best_game_games_counted(self) -> int: ...

    @property
    def card_best_game_cards_counted(self) -> int: ...


class HasPairing(Protocol):
    """Settings of a format that draws opponents round by round."""

    @property
    def pairing(self) -> literals.Pairing: ...


class HasForecast(Protocol):
    """Settings of a format whose chances and certain facts can be shown while it runs; unset is off."""

    @property
    def forecast(self) -> bool | UnsetType: ...


class HasDuration(Protocol):
    """Settings of a format with a planned number of rounds; 0 leaves it open."""

    @property
    def duration(self) -> int: ...


class HasStrikesByPlace(Protocol):
    """Settings of a format that gives strikes by place in a group."""

    @property
    def knockout_fair(self) -> bool: ...

    @property
    def knockout_progressive(self) -> bool: ...

    @property
    def knockout_four_player_strikes(self) -> int: ...

    @property
    def knockout_three_player_strikes(self) -> int: ...


class HasTiebreaker(Protocol):
    """Settings of a format with a choice of tiebreakers."""

    @property
    def tiebreaker(self) -> str: ...


class HasPlayoffBands(Protocol):
    """Settings of a format with playoff bands in its standings."""

    @property
    def playoffs_cutoffs(self) -> tuple[Band, ...]: ...


class HasByes(Protocol):
    """Settings of a format that chooses the points of a bye."""

    @property
    def byes(self) -> literals.Byes: ...


class HasGamesPerRound(Protocol):
    """Settings of a format whose rounds or matches have several games."""

    @property
    def games_per_round(self) -> int: ...


class HasRoundRobinGroups(Protocol):
    """Settings of a round robin that can be played in groups."""

    @property
    def round_robin_group_size(self) -> int: ...


class HasStrikeCount(Protocol):
    """Settings of a format whose strikes eliminate."""

    @property
    def knockout_strike_count(self) -> int: ...


class HasBracketSize(Protocol):
    """Settings of a format that is played in a bracket."""

    @property
    def bracket_size(self) -> int: ...


class HasGroupBracket(Protocol):
    """Settings of a format that is played in a bracket of groups."""

    @property
    def bracket_size(self) -> int: ...

    @property
    def group_bracket_double_byes(self) -> int: ...

    @property
    def is_short(self) -> bool: ...


class HasRaceByes(Protocol):
    """Settings of an amazing race."""

    @property
    def amazing_race_byes(self) -> int | UnsetType: ...

    @property
    def amazing_race_bye_rounds(self) -> int | UnsetType: ...


class HasLadderType(Protocol):
    """Settings of a ladder."""

    @property
    def ladder_type(self) -> literals.LadderType: ...


class HasTargetPoints(Protocol):
    """Settings of a format that is played to a target."""

    @property
    def target_points(self) -> int: ...


class HasPace(Protocol):
    """Settings of a format with a rising target."""

    @property
    def pace_initial_rounds(self) -> int: ...

    @property
    def pace_initial_target(self) -> int: ...

    @property
    def pace_increment(self) -> int: ...


class HasHoles(Protocol):
    """Settings of a format with a fixed number of holes or frames."""

    @property
    def golf_duration(self) -> int: ...


class HasStrokeLimit(Protocol):
    """Settings of a format that limits the strokes of a hole."""

    @property
    def golf_stroke_limit(self) -> int: ...


class HasCountedHoles(Protocol):
    """Settings of a format that counts the best holes of a course."""

    @property
    def golf_duration(self) -> int: ...

    @property
    def golf_stroke_limit(self) -> int: ...

    @property
    def golf_holes_counted(self) -> int: ...


class HasBestGames(Protocol):
    """Settings of a format that counts the best games on each arena."""

    @property
    def best_game_number_of_best_games(self) -> int: ...

    @property
    def best_game_arenas_counted(self) -> int: ...


class HasAttemptLimit(Protocol):
    """Settings of a format that may limit the games (or cards) of a player; 0 is no limit."""

    @property
    def best_game_overall_attempts(self) -> int: ...


class HasArenaAttemptLimit(Protocol):
    """Settings of a format that may limit the games of a player on one arena; 0 is no limit."""

    @property
    def best_game_attempts_on_arena(self) -> int: ...


def has(settings: object, protocol: type[P]) -> "TypeIs[P]":
    """Return whether the format has the settings of the protocol.

    Answers as `isinstance` does, which is too slow to be asked several times for each result.
    """
    kind: type = type(settings)
    asked: type = protocol
    return _has_all(kind, asked)


@cache
def _has_all(settings: type, protocol: type) -> bool:
    asked = (name for name, member in vars(protocol).items() if isinstance(member, property))
    return all(hasattr(settings, name) for name in asked)


def tiebreaker_of(settings: TournamentSettings) -> str:
    """The tiebreaker of a format, "disabled" in formats without one."""
    return settings.tiebreaker if has(settings, HasTiebreaker) else "disabled"


def playoff_bands_of(settings: TournamentSettings) -> tuple[Band, ...]:
    """The playoff bands of a format, none in formats without them."""
    return settings.playoffs_cutoffs if has(settings, HasPlayoffBands) else ()


# Settings that shared rules of play ask for: typed protocols, and readers with defaults.
#
# `has(settings, HasPlayerOrder)` asks by the settings' keys, so that no shared rule names a format.


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
