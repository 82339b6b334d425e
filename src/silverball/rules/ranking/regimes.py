"""Wins and losses in a game, by the tournament's counting rule. Source: formats, section 22."""

from collections.abc import Iterator
from decimal import Decimal
from enum import StrEnum
from itertools import combinations

from msgspec import Struct


class WinLossRule(StrEnum):
    """The rule that derives wins and losses from a completed game."""

    POSITIONS = "positions"
    FAIR_STRIKES = "fair strikes"
    STRIKE = "strike"
    NONE = "none"


class StoredResult(Struct, frozen=True):
    """The stored result of a completed game: one slot per player; the finishing order may have gaps."""

    player_ids: tuple[int, ...]
    result_positions: tuple[int | None, ...]
    result_points: tuple[Decimal | None, ...]

    @property
    def is_ordered(self) -> bool:
        """Whether the finishing order names every player."""
        return set(self.result_positions) == set(self.player_ids)


class PairResult(Struct, frozen=True):
    """Two players of a game; `winner_id` is None when the game does not separate them."""

    player_id: int
    opponent_id: int
    winner_id: int | None


class WinLossRecord(Struct, frozen=True):
    """Wins and losses of one player."""

    wins: int = 0
    losses: int = 0


def pair_results(rule: WinLossRule, result: StoredResult) -> list[PairResult]:
    """Every pair of the game, in slot order, with its winner.

    A game of one player (a bye) has no pairs. Where the finishing order is incomplete, the points decide:
    more points win, and equal points leave the pair without a winner. Raises ValueError when the parts
    of the result have different lengths. Source: formats, section 22.
    """
    if not len(result.player_ids) == len(result.result_positions) == len(result.result_points):
        raise ValueError("a game has one position and one points value for each player")
    if rule is WinLossRule.NONE:
        return []
    if rule is WinLossRule.POSITIONS and result.is_ordered:
        return list(_pairs_by_positions(result))
    return list(_pairs_by_points(result))


def _pairs_by_positions(result: StoredResult) -> Iterator[PairResult]:
    place = {player_id: place for place, player_id in enumerate(result.result_positions)}
    for player_id, opponent_id in combinations(result.player_ids, 2):
        winner_id = player_id if place[player_id] < place[opponent_id] else opponent_id
        yield PairResult(player_id, opponent_id, winner_id)


def _pairs_by_points(result: StoredResult) -> Iterator[PairResult]:
    slots = zip(result.player_ids, result.result_points, strict=True)
    for (player_id, own), (opponent_id, other) in combinations(slots, 2):
        if own is None or other is None:
            continue
        winner_id = None if own == other else player_id if own > other else opponent_id
        yield PairResult(player_id, opponent_id, winner_id)


def win_loss_records(rule: WinLossRule, result: StoredResult) -> dict[int, WinLossRecord]:
    """Player id -> wins and losses in this game, in slot order.

    Fair strikes of four give 3-0, 1-1, 1-1, 0-3; two strikes of four give 2-0 and 0-2. Raises as
    `pair_results` does. Source: formats, section 22.
    """
    met = pair_results(rule, result)
    return {
        player_id: WinLossRecord(
            wins=sum(meeting.winner_id == player_id for meeting in met),
            losses=sum(_is_loss(meeting, player_id) for meeting in met),
        )
        for player_id in result.player_ids
    }


def _is_loss(meeting: PairResult, player_id: int) -> bool:
    is_in = player_id in (meeting.player_id, meeting.opponent_id)
    return is_in and meeting.winner_id is not None and meeting.winner_id != player_id
