"""A row of the standings, for all formats. Source: formats, section 13.1."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from itertools import combinations, groupby
from typing import Any, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from silverball.rules.model.tournament import Game

# Competition ranking: equals share a place (1, 2, 2, 4). Source: formats, section 13.2.


class Sortable(Protocol):
    """A value that can be sorted: numbers, texts, tuples of them."""

    def __lt__(self, other: Any, /) -> bool:
        """Whether this value comes before the other."""
        ...


Key = TypeVar("Key", bound=Sortable)


def positions(keys: Mapping[int, Key], *, highest_first: bool = True) -> dict[int, int]:
    """Position of each player; equals share the better position and the next one is skipped.

    Takes player id -> key (numbers or tuples, compared as they are) and returns player id -> position,
    in the order of the standings: by position, then by player id. To sort a part of a tuple the other way
    round, negate it. Source: formats, section 13.2 (2,761 of 2,761 observed rows).
    """
    placed: dict[int, int] = {}
    for group in tied_groups(keys, highest_first=highest_first):
        position = len(placed) + 1
        placed.update(dict.fromkeys(group, position))
    return placed


def tied_groups(keys: Mapping[int, Key], *, highest_first: bool = True) -> list[tuple[int, ...]]:
    """Player ids grouped by equal keys, best group first, ids ascending within a group.

    Takes player id -> key as `positions` does. Source: formats, section 13.2.
    """
    ids_ascending = sorted(keys)
    # sorted() is stable even when reversed, so ids stay ascending.
    ordered = sorted(ids_ascending, key=lambda player_id: keys[player_id], reverse=highest_first)
    return [tuple(members) for _, members in groupby(ordered, key=lambda player_id: keys[player_id])]


def ids_in_order(placed: Mapping[int, int]) -> list[int]:
    """Player ids by position, then by player id. Takes player id -> position."""
    return sorted(placed, key=lambda player_id: (placed[player_id], player_id))


def members_by_position(placed: Mapping[int, int]) -> dict[int, tuple[int, ...]]:
    """Position -> the player ids that share it, best position first. Takes player id -> position."""
    ordered = ids_in_order(placed)
    shared = groupby(ordered, key=lambda player_id: placed[player_id])
    return {position: tuple(members) for position, members in shared}


def mean_half_up(values: Sequence[int]) -> int:
    """The mean of whole points, rounded half up to whole points.

    Raises ValueError when there are no values. Source: formats, section 21 (154 of 154 tie groups).
    """
    if not values:
        raise ValueError("there is no mean of no values")
    mean = Decimal(sum(values)) / Decimal(len(values))
    return int(mean.quantize(Decimal(1), ROUND_HALF_UP))


# The bubble: players tied across the border of a playoff band. Source: formats, section 13.3.


BANDS_MAX = 100


class Cutoff(Struct, frozen=True):
    """A playoff band of the standings: its last place and its color."""

    last_place: int
    color: str | None


class Bubble(Struct, frozen=True):
    """The bubble columns of a standing; None means not on the bubble."""

    on_cutoff_bubble: bool | None = None
    cutoff_bubble_color: str | None = None
    on_cutoff_bubble2: bool | None = None


NO_BUBBLE = Bubble()


def parse_cutoffs(bands: Sequence[Any]) -> list[Cutoff]:
    """The cutoffs of the playoff bands, best band first.

    Takes bands as on the wire (index, value, cumulative, text, color), as mappings or as objects with
    these attributes. Raises ValueError above 100 bands. Source: formats, section 13.3.
    """
    if len(bands) > BANDS_MAX:
        raise ValueError(f"{len(bands)} bands are more than {BANDS_MAX}")
    read = [Cutoff(int(_band_part(band, "cumulative")), _band_part(band, "color")) for band in bands]
    return sorted(read, key=lambda cutoff: cutoff.last_place)


def _band_part(band: Any, name: str) -> Any:
    return band.get(name) if isinstance(band, Mapping) else getattr(band, name)


def bubbles(placed: Mapping[int, int], bands: Sequence[Any]) -> dict[int, Bubble]:
    """Player id -> bubble. Takes player id -> position and the bands as on the wire.

    A player is on the bubble of a band when their tie group holds the positions p to q and the band ends
    at one of p to q - 1, so that some of the group would go through. Source: formats, section 13.3.
    """
    borders = parse_cutoffs(bands)
    shown: dict[int, Bubble] = {}
    for position, members in members_by_position(placed).items():
        last = position + len(members) - 1
        straddled = [border for border in borders if position <= border.last_place < last]
        shown.update(dict.fromkeys(members, _bubble(straddled)))
    return shown


def _bubble(straddled: Sequence[Cutoff]) -> Bubble:
    if not straddled:
        return NO_BUBBLE
    second = True if len(straddled) > 1 else None
    return Bubble(True, straddled[0].color, second)


# A text with two decimals or a number, depending on the format.
DisplayedPoints: TypeAlias = str | Decimal | int
ACTIVE_COLOR = "green"


class CountedCard(Struct, frozen=True, kw_only=True):
    """A card that counts for a standing."""

    card_id: int
    points: DisplayedPoints
    """Points of the card."""
    count: int
    """Number of games on the card."""


class PaceBubble(Struct, frozen=True, kw_only=True):
    """The next target of a pace match play, and the points missing."""

    target: Decimal
    """Points that the bar asks for after the next round."""
    needed: Decimal
    """Points that the player still needs for it."""


class Standing(Struct, frozen=True, kw_only=True):
    """Place and points of an entrant; the defaults are those of the list family (formats, 13.1)."""

    player_id: int
    position: int
    points: DisplayedPoints
    """Points as text with two decimals; a number in frenzies and brackets; null without any."""
    tiebreakers: tuple[DisplayedPoints, ...] | None
    """Values compared in turn among equal points, the points first; null in brackets."""
    points_with_tiebreaker: DisplayedPoints | None = None
    """Points with the part that a tiebreak game added; null without one."""
    games_played: int | None = 0
    """Number of games played; null in brackets."""
    entries_played: int | None = 0
    """Number of entries used up, in best game; 0 in other formats, null in brackets."""
    entries_available: int | None = 0
    """Number of entries left, in best game; 0 in other formats, null in brackets."""
    strike_count: int | None = 0
    """Number of strikes; 0 outside of knockouts, null in brackets."""
    cards_counted: tuple[CountedCard, ...] | None = None
    """Cards that count, in card best game; null elsewhere."""
    adjustment: Decimal | None = Decimal(0)
    """Points that the organizer gave or, below 0, took; null in brackets."""
    frenzy_wins: int | None = None
    """Number of wins, in a frenzy; null elsewhere."""
    frenzy_losses: int | None = None
    """Number of losses, in a frenzy; null elsewhere."""
    points_list: tuple[DisplayedPoints, ...] | None = None
    """Points of the counted results, best first; null in formats without such a list."""
    active_games: tuple[int, ...] = ()
    """Ids of the started games of the player; other services send the games."""
    pace_bubble: PaceBubble | None = None
    bubble: Bubble = NO_BUBBLE
    manual_tiebreaker_group: int | None = None

    @property
    def active_game_color(self) -> str | None:
        """The color of the row while the player is in a started game."""
        return ACTIVE_COLOR if self.active_games else None


def points_text(points: Decimal) -> str:
    """Points as the list family displays them: `9.00`."""
    return str(points.quantize(Decimal("0.01")))


def active_game_ids(games: Iterable[Game]) -> dict[int, tuple[int, ...]]:
    """Player id -> ids of the player's started games, ascending."""
    ids_by_player: dict[int, tuple[int, ...]] = {}
    for game in sorted(games, key=lambda game: game.game_id):
        if game.status == "started":
            for player_id in game.player_ids:
                ids_by_player[player_id] = (*ids_by_player.get(player_id, ()), game.game_id)
    return ids_by_player


# Wins and losses in a game, by the tournament's counting rule. Source: formats, section 22.


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


# Finishing places of the players of a game.


def finishing_places(result: StoredResult) -> dict[int, int]:
    """Player id -> place, from 0 for the winner, in slot order.

    A complete finishing order gives the places. Where a format leaves it incomplete (strikes in
    groups), the place is the number of players with more points, so equals share the better place;
    a player without points has none. Source: samples/stats-players.json; sharing is our choice.
    """
    if result.is_ordered:
        return {player_id: result.result_positions.index(player_id) for player_id in result.player_ids}
    points = dict(zip(result.player_ids, result.result_points, strict=True))
    known = {player_id: own for player_id, own in points.items() if own is not None}
    return {player_id: sum(other > own for other in known.values()) for player_id, own in known.items()}
