"""Checks of a completed tournament's summaries, computed again. Source: formats, section 22."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import permutations
from typing import Any, TypeAlias

from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.verify.checks import FormatChecks, WinsBy

# Key of a row -> its counts, in the order of the table's columns.
RowCounts: TypeAlias = dict[tuple[int, ...], list[int]]
# Table -> its rows.
SummaryCounts: TypeAlias = dict[str, RowCounts]
# Table -> the columns of its key, and those of its counts.
TABLES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "arena_summary": (("arena_id",), ("games", "single_player_games")),
    "player_arena_summary": (
        ("arena_id", "player_id"),
        ("games", "single_player_games", "wins", "losses"),
    ),
    "match_summary": (("arena_id", "player_id", "opponent_id"), ("games", "wins", "losses")),
}


def summary_faults(
    tournament: Tournament, checks: FormatChecks, stored: Mapping[str, Sequence[Sequence[Any]]]
) -> list[str]:
    """Differences between the stored rows of the three summary tables and the sums computed here.

    Takes rows by table: the columns of the key, then those of the counts (`TABLES`).
    """
    wanted: SummaryCounts = (
        count_summaries(tournament, checks.wins_by(tournament)) if tournament.status == "completed" else {}
    )
    faults = []
    for table, (key_names, count_names) in TABLES.items():
        length = len(key_names)
        rows = {tuple(values[:length]): list(values[length:]) for values in stored[table]}
        counted = wanted.get(table, {})
        # Thousands of rows, nearly always equal: the sentences are made for the others only.
        for key in sorted(key for key in {*rows, *counted} if rows.get(key) != counted.get(key)):
            shown = ", ".join(f"{name} {value}" for name, value in zip(key_names, key, strict=True))
            faults.append(
                f"The {table} of {shown} {_difference(count_names, rows.get(key), counted.get(key))}"
            )
    return faults


def _difference(names: Sequence[str], stored: Sequence[int] | None, counted: Sequence[int] | None) -> str:
    if stored is None:
        return "is missing."
    if counted is None:
        return "is not expected."
    is_stored, is_counted = (dict(zip(names, counts, strict=True)) for counts in (stored, counted))
    return f"is stored as {is_stored}, counted again it is {is_counted}."


def count_summaries(tournament: Tournament, wins_by: WinsBy) -> SummaryCounts:
    """The rows of the three summary tables."""
    by_arena: RowCounts = {}
    by_player: RowCounts = {}
    by_opponent: RowCounts = {}
    for game in tournament.games:
        if game.status != "completed" or game.is_bye or game.arena_id is None:
            continue
        by_arena.setdefault((game.arena_id,), [0, 0])[0] += 1
        own_counts = {
            player_id: by_player.setdefault((game.arena_id, player_id), [0, 0, 0, 0])
            for player_id in game.player_ids
        }
        for tally in own_counts.values():
            tally[0] += 1
        if wins_by is WinsBy.NONE:
            continue
        ranks = _ranks(wins_by, game)
        for player_id, opponent_id in permutations(game.player_ids, 2):
            counts = by_opponent.setdefault((game.arena_id, player_id, opponent_id), [0, 0, 0])
            counts[0] += 1
            own, its = ranks[player_id], ranks[opponent_id]
            if own is not None and its is not None and own != its:
                is_loss = own < its
                counts[1 + is_loss] += 1
                own_counts[player_id][2 + is_loss] += 1
    for alone in tournament.single_player_games:
        if alone.status == "completed" and not alone.is_voided and alone.arena_id is not None:
            by_arena.setdefault((alone.arena_id,), [0, 0])[1] += 1
            by_player.setdefault((alone.arena_id, alone.player_id), [0, 0, 0, 0])[1] += 1
    return {"arena_summary": by_arena, "player_arena_summary": by_player, "match_summary": by_opponent}


def _ranks(wins_by: WinsBy, game: Game) -> Mapping[int, int | Decimal | None]:
    """Player id -> a number that is higher for who did better; None and equal numbers are no result."""
    if wins_by is WinsBy.FINISHING_ORDER and set(game.result_positions) == set(game.player_ids):
        return {player_id: -place for place, player_id in enumerate(game.result_positions) if player_id}
    return dict(zip(game.player_ids, game.result_points, strict=True))
