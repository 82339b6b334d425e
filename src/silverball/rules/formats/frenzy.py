"""Flip Frenzy: a clock, one queue, net wins. Source: formats, 14.14."""

from typing import Annotated, Literal

from silverball.rules.families import frenzy as frenzy_family
from silverball.rules.format import DemoNight, Format, FormatGroup, Rounds
from silverball.rules.mechanics.free_games import FreeGameRules
from silverball.rules.model import settings
from silverball.rules.planning import open_play, played
from silverball.rules.planning.nights import ClockNight, NightPlanning, NightShape, values_of
from silverball.rules.ranking import points
from silverball.rules.scoring.point_maps import one_point_per_win
from silverball.rules.verify import tallies
from silverball.rules.verify.checks import FormatChecks

FrenzyDuration = Annotated[
    int,
    settings.setting(
        "Minutes", "How long the clock runs.", "Length of the frenzy in minutes.", ge=1, le=1440
    ),
]
FrenzyQueueSize = Annotated[
    int,
    settings.setting(
        "Players in the queue",
        "At least so many wait; a fifth of the players is usual.",
        "Number of players who should be waiting.",
        ge=0,
        le=1000,
    ),
]
FrenzyPausedSecondsLeft = Annotated[
    int,
    settings.setting(
        "Seconds left",
        "What was left when the clock was paused; 0 while it runs.",
        "Seconds left on the stopped clock; 0 while it runs.",
        is_derived=True,
        ge=0,
    ),
]
FrenzyStandings = Annotated[
    Literal[0, 1],
    settings.setting(
        "Standings",
        "Whether everybody sees them while the clock runs.",
        "1 hides the standings until the end, 0 shows them.",
        words={"0": "Shown while it runs", "1": "Hidden until the end"},
    ),
]
FrenzyTiebreaker = Annotated[Literal["wins", "losses", "disabled", "none"], settings.TIES]


class FrenzySettings(settings.TournamentSettings, frozen=True, kw_only=True):
    """Settings of a frenzy. Source: formats, sections 14.14 and 24."""

    frenzy_duration: FrenzyDuration = 120
    frenzy_queue_size: FrenzyQueueSize = 0
    frenzy_paused_seconds_left: FrenzyPausedSecondsLeft = 0
    frenzy_standings: FrenzyStandings = 0
    tiebreaker: FrenzyTiebreaker = "wins"
    use_queues: settings.UseQueues = True
    playoffs_cutoffs: settings.PlayoffsCutoffs = ()


def night_shape(chosen: settings.TournamentSettings, _players: int) -> NightShape:
    """The clock, and the games that run when it stops."""
    assert isinstance(chosen, FrenzySettings)
    return ClockNight(minutes=chosen.frenzy_duration)


FORMAT = Format(
    type="frenzy",
    title="Frenzy",
    group=FormatGroup.MATCH_PLAY,
    summary="A clock and one queue: play whoever is next for as long as the time lasts.",
    form_settings=("frenzyDuration", "frenzyQueueSize", "useQueues", "tiebreaker"),
    settings=FrenzySettings,
    demo=DemoNight(name="Frenzy", players=10, settings={"frenzyDuration": 60}),
    planning=NightPlanning(
        shape=night_shape, choices=values_of("frenzyDuration", 60, 90, 120, 180), unit="minutes"
    ),
    players_per_game=2,
    rated=True,
    points_map=one_point_per_win,
    rounds=Rounds.NONE,
    has_clock=True,
    rank=points.rank_frenzy,
    is_over=frenzy_family.is_over,
    meaningful_games=open_play.frenzy_rule,
    meaningful_games_played=played.frenzy_played,
    verify=FormatChecks(
        standings=tallies.frenzy_table, has_one_group_per_round=False, has_one_open_game=True
    ),
    start=frenzy_family.start,
    settle=frenzy_family.settle,
    roster_changed=frenzy_family.roster_changed,
    lineup_changed=frenzy_family.lineup_changed,
    at_reopen=frenzy_family.at_reopen,
    free_games=FreeGameRules(
        create=frenzy_family.create_game,
        # Without a queue the organizer makes the games.
        can_create=lambda tournament: not frenzy_family.has_queue(tournament),
        delete=frenzy_family.delete_game,
        clear=frenzy_family.clear_game,
    ),
    late_entry="at_once",
    can_correct_any_round=True,
)
