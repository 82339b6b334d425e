"""Round robin: all play all once, a point per win. Source: formats, 14.8."""

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


class RoundRobinSettings(round_robin.GroupedSettings, frozen=True, kw_only=True):
    """Settings of a round robin. Source: formats, sections 14.8 and 24."""


RULES = RoundRobinRules(is_double=False)

FORMAT = Format(
    type="round_robin",
    title="Round robin",
    group=FormatGroup.MATCH_PLAY,
    summary="Everybody plays everybody once.",
    form_settings=("roundRobinGroupSize", "byes", "arenaAssignment", "playerOrder"),
    settings=RoundRobinSettings,
    demo=DemoNight(name="Round Robin"),
    planning=NightPlanning(
        certain_by=CertainBy.GAMES,
        shape=nights.round_robin(is_double=False),
        choices=values_of("roundRobinGroupSize", 0, 6, 8),
        unit="players in a group",
    ),
    players_per_game=2,
    rated=True,
    points_map=one_point_per_win,
    rounds=Rounds.FIXED,
    # The standings by points, over all groups. Source: formats, 14.8.
    rank=ranking.rank,
    is_over=RULES.is_over,
    meaningful_games=planned.round_robin_rule(is_double=False),
    meaningful_games_played=played.games_per_player,
    verify=FormatChecks(standings=tallies.points_table, arena_use=ArenaUse.ONCE_PER_WAVE),
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
