"""Games that come up one by one, once their players are known: their arenas and playing orders.

Drawn rounds distribute their arenas at once (`lineups`); here a game gets an arena that is free when it
is made, or none until the organizer chooses. Source: formats, sections 7, 8 and 14.10.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from random import Random
from typing import TypeAlias

from msgspec import UNSET, Struct, UnsetType

from silverball.kit.errors import Conflict
from silverball.kit.values import replace
from silverball.rules.drawing import arenas, order
from silverball.rules.drawing.bracket_nodes import BracketNode, NodeKey, SeedSource, Source, WinnerSource
from silverball.rules.drawing.groups import PAIR_SIZE
from silverball.rules.mechanics import lineups, results, rounds, seeding
from silverball.rules.mechanics.lineups import GroupAssignment
from silverball.rules.model import settings_protocols
from silverball.rules.model.changes import Change, RoundOpened
from silverball.rules.model.tournament import Game, Round, Tournament


class AllRoundsOpen(Conflict):
    sentence = "All rounds are there already: the next games come up when results are recorded."


class CallUp(Struct, frozen=True, kw_only=True):
    """Players due for their next game; `earlier_games` are those of the same match, in order."""

    round_id: int
    set_number: int
    player_ids: tuple[int, ...]
    earlier_games: tuple[Game, ...] = ()
    # The number of the game in its bracket; elsewhere it is counted in its group.
    number: int | None = None
    # The number of the match that everybody reads.
    match_number: int | UnsetType = UNSET


def create_games(tournament: Tournament, calls: Sequence[CallUp], dice: Random, now: datetime) -> list[Game]:
    """A started game for each call, on free arenas that the match has not had in its round."""
    first = next_game_id(tournament)
    games: list[Game] = []
    opening = [call for call in calls if not call.earlier_games]
    shared = (
        _assign_free_arenas(tournament, [call.player_ids for call in opening], (), dice) if opening else []
    )
    for call, seat in zip(opening, shared, strict=True):
        games.append(_create_game(first - len(games), call, seat, now))
    for call in calls:
        if call.earlier_games:
            current = replace(tournament, games=(*tournament.games, *games))
            games.append(_create_game(first - len(games), call, _assign_next_game(current, call, dice), now))
    return games


def _create_game(game_id: int, call: CallUp, seat: GroupAssignment, now: datetime) -> Game:
    players = seat.playing_orders[-1]
    is_pair = len(players) == PAIR_SIZE
    game = rounds.new_game(game_id, players, now=now, arena_id=seat.arena_ids[-1], has_advantage=is_pair)
    return replace(
        game,
        round_id=call.round_id,
        set_number=call.set_number,
        game_index=len(call.earlier_games) if call.number is None else call.number,
        bank_id=seat.bank_id,
        match_number=call.match_number,
    )


def _assign_free_arenas(
    tournament: Tournament, groups: Sequence[tuple[int, ...]], excluded: Collection[int], dice: Random
) -> list[GroupAssignment]:
    """An arena and an order for each group's game, without arenas in use and `excluded` ones."""
    return lineups.assign_groups(
        with_free_arenas_only(tournament, excluded), groups, games=1, positions={}, dice=dice
    )


def _assign_next_game(tournament: Tournament, call: CallUp, dice: Random) -> GroupAssignment:
    """A further game of a match: another arena; the same order, the next turn of it, or the loser first."""
    number = len(call.earlier_games)
    player_order = settings_protocols.player_order(tournament.settings, default="seed")
    players = call.earlier_games[0].player_ids
    if player_order == order.ROTATING:
        players = order.rotate_order(players, number)
    elif player_order == order.LOSER:
        newest = call.earlier_games[-1]
        last = results.last_of_game(newest)
        players = newest.player_ids if last is None else order.first_in_order(newest.player_ids, last)
    bank_id = call.earlier_games[0].bank_id
    if bank_id is not None:
        arena_id = _bank_arena(tournament, bank_id, number)
    elif settings_protocols.arena_assignment(tournament.settings, default="disabled") == "category_banks":
        # The i-th game of a match is played on an arena of the i-th category.
        waves = lineups.assign_groups(
            with_free_arenas_only(tournament, used_arena_ids(call)),
            [call.player_ids],
            games=number + 1,
            positions={},
            dice=dice,
        )
        arena_id = waves[0].arena_ids[-1]
    else:
        arena_id = _assign_free_arenas(tournament, [call.player_ids], used_arena_ids(call), dice)[
            0
        ].arena_ids[0]
    return GroupAssignment((arena_id,), (players,), bank_id)


def used_arena_ids(call: CallUp) -> set[int]:
    """Ids of the arenas that the match has used."""
    return {game.arena_id for game in call.earlier_games if game.arena_id is not None}


def _bank_arena(tournament: Tournament, bank_id: int, number: int) -> int | None:
    bank = next((bank for bank in tournament.banks if bank.bank_id == bank_id), None)
    if bank is None:
        return None
    return arenas.bank_arenas(arenas.DrawableBank(bank.bank_id, bank.arena_ids), number + 1)[-1]


def with_free_arenas_only(tournament: Tournament, excluded: Collection[int] = ()) -> Tournament:
    """The tournament as a draw sees it: arenas in use and `excluded` ones are out of service."""
    free = {arena.arena_id for arena in lineups.untaken_arenas(tournament)} - set(excluded)
    lineup = tuple(
        replace(lineup_arena, is_active=lineup_arena.arena_id in free) for lineup_arena in tournament.lineup
    )
    return replace(tournament, lineup=lineup)


def next_game_id(tournament: Tournament) -> int:
    """The next negative id, below those of other new games of the same action."""
    return min([0, *(game.game_id for game in tournament.games)]) - 1


def open_missing_rounds(tournament: Tournament, indexes: Sequence[int], now: datetime) -> list[Change]:
    """Open the rounds with these indexes that do not exist yet."""
    existing = {round_.round_index for round_ in tournament.rounds}
    first = min([0, *(round_.round_id for round_ in tournament.rounds)]) - 1
    missing = [index for index in indexes if index not in existing]
    return [
        RoundOpened(
            Round(
                round_id=first - at,
                round_index=index,
                status="started",
                name=f"Round {index + 1}",
                created_at=now,
            )
        )
        for at, index in enumerate(missing)
    ]


def dice_at_reopen(tournament: Tournament) -> Random:
    """Dice for the games that come back when a closed tournament is reopened: always the same."""
    return Random(f"{tournament.state.dice_seed}/reopened")  # noqa: S311  # a draw, not a secret


def with_game_restored(tournament: Tournament, game: Game) -> Tournament:
    """The tournament with this game as it was."""
    others = [each for each in tournament.games if each.game_id != game.game_id]
    return replace(tournament, games=tuple(sorted([*others, game], key=lambda each: each.game_id)))


def require_missing_games(changes: list[Change]) -> list[Change]:
    """The missing games of a scheduled format, which an import did not bring.

    Raises Conflict when none is missing.
    """
    if not changes:
        raise AllRoundsOpen
    return changes


# The matches of a bracket, from its seeds and results. Source: formats, sections 14.10 and 14.11.


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
