"""Manual match play: the organizer makes every game; rounds are containers. Source: formats, 14.7."""

from collections.abc import Sequence
from datetime import datetime
from random import Random

from silverball.rules.drawing.groups import Draw
from silverball.rules.format import DemoNight, Format, FormatGroup, never_over
from silverball.rules.mechanics import free_games, results, rounds
from silverball.rules.mechanics.free_games import FreeGameRules
from silverball.rules.model import settings
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change
from silverball.rules.model.outcome import GameOutcome, Outcome
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.planning import planned, played
from silverball.rules.planning.nights import NightPlanning, NightShape, OpenEnd
from silverball.rules.ranking import points as ranking
from silverball.rules.scoring.point_maps import points_of_scoring
from silverball.rules.verify import tallies
from silverball.rules.verify.checks import FormatChecks


class ManualMatchplaySettings(settings.TournamentSettings, frozen=True, kw_only=True):
    """Settings of a manual match play. Source: formats, sections 14.7 and 24."""

    player_order: settings.PlayerOrder = "disabled"
    player_order_open: settings.PlayerOrderOpen = "scorekeepers"
    scoring: settings.Scoring = "ifpa"
    tiebreaker: settings.GroupTiebreaker = "disabled"
    suggestions: settings.Suggestions = "disabled"
    playoffs_cutoffs: settings.PlayoffsCutoffs = ()


def open_round(tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
    """Open an empty round for the games that follow; the open one is completed first.

    Raises Conflict that lists open games.
    """
    newest = tournament.newest_round
    before = rounds.complete_round(tournament, newest, now) if newest is not None else []
    made = rounds.open_round(
        apply_changes(tournament, before),
        Draw(()),
        games=1,
        positions={},
        bye_points=free_games.NO_POINTS,
        has_advantage=False,
        dice=dice,
        now=now,
    )
    return [*before, *made]


def create_game(
    tournament: Tournament, player_ids: Sequence[int], arena_id: int | None, dice: Random, now: datetime
) -> list[Change]:
    """Create a game of chosen players, in the open round or outside of any. Source: formats, 14.7."""
    newest = tournament.newest_round
    is_open = newest is not None and newest.status == "started"
    return free_games.create_by_hand(
        tournament,
        player_ids,
        arena_id,
        in_round=newest if is_open else None,
        positions={row.player_id: row.position for row in ranking.rank(tournament)},
        dice=dice,
        now=now,
    )


def delete_game(tournament: Tournament, game: Game, _dice: Random, _now: datetime) -> list[Change]:
    """Delete a game, with or without its result."""
    return free_games.delete_game(tournament, game)


def settle(tournament: Tournament, outcome: Outcome, _dice: Random, now: datetime) -> list[Change]:
    """Record or correct a game's result."""
    assert isinstance(outcome, GameOutcome)
    return results.complete_game(tournament, outcome, results.score_by_points_map(tournament), now)


def night_shape(_chosen: settings.TournamentSettings, _players: int) -> NightShape:
    """No shape: the organizer makes every game."""
    return OpenEnd("You make every game: it ends when you close it.")


FORMAT = Format(
    type="manual_matchplay",
    title="Manual match play",
    group=FormatGroup.MATCH_PLAY,
    summary="The organizer makes every game; points by place.",
    form_settings=("scoring", "tiebreaker", "playerOrder", "suggestions"),
    settings=ManualMatchplaySettings,
    demo=DemoNight(name="Manual Match Play"),
    planning=NightPlanning(shape=night_shape),
    players_per_game=4,
    rated=True,
    points_map=points_of_scoring,
    # Points, then the tiebreaker. Source: formats, 14.7.
    rank=ranking.rank,
    is_over=never_over,
    meaningful_games=planned.made_by_hand,
    meaningful_games_played=played.made_by_hand_played,
    verify=FormatChecks(
        standings=tallies.group_points_table,
        earlier_standings=tallies.points_table,
        has_one_group_per_round=False,
    ),
    open_round=open_round,
    settle=settle,
    free_games=FreeGameRules(create=create_game, delete=delete_game),
    late_entry="at_once",
    can_correct_any_round=True,
)
