"""Submitted forms: fields by name, some of them repeated, and the form that a page shows again."""

import base64
import binascii
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlencode

from msgspec import Struct, field

# Fields that belong to the form itself and not to what was entered.
CSRF, KEY, FORM, PAGE, THEN = "csrf", "key", "form", "page", "then"
# Neither stored, not even in a digest, nor carried along.
PASSWORD = "password"  # noqa: S105  # the name of a field
PACKED_BYTES_MAX = 40 * 1024


class FormData(Struct, frozen=True):
    """The fields of a form in the order they were sent."""

    pairs: tuple[tuple[str, str], ...] = ()

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


class FormState(Struct, frozen=True):
    """A form to show again: its id on the page, what was entered, and the fault found in it."""

    form_id: str = ""
    submitted: FormData = field(default_factory=FormData)
    fault: str = ""
    # Sending it again is a new request: the old key was used for another one.
    needs_new_key: bool = False
    standing: StandingResult | None = None

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
