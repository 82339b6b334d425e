"""Rules of formats that are played in drawn rounds.

A format supplies the players of the next round, the scores for draws and standings, and the scorer of a
game; opening a round and settling a result are the same for all of them.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from random import Random

from msgspec import Struct

from silverball.kit.errors import Conflict
from silverball.rules.drawing import tiers
from silverball.rules.drawing.groups import PAIR_SIZE
from silverball.rules.mechanics import pairings, results, rounds
from silverball.rules.mechanics.pairings import PairingField
from silverball.rules.mechanics.results import ScoredResult, ScoreGame
from silverball.rules.model import outcome as outcomes
from silverball.rules.model import settings_protocols
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change
from silverball.rules.model.outcome import GameOutcome, Outcome
from silverball.rules.model.refusals import AllRoundsPlayed
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.settings_protocols import HasByes, HasDuration, HasPairing, has
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.ranking import knockout
from silverball.rules.ranking import points as ranking
from silverball.rules.ranking.knockout import KnockoutRules
from silverball.rules.ranking.standing import Standing
from silverball.rules.scoring import point_maps, strikes
from silverball.rules.scoring.strikes import StrikeSettings

ZERO = Decimal(0)


class TooFewPlayersLeft(Conflict):
    sentence = "Fewer than two players are left to play a round. Add players, or complete it."


class TiersNotPossible(Conflict):
    sentence = "Tiers need groups of four and a number of rounds. Choose another pairing."


class DrawnRoundRules(Struct, frozen=True, kw_only=True):
    """The functions in which formats with drawn rounds differ."""

    group_size: int
    # Ids of the players of the next round.
    playing_ids: Callable[[Tournament], tuple[int, ...]]
    # Player id -> score for Swiss pairing, higher is better.
    pairing_scores: Callable[[Tournament], Mapping[int, Decimal]]
    rank: Callable[[Tournament], list[Standing]]
    is_over: Callable[[Tournament], bool]
    # Whether Swiss draws keep groups of three at the bottom of the table.
    keeps_threes_low: bool = False
    # The tournament's own way to score a game.
    scorer: Callable[[Tournament], ScoreGame] = results.score_by_points_map

    def setting_faults(self, settings: TournamentSettings) -> Mapping[str, str]:
        """Wire key -> sentence, for tiers without groups of four or a known number of rounds."""
        if not has(settings, HasPairing) or settings.pairing != "tiers":
            return {}
        if self.group_size == PAIR_SIZE or not has(settings, HasDuration):
            return {"pairing": TiersNotPossible.sentence}
        if settings.duration not in tiers.ROUNDS:
            known = ", ".join(str(number) for number in tiers.ROUNDS)
            sentence = f"Tiers need {known} rounds. Change the number of rounds or choose another pairing."
            return dict.fromkeys(("pairing", "duration"), sentence)
        return {}

    def start(self, tournament: Tournament, _dice: Random, _now: datetime) -> list[Change]:
        """Make nothing; refuse a pairing that cannot be drawn.

        Tiers are for groups of four, a known number of rounds and 16 to 160 players. Raises Conflict
        and Invalid. Source: formats, 6.7.
        """
        settings = tournament.settings
        if has(settings, HasPairing) and settings.pairing == "tiers":
            if self.group_size == PAIR_SIZE or not has(settings, HasDuration):
                raise TiersNotPossible
            tiers.check_tiers(settings.duration, len(tournament.active_ids))
        return []

    def open_round(self, tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
        """Open the next round; the open one is completed first. Raises Conflict when there cannot be one."""
        newest = tournament.newest_round
        before = rounds.complete_round(tournament, newest, now) if newest is not None else []
        after = apply_changes(tournament, before)
        playing = self.playing_ids(after)
        if self.is_over(after):
            raise AllRoundsPlayed(reason="no round is left to play")
        if len(playing) < 2:
            raise TooFewPlayersLeft
        scores = self.pairing_scores(after)
        field = PairingField(
            player_ids=pairings.sort_by_seed(after, playing),
            scores={player_id: scores.get(player_id, ZERO) for player_id in playing},
            ranking=pairings.rank_by_score(scores, playing, dice),
            group_size=self.group_size,
            keeps_threes_low=self.keeps_threes_low,
            scores_of=self.pairing_scores,
        )
        draw = pairings.draw_groups(after, field, dice)
        games = games_per_round(after)
        opened = rounds.open_round(
            after,
            draw,
            games=games,
            positions={row.player_id: row.position for row in self.rank(after)},
            bye_points=bye_points(after, games),
            has_advantage=self.group_size == PAIR_SIZE,
            dice=dice,
            now=now,
        )
        return [*before, *opened]

    def settle(self, tournament: Tournament, outcome: Outcome, _dice: Random, now: datetime) -> list[Change]:
        """Record or correct a game's result."""
        assert isinstance(outcome, GameOutcome)
        return results.complete_game(tournament, outcome, self.scorer(tournament), now)


def games_per_round(tournament: Tournament) -> int:
    """Games each group plays in a round."""
    return settings_protocols.games_per_round(tournament.settings)


def bye_points(tournament: Tournament, games: int) -> Decimal:
    """The points of a bye. Source: formats, section 9."""
    settings = tournament.settings
    byes = settings.byes if has(settings, HasByes) else "full"
    return point_maps.bye_points(tournament.points_map or (), byes, games)


def points_by_player(tournament: Tournament) -> dict[int, Decimal]:
    """Player id -> points of completed games, byes included, with both adjustments; every entrant."""
    counted = [game for game in tournament.games if game.status == "completed" and not game.is_tiebreak]
    return ranking.total_points(tournament, counted)


def all_rounds_played(tournament: Tournament) -> bool:
    """Whether the planned number of rounds (`duration`) is completed; never when none is planned."""
    planned = settings_protocols.rounds_planned(tournament.settings)
    return planned > 0 and tournament.rounds_completed >= planned


# Results of strike formats: points, positions and strikes from a finishing order or the players struck.


def strike_scorer(strike_settings: StrikeSettings) -> ScoreGame:
    """The scoring of a strike format's games. Source: formats, sections 10 and 12."""

    def score(game: Game, outcome: GameOutcome) -> ScoredResult:
        gone = outcome.gave_up_ids
        if outcome.strikers is not None:
            # Who gave up has a strike, named or not.
            struck = (*outcome.strikers, *(each for each in gone if each not in outcome.strikers))
            points = strikes.points_of_strikers(strike_settings, game.player_ids, struck, gone)
            return ScoredResult(points, strikes.wire_positions(strike_settings, game.player_ids, points))
        order = outcomes.derive_finishing_order(game, outcome)
        points = strikes.points_by_slot(strike_settings, game.player_ids, order, gone)
        positions = strikes.wire_positions(strike_settings, game.player_ids, points, order)
        if len(gone) > 1 and not strike_settings.rule.is_standard:
            positions = tuple(None if player_id in gone else player_id for player_id in order)
        return ScoredResult(points, positions, order if len(gone) < 2 else ())

    return score


# Rules that the strike formats share. Source: formats, sections 14.1 and 14.2.


class StrikeFormatRules(Struct, frozen=True):
    """The rules of one strike format; `knockout_rules` reads them from its settings."""

    knockout_rules: Callable[[Tournament], KnockoutRules]

    def rank(self, tournament: Tournament) -> list[Standing]:
        """The standings by strikes. Source: formats, sections 14.1 and 14.2."""
        return knockout.rank(tournament, self.knockout_rules(tournament))

    def require_rankable(self, tournament: Tournament, games: Sequence[Game]) -> None:
        """Refuse games whose points are no strikes. Raises Invalid, for impossible settings too."""
        knockout.require_countable(games, self.knockout_rules(tournament))

    def is_over(self, tournament: Tournament) -> bool:
        """Whether at most one player is left."""
        return knockout.is_over(tournament, self.knockout_rules(tournament))

    def playing_ids(self, tournament: Tournament) -> tuple[int, ...]:
        """Ids of the players of the next round."""
        return knockout.next_round_ids(tournament, self.knockout_rules(tournament))

    def pairing_scores(self, tournament: Tournament) -> dict[int, Decimal]:
        """Player id -> strikes with the sign reversed."""
        return knockout.swiss_scores(tournament, self.knockout_rules(tournament))

    def scorer(self, tournament: Tournament) -> ScoreGame:
        """The scorer of the format's games."""
        return strike_scorer(self.knockout_rules(tournament).strike_settings)

    def drawn_rounds(self, group_size: int) -> DrawnRoundRules:
        """The drawn rounds of the format, in groups of this size."""
        return DrawnRoundRules(
            group_size=group_size,
            playing_ids=self.playing_ids,
            pairing_scores=self.pairing_scores,
            rank=self.rank,
            is_over=self.is_over,
            scorer=self.scorer,
            keeps_threes_low=True,
        )
