"""Brackets in play: games that count, games to delete, and games that come up next.

A match is one game, however many single games decide it (`mechanics/match_results`). Everything follows
from the seeds and the results: after each result the bracket is read from the first round on, games whose
players no longer follow are deleted, and a game is made wherever both players are known.
Source: formats, sections 14.10, 14.11 and 20.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from random import Random
from typing import Any, ClassVar, TypeAlias

import msgspec
from msgspec import Struct

from silverball.kit.values import replace
from silverball.rules.drawing import bracket_nodes, elimination
from silverball.rules.drawing.bracket_nodes import BracketNode, LoserSource, NodeKey
from silverball.rules.mechanics import call_ups, match_results, rounds
from silverball.rules.mechanics.call_ups import BracketMatch, CallUp, Matches, is_over
from silverball.rules.model import settings
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
from silverball.rules.model.part_index import kept_value
from silverball.rules.model.refusals import DrawnElsewhere
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.settings_protocols import HasBracketSize, has
from silverball.rules.model.tournament import Game, Round, Tournament
from silverball.rules.ranking import standing
from silverball.rules.ranking.standing import DisplayedPoints, Standing

BYE_POINTS = Decimal("1.00")


NodesForSize: TypeAlias = Callable[[int], Sequence[BracketNode]]


class PairBracketSettings(settings.ForecastSettings, frozen=True, kw_only=True):
    """The settings of brackets of pairs. Source: formats, section 24."""

    has_matches: ClassVar[bool] = True

    seeding: settings.BracketSeeding = "manual"
    bracket_size: settings.BracketSize = 8
    # The games of a match, of which more than half win it.
    games_per_round: settings.BestOf = 1
    player_order: settings.PlayerOrder = "seed"
    player_order_open: settings.PlayerOrderOpen = "scorekeepers"
    arena_assignment: settings.ArenaAssignment = "balanced"
    suggestions: settings.Suggestions = "disabled"


class BracketRules(Struct, frozen=True):
    """The rules of one bracket format; `nodes` takes the size."""

    nodes: NodesForSize
    # Whether those who have lost once play on for the final.
    has_losers_bracket: bool = False

    def rank(self, tournament: Tournament) -> list[Standing]:
        """The standings, as `rank` below makes them from the matches."""
        return rank(tournament, self.matches(tournament))

    def is_over(self, tournament: Tournament) -> bool:
        """Whether the final (the second one where there is one) is decided; lesser places may stay open."""
        return tournament.status != "planned" and is_over(self.matches(tournament))

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

    @staticmethod
    def bye_lines(_settings: TournamentSettings, players: int) -> tuple[int, ...]:
        """The best seeds have a bye where the players do not fill the smallest bracket that holds them."""
        missing = elimination.size_for(players) - players
        return (missing,) if 0 < missing < players else ()

    def open_round(self, tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
        """Open the missing games, for example after an import. Raises Conflict when none is missing."""
        return call_ups.require_missing_games(open_missing_games(tournament, self.matches, dice, now))

    def settle(self, tournament: Tournament, outcome: Outcome, dice: Random, now: datetime) -> list[Change]:
        """Record or correct a result, delete games that depended on the old one, open new ones."""
        assert isinstance(outcome, GameOutcome)
        self.require_own_schedule(tournament)
        changes = match_results.record_match(tournament, outcome, now)
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

    def playing_ids(self, tournament: Tournament) -> tuple[int, ...]:
        """Ids of the active players whom no match has put out."""
        out: set[int] = set()
        for match in self.matches(tournament).values():
            decides = match.node.loser_place is not None or _is_decided_final(match)
            if decides and not match.node.is_extra and match.finishing_order is not None:
                out.update(match.finishing_order[1:])
            if match.game is not None and len(match.game.gave_up_ids) > 1:
                out.update(match.game.gave_up_ids)
        return tuple(player_id for player_id in tournament.active_ids if player_id not in out)

    def require_own_schedule(self, tournament: Tournament) -> None:
        """Refuse an imported bracket with another schedule, all of which would go. Raises Conflict."""
        if any(match.stale_games for match in self.matches(tournament).values()):
            raise DrawnElsewhere

    def delete_stale_games(self, tournament: Tournament) -> list[Change]:
        """Delete games that no longer follow from earlier results, and reopen undecided rounds."""
        return delete_stale_games(tournament, self.matches)

    def matches(self, tournament: Tournament) -> Matches:
        """The matches of all nodes."""
        assert has(tournament.settings, HasBracketSize)
        nodes = self.nodes(tournament.settings.bracket_size)
        sources = (tournament.games, tournament.entrants, nodes)
        return kept_value(tournament, "matches", sources, lambda: call_ups.resolve_matches(tournament, nodes))


def _is_decided_final(match: BracketMatch) -> bool:
    """Whether the match is the final, and no other final follows from an upset in it."""
    is_last = match.node.reset_of is not None or not match.is_upset
    return match.node.winner_place == 1 and is_last


def delete_stale_games(tournament: Tournament, matches_of: Callable[[Tournament], Matches]) -> list[Change]:
    """Delete stale games and byes, with the round of an unneeded deciding final; reopen rounds."""
    matches = matches_of(tournament)
    stale = {game.game_id for match in matches.values() for game in match.stale_games}
    byes = _bye_numbers(matches)
    for game in tournament.games:
        if game.is_bye and game.round_id is not None:
            index = tournament.round_by_id[game.round_id].round_index
            if (index, game.player_ids[0]) not in byes:
                stale.add(game.game_id)
    changes: list[Change] = [
        SuggestionDecided(suggestion) for suggestion in tournament.suggestions if suggestion.game_id in stale
    ]
    changes += [GameDeleted(game) for game in tournament.games if game.game_id in stale]
    needed = _needed_round_indexes(matches)
    changes += [RoundDeleted(round_) for round_ in tournament.rounds if round_.round_index not in needed]
    after = apply_changes(tournament, changes)
    return [*changes, *_settle_rounds(after, matches_of, None)]


def open_missing_games(
    tournament: Tournament, matches_of: Callable[[Tournament], Matches], dice: Random, now: datetime
) -> list[Change]:
    """Open missing rounds, byes and games; complete decided rounds."""
    matches = matches_of(tournament)
    changes: list[Change] = list(
        call_ups.open_missing_rounds(tournament, _needed_round_indexes(matches), now)
    )
    after = apply_changes(tournament, changes)
    round_ids = {round_.round_index: round_.round_id for round_ in after.rounds}
    numbers = match_numbers(tournament, matches)
    calls = [
        CallUp(
            round_id=round_ids[match.node.key[0]],
            set_number=match.node.set_number,
            player_ids=match.player_ids,
            number=match.node.number,
            match_number=numbers[match.node.key],
        )
        for match in matches.values()
        if match.needs_game
    ]
    changes += [GameOpened(game) for game in call_ups.create_games(after, calls, dice, now)]
    after = apply_changes(tournament, changes)
    changes += [GameOpened(game) for game in _missing_byes(after, _bye_numbers(matches))]
    after = apply_changes(tournament, changes)
    return [*changes, *_settle_rounds(after, matches_of, now)]


def match_numbers(tournament: Tournament, matches: Matches) -> Mapping[NodeKey, int]:
    """Node -> the number of its match, which stays as it was at the start."""
    nodes = [match.node for match in matches.values()]
    return bracket_nodes.match_numbers(nodes, len(tournament.field))


def _bye_numbers(matches: Matches) -> dict[tuple[int, int], int]:
    """Round index and player of every bye -> its number in the bracket."""
    byes = [match for match in matches.values() if match.is_bye]
    return {(match.node.key[0], match.player_ids[0]): match.node.number for match in byes}


def _needed_round_indexes(matches: Matches) -> list[int]:
    """Indexes of the rounds that should exist: the deciding final only when it is played."""
    indexes = {
        match.node.key[0]
        for match in matches.values()
        if match.node.reset_of is None or _is_second_final_needed(match)
    }
    return sorted(indexes)


def _is_second_final_needed(match: BracketMatch) -> bool:
    return match.has_known_seats and not match.is_unneeded


def _missing_byes(tournament: Tournament, byes: Mapping[tuple[int, int], int]) -> list[Game]:
    round_ids = {round_.round_index: round_.round_id for round_ in tournament.rounds}
    there = {(game.round_id, game.player_ids[0]) for game in tournament.games if game.is_bye}
    missing = [(index, player) for index, player in sorted(byes) if (round_ids[index], player) not in there]
    first = call_ups.next_game_id(tournament)
    return [
        replace(
            rounds.bye_game(first - at, player, round_ids[index], BYE_POINTS),
            game_index=byes[index, player],
        )
        for at, (index, player) in enumerate(missing)
    ]


def _settle_rounds(
    tournament: Tournament, matches_of: Callable[[Tournament], Matches], now: datetime | None
) -> list[Change]:
    matches = matches_of(tournament)
    undecided = {
        match.node.key[0]
        for match in matches.values()
        if match.finishing_order is None and not match.node.is_extra
    }

    def is_settled(within: Tournament, round_: Round) -> bool:
        return round_.round_index not in undecided and rounds.is_round_played(within, round_)

    return rounds.settle_rounds(tournament, is_settled, now)


# Standings of the bracket family: places decided by games. Source: formats, sections 13.1 and 13.2.


def bracket_standing(
    player_id: int, position: int, points: Decimal | int, tiebreak: Decimal | int = 0
) -> Standing:
    """A row of the bracket family: numbers, and null for columns that do not apply. Source: formats, 13.1."""
    return Standing(
        player_id=player_id,
        position=position,
        points=points_number(points),
        points_with_tiebreaker=points_number(points + tiebreak),
        tiebreakers=None,
        games_played=None,
        entries_played=None,
        entries_available=None,
        strike_count=None,
        adjustment=None,
    )


def points_number(value: Decimal | int) -> DisplayedPoints:
    """Points as a number, without decimals if whole."""
    return int(value) if value == int(value) else Decimal(value)


def rank(tournament: Tournament, matches: Matches) -> list[Standing]:
    """Rows of players whose place is decided, by position, then by player id.

    Takes every match of the bracket. Losers of semifinals and quarterfinals wait for the optional game
    that separates them; if it has not been played when the bracket is over, they share the place. Points
    are matches won, byes included. Source: formats, sections 13.2, 14.10 and 14.11.
    """
    if tournament.status == "planned":
        return []
    won = _matches_won(matches)
    playing = standing.active_game_ids(tournament.games)
    is_closed = tournament.status == "completed" or is_over(matches)
    rows = [
        replace(
            bracket_standing(player_id, position, won[player_id]), active_games=playing.get(player_id, ())
        )
        for player_id, position in decided_places(matches, is_closed=is_closed).items()
    ]
    return sorted(rows, key=lambda row: (row.position, row.player_id))


def decided_places(matches: Matches, *, is_closed: bool) -> dict[int, int]:
    """Player id -> place, for decided places. With `is_closed`, optional games are no longer expected."""
    placed: dict[int, int] = {}
    for match in matches.values():
        placed.update(_match_places(match, matches, is_closed=is_closed))
    return placed


def _match_places(
    match: BracketMatch, matches: Mapping[NodeKey, BracketMatch], *, is_closed: bool
) -> dict[int, int]:
    node, order = match.node, match.finishing_order
    if order is None:
        return {}
    gone = match.game.gave_up_ids if match.game is not None else ()
    if len(gone) > 1:
        return {**_places_of_order(node, order), **dict.fromkeys(gone, _place_of_gone(match, matches))}
    if node.winner_place is not None:
        # After an upset in the grand final the bracket reset decides.
        if match.is_upset and any(other.node.reset_of == node.key for other in matches.values()):
            return {}
        return {player_id: node.winner_place + at for at, player_id in enumerate(order)}
    if node.loser_place is None or len(order) < 2:
        return {}
    extra = matches[node.extra_node_key] if node.extra_node_key is not None else None
    is_decided = extra is None or (is_closed and extra.finishing_order is None)
    return {order[1]: node.loser_place} if is_decided else {}


def _places_of_order(node: BracketNode, order: Sequence[int]) -> dict[int, int]:
    """The places of those who played on for them."""
    return (
        {} if node.winner_place is None else {each: node.winner_place + at for at, each in enumerate(order)}
    )


def _place_of_gone(match: BracketMatch, matches: Mapping[NodeKey, BracketMatch]) -> int:
    """The place that several share who gave up a match: that of its loser, wherever it is decided."""
    node = match.node
    if node.winner_place is not None:
        return node.winner_place + max(1, len(match.finishing_order or ()))
    if node.loser_place is not None:
        return node.loser_place
    (dropped,) = [other.node for other in matches.values() if LoserSource(node.key) in other.node.sources]
    assert dropped.loser_place is not None
    return dropped.loser_place


def _matches_won(matches: Matches) -> Counter[int]:
    """Player id -> matches won, byes included."""
    return Counter(
        match.finishing_order[0]
        for match in matches.values()
        if match.finishing_order and (len(match.finishing_order) > 1 or match.is_bye)
    )
