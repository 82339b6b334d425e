"""Brackets in play: which games stand, which have to go, and which come up next.

Everything follows from the seeds and the results: after each result the bracket is read from the first
round on, games whose players no longer follow from what was before are deleted, and a game is made
wherever both players are known. Source: formats, sections 14.10, 14.11 and 20.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from random import Random
from typing import Any, TypeAlias

import msgspec

from silverball.kit.errors import Conflict
from silverball.rules.mechanics import call_ups, results, rounds, seeding
from silverball.rules.mechanics.call_ups import Call
from silverball.rules.model.apply import apply_all
from silverball.rules.model.changes import (
    Change,
    GameDeleted,
    GameOpened,
    RoundDeleted,
    SuggestionDecided,
    TournamentEdited,
    edited,
)
from silverball.rules.model.outcome import GameOutcome, Outcome
from silverball.rules.model.tournament import Game, Round, Tournament
from silverball.rules.pairing import elimination
from silverball.rules.pairing.bracket_nodes import BracketNode, NodeKey, SeedSource, Source, WinnerSource

# A seat that stays empty: a missing seed, or the loser of a bye.
NOBODY = 0
# A player id, NOBODY, or None while it is not known.
Seat: TypeAlias = int | None
BYE_POINTS = Decimal("1.00")


@dataclass(frozen=True, kw_only=True)
class Match:
    """A node with what is known of it."""

    node: BracketNode
    seats: tuple[Seat, ...]
    # The games that stand, in the order they are played.
    games: tuple[Game, ...] = ()
    # Games of other players, or beyond the decision.
    stale: tuple[Game, ...] = ()
    # First to last once it is decided: both players, one who met nobody, or none at all.
    order: tuple[int, ...] | None = None
    # A deciding second final that nobody needs.
    is_spared: bool = False

    @property
    def present(self) -> tuple[int, ...]:
        """The players known to be in it."""
        return tuple(seat for seat in self.seats if seat)

    @property
    def is_known(self) -> bool:
        """Whether it is known who is in every seat."""
        return None not in self.seats

    @property
    def is_bye(self) -> bool:
        """Whether a player goes through without a game."""
        return self.is_known and len(self.present) == 1 and not self.node.is_extra

    @property
    def is_upset(self) -> bool:
        """Whether the player in the second seat won."""
        first = self.order[0] if self.order else NOBODY
        return len(self.seats) == 2 and bool(first) and first == self.seats[1]

    @property
    def needs_game(self) -> bool:
        """Whether its next game can be played."""
        is_waiting = any(game.status != "completed" for game in self.games)
        return self.is_known and len(self.present) > 1 and self.order is None and not is_waiting


Matches: TypeAlias = Mapping[NodeKey, Match]
NodesOf: TypeAlias = Callable[[int], Sequence[BracketNode]]


@dataclass(frozen=True)
class BracketPlay:
    """How a bracket format is played; `nodes` takes the size."""

    nodes: NodesOf

    def start(self, tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
        """The rounds and first games; the size becomes the smallest that holds the players.

        Raises Invalid above 128 players.
        """
        size = elimination.size_for(len(tournament.active_ids))
        fitting: Any = {"bracket_size": size}
        changes = edited(
            TournamentEdited, tournament, settings=msgspec.structs.replace(tournament.settings, **fitting)
        )
        after = apply_all(tournament, changes)
        return [*changes, *filled(after, self.matches, dice, now)]

    def open_round(self, tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
        """The games that are missing, after an import for instance. Raises Conflict for none."""
        return call_ups.missing(filled(tournament, self.matches, dice, now))

    def settle(self, tournament: Tournament, said: Outcome, dice: Random, now: datetime) -> list[Change]:
        """A result, new or corrected: games that depended on the old one go, new ones come up."""
        assert isinstance(said, GameOutcome)
        self.require_own(tournament)
        changes = results.completed(tournament, said, results.by_points_map(tournament), now)
        changes += self.pruned(apply_all(tournament, changes))
        return [*changes, *filled(apply_all(tournament, changes), self.matches, dice, now)]

    def cleared(self, tournament: Tournament, game: Game) -> list[Change]:
        """What goes when the result of a game was taken away; takes the game as it was."""
        self.require_own(call_ups.with_game(tournament, game))
        return self.pruned(tournament)

    def at_reopen(self, tournament: Tournament) -> list[Change]:
        """The games that closing took away come back; undecided rounds open again."""
        self.require_own(tournament)
        changes = self.pruned(tournament)
        if tournament.completed_at is not None:
            after, dice = apply_all(tournament, changes), call_ups.dice_at_reopen(tournament)
            changes += filled(after, self.matches, dice, tournament.completed_at)
        return changes

    def require_own(self, tournament: Tournament) -> None:
        """Raises Conflict for a bracket that came in with games of another plan: they would all go."""
        if any(match.stale for match in self.matches(tournament).values()):
            raise Conflict(call_ups.DRAWN_ELSEWHERE)

    def pruned(self, tournament: Tournament) -> list[Change]:
        """The games that no longer follow from what was before, deleted; undecided rounds open again."""
        return pruned(tournament, self.matches)

    def matches(self, tournament: Tournament) -> Matches:
        """Every node with what is known of it."""
        size = getattr(tournament.settings, "bracket_size", elimination.SIZES[0])
        return matches(tournament, self.nodes(size))


def matches(tournament: Tournament, nodes: Sequence[BracketNode]) -> Matches:
    """Every node with what is known of it, in playing order.

    Takes the nodes in an order in which a node comes after those it is fed by.
    """
    seeds = seeding.by_rank(tournament)
    wins_needed = (int(getattr(tournament.settings, "games_per_round", 1)) + 1) // 2
    played = _games_by_key(tournament)
    found: dict[NodeKey, Match] = {}
    for node in nodes:
        games = played.get(node.key, [])
        if _is_spared(node, found):
            found[node.key] = Match(node=node, seats=(), stale=tuple(games), order=(), is_spared=True)
            continue
        seats = tuple(_seat(source, seeds, found) for source in node.sources)
        found[node.key] = _match(node, seats, games, wins_needed)
    return found


def _games_by_key(tournament: Tournament) -> dict[NodeKey, list[Game]]:
    found: dict[NodeKey, list[Game]] = {}
    for game in tournament.games:
        if game.round_id is None or game.is_bye or game.is_tiebreak:
            continue
        key = (tournament.round_by_id[game.round_id].round_index, game.set_number)
        found.setdefault(key, []).append(game)
    return found


def _is_spared(node: BracketNode, found: Matches) -> bool:
    if node.reset_of is None:
        return False
    first = found[node.reset_of]
    return first.order is not None and not first.is_upset


def _seat(source: Source, seeds: Sequence[int], found: Matches) -> Seat:
    if isinstance(source, SeedSource):
        return seeds[source.seed - 1] if source.seed <= len(seeds) else NOBODY
    order = found[source.node].order
    if order is None:
        return None
    place = 0 if isinstance(source, WinnerSource) else 1
    return order[place] if place < len(order) else NOBODY


def _match(node: BracketNode, seats: tuple[Seat, ...], games: Sequence[Game], wins_needed: int) -> Match:
    match = Match(node=node, seats=seats, stale=tuple(games))
    if not match.is_known:
        return match
    if len(match.present) < 2:
        return replace(match, order=match.present)
    needed = wins_needed if len(seats) == 2 else 1
    standing, order = _played(games, match.present, needed)
    stale = tuple(game for game in games if game not in standing)
    return replace(match, games=tuple(standing), stale=stale, order=order)


def _played(
    games: Sequence[Game], present: Sequence[int], wins_needed: int
) -> tuple[list[Game], tuple[int, ...] | None]:
    """The games that stand and, once it is decided, the players from first to last.

    A game stands when those before it have results and did not decide: whoever takes a result back takes
    back what was played because of it.
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


def pruned(tournament: Tournament, matches_of: Callable[[Tournament], Matches]) -> list[Change]:
    """Stale games and byes deleted, with the round of a deciding final nobody needs; rounds open again."""
    found = matches_of(tournament)
    stale = {game.game_id for match in found.values() for game in match.stale}
    byes = _byes(found)
    for game in tournament.games:
        if game.is_bye and game.round_id is not None:
            index = tournament.round_by_id[game.round_id].round_index
            if (index, game.player_ids[0]) not in byes:
                stale.add(game.game_id)
    changes: list[Change] = [SuggestionDecided(one) for one in tournament.suggestions if one.game_id in stale]
    changes += [GameDeleted(game) for game in tournament.games if game.game_id in stale]
    needed = _rounds(found)
    changes += [RoundDeleted(one) for one in tournament.rounds if one.round_index not in needed]
    after = apply_all(tournament, changes)
    return [*changes, *_following(after, matches_of, None)]


def filled(
    tournament: Tournament, matches_of: Callable[[Tournament], Matches], dice: Random, now: datetime
) -> list[Change]:
    """Rounds, byes and games that are to be there and are not; decided rounds completed."""
    found = matches_of(tournament)
    changes: list[Change] = list(call_ups.rounds_opened(tournament, _rounds(found), now))
    after = apply_all(tournament, changes)
    round_ids = {one.round_index: one.round_id for one in after.rounds}
    calls = [
        Call(
            round_id=round_ids[match.node.key[0]],
            set_number=match.node.key[1],
            player_ids=match.present,
            earlier=match.games,
        )
        for match in found.values()
        if match.needs_game
    ]
    changes += [GameOpened(game) for game in call_ups.games(after, calls, dice, now)]
    after = apply_all(tournament, changes)
    changes += [GameOpened(game) for game in _new_byes(after, _byes(found))]
    after = apply_all(tournament, changes)
    return [*changes, *_following(after, matches_of, now)]


def _byes(found: Matches) -> set[tuple[int, int]]:
    """Round index and player of every bye."""
    return {(match.node.key[0], match.present[0]) for match in found.values() if match.is_bye}


def _rounds(found: Matches) -> list[int]:
    """Indexes of the rounds that are to be there: the deciding final only when it is played."""
    indexes = {
        match.node.key[0] for match in found.values() if match.node.reset_of is None or _is_repeated(match)
    }
    return sorted(indexes)


def _is_repeated(match: Match) -> bool:
    return match.is_known and not match.is_spared


def _new_byes(tournament: Tournament, byes: set[tuple[int, int]]) -> list[Game]:
    round_ids = {one.round_index: one.round_id for one in tournament.rounds}
    there = {(game.round_id, game.player_ids[0]) for game in tournament.games if game.is_bye}
    missing = [(index, player) for index, player in sorted(byes) if (round_ids[index], player) not in there]
    first = call_ups.new_game_id(tournament)
    return [
        rounds.bye_game(first - at, player, round_ids[index], BYE_POINTS)
        for at, (index, player) in enumerate(missing)
    ]


def _following(
    tournament: Tournament, matches_of: Callable[[Tournament], Matches], now: datetime | None
) -> list[Change]:
    found = matches_of(tournament)
    undecided = {
        match.node.key[0] for match in found.values() if match.order is None and not match.node.is_extra
    }

    def is_settled(within: Tournament, one: Round) -> bool:
        return one.round_index not in undecided and rounds.all_played(within, one)

    return rounds.following(tournament, is_settled, now)


def is_over(found: Matches) -> bool:
    """Whether first place is decided."""
    finals = [match for match in found.values() if match.node.winner_place == 1]
    return all(match.order is not None for match in finals)
