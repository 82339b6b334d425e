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
