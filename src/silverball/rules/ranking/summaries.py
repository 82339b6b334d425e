"""Plays of a completed tournament, summed by arena, player and opponent. Source: formats, section 22."""

from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal

from msgspec import Struct

from silverball.rules.ranking import standing
from silverball.rules.ranking.standing import StoredResult, WinLossRule


class GameRecord(Struct, frozen=True):
    """A completed game of either kind. A single player game has one player and no result."""

    arena_id: int | None
    player_ids: tuple[int, ...]
    result_positions: tuple[int | None, ...] = ()
    result_points: tuple[Decimal | None, ...] = ()
    is_bye: bool = False
    is_single_player: bool = False


class ArenaSummary(Struct, frozen=True):
    """Number of plays of an arena."""

    arena_id: int
    games: int
    """Number of games of several players."""
    single_player_games: int
    """Number of single player games."""

    @property
    def games_total(self) -> int:
        """Games of both kinds."""
        return self.games + self.single_player_games


class PlayerArenaSummary(Struct, frozen=True):
    """A player's plays, wins and losses on an arena."""

    arena_id: int
    player_id: int
    games: int
    single_player_games: int
    wins: int
    losses: int

    @property
    def games_total(self) -> int:
        """Games of both kinds."""
        return self.games + self.single_player_games


class MatchSummary(Struct, frozen=True):
    """A player's games, wins and losses against an opponent on an arena."""

    arena_id: int
    player_id: int
    opponent_id: int
    games: int
    """Number of games that both played in."""
    wins: int
    losses: int


class OpponentSummary(Struct, frozen=True):
    """A player's games, wins and losses against an opponent on any arena or none."""

    player_id: int
    opponent_id: int
    games: int
    wins: int
    losses: int


def arena_summaries(games: Iterable[GameRecord]) -> list[ArenaSummary]:
    """One row per arena that was played, by arena id.

    Byes and games without an arena are left out. Source: formats, section 22.
    """
    plays: Counter[int] = Counter()
    single: Counter[int] = Counter()
    for arena_id, game in _games_on_arenas(games):
        (single if game.is_single_player else plays)[arena_id] += 1
    return [ArenaSummary(arena_id, plays[arena_id], single[arena_id]) for arena_id in sorted(plays | single)]


def player_arena_summaries(rule: WinLossRule, games: Iterable[GameRecord]) -> list[PlayerArenaSummary]:
    """One row per arena and player who played it, by arena id, then by player id.

    Takes the tournament's rule for wins and losses, which count opponents: first of four is 3-0. Byes and
    games without an arena are left out. Source: formats, section 22.
    """
    plays: Counter[tuple[int, int]] = Counter()
    single: Counter[tuple[int, int]] = Counter()
    wins: Counter[tuple[int, int]] = Counter()
    losses: Counter[tuple[int, int]] = Counter()
    for arena_id, game in _games_on_arenas(games):
        for player_id in game.player_ids:
            (single if game.is_single_player else plays)[arena_id, player_id] += 1
        for player_id, record in _win_loss_records(rule, game).items():
            wins[arena_id, player_id] += record.wins
            losses[arena_id, player_id] += record.losses
    return [
        PlayerArenaSummary(*key, plays[key], single[key], wins[key], losses[key])
        for key in sorted(plays | single)
    ]


def match_summaries(rule: WinLossRule, games: Iterable[GameRecord]) -> list[MatchSummary]:
    """One row per arena, player and opponent, in both directions, by arena, player and opponent id.

    Takes the tournament's rule for wins and losses; a meeting without a winner counts as a game only.
    Byes, single player games and games without an arena are left out. Source: formats, section 22.
    """
    plays: Counter[tuple[int, int, int]] = Counter()
    wins: Counter[tuple[int, int, int]] = Counter()
    for arena_id, game in _games_on_arenas(games):
        for player_id, opponent_id, winner_id in _meetings_both_ways(rule, game):
            plays[arena_id, player_id, opponent_id] += 1
            wins[arena_id, player_id, opponent_id] += winner_id == player_id
    # A loss is the opponent's win on the same arena.
    return [MatchSummary(*key, plays[key], wins[key], wins[key[0], key[2], key[1]]) for key in sorted(plays)]


def opponent_summaries(rule: WinLossRule, games: Iterable[GameRecord]) -> list[OpponentSummary]:
    """One row per player and opponent, in both directions, by player id, then by opponent id.

    Like `match_summaries`, but games without an arena count too. Source: interface.md 2, row 27.
    """
    plays: Counter[tuple[int, int]] = Counter()
    wins: Counter[tuple[int, int]] = Counter()
    for game in games:
        for player_id, opponent_id, winner_id in _meetings_both_ways(rule, game):
            plays[player_id, opponent_id] += 1
            wins[player_id, opponent_id] += winner_id == player_id
    return [OpponentSummary(*key, plays[key], wins[key], wins[key[1], key[0]]) for key in sorted(plays)]


def _games_on_arenas(games: Iterable[GameRecord]) -> Iterator[tuple[int, GameRecord]]:
    for game in games:
        if game.arena_id is not None and not game.is_bye:
            yield game.arena_id, game


def _stored_result(game: GameRecord) -> StoredResult:
    return StoredResult(game.player_ids, game.result_positions, game.result_points)


def _win_loss_records(rule: WinLossRule, game: GameRecord) -> dict[int, standing.WinLossRecord]:
    return {} if game.is_single_player else standing.win_loss_records(rule, _stored_result(game))


def _meetings_both_ways(rule: WinLossRule, game: GameRecord) -> Iterator[tuple[int, int, int | None]]:
    if game.is_single_player:
        return
    for meeting in standing.pair_results(rule, _stored_result(game)):
        yield meeting.player_id, meeting.opponent_id, meeting.winner_id
        yield meeting.opponent_id, meeting.player_id, meeting.winner_id
