"""The ladder: the lowest seeds play, the last is out, the next seed joins. Source: formats, 14.13."""

from collections.abc import Sequence

from msgspec import Struct

from silverball.rules.pairing.groups import GROUP_SIZE, Group

PLAYERS_MAX = 1000


class LadderGame(Struct, frozen=True):
    """A game: the number of players, and how many of them are eliminated. The last game leaves one."""

    player_count: int
    eliminated_count: int


def ladder_games(players: int, *, is_fast: bool = False) -> list[LadderGame]:
    """All games of a ladder.

    Regular: games of four eliminate one player each, then a game of three and one of two follow. Fast:
    games of four eliminate two, and the last four play for the places; with an odd number the bottom
    three play first and one is out. Raises ValueError below 2 or above 1,000 players.
    Source: formats, section 14.13.
    """
    if not 2 <= players <= PLAYERS_MAX:
        raise ValueError(f"{players} players cannot play a ladder")
    if is_fast:
        return _fast_ladder_games(players)
    return [LadderGame(min(GROUP_SIZE, alive), 1) for alive in range(players, 1, -1)]


def _fast_ladder_games(players: int) -> list[LadderGame]:
    if players <= GROUP_SIZE:
        return [LadderGame(players, players - 1)]
    opening = [LadderGame(3, 1)] if players % 2 else []
    middle = (players - players % 2 - GROUP_SIZE) // 2
    return [*opening, *[LadderGame(GROUP_SIZE, 2)] * middle, LadderGame(GROUP_SIZE, GROUP_SIZE - 1)]


def next_group(alive_ids: Sequence[int], game: LadderGame) -> Group:
    """The players of a game: the lowest seeds still alive, best seed first.

    Takes the ids of the players alive by seed, best first. The survivors of the previous game are always
    among them. Source: formats, section 14.13.
    """
    return tuple(alive_ids[-game.player_count :])
