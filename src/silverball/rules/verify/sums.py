"""Checks of a completed tournament's summaries, computed again. Source: formats, section 22."""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import permutations
from typing import Any, TypeAlias

from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.verify.checks import FormatChecks, WinsBy

# Table -> key of the row -> counts by column.
SummaryCounts: TypeAlias = dict[str, dict[tuple[int, ...], dict[str, int]]]
TABLES: Mapping[str, tuple[str, ...]] = {
    "arena_summary": ("arena_id",),
    "player_arena_summary": ("arena_id", "player_id"),
    "match_summary": ("arena_id", "player_id", "opponent_id"),
}
COLUMNS = ("games", "single_player_games", "wins", "losses")


def summary_faults(
    tournament: Tournament, checks: FormatChecks, stored: Mapping[str, Sequence[Mapping[str, Any]]]
) -> list[str]:
    """Differences between the stored rows of the three summary tables and the sums computed here."""
    wanted = (
        count_summaries(tournament, checks.wins_by(tournament))
        if tournament.status == "completed"
        else {name: {} for name in TABLES}
    )
    faults = []
    for table, names in TABLES.items():
        rows = {
            tuple(summary[name] for name in names): {
                name: summary[name] for name in COLUMNS if name in summary
            }
            for summary in stored[table]
        }
        for key in sorted({*rows, *wanted[table]}):
            stored_counts, value = rows.get(key), wanted[table].get(key)
            shown = ", ".join(f"{name} {value}" for name, value in zip(names, key, strict=True))
            if stored_counts is None or value is None:
                faults.append(
                    f"The {table} of {shown} is {'missing' if stored_counts is None else 'not expected'}."
                )
            elif any(stored_counts[name] != value.get(name, 0) for name in stored_counts):
                faults.append(
                    f"The {table} of {shown} is stored as {stored_counts}, counted again it is {dict(value)}."
                )
    return faults


def count_summaries(tournament: Tournament, wins_by: WinsBy) -> SummaryCounts:
    """The rows of the three summary tables."""
    sums: dict[str, dict[tuple[int, ...], Counter[str]]] = {name: {} for name in TABLES}

    def add(table: str, key: tuple[int, ...], column: str, count: int = 1) -> None:
        sums[table].setdefault(key, Counter())[column] += count

    for game in tournament.games:
        if game.status == "completed" and not game.is_bye and game.arena_id is not None:
            add("arena_summary", (game.arena_id,), "games")
            for player_id in game.player_ids:
                add("player_arena_summary", (game.arena_id, player_id), "games")
            for player_id, opponent_id in (
                permutations(game.player_ids, 2) if wins_by is not WinsBy.NONE else ()
            ):
                add("match_summary", (game.arena_id, player_id, opponent_id), "games")
                column = _win_or_loss_column(wins_by, game, player_id, opponent_id)
                if column:
                    add("match_summary", (game.arena_id, player_id, opponent_id), column)
                    add("player_arena_summary", (game.arena_id, player_id), column)
    for alone in tournament.single_player_games:
        if alone.status == "completed" and not alone.is_voided and alone.arena_id is not None:
            add("arena_summary", (alone.arena_id,), "single_player_games")
            add("player_arena_summary", (alone.arena_id, alone.player_id), "single_player_games")
    return {name: {key: dict(count) for key, count in table.items()} for name, table in sums.items()}


def _win_or_loss_column(wins_by: WinsBy, game: Game, player_id: int, opponent_id: int) -> str:
    """The column for a player's result against an opponent: "wins", "losses" or "" without a winner."""
    if wins_by is WinsBy.FINISHING_ORDER and set(game.result_positions) == set(game.player_ids):
        is_before = game.result_positions.index(player_id) < game.result_positions.index(opponent_id)
        return "wins" if is_before else "losses"
    earned: dict[int, Decimal | None] = dict(zip(game.player_ids, game.result_points, strict=True))
    own, its = earned[player_id], earned[opponent_id]
    if own is None or its is None or own == its:
        return ""
    return "wins" if own > its else "losses"
