"""Brackets in play: games that count, games to delete, and games that come up next.

Everything follows from the seeds and the results: after each result the bracket is read from the first
round on, games whose players no longer follow are deleted, and a game is made wherever both players are
known. Source: formats, sections 14.10, 14.11 and 20.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from random import Random
from typing import Any, TypeAlias

import msgspec

from silverball.rules.mechanics import call_ups, results, rounds, seeding
from silverball.rules.mechanics.call_ups import CallUp
from silverball.rules.model import play_settings
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import (
    Change,
    GameDeleted,
    GameOpened,
    RoundDeleted,
    SuggestionDecided,
    TournamentEdited,
    tournament_changes,
)
from silverball.rules.model.outcome import GameOutcome, Outcome
from silverball.rules.model.refusals import DrawnElsewhere
from silverball.rules.model.settings import HasBracketSize
from silverball.rules.model.tournament import Game, Round, Tournament
from silverball.rules.pairing import elimination
from silverball.rules.pairing.bracket_nodes import BracketNode, NodeKey, SeedSource, Source, WinnerSource

# A seat that stays empty: a missing seed, or the loser of a bye.
EMPTY_SEAT = 0
# A player id, EMPTY_SEAT, or None while it is not known.
Seat: TypeAlias = int | None
BYE_POINTS = Decimal("1.00")


@dataclass(frozen=True, kw_only=True)
class BracketMatch:
    """A node with its known players, its games and its decision."""

    node: BracketNode
    seats: tuple[Seat, ...]
    # The games that count, in playing order.
    games: tuple[Game, ...] = ()
    # Games of other players, or beyond the decision.
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
        """Whether its next game can be made."""
        is_waiting = any(game.status != "completed" for game in self.games)
        return (
            self.has_known_seats
            and len(self.player_ids) > 1
            and self.finishing_order is None
            and not is_waiting
        )


Matches: TypeAlias = Mapping[NodeKey, BracketMatch]
NodesForSize: TypeAlias = Callable[[int], Sequence[BracketNode]]


@dataclass(frozen=True)
class BracketRules:
    """The rules of one bracket format; `nodes` takes the size."""

    nodes: NodesForSize
    # Whether those who have lost once play on for the final.
    has_losers_bracket: bool = False

    def start(self, tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
        """Open the rounds and first games, in the smallest bracket that holds the players.

        Raises Invalid above 128 players.
        """
        size = elimination.size_for(len(tournament.active_ids))
        fitting: Any = {"bracket_size": size}
        changes = tournament_changes(
            TournamentEdited, tournament, settings=msgspec.structs.replace(tournament.settings, **fitting)
        )
        after = apply_changes(tournament, changes)
        return [*changes, *open_missing_games(after, self.matches, dice, now)]

    def open_round(self, tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
        """Open the missing games, for example after an import. Raises Conflict when none is missing."""
        return call_ups.require_missing_games(open_missing_games(tournament, self.matches, dice, now))

    def settle(self, tournament: Tournament, outcome: Outcome, dice: Random, now: datetime) -> list[Change]:
        """Record or correct a result, delete games that depended on the old one, open new ones."""
        assert isinstance(outcome, GameOutcome)
        self.require_own_schedule(tournament)
        changes = results.complete_game(tournament, outcome, results.score_by_points_map(tournament), now)
        changes += self.delete_stale_games(apply_changes(tournament, changes))
        return [*changes, *open_missing_games(apply_changes(tournament, changes), self.matches, dice, now)]

    def result_cleared(self, tournament: Tournament, game: Game) -> list[Change]:
        """Delete the games that followed from a cleared result; takes the game as it was."""
        self.require_own_schedule(call_ups.with_game_restored(tournament, game))
        return self.delete_stale_games(tournament)

    def at_reopen(self, tournament: Tournament) -> list[Change]:
        """Bring back the games that closing discarded, and reopen undecided rounds."""
        self.require_own_schedule(tournament)
        changes = self.delete_stale_games(tournament)
        if tournament.completed_at is not None:
            after, dice = apply_changes(tournament, changes), call_ups.dice_at_reopen(tournament)
            changes += open_missing_games(after, self.matches, dice, tournament.completed_at)
        return changes

    def require_own_schedule(self, tournament: Tournament) -> None:
        """Refuse an imported bracket with another schedule, all of which would go. Raises Conflict."""
        if any(match.stale_games for match in self.matches(tournament).values()):
            raise DrawnElsewhere

    def delete_stale_games(self, tournament: Tournament) -> list[Change]:
        """Delete games that no longer follow from earlier results, and reopen undecided rounds."""
        return delete_stale_games(tournament, self.matches)

    def matches(self, tournament: Tournament) -> Matches:
        """The matches of all nodes."""
        assert isinstance(tournament.settings, HasBracketSize)
        return resolve_matches(tournament, self.nodes(tournament.settings.bracket_size))


def resolve_matches(tournament: Tournament, nodes: Sequence[BracketNode]) -> Matches:
    """The matches of all nodes, in playing order.

    Takes the nodes in an order in which each comes after its sources.
    """
    seeds = seeding.ids_by_seed(tournament)
    wins_needed = (play_settings.games_per_round(tournament.settings) + 1) // 2
    played = _games_by_key(tournament)
    found: dict[NodeKey, BracketMatch] = {}
    for node in nodes:
        games = played.get(node.key, [])
        if _is_unneeded(node, found):
            found[node.key] = BracketMatch(
                node=node, seats=(), stale_games=tuple(games), finishing_order=(), is_unneeded=True
            )
            continue
        seats = tuple(_seat_from_source(source, seeds, found) for source in node.sources)
        found[node.key] = _resolve_match(node, seats, games, wins_needed)
    return found


def _games_by_key(tournament: Tournament) -> dict[NodeKey, list[Game]]:
    found: dict[NodeKey, list[Game]] = {}
    for game in tournament.games:
        if game.round_id is None or game.is_bye or game.is_tiebreak:
            continue
        key = (tournament.round_by_id[game.round_id].round_index, game.set_number)
        found.setdefault(key, []).append(game)
    return found


def _is_unneeded(node: BracketNode, found: Matches) -> bool:
    if node.reset_of is None:
        return False
    first = found[node.reset_of]
    return first.finishing_order is not None and not first.is_upset


def _seat_from_source(source: Source, seeds: Sequence[int], found: Matches) -> Seat:
    if isinstance(source, SeedSource):
        return seeds[source.seed - 1] if source.seed <= len(seeds) else EMPTY_SEAT
    order = found[source.node].finishing_order
    if order is None:
        return None
    place = 0 if isinstance(source, WinnerSource) else 1
    return order[place] if place < len(order) else EMPTY_SEAT


def _resolve_match(
    node: BracketNode, seats: tuple[Seat, ...], games: Sequence[Game], wins_needed: int
) -> BracketMatch:
    match = BracketMatch(node=node, seats=seats, stale_games=tuple(games))
    if not match.has_known_seats:
        return match
    if len(match.player_ids) < 2:
        return replace(match, finishing_order=match.player_ids)
    needed = wins_needed if len(seats) == 2 else 1
    standing, order = _standing_games(games, match.player_ids, needed)
    stale = tuple(game for game in games if game not in standing)
    return replace(match, games=tuple(standing), stale_games=stale, finishing_order=order)


def _standing_games(
    games: Sequence[Game], present: Sequence[int], wins_needed: int
) -> tuple[list[Game], tuple[int, ...] | None]:
    """The games that count and, once decided, the players from first to last.

    A game counts when those before it have results and did not decide: clearing a result also discards
    what was played because of it.
    """
    wins: Counter[int] = Counter()
    standing: list[Game] = []
    for game in sorted(games, key=lambda game: (game.game_index or 0, game.game_id)):
        if set(game.player_ids) != set(present):
            continue
        standing.append(game)
        if game.status != "completed":
            return standing, None
        order = tuple(player_id for player_id in game.result_positions if player_id is not None)
        wins[order[0]] += 1
        if wins[order[0]] == wins_needed:
            return standing, order
    return standing, None


def delete_stale_games(tournament: Tournament, matches_of: Callable[[Tournament], Matches]) -> list[Change]:
    """Delete stale games and byes, with the round of an unneeded deciding final; reopen rounds."""
    found = matches_of(tournament)
    stale = {game.game_id for match in found.values() for game in match.stale_games}
    byes = _bye_keys(found)
    for game in tournament.games:
        if game.is_bye and game.round_id is not None:
            index = tournament.round_by_id[game.round_id].round_index
            if (index, game.player_ids[0]) not in byes:
                stale.add(game.game_id)
    changes: list[Change] = [
        SuggestionDecided(suggestion) for suggestion in tournament.suggestions if suggestion.game_id in stale
    ]
    changes += [GameDeleted(game) for game in tournament.games if game.game_id in stale]
    needed = _needed_round_indexes(found)
    changes += [RoundDeleted(round_) for round_ in tournament.rounds if round_.round_index not in needed]
    after = apply_changes(tournament, changes)
    return [*changes, *_settle_rounds(after, matches_of, None)]


def open_missing_games(
    tournament: Tournament, matches_of: Callable[[Tournament], Matches], dice: Random, now: datetime
) -> list[Change]:
    """Open missing rounds, byes and games; complete decided rounds."""
    found = matches_of(tournament)
    changes: list[Change] = list(call_ups.open_missing_rounds(tournament, _needed_round_indexes(found), now))
    after = apply_changes(tournament, changes)
    round_ids = {round_.round_index: round_.round_id for round_ in after.rounds}
    calls = [
        CallUp(
            round_id=round_ids[match.node.key[0]],
            set_number=match.node.key[1],
            player_ids=match.player_ids,
            earlier_games=match.games,
        )
        for match in found.values()
        if match.needs_game
    ]
    changes += [GameOpened(game) for game in call_ups.create_games(after, calls, dice, now)]
    after = apply_changes(tournament, changes)
    changes += [GameOpened(game) for game in _missing_byes(after, _bye_keys(found))]
    after = apply_changes(tournament, changes)
    return [*changes, *_settle_rounds(after, matches_of, now)]


def _bye_keys(found: Matches) -> set[tuple[int, int]]:
    """Round index and player of every bye."""
    return {(match.node.key[0], match.player_ids[0]) for match in found.values() if match.is_bye}


def _needed_round_indexes(found: Matches) -> list[int]:
    """Indexes of the rounds that should exist: the deciding final only when it is played."""
    indexes = {
        match.node.key[0]
        for match in found.values()
        if match.node.reset_of is None or _is_second_final_needed(match)
    }
    return sorted(indexes)


def _is_second_final_needed(match: BracketMatch) -> bool:
    return match.has_known_seats and not match.is_unneeded


def _missing_byes(tournament: Tournament, byes: set[tuple[int, int]]) -> list[Game]:
    round_ids = {round_.round_index: round_.round_id for round_ in tournament.rounds}
    there = {(game.round_id, game.player_ids[0]) for game in tournament.games if game.is_bye}
    missing = [(index, player) for index, player in sorted(byes) if (round_ids[index], player) not in there]
    first = call_ups.next_game_id(tournament)
    return [
        rounds.bye_game(first - at, player, round_ids[index], BYE_POINTS)
        for at, (index, player) in enumerate(missing)
    ]


def _settle_rounds(
    tournament: Tournament, matches_of: Callable[[Tournament], Matches], now: datetime | None
) -> list[Change]:
    found = matches_of(tournament)
    undecided = {
        match.node.key[0]
        for match in found.values()
        if match.finishing_order is None and not match.node.is_extra
    }

    def is_settled(within: Tournament, round_: Round) -> bool:
        return round_.round_index not in undecided and rounds.is_round_played(within, round_)

    return rounds.settle_rounds(tournament, is_settled, now)


def is_over(found: Matches) -> bool:
    """Whether first place is decided."""
    finals = [match for match in found.values() if match.node.winner_place == 1]
    return all(match.finishing_order is not None for match in finals)
