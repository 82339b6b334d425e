"""Pace match play: group match play with a rising bar; a player below it is out. Source: formats, 14.6."""

from datetime import datetime
from decimal import Decimal
from random import Random
from typing import Annotated

from silverball.kit.errors import Conflict
from silverball.kit.values import replace
from silverball.rules.drawing.groups import GROUP_SIZE
from silverball.rules.families import drawn_rounds
from silverball.rules.families.drawn_rounds import DrawnRoundRules
from silverball.rules.format import DemoNight, Format, FormatGroup
from silverball.rules.model import settings
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Entrant, Tournament
from silverball.rules.planning import lasting, nights, played
from silverball.rules.planning.nights import CertainBy, NightPlanning
from silverball.rules.ranking import pace
from silverball.rules.ranking import points as ranking
from silverball.rules.ranking.pace import PaceRules
from silverball.rules.ranking.standing import Standing
from silverball.rules.scoring import point_maps
from silverball.rules.scoring.point_maps import points_of_scoring
from silverball.rules.verify import tallies
from silverball.rules.verify.checks import ArenaUse, DrawnGroups, FormatChecks

PaceInitialRounds = Annotated[
    int,
    settings.setting(
        "First bar after round",
        "Nobody is out before that.",
        "Number of rounds before the bar applies.",
        ge=1,
        le=100,
    ),
]
PaceInitialTarget = Annotated[
    int,
    settings.setting(
        "First bar", "Points needed after that round.", "Points that the first bar asks for.", ge=0, le=1000
    ),
]
PaceIncrement = Annotated[
    int,
    settings.setting(
        "Pace",
        "How much the bar rises in each later round.",
        "Points by which the bar rises with each round.",
        ge=0,
        le=100,
    ),
]


class PlayerBelowBar(Conflict):
    sentence = (
        "{player} has {points} points, below the bar of {bar}: it is too late to come in. Give a "
        "pointsAdjustment with it if that is wrong."
    )


class PaceMatchplaySettings(settings.DrawnRoundSettings, frozen=True, kw_only=True):
    """Settings of a pace match play. Source: formats, sections 14.6 and 24."""

    suggestions: settings.Suggestions = "disabled"
    games_per_round: settings.GamesPerRound = 1
    tiebreaker: settings.GroupTiebreaker = "disabled"
    scoring: settings.Scoring = "ifpa"
    pace_initial_rounds: PaceInitialRounds = 7
    pace_initial_target: PaceInitialTarget = 28
    pace_increment: PaceIncrement = 7
    playoffs_cutoffs: settings.PlayoffsCutoffs = ()


def pace_of(tournament: Tournament) -> PaceRules:
    """The rules of the bar, from the settings."""
    chosen = tournament.settings
    assert isinstance(chosen, PaceMatchplaySettings)
    return PaceRules(
        initial_rounds=chosen.pace_initial_rounds,
        initial_target=chosen.pace_initial_target,
        increment=chosen.pace_increment,
    )


def rank(tournament: Tournament) -> list[Standing]:
    """The standings: players above the bar by points; then the later out, the better.

    Source: formats, 14.6.
    """
    out = pace.out_rounds(tournament, pace_of(tournament))
    first = {
        entrant.player_id: (Decimal(entrant.player_id not in out), Decimal(out.get(entrant.player_id, 0)))
        for entrant in tournament.entrants
    }
    rows = ranking.rank(tournament, before_points=first)
    shown = pace.pace_bubbles(
        tournament,
        pace_of(tournament),
        drawn_rounds.points_by_player(tournament),
        alive=[entrant.player_id for entrant in tournament.entrants if entrant.player_id not in out],
        lowest_award=_lowest_award(tournament),
    )
    return [replace(row, pace_bubble=shown.get(row.player_id)) for row in rows]


def _lowest_award(tournament: Tournament) -> Decimal:
    worst = point_maps.points_by_place(tournament.points_map or (), GROUP_SIZE)[-1]
    return worst * drawn_rounds.games_per_round(tournament)


def playing_ids(tournament: Tournament) -> tuple[int, ...]:
    """Ids of the players of the next round: the active ones who were never below the bar."""
    out = pace.out_rounds(tournament, pace_of(tournament))
    return tuple(player_id for player_id in tournament.active_ids if player_id not in out)


def is_over(tournament: Tournament) -> bool:
    """Whether at most one player is left; the organizer closes when players are tied at the top."""
    return len(playing_ids(tournament)) <= 1


def require_bar_reached(
    tournament: Tournament, entrant: Entrant, _dice: Random, _now: datetime
) -> list[Change]:
    """Refuse a late or returning player below the bar. Raises Conflict. Source: formats, 14.6."""
    bar = pace_of(tournament).bar_after(tournament.rounds_completed)
    if entrant.is_active and bar is not None and entrant.player_id not in playing_ids(tournament):
        own = drawn_rounds.points_by_player(tournament).get(entrant.player_id, Decimal(0))
        raise PlayerBelowBar(player=entrant.player_id, points=own, bar=bar)
    return []


RULES = DrawnRoundRules(
    group_size=GROUP_SIZE,
    playing_ids=playing_ids,
    pairing_scores=drawn_rounds.points_by_player,
    rank=rank,
    is_over=is_over,
)


FORMAT = Format(
    type="pace_matchplay",
    title="Pace match play",
    group=FormatGroup.MATCH_PLAY,
    summary="Group match play with a rising bar: a player below it is out.",
    form_settings=(
        "paceInitialRounds",
        "paceInitialTarget",
        "paceIncrement",
        "scoring",
        "pairing",
        "arenaAssignment",
    ),
    settings=PaceMatchplaySettings,
    demo=DemoNight(
        name="Pace Match Play",
        players=12,
        settings={"paceInitialRounds": 2, "paceInitialTarget": 6, "paceIncrement": 6},
    ),
    planning=NightPlanning(
        certain_by=CertainBy.ELIMINATION,
        shape=nights.pace_night,
        choices=(
            {"paceInitialRounds": 3, "paceInitialTarget": 12, "paceIncrement": 5},
            {"paceInitialRounds": 5, "paceInitialTarget": 20, "paceIncrement": 5},
            {"paceInitialRounds": 7, "paceInitialTarget": 28, "paceIncrement": 7},
        ),
        unit="rounds before the first bar",
    ),
    players_per_game=4,
    rated=True,
    points_map=points_of_scoring,
    rank=rank,
    is_over=is_over,
    meaningful_games=lasting.pace_rule,
    meaningful_games_played=played.expected_elimination(lasting.pace_rule),
    verify=FormatChecks(
        standings=tallies.pace_table,
        earlier_standings=tallies.pace_table_by_sums,
        drawn_groups=DrawnGroups.FOURS,
        arena_use=ArenaUse.ONCE_PER_WAVE,
    ),
    playing_ids=playing_ids,
    open_round=RULES.open_round,
    settle=RULES.settle,
    roster_changed=require_bar_reached,
    setting_faults=RULES.setting_faults,
    start=RULES.start,
)
