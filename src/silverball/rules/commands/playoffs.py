"""The players of a playoff, by the standings of its qualifier. Source: formats, sections 4 and 13.3."""

from collections.abc import Collection, Sequence
from random import Random

from silverball.rules.ranking.standing import Standing


def eligible_rows(standings: Sequence[Standing], active_ids: Collection[int]) -> list[Standing]:
    """The rows of the players who are still active, in the same order."""
    there = set(active_ids)
    return [row for row in standings if row.player_id in there]


def players_tied_across(rows: Sequence[Standing], line: int) -> list[int]:
    """Ids of the players who share a place across the line, some before it and some behind.

    Takes rows by position and the number of rows before the line.
    """
    if not 0 < line < len(rows) or rows[line - 1].position != rows[line].position:
        return []
    return [row.player_id for row in rows if row.position == rows[line].position]


def seed_players(rows: Sequence[Standing], dice: Random) -> list[int]:
    """Ids of these players, best seed first: by position, ties drawn."""
    drawn = dice.sample(list(rows), len(rows))
    return [row.player_id for row in sorted(drawn, key=lambda row: row.position)]
