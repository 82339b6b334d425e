"""Tables in a terminal."""

from collections.abc import Sequence

import click


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of equal length as aligned columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        click.echo("  ".join([*cells, row[-1]]))
