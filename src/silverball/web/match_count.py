"""How a match of several games stands, as its pages show it."""

from collections.abc import Sequence

from msgspec import Struct

from silverball.rules.commands import legs as leg_commands
from silverball.rules.mechanics import match_results
from silverball.rules.model import play_settings
from silverball.rules.model.tournament import Game, Tournament


class MatchCount(Struct, frozen=True, kw_only=True):
    """The games won in a match, and what can be recorded next."""

    # In playing order.
    wins: Sequence[int]
    wins_needed: int
    takes_legs: bool
    is_decided_by_legs: bool
    # The number of the next single game, from 1, and the arena where it is expected.
    next_number: int
    next_arena_id: int | None

    @property
    def score_text(self) -> str:
        """The games won, in playing order: "2 to 1"; empty while nobody has won any."""
        return " to ".join(map(str, self.wins)) if any(self.wins) else ""


def count_match(tournament: Tournament, game: Game) -> MatchCount | None:
    """How a match stands; None for a game that is decided at once."""
    if not match_results.is_played_in_legs(tournament, game):
        return None
    is_counted = None in game.result_positions
    needed = play_settings.wins_needed(tournament.settings)
    wins = [int(points or 0) if is_counted else 0 for points in game.result_points]
    return MatchCount(
        wins=wins,
        wins_needed=needed,
        takes_legs=match_results.takes_legs(tournament, game),
        is_decided_by_legs=bool(game.legs) and needed in wins,
        next_number=len(game.legs) + 1,
        next_arena_id=leg_commands.expected_arena_id(tournament, game),
    )
