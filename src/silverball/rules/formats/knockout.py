"""Basic strikes: rounds of two, the loser gets a strike, last one standing wins. Source: formats, 14.1."""

from decimal import Decimal

from silverball.rules.families.drawn_rounds import DrawnRoundRules
from silverball.rules.format import CountedIn, DemoNight, Format
from silverball.rules.mechanics.knockout_results import strike_scorer
from silverball.rules.model import settings
from silverball.rules.model.tournament import Tournament
from silverball.rules.pairing.groups import PAIR_SIZE
from silverball.rules.ranking import knockout
from silverball.rules.ranking.knockout import KnockoutRules
from silverball.rules.ranking.standing import Standing
from silverball.rules.scoring import strikes
from silverball.rules.scoring.starting_points import one_point_per_win
from silverball.rules.verify import knockouts, results
from silverball.rules.verify.checks import ArenaUse, DrawnGroups, FormatChecks


class KnockoutSettings(settings.TournamentSettings, frozen=True, kw_only=True):
    """Settings of a knockout. Source: formats, sections 14.1 and 24."""

    seeding: settings.Seeding = "random"
    first_round_pairing: settings.FirstRoundPairing = "random"
    pairing: settings.Pairing = "balanced"
    player_order: settings.PlayerOrder = "balanced"
    player_order_open: settings.PlayerOrderOpen = "scorekeepers"
    arena_assignment: settings.ArenaAssignment = "balanced"
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


def rank(tournament: Tournament) -> list[Standing]:
    """The standings. Source: formats, 14.1."""
    return knockout.rank(tournament, knockout_rules(tournament))


def is_over(tournament: Tournament) -> bool:
    """Whether at most one player is left."""
    return knockout.is_over(tournament, knockout_rules(tournament))


def playing_ids(tournament: Tournament) -> tuple[int, ...]:
    """Ids of the players of the next round."""
    return knockout.next_round_ids(tournament, knockout_rules(tournament))


def pairing_scores(tournament: Tournament) -> dict[int, Decimal]:
    """Player id -> strikes with the sign reversed."""
    return knockout.swiss_scores(tournament, knockout_rules(tournament))


RULES = DrawnRoundRules(
    group_size=PAIR_SIZE,
    playing_ids=playing_ids,
    pairing_scores=pairing_scores,
    rank=rank,
    is_over=is_over,
    scorer=lambda tournament: strike_scorer(knockout_rules(tournament).strike_settings),
)

FORMAT = Format(
    type="knockout",
    title="Strikes, two players",
    summary="Rounds of two: the loser gets a strike, and the last player standing wins.",
    settings=KnockoutSettings,
    primary_settings=("knockoutStrikeCount", "pairing"),
    demo=DemoNight(name="Knockout", players=9, settings={"knockoutStrikeCount": 2}),
    players_per_game=2,
    counted_in=CountedIn.STRIKES,
    rated=True,
    points_map=one_point_per_win,
    rank=rank,
    is_over=is_over,
    verify=FormatChecks(
        standings=knockouts.pair_knockout_table,
        drawn_groups=DrawnGroups.PAIRS,
        arena_use=ArenaUse.ONCE_PER_WAVE,
        strike_kind=results.pair_strikes,
    ),
    open_round=RULES.open_round,
    settle=RULES.settle,
    playing_ids=playing_ids,
    start=RULES.start,
)
