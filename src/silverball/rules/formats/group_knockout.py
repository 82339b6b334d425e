"""Strikes in groups of four: as a knockout, with strikes by place. Source: formats, 14.2."""

from collections.abc import Mapping
from datetime import datetime
from random import Random
from typing import Annotated, Any, Literal

from silverball.kit.errors import Invalid
from silverball.rules.drawing.groups import GROUP_SIZE
from silverball.rules.families.drawn_rounds import StrikeFormatRules
from silverball.rules.format import CountedIn, DemoNight, Format, FormatGroup
from silverball.rules.model import settings
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Tournament
from silverball.rules.planning import lasting, nights, played
from silverball.rules.planning.nights import CertainBy, NightPlanning, values_of
from silverball.rules.ranking.knockout import KnockoutRules
from silverball.rules.ranking.standing import WinLossRule
from silverball.rules.scoring import strikes
from silverball.rules.scoring.point_maps import points_for_strikes
from silverball.rules.scoring.strikes import StrikeSettings
from silverball.rules.verify import knockouts, results
from silverball.rules.verify.checks import ArenaUse, DrawnGroups, FormatChecks

FourPlayerStrikes = Annotated[
    Literal[1, 2, 3, 100, 101],
    settings.setting(
        "Strikes in a group of four",
        "Who gets strikes in each game.",
        "Number of players with a strike in a game of four: 1, 2 or 3; 100 progressive, 101 fair.",
        words={
            "1": "The last gets a strike",
            "2": "The last two get a strike",
            "3": "All but the first get a strike",
            "100": "Progressive: 0, 1, 2 and 3 strikes",
            "101": "Fair: 0, 1, 1 and 2 strikes",
        },
    ),
]
ThreePlayerStrikes = Annotated[
    Literal[0, 1, 2],
    settings.setting(
        "Strikes in a group of three",
        "Who gets strikes where four do not come out even. Fair and progressive have their own.",
        "Strikes in a game of three: 1 for the last player, 0 for the last two.",
        words={
            "1": "The last gets a strike",
            "0": "The last two get a strike",
            "2": "The last two get a strike (as imported)",
        },
    ),
]
Progressive = Annotated[
    bool,
    settings.setting(
        "Progressive",
        "The first gets no strike, the second one, and so on.",
        "Whether each place below the first costs one more strike.",
    ),
]
Fair = Annotated[
    bool,
    settings.setting(
        "Fair",
        "The first gets no strike, the last two, the others one.",
        "Whether the last of a game gets two strikes, the first none and others one.",
    ),
]


class GroupKnockoutSettings(settings.DrawnRoundSettings, frozen=True, kw_only=True):
    """Settings of a group knockout. Source: formats, sections 14.2 and 24."""

    knockout_strike_count: settings.KnockoutStrikeCount = 3
    knockout_progressive: Progressive = False
    knockout_fair: Fair = False
    knockout_three_player_strikes: ThreePlayerStrikes = 1
    knockout_four_player_strikes: FourPlayerStrikes = 2
    suggestions: settings.Suggestions = "disabled"
    playoffs_cutoffs: settings.PlayoffsCutoffs = ()


def knockout_rules(tournament: Tournament) -> KnockoutRules:
    """The strike rules from the settings. Raises Invalid for strikes both fair and progressive."""
    chosen = tournament.settings
    assert isinstance(chosen, GroupKnockoutSettings)
    return KnockoutRules(
        strike_settings=strike_settings(chosen),
        strike_count=chosen.knockout_strike_count,
        playoffs_cutoffs=chosen.playoffs_cutoffs,
    )


def strike_settings(chosen: GroupKnockoutSettings) -> StrikeSettings:
    """The strikes by place. Raises Invalid when they are both fair and progressive."""
    return strikes.group_strike_settings(
        chosen.knockout_four_player_strikes,
        chosen.knockout_three_player_strikes,
        fair=chosen.knockout_fair,
        progressive=chosen.knockout_progressive,
    )


def strikes_of_settings(chosen: settings.TournamentSettings) -> StrikeSettings:
    """The strikes by place, from any settings of the format. Raises as `strike_settings` does."""
    assert isinstance(chosen, GroupKnockoutSettings)
    return strike_settings(chosen)


def setting_faults(chosen: settings.TournamentSettings) -> Mapping[str, str]:
    """Wire key -> sentence, for impossible strikes and pairings."""
    assert isinstance(chosen, GroupKnockoutSettings)
    try:
        strike_settings(chosen)
    except Invalid as refusal:
        keys = ("knockoutFair", "knockoutProgressive") if "knockoutFair" in refusal.errors else refusal.errors
        return dict.fromkeys(keys, refusal.message)
    return RULES.setting_faults(chosen)


def win_loss_rule(settings_by_key: Mapping[str, Any]) -> WinLossRule:
    """Wins by finishing order when strikes are progressive, else by the strikes.

    Source: formats, section 22.
    """
    if settings_by_key.get("knockoutProgressive"):
        return WinLossRule.POSITIONS
    return WinLossRule.FAIR_STRIKES if settings_by_key.get("knockoutFair") else WinLossRule.STRIKE


def start(tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
    """Make nothing; refuse impossible strikes and pairings."""
    knockout_rules(tournament)
    return RULES.start(tournament, dice, now)


STRIKES = StrikeFormatRules(knockout_rules)
RULES = STRIKES.drawn_rounds(GROUP_SIZE)


NIGHT = nights.struck_night(GROUP_SIZE, strikes_of_settings)

FORMAT = Format(
    type="group_knockout",
    title="Strikes, groups of four",
    group=FormatGroup.KNOCKOUT,
    summary="Groups of four and three every round; strikes by place, and enough of them put you out.",
    form_settings=(
        "knockoutStrikeCount",
        "knockoutFourPlayerStrikes",
        "knockoutThreePlayerStrikes",
        "pairing",
        "arenaAssignment",
    ),
    settings=GroupKnockoutSettings,
    primary_settings=("knockoutStrikeCount", "knockoutFourPlayerStrikes"),
    demo=DemoNight(name="Group Knockout", players=10),
    planning=NightPlanning(
        certain_by=CertainBy.ELIMINATION,
        shape=NIGHT,
        choices=values_of("knockoutStrikeCount", 3, 4, 6),
        unit="strikes",
    ),
    players_per_game=4,
    counted_in=CountedIn.STRIKES,
    rated=True,
    points_map=points_for_strikes,
    win_loss_rule=win_loss_rule,
    rank=STRIKES.rank,
    require_rankable=STRIKES.require_rankable,
    is_over=STRIKES.is_over,
    meaningful_games=lasting.strikes_rule(NIGHT),
    meaningful_games_played=played.expected_elimination(lasting.strikes_rule(NIGHT)),
    verify=FormatChecks(
        standings=knockouts.group_knockout_table,
        drawn_groups=DrawnGroups.FOURS,
        arena_use=ArenaUse.ONCE_PER_WAVE,
        strike_kind=results.group_strikes,
        wins_by=results.group_wins,
    ),
    open_round=RULES.open_round,
    settle=RULES.settle,
    playing_ids=STRIKES.playing_ids,
    setting_faults=setting_faults,
    start=start,
)
