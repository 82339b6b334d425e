"""The table of the handbook that says which formats fit into an evening, as the planner has it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from silverball.rules.format import Format
from silverball.rules.outlook import plans
from silverball.rules.planning.pace import learn_pace
from silverball.rules.registry import FORMATS

HOURS = (3, 4, 5)
# Players and machines.
ROOMS = ((8, 4), (12, 6), (16, 4), (16, 8), (24, 6), (24, 12), (32, 8), (40, 10), (40, 20))
# Head of the column, format, and the unit of its choices: None where only the shortest choice is shown.
COLUMNS = (
    ("Group match play", "group_matchplay", "rounds"),
    ("Match play", "matchplay", "rounds"),
    ("Strikes, two players", "knockout", "strikes"),
    ("Strikes, groups of four", "group_knockout", "strikes"),
    ("Single elimination", "bracket", None),
    ("Double elimination", "double_bracket", None),
    ("Max match play", "max_matchplay", "games each"),
    ("Pingolf", "golf", "holes"),
)


def planned_table() -> str:
    """The longest choice of each format that ends in time on average, for several rooms and hours."""
    nights = {room: _planned_nights(*room) for room in ROOMS}
    heads = [head for head, _, _ in COLUMNS]
    tables = []
    for hours in HOURS:
        rule = "|---" * (len(heads) + 1) + "|"
        lines = [f"**{hours} hours**", "", _row(["People on machines", *heads]), rule]
        for players, machines in ROOMS:
            cells = [_cell(nights[players, machines][type_], hours, unit) for _, type_, unit in COLUMNS]
            lines.append(_row([f"{players} on {machines}", *cells]))
        tables.append("\n".join(lines))
    return "\n\n".join(tables)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _planned_nights(players: int, machines: int) -> dict[str, list[plans.PlannedNight]]:
    forms: list[Format] = [FORMATS[type_] for _, type_, _ in COLUMNS]
    found: dict[str, list[plans.PlannedNight]] = {form.type: [] for form in forms}
    dice: Any = np.random.default_rng((players, machines))
    pace = learn_pace([])
    for night in plans.plan_nights(
        forms, players=players, machines=machines, pace_of=lambda _form: pace, dice=dice
    ):
        found[night.form.type].append(night)
    return found


def _cell(nights: Sequence[plans.PlannedNight], hours: int, unit: str | None) -> str:
    fitting = [
        night
        for night in (nights if unit else nights[:1])
        if night.expected is not None and night.expected <= hours * 60
    ]
    if not fitting:
        return "\N{EN DASH}"
    return f"{next(iter(fitting[-1].choice.values()))} {unit}" if unit else "yes"
