"""What the results of an amazing race mean: who is safe, who is out, who replays. Source: formats, 14.21."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from silverball.rules.tournament import Round, SinglePlayerGame, Tournament

REPLAYS_MAX = 1000
# The bar is what two players at least have left behind.
SCORES_FOR_A_BAR = 2


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a round came to so far."""

    # Who has somebody below, or was waved through.
    safe: frozenset[int]
    # Who is out; None while that is open.
    out: int | None
    # Who plays: everybody first, then the tied lowest of each replay.
    groups: tuple[tuple[int, ...], ...]
    # The lowest score so far that has to be beaten.
    bar: int | None
    # The player who is out because he left.
    given_up: int | None = None


def verdict(tournament: Tournament, one: Round, members: Sequence[int]) -> Verdict:
    """What the results of a round mean for its members (player ids, those who are there already).

    A player is safe with a score above somebody else's. When all have played the lowest is out; several
    tied lowest replay among themselves, as often as it takes. Source: formats, 14.21.
    """
    by_level = _by_level(tournament, one.round_id)
    group, safe = tuple(members), set[int]()
    groups = [group]
    bar: int | None = None
    for level in range(REPLAYS_MAX):
        here = {who: by_level[level][who] for who in group if who in by_level.get(level, {})}
        gone = [who for who, game in here.items() if game.is_voided]
        if gone:
            safe |= set(group) - {gone[0]}
            return Verdict(
                safe=frozenset(safe), out=gone[0], groups=tuple(groups), bar=None, given_up=gone[0]
            )
        scores = _exact(here)
        lowest = min(scores.values(), default=None)
        bar = lowest if _completed(here) >= SCORES_FOR_A_BAR else None
        safe |= {who for who, game in here.items() if game.status == "completed" and game.is_advanced}
        safe |= {who for who, score in scores.items() if lowest is not None and score > lowest}
        tied = tuple(who for who in group if scores.get(who) == lowest and lowest is not None)
        expected = (one.size or len(members)) if level == 0 else len(group)
        if _completed(here) < expected or not tied:
            break
        if len(tied) == 1:
            return Verdict(safe=frozenset(safe), out=tied[0], groups=tuple(groups), bar=bar)
        group = tied
        groups.append(group)
    return Verdict(safe=frozenset(safe), out=None, groups=tuple(groups), bar=bar)


def _by_level(tournament: Tournament, round_id: int) -> dict[int, dict[int, SinglePlayerGame]]:
    """How often it was replayed -> player id -> the game."""
    found: dict[int, dict[int, SinglePlayerGame]] = {}
    for one in tournament.attempts_by_round.get(round_id, ()):
        found.setdefault(one.game_index or 0, {})[one.player_id] = one
    return found


def _completed(here: Mapping[int, SinglePlayerGame]) -> int:
    return sum(game.status == "completed" for game in here.values())


def _exact(here: Mapping[int, SinglePlayerGame]) -> dict[int, int]:
    """Player id -> score, of those that are compared with others."""
    return {
        who: game.score
        for who, game in here.items()
        if game.status == "completed" and not game.is_advanced and game.score is not None
    }


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a player came: rounds survived, and whether he is out."""

    rounds_survived: int = 0
    is_out: bool = False


def progress(tournament: Tournament) -> dict[int, Progress]:
    """Player id -> how far he came, for everybody who has a game in the race."""
    found: dict[int, Progress] = {}
    for one in tournament.rounds_in_order:
        games = tournament.attempts_by_round.get(one.round_id, ())
        members = tuple(dict.fromkeys(game.player_id for game in games))
        result = verdict(tournament, one, members)
        for player_id in members:
            before = found.get(player_id, Progress())
            found[player_id] = Progress(
                rounds_survived=before.rounds_survived + (player_id in result.safe),
                is_out=player_id == result.out,
            )
    return found
