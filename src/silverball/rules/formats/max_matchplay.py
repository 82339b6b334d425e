"""Max match play: head to head without rounds, the same number of games for all. Source: formats, 14.5."""

from datetime import datetime
from random import Random
from typing import Annotated, Literal

from silverball.rules.families import max_matchplay as max_matchplay_family
from silverball.rules.format import DemoNight, Format, FormatGroup, Rounds
from silverball.rules.mechanics import results
from silverball.rules.mechanics.free_games import FreeGameRules
from silverball.rules.model import settings
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change
from silverball.rules.model.outcome import GameOutcome, Outcome
from silverball.rules.model.tournament import Tournament
from silverball.rules.planning import nights, planned, played
from silverball.rules.planning.nights import CertainBy, NightPlanning, NightShape, values_of
from silverball.rules.ranking import points as ranking
from silverball.rules.scoring.point_maps import one_point_per_win
from silverball.rules.verify import tallies
from silverball.rules.verify.checks import FormatChecks

MaxMatchplayDuration = Annotated[
    int,
    settings.setting(
        "Games", "So many does each player play.", "Number of games that each player plays.", ge=1, le=200
    ),
]
MaxMatchplayMaxActive = Annotated[
    int,
    settings.setting(
        "Games at once",
        "No more are running; 0 is no limit.",
        "Greatest number of games at the same time; 0 for no limit.",
        ge=0,
        le=1000,
    ),
]
MaxMatchplayScorekeeperCreate = Annotated[
    Literal[0, 1],
    settings.setting(
        "Matches created by",
        "Who may call the next matches.",
        "1 lets scorekeepers create matches, 0 only the organizer.",
        words={"0": "You alone", "1": "Scorekeepers too"},
    ),
]
MaxMatchplayTiebreaker = Annotated[Literal["disabled", "standard", "head_to_head", "none"], settings.TIES]


class MaxMatchplaySettings(settings.ForecastSettings, frozen=True, kw_only=True):
    """Settings of a max match play. Source: formats, sections 14.5 and 24."""

    max_matchplay_duration: MaxMatchplayDuration = 10
    max_matchplay_max_active: MaxMatchplayMaxActive = 0
    max_matchplay_scorekeeper_create: MaxMatchplayScorekeeperCreate = 0
    player_order: settings.PlayerOrder = "balanced"
    player_order_open: settings.PlayerOrderOpen = "scorekeepers"
    arena_assignment: settings.ArenaAssignment = "balanced"
    suggestions: settings.Suggestions = "disabled"
    tiebreaker: MaxMatchplayTiebreaker = "disabled"
    playoffs_cutoffs: settings.PlayoffsCutoffs = ()


def settle(tournament: Tournament, outcome: Outcome, _dice: Random, now: datetime) -> list[Change]:
    """Record or correct a result, and award a walkover to a player without opponents.

    The next matches are created on request.
    """
    assert isinstance(outcome, GameOutcome)
    changes = results.complete_game(tournament, outcome, results.score_by_points_map(tournament), now)
    return [*changes, *max_matchplay_family.award_walkover(apply_changes(tournament, changes))]


def night_shape(chosen: settings.TournamentSettings, _players: int) -> NightShape:
    """The games of each player, whenever two are free."""
    assert isinstance(chosen, MaxMatchplaySettings)
    at_once = chosen.max_matchplay_max_active
    return nights.turns(chosen.max_matchplay_duration, size=2, at_once=at_once)


FORMAT = Format(
    type="max_matchplay",
    title="Max match play",
    group=FormatGroup.MATCH_PLAY,
    summary="Head to head without rounds: everybody plays the same number of games.",
    form_settings=("maxMatchplayDuration", "maxMatchplayMaxActive", "arenaAssignment", "tiebreaker"),
    settings=MaxMatchplaySettings,
    primary_settings=("maxMatchplayDuration", "maxMatchplayMaxActive"),
    demo=DemoNight(name="Max Match Play", settings={"maxMatchplayDuration": 5}),
    planning=NightPlanning(
        certain_by=CertainBy.TURNS,
        shape=night_shape,
        choices=values_of("maxMatchplayDuration", 6, 8, 10, 12),
        unit="games each",
    ),
    players_per_game=2,
    rated=True,
    points_map=one_point_per_win,
    rounds=Rounds.NONE,
    has_match_requests=True,
    # Points, then the tiebreaker. Source: formats, 14.5.
    rank=ranking.rank,
    is_over=max_matchplay_family.is_over,
    meaningful_games=planned.fixed_games,
    meaningful_games_played=played.games_per_player,
    verify=FormatChecks(
        standings=tallies.points_table, has_one_group_per_round=False, has_one_open_game=True
    ),
    start=max_matchplay_family.start,
    settle=settle,
    roster_changed=max_matchplay_family.roster_changed,
    free_games=FreeGameRules(delete=max_matchplay_family.delete_game, clear=max_matchplay_family.clear_game),
    late_entry="at_once",
    can_correct_any_round=True,
)
