"""Single elimination: the loser of a match is out; the last player wins. Source: formats, 14.10."""

from silverball.rules.drawing import bracket_nodes, elimination
from silverball.rules.families import brackets
from silverball.rules.families.brackets import BracketRules
from silverball.rules.format import (
    DemoNight,
    Format,
    FormatGroup,
    Rounds,
    no_tied_groups,
    refuse_to_complete_round,
    refuse_to_join,
)
from silverball.rules.planning import nights, planned, played
from silverball.rules.planning.nights import CertainBy, NightPlanning, values_of
from silverball.rules.scoring.point_maps import one_point_per_win
from silverball.rules.verify import brackets as bracket_checks
from silverball.rules.verify.checks import FormatChecks


class BracketSettings(brackets.PairBracketSettings, frozen=True, kw_only=True):
    """Settings of a bracket. Source: formats, sections 14.10 and 24."""


RULES = BracketRules(nodes=bracket_nodes.single_elimination_nodes)


FORMAT = Format(
    type="bracket",
    title="Bracket, single elimination",
    group=FormatGroup.BRACKETS,
    summary="One lost match and you are out.",
    form_settings=("seeding", "gamesPerRound", "arenaAssignment", "playerOrder"),
    settings=BracketSettings,
    demo=DemoNight(name="Bracket", settings={"gamesPerRound": 3}),
    planning=NightPlanning(
        certain_by=CertainBy.ELIMINATION,
        shape=nights.bracket(bracket_nodes.single_elimination_nodes),
        choices=values_of("gamesPerRound", 1, 3, 5),
        unit="games at most in a match",
    ),
    players_per_game=2,
    rated=True,
    is_ranked_by_points=False,
    points_map=one_point_per_win,
    rounds=Rounds.FIXED,
    bracket=RULES,
    bye_lines=RULES.bye_lines,
    # Decided places: 1, 2, 3, 4, then 5 to 8, 9, 17, 33, 65.
    rank=RULES.rank,
    is_over=RULES.is_over,
    meaningful_games=planned.single_elimination,
    meaningful_games_played=played.by_plan(planned.single_elimination),
    verify=FormatChecks(standings=bracket_checks.single_bracket_table),
    start=RULES.start,
    open_round=RULES.open_round,
    settle=RULES.settle,
    roster_changed=refuse_to_join,
    result_cleared=RULES.result_cleared,
    playing_ids=RULES.playing_ids,
    complete_round=refuse_to_complete_round,
    tied_groups=no_tied_groups,
    at_reopen=RULES.at_reopen,
    players_max=elimination.SIZES[-1],
    late_entry="never",
    can_leave=False,
    can_adjust=False,
    can_correct_any_round=True,
)
