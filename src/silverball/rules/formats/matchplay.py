"""Head-to-head match play: rounds of two, a point per won game, most points win. Source: formats, 14.3."""

from silverball.rules.drawing.groups import PAIR_SIZE
from silverball.rules.families import drawn_rounds
from silverball.rules.families.drawn_rounds import DrawnRoundRules
from silverball.rules.format import DemoNight, Format, FormatGroup
from silverball.rules.model import settings
from silverball.rules.planning import nights, planned, played
from silverball.rules.planning.nights import CertainBy, NightPlanning, values_of
from silverball.rules.ranking import points as ranking
from silverball.rules.scoring.point_maps import one_point_per_win
from silverball.rules.verify import tallies
from silverball.rules.verify.checks import ArenaUse, DrawnGroups, FormatChecks


class MatchplaySettings(settings.DrawnRoundSettings, frozen=True, kw_only=True):
    """Settings of a match play. Source: formats, sections 14.3 and 24."""

    suggestions: settings.Suggestions = "disabled"
    duration: settings.Duration = 0
    games_per_round: settings.GamesPerRound = 1
    tiebreaker: settings.HeadToHeadTiebreaker = "standard"
    byes: settings.Byes = "full"
    playoffs_cutoffs: settings.PlayoffsCutoffs = ()


RULES = DrawnRoundRules(
    group_size=PAIR_SIZE,
    playing_ids=lambda tournament: tournament.active_ids,
    pairing_scores=drawn_rounds.points_by_player,
    rank=ranking.rank,
    is_over=drawn_rounds.all_rounds_played,
)

FORMAT = Format(
    type="matchplay",
    title="Match play",
    group=FormatGroup.MATCH_PLAY,
    summary="Rounds of two, a point per won game; most points win.",
    form_settings=("duration", "pairing", "arenaAssignment", "byes", "tiebreaker"),
    settings=MatchplaySettings,
    demo=DemoNight(name="Match Play", players=9, settings={"duration": 5}),
    planning=NightPlanning(
        certain_by=CertainBy.ROUNDS,
        shape=nights.drawn_rounds(PAIR_SIZE),
        choices=values_of("duration", 5, 7, 9, 11),
        unit="rounds",
    ),
    players_per_game=2,
    rated=True,
    points_map=one_point_per_win,
    # Points, then the tiebreaker. Source: formats, 14.3.
    rank=ranking.rank,
    is_over=drawn_rounds.all_rounds_played,
    meaningful_games=planned.rounds_in_pairs,
    meaningful_games_played=played.rounds_played,
    verify=FormatChecks(
        standings=tallies.points_table, drawn_groups=DrawnGroups.PAIRS, arena_use=ArenaUse.ONCE_PER_WAVE
    ),
    open_round=RULES.open_round,
    settle=RULES.settle,
    setting_faults=RULES.setting_faults,
    start=RULES.start,
)
