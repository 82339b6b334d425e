"""Every format that can be played here: wire name -> Format, one line each."""

from silverball.rules.format import Format
from silverball.rules.formats import (
    amazingrace,
    best_game,
    bowling,
    card_best_game,
    golf,
    group_knockout,
    group_matchplay,
    knockout,
    manual_matchplay,
    matchplay,
    max_matchplay,
    pace_matchplay,
    target,
)

FORMATS: dict[str, Format] = {
    one.type: one
    for one in (
        knockout.FORMAT,
        group_knockout.FORMAT,
        matchplay.FORMAT,
        group_matchplay.FORMAT,
        max_matchplay.FORMAT,
        pace_matchplay.FORMAT,
        manual_matchplay.FORMAT,
        target.FORMAT,
        best_game.FORMAT,
        card_best_game.FORMAT,
        golf.FORMAT,
        bowling.FORMAT,
        amazingrace.FORMAT,
    )
}
