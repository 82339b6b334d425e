"""Every format that can be played here: wire name -> Format, one line each."""

from silverball.rules.format import Format
from silverball.rules.formats import (
    best_game,
    bowling,
    card_best_game,
    golf,
    group_knockout,
    knockout,
    matchplay,
)

FORMATS: dict[str, Format] = {
    one.type: one
    for one in (
        knockout.FORMAT,
        group_knockout.FORMAT,
        matchplay.FORMAT,
        best_game.FORMAT,
        card_best_game.FORMAT,
        golf.FORMAT,
        bowling.FORMAT,
    )
}
