"""Tables in a terminal."""

from collections.abc import Sequence

import click


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of equal length as aligned columns."""
    widths = [max(len(cells[column]) for cells in rows) for column in range(len(rows[0]) - 1)]
    for *cells, last in rows:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
        click.echo("  ".join([*padded, last]))
