"""Values from the fields of a form, in the shapes of the interface's bodies.

Empty fields are left out. Text that is not a number stays text, so that the interface refuses it by
field name.
"""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from silverball.kit.errors import Invalid
from silverball.web.forms import FormData

# The prefix of a hidden field with the value that a field had when the form was shown.
INITIAL_PREFIX = "was-"
DIGITS_MAX = 25


def text_fields(form: FormData, *names: str) -> dict[str, str]:
    """The named fields that are not empty, as trimmed text."""
    return {name: form.value(name).strip() for name in names if form.value(name).strip()}


def number_fields(form: FormData, *names: str) -> dict[str, int | str]:
    """The named fields that are not empty, as numbers."""
    return {name: parse_number(text) for name, text in text_fields(form, *names).items()}


def texts(*names: str) -> Callable[[FormData], Mapping[str, Any]]:
    """A builder of bodies that hold these fields as text."""
    return lambda form: text_fields(form, *names)


def numbers(*names: str) -> Callable[[FormData], Mapping[str, Any]]:
    """A builder of bodies that hold these fields as numbers."""
    return lambda form: number_fields(form, *names)


def flags(*names: str) -> Callable[[FormData], Mapping[str, Any]]:
    """A builder of bodies that hold these boxes, ticked or not."""
    return lambda form: {name: bool(form.value(name)) for name in names}


def name_only(form: FormData) -> Mapping[str, Any]:
    """A body with nothing but a name."""
    return text_fields(form, "name")


def parse_numbers(texts: Iterable[str]) -> list[int | str]:
    return [parse_number(text) for text in texts]


def parse_number(text: str) -> int | str:
    """The number, with or without thousands separators; other text as it is."""
    bare = text.strip().translate(dict.fromkeys(map(ord, " .,'\u00a0\u202f")))
    is_whole = bare.isascii() and bare.removeprefix("-").isdigit() and len(bare) <= DIGITS_MAX
    return int(bare) if is_whole else text


def parse_decimal(text: str) -> float | str:
    """The number, with a decimal point or comma; other text as it is."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return text


def is_unchanged(form: FormData, name: str) -> bool:
    """Whether a field has the value that it had when the form was shown."""
    initial = INITIAL_PREFIX + name
    return (
        form.has(initial)
        and form.value(initial).strip().splitlines() == form.value(name).strip().splitlines()
    )


def finishing_order(form: FormData) -> Mapping[str, Any]:
    """A body with a finishing order."""
    return {"resultPositions": ordered_player_ids(form)}


def ordered_player_ids(form: FormData) -> list[int | str]:
    """Player ids, first to last: from a tap on the winner, or from the places chosen."""
    players = form.values("of")
    winner = form.value("first")
    if winner:
        return parse_numbers([winner, *(player for player in players if player != winner)])
    places = {player: place for player, place in form.with_prefix("place-").items() if place.isdigit()}
    if not places:
        raise Invalid({"resultPositions": ["Choose a place for each player."]})
    places = _with_last_place(places, players)
    if len(set(places.values())) < len(places):
        raise Invalid({"resultPositions": ["Two players have the same place. Give each a place of its own."]})
    return parse_numbers(sorted(places, key=lambda player: int(places[player] or 0)))


def _with_last_place(places: Mapping[str, str], players: tuple[str, ...]) -> dict[str, str]:
    """The places, with the only free place for the only player without one."""
    without_place = [player for player in players if player not in places]
    if len(without_place) != 1:
        return dict(places)
    free = {str(place) for place in range(1, len(players) + 1)} - set(places.values())
    return {**places, without_place[0]: free.pop() if len(free) == 1 else ""}


def hundredths(text: str) -> int | str:
    """An amount or a percentage in hundredths; other text as it is, so that the interface refuses it."""
    try:
        amount = Decimal(text.strip().rstrip("%").strip().replace(",", ".")) * 100
    except InvalidOperation:
        return text
    is_whole = amount.is_finite() and amount == amount.to_integral_value() and abs(amount) < 10**15
    return int(amount) if is_whole else text
