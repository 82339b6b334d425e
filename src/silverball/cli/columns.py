"""Lists in a terminal, as tables for people or as JSON for programs."""

from collections.abc import Sequence

import click
import msgspec

# Every command that lists something takes this option.
json_option = click.option("--json", "as_json", is_flag=True, help="Print a list of JSON for programs.")


def print_json(items: object) -> None:
    """Print what was listed as indented JSON, with the names of the interface."""
    click.echo(msgspec.json.format(msgspec.json.encode(items), indent=2).decode())


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of equal length as aligned columns."""
    widths = [max(len(cells[column]) for cells in rows) for column in range(len(rows[0]) - 1)]
    for *cells, last in rows:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
        click.echo("  ".join([*padded, last]))
