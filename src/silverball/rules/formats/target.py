"""Target match play: players stop when they reach the target; the first wins. Source: formats, 14.15."""

from decimal import Decimal
from typing import Annotated

from silverball.rules.drawing.groups import GROUP_SIZE
from silverball.rules.families import drawn_rounds
from silverball.rules.families.drawn_rounds import DrawnRoundRules
from silverball.rules.format import DemoNight, Format, FormatGroup
from silverball.rules.model import settings
from silverball.rules.model.tournament import Tournament
from silverball.rules.planning import lasting, nights, played
from silverball.rules.planning.nights import NightPlanning, values_of
from silverball.rules.ranking import pace
from silverball.rules.ranking import points as ranking
from silverball.rules.ranking.standing import Standing
from silverball.rules.scoring.point_maps import points_of_scoring
from silverball.rules.verify import tallies
from silverball.rules.verify.checks import ArenaUse, DrawnGroups, FormatChecks

TargetPoints = Annotated[
    int,
    settings.setting(
        "Target",
        "Points with which a player has made it.",
        "Points with which a player is done.",
        ge=1,
        le=1000,
    ),
]


class TargetSettings(settings.TournamentSettings, frozen=True, kw_only=True):
    """Settings of a target match play. Source: formats, sections 14.15 and 24."""

    seeding: settings.Seeding = "random"
    first_round_pairing: settings.FirstRoundPairing = "random"
    pairing: settings.Pairing = "balanced"
    player_order: settings.PlayerOrder = "balanced"
    player_order_open: settings.PlayerOrderOpen = "scorekeepers"
    arena_assignment: settings.ArenaAssignment = "balanced"
    suggestions: settings.Suggestions = "disabled"
    duration: settings.Duration = 0
    games_per_round: settings.GamesPerRound = 1
    scoring: settings.Scoring = "ifpa"
    target_points: TargetPoints = 24
    playoffs_cutoffs: settings.PlayoffsCutoffs = ()


def rounds_reached(tournament: Tournament) -> dict[int, int]:
    """Player id -> the round (from 1) in which the target was reached; only those who have."""
    chosen = tournament.settings
    assert isinstance(chosen, TargetSettings)
    return pace.rounds_reaching_target(tournament, chosen.target_points)


def rank(tournament: Tournament) -> list[Standing]:
    """The standings: players at the target, the earlier the better; then points. Source: formats, 14.15."""
    reached = rounds_reached(tournament)
    first = {
        entrant.player_id: (
            Decimal(entrant.player_id in reached),
            Decimal(-reached.get(entrant.player_id, 0)),
        )
        for entrant in tournament.entrants
    }
    return ranking.rank(tournament, before_points=first)


def playing_ids(tournament: Tournament) -> tuple[int, ...]:
    """Ids of the players of the next round: the active ones below the target."""
    reached = rounds_reached(tournament)
    return tuple(player_id for player_id in tournament.active_ids if player_id not in reached)


def is_over(tournament: Tournament) -> bool:
    """Whether at most one player is below the target; the organizer may close earlier."""
    return len(playing_ids(tournament)) <= 1


RULES = DrawnRoundRules(
    group_size=GROUP_SIZE,
    playing_ids=playing_ids,
    pairing_scores=drawn_rounds.points_by_player,
    rank=rank,
    is_over=is_over,
)


FORMAT = Format(
    type="target",
    title="Target match play",
    group=FormatGroup.MATCH_PLAY,
    summary="Group match play to a target: the first to reach it wins.",
    form_settings=("targetPoints", "duration", "scoring", "pairing", "arenaAssignment"),
    settings=TargetSettings,
    demo=DemoNight(name="Target", settings={"targetPoints": 20}),
    planning=NightPlanning(
        shape=nights.target_night,
        choices=values_of("targetPoints", 16, 20, 24),
        unit="points",
    ),
    players_per_game=4,
    rated=True,
    points_map=points_of_scoring,
    rank=rank,
    is_over=is_over,
    meaningful_games=lasting.target_rule,
    meaningful_games_played=played.target_played,
    verify=FormatChecks(
        standings=tallies.target_table, drawn_groups=DrawnGroups.FOURS, arena_use=ArenaUse.ONCE_PER_WAVE
    ),
    playing_ids=playing_ids,
    open_round=RULES.open_round,
    settle=RULES.settle,
    setting_faults=RULES.setting_faults,
    start=RULES.start,
)
