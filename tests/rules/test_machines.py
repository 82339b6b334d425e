"""Nights in which anything may happen, one machine per format. Source: issue 3, proof.

Fifty nights of forty steps each; SILVERBALL_SOAK=1 makes it two thousand nights.
"""

from rules.machine import machine_of
from rules.moves import (
    Moves,
    arena_any,
    create_any,
    delete_any,
    forfeit_any,
    order_any,
    points_without_adjustments,
    seat_any,
    unseat_any,
)

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
            "tiebreaker": ("standard", "disabled", "seed"),
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
GROUPS = {
    **ROUNDS,
    "first_round_pairing": ("random", "slaughter", "adjacent"),
    "games_per_round": (1, 1, 2),
    "scoring": ("ifpa", "pinburgh", "winnerbonus"),
}
TestGroupMatchplay = machine_of(
    Moves(
        kind="group_matchplay",
        settings={
            **GROUPS,
            "duration": (0, 3),
            "tiebreaker": ("disabled", "standard", "placement", "placement_last", "wins"),
        },
    )
)
TestTarget = machine_of(Moves(kind="target", settings={**GROUPS, "target_points": (7, 14, 24)}))
TestPaceMatchplay = machine_of(
    Moves(
        kind="pace_matchplay",
        settings={
            **GROUPS,
            "pace_initial_rounds": (1, 2, 3),
            "pace_initial_target": (0, 4, 12),
            "pace_increment": (0, 3, 7),
        },
    )
)
TestManualMatchplay = machine_of(
    Moves(
        kind="manual_matchplay",
        settings={"player_order": ("disabled", "balanced", "position"), "scoring": ("ifpa", "papa")},
        extra={
            "create": create_any,
            "create more": create_any,
            "forfeit": forfeit_any,
            "order": order_any,
            "arena": arena_any,
            "seat": seat_any,
            "unseat": unseat_any,
            "delete": delete_any,
        },
        one_group_per_round=False,
    )
)
