"""Basic strikes: rounds of two, the loser gets a strike, last one standing wins. Source: formats, 14.1."""

from silverball.rules.drawing.groups import PAIR_SIZE
from silverball.rules.families.drawn_rounds import StrikeFormatRules
from silverball.rules.format import CountedIn, DemoNight, Format, FormatGroup
from silverball.rules.model import settings
from silverball.rules.model.tournament import Tournament
from silverball.rules.planning import lasting, nights, played
from silverball.rules.planning.nights import CertainBy, NightPlanning, values_of
from silverball.rules.ranking.knockout import KnockoutRules
from silverball.rules.scoring import strikes
from silverball.rules.scoring.point_maps import one_point_per_win
from silverball.rules.verify import knockouts, results
from silverball.rules.verify.checks import ArenaUse, DrawnGroups, FormatChecks


class KnockoutSettings(settings.DrawnRoundSettings, frozen=True, kw_only=True):
    """Settings of a knockout. Source: formats, sections 14.1 and 24."""

    knockout_strike_count: settings.KnockoutStrikeCount = 3
    suggestions: settings.Suggestions = "disabled"
    byes: settings.Byes = "full"
    playoffs_cutoffs: settings.PlayoffsCutoffs = ()


def knockout_rules(tournament: Tournament) -> KnockoutRules:
    """The strike rules from the settings."""
    chosen = tournament.settings
    assert isinstance(chosen, KnockoutSettings)
    return KnockoutRules(
        strike_settings=strikes.HEAD_TO_HEAD,
        strike_count=chosen.knockout_strike_count,
        playoffs_cutoffs=chosen.playoffs_cutoffs,
    )


STRIKES = StrikeFormatRules(knockout_rules)
RULES = STRIKES.drawn_rounds(PAIR_SIZE)


NIGHT = nights.struck_night(PAIR_SIZE, lambda _settings: strikes.HEAD_TO_HEAD)

FORMAT = Format(
    type="knockout",
    title="Strikes, two players",
    group=FormatGroup.KNOCKOUT,
    summary="Rounds of two: the loser gets a strike, and the last player standing wins.",
    form_settings=("knockoutStrikeCount", "pairing", "arenaAssignment", "byes"),
    settings=KnockoutSettings,
    primary_settings=("knockoutStrikeCount", "pairing"),
    demo=DemoNight(name="Knockout", players=9, settings={"knockoutStrikeCount": 2}),
    planning=NightPlanning(
        certain_by=CertainBy.ELIMINATION,
        shape=NIGHT,
        choices=values_of("knockoutStrikeCount", 2, 3, 4),
        unit="strikes",
    ),
    players_per_game=2,
    counted_in=CountedIn.STRIKES,
    rated=True,
    points_map=one_point_per_win,
    rank=STRIKES.rank,
    require_rankable=STRIKES.require_rankable,
    is_over=STRIKES.is_over,
    meaningful_games=lasting.strikes_rule(NIGHT),
    meaningful_games_played=played.expected_elimination(lasting.strikes_rule(NIGHT)),
    verify=FormatChecks(
        standings=knockouts.pair_knockout_table,
        drawn_groups=DrawnGroups.PAIRS,
        arena_use=ArenaUse.ONCE_PER_WAVE,
        strike_kind=results.pair_strikes,
    ),
    open_round=RULES.open_round,
    settle=RULES.settle,
    playing_ids=STRIKES.playing_ids,
    setting_faults=RULES.setting_faults,
    start=RULES.start,
)
