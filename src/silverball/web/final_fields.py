"""The fields of forms that say who goes on to a final, and into which format."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from silverball.rules.format import CountedIn
from silverball.rules.registry import FORMATS
from silverball.web.forms import FormData, parse_number, text_fields

# The format that is chosen first for a final: groups whose best go on.
USUAL = next(
    type_ for type_, form in FORMATS.items() if form.group_stages and form.counted_in is CountedIn.POINTS
)
HOW_MANY = (("players", "So many"), ("half", "The upper half"), ("within", "All within so many points"))


def new_final(form: FormData) -> Mapping[str, Any]:
    """A step to a final; the number belongs to the way that was chosen."""
    return {**text_fields(form, "name", "type"), **fields_of_way(form.value("how"), form.value("number"))}


def fields_of_way(how: str, number: str) -> Mapping[str, Any]:
    if how == "half":
        return {"half": True}
    return {how: _decimal(number.strip())} if how == "within" else {"players": parse_number(number.strip())}


def _decimal(text: str) -> Decimal | str:
    try:
        return Decimal(text.replace(",", "."))
    except InvalidOperation:
        return text
