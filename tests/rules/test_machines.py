"""Nights in which anything may happen, one machine per format. Source: issue 3, proof.

Fifty nights of forty steps each; SILVERBALL_SOAK=1 makes it two thousand nights.
"""

from rules.machine import machine_of
from rules.moves import Moves, points_without_adjustments

ROUNDS = {
    "pairing": ("balanced", "swiss", "strictswiss", "random"),
    "arena_assignment": ("balanced", "random", "disabled"),
    "player_order": ("balanced", "rotating", "position", "seed"),
}


TestMatchplay = machine_of(
    Moves(
        kind="matchplay",
        settings={
            **ROUNDS,
            "duration": (0, 4),
            "games_per_round": (1, 1, 2),
            "tiebreaker": ("standard", "disabled", "seed", "wins"),
            "byes": ("full", "half", "zero"),
        },
    )
)
TestKnockout = machine_of(
    Moves(
        kind="knockout",
        settings={**ROUNDS, "knockout_strike_count": (1, 2, 3), "byes": ("full", "zero")},
        points=points_without_adjustments,
    )
)
TestGroupKnockout = machine_of(
    Moves(
        kind="group_knockout",
        settings={
            **ROUNDS,
            "knockout_strike_count": (1, 3, 5),
            "knockout_four_player_strikes": (1, 2, 3, 100, 101),
            "knockout_three_player_strikes": (0, 1),
        },
        points=points_without_adjustments,
    )
)
