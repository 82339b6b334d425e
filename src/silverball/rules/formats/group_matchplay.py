"""Group match play: rounds of four and three, points by place, most points win. Source: formats, 14.4."""

from silverball.rules.drawing.groups import GROUP_SIZE
from silverball.rules.families import drawn_rounds
from silverball.rules.families.drawn_rounds import DrawnRoundRules
from silverball.rules.format import DemoNight, Format, FormatGroup
from silverball.rules.model import settings
from silverball.rules.planning import nights, planned, played
from silverball.rules.planning.nights import CertainBy, NightPlanning, values_of
from silverball.rules.ranking import points as ranking
from silverball.rules.scoring.point_maps import points_of_scoring
from silverball.rules.verify import tallies
from silverball.rules.verify.checks import ArenaUse, DrawnGroups, FormatChecks


class GroupMatchplaySettings(settings.DrawnRoundSettings, frozen=True, kw_only=True):
    """Settings of a group match play. Source: formats, sections 14.4 and 24."""

    suggestions: settings.Suggestions = "disabled"
    duration: settings.Duration = 0
    games_per_round: settings.GamesPerRound = 1
    tiebreaker: settings.GroupTiebreaker = "disabled"
    scoring: settings.Scoring = "ifpa"
    playoffs_cutoffs: settings.PlayoffsCutoffs = ()


RULES = DrawnRoundRules(
    group_size=GROUP_SIZE,
    playing_ids=lambda tournament: tournament.active_ids,
    pairing_scores=drawn_rounds.points_by_player,
    rank=ranking.rank,
    is_over=drawn_rounds.all_rounds_played,
)

FORMAT = Format(
    type="group_matchplay",
    title="Group match play",
    group=FormatGroup.MATCH_PLAY,
    summary="Groups of four or three every round; points by place; most points win.",
    form_settings=("duration", "scoring", "pairing", "arenaAssignment", "tiebreaker"),
    settings=GroupMatchplaySettings,
    demo=DemoNight(name="Group Match Play", players=12, settings={"duration": 6}),
    planning=NightPlanning(
        certain_by=CertainBy.ROUNDS,
        shape=nights.drawn_rounds(GROUP_SIZE),
        choices=values_of("duration", 4, 5, 6, 8),
        unit="rounds",
    ),
    players_per_game=4,
    rated=True,
    points_map=points_of_scoring,
    # Points, then the tiebreaker. Source: formats, 14.4.
    rank=ranking.rank,
    is_over=drawn_rounds.all_rounds_played,
    meaningful_games=planned.rounds_in_fours,
    meaningful_games_played=played.rounds_played,
    verify=FormatChecks(
        standings=tallies.group_points_table,
        earlier_standings=tallies.points_table,
        drawn_groups=DrawnGroups.FOURS,
        arena_use=ArenaUse.ONCE_PER_WAVE,
    ),
    open_round=RULES.open_round,
    settle=RULES.settle,
    setting_faults=RULES.setting_faults,
    start=RULES.start,
)
