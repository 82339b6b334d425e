"""Double round robin: all play all twice, once from each side. Source: formats, 14.9."""

from silverball.rules.families import round_robin
from silverball.rules.families.round_robin import RoundRobinRules
from silverball.rules.format import DemoNight, Format, FormatGroup, Rounds, refuse_to_complete_round
from silverball.rules.mechanics import rounds
from silverball.rules.planning import nights, planned, played
from silverball.rules.planning.nights import CertainBy, NightPlanning, values_of
from silverball.rules.ranking import points as ranking
from silverball.rules.scoring.point_maps import one_point_per_win
from silverball.rules.verify import tallies
from silverball.rules.verify.checks import ArenaUse, FormatChecks


class DoubleRoundRobinSettings(round_robin.GroupedSettings, frozen=True, kw_only=True):
    """Settings of a double round robin. Source: formats, sections 14.9 and 24."""


RULES = RoundRobinRules(is_double=True)

FORMAT = Format(
    type="double_round_robin",
    title="Double round robin",
    group=FormatGroup.MATCH_PLAY,
    summary="Everybody plays everybody twice, once from each side.",
    form_settings=("roundRobinGroupSize", "byes", "arenaAssignment", "playerOrder"),
    settings=DoubleRoundRobinSettings,
    demo=DemoNight(name="Double Round Robin", settings={"roundRobinGroupSize": 4}),
    planning=NightPlanning(
        certain_by=CertainBy.GAMES,
        shape=nights.round_robin(is_double=True),
        choices=values_of("roundRobinGroupSize", 0, 6, 8),
        unit="players in a group",
    ),
    players_per_game=2,
    rated=True,
    points_map=one_point_per_win,
    rounds=Rounds.FIXED,
    # The standings by points, over all groups. Source: formats, 14.9.
    rank=ranking.rank,
    is_over=RULES.is_over,
    meaningful_games=planned.round_robin_rule(is_double=True),
    meaningful_games_played=played.games_per_player,
    verify=FormatChecks(
        standings=tallies.points_table, arena_use=ArenaUse.ONCE_PER_ROUND, games_per_pairing=2
    ),
    setting_faults=RULES.setting_faults,
    start=RULES.start,
    open_round=RULES.open_round,
    settle=RULES.settle,
    roster_changed=RULES.roster_changed,
    result_cleared=RULES.result_cleared,
    complete_round=refuse_to_complete_round,
    open_tiebreak=rounds.open_tiebreak_outside_rounds,
    at_reopen=RULES.at_reopen,
    late_entry="at_once",
    can_leave=False,
    can_correct_any_round=True,
)
