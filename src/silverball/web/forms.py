"""Submitted forms: fields by name, some of them repeated, and the form that a page shows again."""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import parse_qsl, urlencode

from msgspec import Struct, field

from silverball.kit.errors import Invalid
from silverball.kit.http.query import humanize_name
from silverball.rules.registry import FORMATS

# Fields that belong to the form itself and not to what was entered.
CSRF, KEY, FORM, PAGE, THEN = "csrf", "key", "form", "page", "then"
# Neither stored, not even in a digest, nor carried along.
PASSWORD = "password"  # noqa: S105  # the name of a field
PACKED_BYTES_MAX = 40 * 1024


class FormData(Struct, frozen=True):
    """The fields of a form in the order they were sent."""

    pairs: tuple[tuple[str, str], ...] = ()
    # Of the file that was chosen, if the form has a field for one.
    file: bytes = b""

    def value(self, name: str) -> str:
        """A field's text, untrimmed; the last one when it was sent several times, "" when never."""
        return next((value for field_name, value in reversed(self.pairs) if field_name == name), "")

    def values(self, name: str) -> tuple[str, ...]:
        """All texts sent under this name, without empty ones."""
        return tuple(value for field_name, value in self.pairs if field_name == name and value.strip())

    def with_prefix(self, prefix: str) -> dict[str, str]:
        """`place-12=1` as {"12": "1"} for the prefix `place-`, without empty fields."""
        fields = ((name, value.strip()) for name, value in self.pairs if name.startswith(prefix))
        return {name.removeprefix(prefix): value for name, value in fields if value}

    def has(self, name: str) -> bool:
        return any(field_name == name for field_name, _ in self.pairs)

    def content_bytes(self) -> bytes:
        """The entered fields as bytes: equal bytes are the same request sent again."""
        return urlencode([pair for pair in self.pairs if pair[0] not in (CSRF, KEY, PASSWORD)]).encode()

    def pack(self) -> str:
        """The whole form as the value of one field; empty when it is too large to carry along."""
        text = urlencode([pair for pair in self.pairs if pair[0] not in (CSRF, PASSWORD)]).encode()
        return base64.urlsafe_b64encode(text).decode() if len(text) <= PACKED_BYTES_MAX else ""


def unpack(text: str, fields_max: int) -> FormData:
    """The form that `pack` made one field of; an empty form when the text is anything else."""
    try:
        encoded = base64.urlsafe_b64decode(text.encode("ascii")).decode()
        return FormData(tuple(parse_qsl(encoded, keep_blank_values=True, max_num_fields=fields_max)))
    except (ValueError, UnicodeError, binascii.Error):
        return FormData()


class StandingResult(Struct, frozen=True):
    """The result that stands in place of a refused one."""

    text: str
    # The fields with which what was entered replaces it, as JSON; empty when nothing can.
    renewal: str = ""
    # The button that does so.
    choice: str = "Save this instead"


class Way(Struct, frozen=True):
    """A button to the page of the console where what was refused can be done."""

    path: str
    words: str
    # Sending the same again could only be refused again.
    is_instead: bool = False


class FormState(Struct, frozen=True):
    """A form to show again: its id on the page, what was entered, and the fault found in it."""

    form_id: str = ""
    submitted: FormData = field(default_factory=FormData)
    fault: str = ""
    # Sending it again is a new request: the old key was used for another one.
    needs_new_key: bool = False
    standing: StandingResult | None = None
    way: Way | None = None

    def is_for(self, form_id: str) -> bool:
        return bool(form_id) and form_id == self.form_id

    def value(self, form_id: str, name: str, default: object = "") -> object:
        """The entered text of a field, or the default when another form was sent."""
        is_entered = self.is_for(form_id) and self.submitted.has(name)
        return self.submitted.value(name) if is_entered else default

    def has(self, form_id: str, name: str, value: object, *, default: bool = False) -> bool:
        """Whether a box was ticked or an option chosen."""
        return str(value) in self.submitted.values(name) if self.is_for(form_id) else default

    def values(self, form_id: str, name: str) -> tuple[str, ...]:
        """All texts entered under this name."""
        return self.submitted.values(name) if self.is_for(form_id) else ()

    def key(self, form_id: str) -> str:
        """The idempotency key of the submitted form; empty when the next one needs its own."""
        return self.submitted.value(KEY) if self.is_for(form_id) and not self.needs_new_key else ""


def nonempty_lines(text: str) -> Iterable[str]:
    """The lines of a text, trimmed, without empty ones."""
    return (line.strip() for line in text.splitlines() if line.strip())


# Values from the fields of a form, in the shapes of the interface's bodies.
#
# Empty fields are left out. Text that is not a number stays text, so that the interface refuses it by field
# name.


# The prefix of a hidden field with the value that a field had when the form was shown.
INITIAL_PREFIX = "was-"
DIGITS_MAX = 25
# Groups of three digits with the same mark between them, or of two before the last three, as in India.
GROUPED = re.compile(
    r"[1-9][0-9]{0,2}([,.'\u2019 \u00a0\u2009\u202f])[0-9]{3}(?:\1[0-9]{3})*"
    r"|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}"
)


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
    """The whole number, with or without groups of digits; other text as it is."""
    bare = text.strip()
    sign, digits = (-1, bare[1:]) if bare.startswith("-") else (1, bare)
    number = read_digits(digits)
    return text if number is None else sign * number


def read_digits(text: str) -> int | None:
    """The number in plain digits or in groups as people write them; None for all other text."""
    digits = re.sub(r"[^0-9]", "", text) if GROUPED.fullmatch(text) else text
    is_whole = digits.isascii() and digits.isdigit() and len(digits) <= DIGITS_MAX
    return int(digits) if is_whole else None


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


def format_titles() -> dict[str, str]:
    """Wire name -> title, of all formats."""
    return {type_: format_.title for type_, format_ in FORMATS.items()}


def format_title(type_: str) -> str:
    """The format's title; its wire name as words when no format has it."""
    return FORMATS[type_].title if type_ in FORMATS else humanize_name(type_).capitalize()
