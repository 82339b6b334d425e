"""Double elimination: who has lost two matches is out. Source: formats, 14.11."""

from silverball.rules.families import brackets
from silverball.rules.families.brackets import BracketPlay
from silverball.rules.format import Format, completes_itself, nobody_comes, nobody_is_tied
from silverball.rules.model import settings
from silverball.rules.model.tournament import Tournament
from silverball.rules.pairing import bracket_nodes
from silverball.rules.ranking import brackets as ranking
from silverball.rules.ranking.standing import Standing


class DoubleBracketSettings(settings.Settings, frozen=True, kw_only=True):
    """Settings of a double bracket. Source: formats, sections 14.11 and 24."""

    seeding: settings.BracketSeeding = "manual"
    bracket_size: settings.BracketSize = 8
    # The games of a match, of which more than half win it.
    games_per_round: settings.BestOf = 1
    player_order: settings.PlayerOrder = "seed"
    player_order_open: settings.PlayerOrderOpen = "scorekeepers"
    arena_assignment: settings.ArenaAssignment = "balanced"
    suggestions: settings.Suggestions = "disabled"


PLAY = BracketPlay(nodes=bracket_nodes.double_elimination_nodes)


def rank(tournament: Tournament) -> list[Standing]:
    """Those whose place is decided: 1, 2, 3, 4, then 5, 7, 9, 13, ... by round. Source: formats, 14.11."""
    return ranking.rank(tournament, PLAY.matches(tournament))


def is_over(tournament: Tournament) -> bool:
    """Whether the grand final is decided, or the second one where there is one."""
    return tournament.status != "planned" and brackets.is_over(PLAY.matches(tournament))


FORMAT = Format(
    type="double_bracket",
    settings=DoubleBracketSettings,
    primary_settings=(),
    rank=rank,
    is_over=is_over,
    start=PLAY.start,
    open_round=PLAY.open_round,
    settle=PLAY.settle,
    roster_changed=nobody_comes,
    cleared=PLAY.cleared,
    complete_round=completes_itself,
    tied=nobody_is_tied,
    at_reopen=PLAY.at_reopen,
    rounds="fixed",
    late="never",
    can_leave=False,
    can_adjust=False,
    corrects_any_round=True,
)
