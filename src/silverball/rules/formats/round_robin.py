"""Everybody plays everybody once, a point per win. Source: formats, 14.8."""

from silverball.rules.families.round_robin import RoundRobinPlay
from silverball.rules.format import Format, completes_itself
from silverball.rules.mechanics import rounds
from silverball.rules.model import settings
from silverball.rules.model.tournament import Tournament
from silverball.rules.ranking import points as ranking
from silverball.rules.ranking.standing import Standing


class RoundRobinSettings(settings.Settings, frozen=True, kw_only=True):
    """Settings of a round robin. Source: formats, sections 14.8 and 24."""

    round_robin_group_size: settings.RoundRobinGroupSize = 0
    byes: settings.Byes = "full"
    seeding: settings.Seeding = "random"
    player_order: settings.PlayerOrder = "balanced"
    arena_assignment: settings.ArenaAssignment = "balanced"
    suggestions: settings.Suggestions = "disabled"
    playoffs_cutoffs: settings.PlayoffsCutoffs = ()


PLAY = RoundRobinPlay(is_double=False)


def rank(tournament: Tournament) -> list[Standing]:
    """The standings by points, over all groups. Source: formats, 14.8."""
    return ranking.rank(tournament)


FORMAT = Format(
    type="round_robin",
    settings=RoundRobinSettings,
    primary_settings=(),
    rank=rank,
    is_over=PLAY.is_over,
    start=PLAY.start,
    open_round=PLAY.open_round,
    settle=PLAY.settle,
    roster_changed=PLAY.roster_changed,
    cleared=PLAY.cleared,
    complete_round=completes_itself,
    open_tiebreak=rounds.tiebreak_outside,
    at_reopen=PLAY.at_reopen,
    rounds="fixed",
    late="at_once",
    can_leave=False,
    corrects_any_round=True,
)
