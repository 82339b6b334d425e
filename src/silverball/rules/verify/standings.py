"""Checks of stored standings against standings computed again. Source: formats, section 13."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from silverball.rules.model.tournament import Tournament
from silverball.rules.verify import columns
from silverball.rules.verify.checks import FormatChecks
from silverball.rules.verify.rows import Row


def standings_faults(
    tournament: Tournament, checks: FormatChecks, stored: Mapping[int, Mapping[str, Any]]
) -> list[str]:
    """Differences between the standings computed here and the stored rows (player id -> wire row)."""
    faults = _table_faults(tournament, checks.standings, stored)
    earlier = checks.earlier_standings
    if faults and earlier is not None and not _table_faults(tournament, earlier, stored):
        return []
    return faults


def _table_faults(
    tournament: Tournament,
    table: Callable[[Tournament], list[Row]],
    stored: Mapping[int, Mapping[str, Any]],
) -> list[str]:
    wanted = (
        {}
        if tournament.status == "planned"
        else {
            standing["playerId"]: standing
            for standing in columns.complete_rows(tournament, table(tournament))
        }
    )
    faults = [
        f"Player {player_id} has no row in the standings." for player_id in wanted if player_id not in stored
    ]
    faults += [
        f"Player {player_id} has a row in the standings, but no place in them."
        for player_id in stored
        if player_id not in wanted
    ]
    for player_id, row in wanted.items():
        if player_id in stored:
            faults += _row_faults(player_id, row, stored[player_id])
    return faults


def _row_faults(player_id: int, wanted: Row, stored: Mapping[str, Any]) -> list[str]:
    return [
        f"The standings show {name} {stored.get(name)!s} for player {player_id}, it should be {value!s}."
        for name, value in wanted.items()
        if _comparable_value(stored.get(name)) != _comparable_value(value)
    ] + [
        f"The standings show {name} for player {player_id}, which is no column."
        for name in stored
        if name not in wanted
    ]


def _comparable_value(value: Any) -> Any:
    """A value prepared for comparison: 10 and 10.0 are the same number, "10.00" is a text."""
    if isinstance(value, Decimal | int | float) and not isinstance(value, bool):
        return Decimal(str(value)).normalize()
    if isinstance(value, Mapping):
        return {name: _comparable_value(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_comparable_value(each) for each in value]
    return value
