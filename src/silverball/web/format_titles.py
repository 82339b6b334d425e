"""Titles of formats, as pages show them."""

from silverball.kit.http.query import humanize_name
from silverball.rules.registry import FORMATS


def format_titles() -> dict[str, str]:
    """Wire name -> title, of all formats."""
    return {type_: format_.title for type_, format_ in FORMATS.items()}


def format_title(type_: str) -> str:
    """The format's title; its wire name as words when no format has it."""
    return FORMATS[type_].title if type_ in FORMATS else humanize_name(type_).capitalize()
