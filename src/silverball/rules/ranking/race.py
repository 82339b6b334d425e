"""Results of an amazing race: who is safe, who is out, who replays. Source: formats, section 14.21."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from silverball.rules.model.tournament import Round, SinglePlayerGame, Tournament

REPLAYS_MAX = 1000
# There is a score to beat only after two players have finished.
SCORES_FOR_A_BAR = 2


class RaceRoundResult(Struct, frozen=True, kw_only=True):
    """The state of a round: the players who are safe, the player who is out, and the replays."""

    # Players who beat another player's score or were advanced by hand.
    safe_ids: frozenset[int]
    # The player who is out; None while undecided.
    eliminated_id: int | None
    # The players of each level: all at first, then the players tied for lowest in each replay.
    groups: tuple[tuple[int, ...], ...]
    # The score to beat: the lowest so far.
    bar: int | None
    # The player who is out because they left.
    withdrawn_id: int | None = None


def round_result(tournament: Tournament, round_: Round, members: Sequence[int]) -> RaceRoundResult:
    """The result of a round for its members (ids of the players who have a game in it).

    A player is safe with a score above another player's. When all have played, the lowest is out; players
    tied for lowest replay among themselves, as often as it takes. Source: formats, section 14.21.
    """
    by_level = _games_by_level(tournament, round_.round_id)
    group, safe = tuple(members), set[int]()
    groups = [group]
    bar: int | None = None
    for level in range(REPLAYS_MAX):
        games_by_player = {
            player_id: by_level[level][player_id]
            for player_id in group
            if player_id in by_level.get(level, {})
        }
        withdrawn_ids = [player_id for player_id, game in games_by_player.items() if game.is_voided]
        if withdrawn_ids:
            safe |= set(group) - {withdrawn_ids[0]}
            return RaceRoundResult(
                safe_ids=frozenset(safe),
                eliminated_id=withdrawn_ids[0],
                groups=tuple(groups),
                bar=None,
                withdrawn_id=withdrawn_ids[0],
            )
        scores = _compared_scores(games_by_player)
        lowest = min(scores.values(), default=None)
        bar = lowest if _completed_count(games_by_player) >= SCORES_FOR_A_BAR else None
        safe |= {
            player_id
            for player_id, game in games_by_player.items()
            if game.status == "completed" and game.is_advanced
        }
        safe |= {player_id for player_id, score in scores.items() if lowest is not None and score > lowest}
        tied = tuple(
            player_id for player_id in group if scores.get(player_id) == lowest and lowest is not None
        )
        expected = (round_.size or len(members)) if level == 0 else len(group)
        if _completed_count(games_by_player) < expected or not tied:
            break
        if len(tied) == 1:
            return RaceRoundResult(
                safe_ids=frozenset(safe), eliminated_id=tied[0], groups=tuple(groups), bar=bar
            )
        group = tied
        groups.append(group)
    return RaceRoundResult(safe_ids=frozenset(safe), eliminated_id=None, groups=tuple(groups), bar=bar)


def _games_by_level(tournament: Tournament, round_id: int) -> dict[int, dict[int, SinglePlayerGame]]:
    """Number of the replay (0 is the first play) -> player id -> the game."""
    games: dict[int, dict[int, SinglePlayerGame]] = {}
    for game in tournament.attempts_by_round.get(round_id, ()):
        games.setdefault(game.game_index or 0, {})[game.player_id] = game
    return games


def _completed_count(games_by_player: Mapping[int, SinglePlayerGame]) -> int:
    return sum(game.status == "completed" for game in games_by_player.values())


def _compared_scores(games_by_player: Mapping[int, SinglePlayerGame]) -> dict[int, int]:
    """Player id -> score, for scores that are compared with others."""
    return {
        player_id: game.score
        for player_id, game in games_by_player.items()
        if game.status == "completed" and not game.is_advanced and game.score is not None
    }


class RaceProgress(Struct, frozen=True, kw_only=True):
    """A player's progress: rounds survived, and whether the player is out."""

    rounds_survived: int = 0
    is_out: bool = False


def race_progress(tournament: Tournament) -> dict[int, RaceProgress]:
    """Player id -> progress, for players with a game in the race."""
    progress: dict[int, RaceProgress] = {}
    for round_ in tournament.rounds_in_order:
        games = tournament.attempts_by_round.get(round_.round_id, ())
        members = tuple(dict.fromkeys(game.player_id for game in games))
        result = round_result(tournament, round_, members)
        for player_id in members:
            before = progress.get(player_id, RaceProgress())
            progress[player_id] = RaceProgress(
                rounds_survived=before.rounds_survived + (player_id in result.safe_ids),
                is_out=player_id == result.eliminated_id,
            )
    return progress
