"""Every format that can be played here: wire name -> Format, one line each."""

from silverball.rules.format import Format
from silverball.rules.formats import (
    amazingrace,
    best_game,
    bowling,
    bracket,
    card_best_game,
    double_bracket,
    double_round_robin,
    frenzy,
    golf,
    golf_bracket,
    group_bracket,
    group_knockout,
    group_matchplay,
    knockout,
    ladder,
    manual_matchplay,
    matchplay,
    max_matchplay,
    pace_matchplay,
    round_robin,
    target,
)

FORMATS: dict[str, Format] = {
    form.type: form
    for form in (
        knockout.FORMAT,
        group_knockout.FORMAT,
        matchplay.FORMAT,
        group_matchplay.FORMAT,
        max_matchplay.FORMAT,
        pace_matchplay.FORMAT,
        manual_matchplay.FORMAT,
        target.FORMAT,
        frenzy.FORMAT,
        round_robin.FORMAT,
        double_round_robin.FORMAT,
        bracket.FORMAT,
        double_bracket.FORMAT,
        group_bracket.FORMAT,
        ladder.FORMAT,
        best_game.FORMAT,
        card_best_game.FORMAT,
        golf.FORMAT,
        golf_bracket.FORMAT,
        bowling.FORMAT,
        amazingrace.FORMAT,
    )
}


def rated_types() -> frozenset[str]:
    """The wire names of the formats whose results count for ratings."""
    return frozenset(form.type for form in FORMATS.values() if form.rated)
