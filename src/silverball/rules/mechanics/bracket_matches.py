"""The matches of a bracket, from its seeds and results. Source: formats, sections 14.10 and 14.11."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from silverball.kit.values import replace
from silverball.rules.mechanics import seeding
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.pairing.bracket_nodes import BracketNode, NodeKey, SeedSource, Source, WinnerSource

# A seat that stays empty: a missing seed, or the loser of a bye.
EMPTY_SEAT = 0
# A player id, EMPTY_SEAT, or None while it is not known.
Seat: TypeAlias = int | None


class BracketMatch(Struct, frozen=True, kw_only=True):
    """A node with its known players, its game and its decision."""

    node: BracketNode
    seats: tuple[Seat, ...]
    # The game of these players, however many single games decide it.
    game: Game | None = None
    # Games of other players.
    stale_games: tuple[Game, ...] = ()
    # First to last once decided: both players, the one with a bye, or none.
    finishing_order: tuple[int, ...] | None = None
    # A second final that is not needed.
    is_unneeded: bool = False

    @property
    def player_ids(self) -> tuple[int, ...]:
        """The known players."""
        return tuple(seat for seat in self.seats if seat)

    @property
    def has_known_seats(self) -> bool:
        """Whether all seats are known."""
        return None not in self.seats

    @property
    def is_bye(self) -> bool:
        """Whether a player advances without a game."""
        return self.has_known_seats and len(self.player_ids) == 1 and not self.node.is_extra

    @property
    def is_upset(self) -> bool:
        """Whether the player in the second seat won."""
        first = self.finishing_order[0] if self.finishing_order else EMPTY_SEAT
        return len(self.seats) == 2 and bool(first) and first == self.seats[1]

    @property
    def needs_game(self) -> bool:
        """Whether its game can be made."""
        return self.has_known_seats and len(self.player_ids) > 1 and self.game is None


Matches: TypeAlias = Mapping[NodeKey, BracketMatch]


def resolve_matches(tournament: Tournament, nodes: Sequence[BracketNode]) -> Matches:
    """The matches of all nodes, in playing order.

    Takes the nodes in an order in which each comes after its sources.
    """
    seeds = seeding.ids_by_seed(tournament)
    played = _games_by_number(tournament)
    matches: dict[NodeKey, BracketMatch] = {}
    for node in nodes:
        games = played.get(node.number, [])
        if _is_unneeded(node, matches):
            matches[node.key] = BracketMatch(
                node=node, seats=(), stale_games=tuple(games), finishing_order=(), is_unneeded=True
            )
            continue
        seats = tuple(_seat_from_source(source, seeds, matches) for source in node.sources)
        matches[node.key] = _resolve_match(node, seats, games)
    return matches


def _games_by_number(tournament: Tournament) -> dict[int | None, list[Game]]:
    games_by_number: dict[int | None, list[Game]] = {}
    for game in tournament.games:
        if game.round_id is None or game.is_bye or game.is_tiebreak:
            continue
        games_by_number.setdefault(game.game_index, []).append(game)
    return games_by_number


def _is_unneeded(node: BracketNode, matches: Matches) -> bool:
    if node.reset_of is None:
        return False
    first = matches[node.reset_of]
    return first.finishing_order is not None and not first.is_upset


def _seat_from_source(source: Source, seeds: Sequence[int], matches: Matches) -> Seat:
    if isinstance(source, SeedSource):
        return seeds[source.seed - 1] if source.seed <= len(seeds) else EMPTY_SEAT
    order = matches[source.node].finishing_order
    if order is None:
        return None
    place = 0 if isinstance(source, WinnerSource) else 1
    return order[place] if place < len(order) else EMPTY_SEAT


def _resolve_match(node: BracketNode, seats: tuple[Seat, ...], games: Sequence[Game]) -> BracketMatch:
    match = BracketMatch(node=node, seats=seats, stale_games=tuple(games))
    if not match.has_known_seats:
        return match
    if len(match.player_ids) < 2:
        return replace(match, finishing_order=match.player_ids)
    game = next((game for game in games if set(game.player_ids) == set(match.player_ids)), None)
    if game is None:
        return match
    order = finishing_order(game) if game.status == "completed" else None
    stale = tuple(other for other in games if other is not game)
    return replace(match, game=game, stale_games=stale, finishing_order=order)


def finishing_order(game: Game) -> tuple[int, ...]:
    """The players of a completed game from first to last, also where its single games were counted."""
    return game.finishing_order or tuple(
        player_id for player_id in game.result_positions if player_id is not None
    )


def is_over(matches: Matches) -> bool:
    """Whether first place is decided."""
    finals = [match for match in matches.values() if match.node.winner_place == 1]
    return all(match.finishing_order is not None for match in finals)
