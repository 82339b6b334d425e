"""What was sent with a form: fields by name, some of them several times."""

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

# Fields of the frame: they say which form it was, not what was entered.
CSRF, KEY, FORM, PAGE, THEN = "csrf", "key", "form", "page", "then"
PACKED_BYTES_MAX = 40 * 1024


@dataclass(frozen=True)
class FormData:
    """The fields in the order they were sent."""

    pairs: tuple[tuple[str, str], ...] = ()

    def value(self, name: str) -> str:
        """A field's text, trimmed at neither end; the last one when it was sent several times."""
        return next((value for sent, value in reversed(self.pairs) if sent == name), "")

    def values(self, name: str) -> tuple[str, ...]:
        """Every text that was sent under this name, without empty ones."""
        return tuple(value for sent, value in self.pairs if sent == name and value.strip())

    def with_prefix(self, prefix: str) -> dict[str, str]:
        """`place-12=1` as {"12": "1"} for the prefix `place-`: fields that belong to one thing each."""
        found = ((name, value.strip()) for name, value in self.pairs if name.startswith(prefix))
        return {name.removeprefix(prefix): value for name, value in found if value}

    def has(self, name: str) -> bool:
        return any(sent == name for sent, _ in self.pairs)

    def content_bytes(self) -> bytes:
        """What was entered, as one text: two requests with the same are the same request."""
        return urlencode([pair for pair in self.pairs if pair[0] not in (CSRF, KEY)]).encode()

    def pack(self) -> str:
        """The whole form as one field of another form; empty when it is too large to be carried along."""
        text = urlencode([pair for pair in self.pairs if pair[0] != CSRF]).encode()
        return base64.urlsafe_b64encode(text).decode() if len(text) <= PACKED_BYTES_MAX else ""


def unpack(text: str, fields_max: int) -> FormData:
    """The form that `folded` made one field of; an empty one when the text is something else."""
    try:
        sent = base64.urlsafe_b64decode(text.encode("ascii")).decode()
        return FormData(tuple(parse_qsl(sent, keep_blank_values=True, max_num_fields=fields_max)))
    except (ValueError, UnicodeError, binascii.Error):
        return FormData()


@dataclass(frozen=True)
class FormState:
    """A form that comes back: which one, what was typed, and what was wrong with it."""

    form_id: str = ""
    submitted: FormData = field(default_factory=FormData)
    fault: str = ""
    # A new request altogether: the old key has been used for something else.
    needs_new_key: bool = False

    def is_for(self, form: str) -> bool:
        return bool(form) and form == self.form_id

    def value(self, form: str, name: str, default: object = "") -> object:
        """What was typed there, or what stands there otherwise."""
        return self.submitted.value(name) if self.is_for(form) and self.submitted.has(name) else default

    def has(self, form: str, name: str, value: object, *, default: bool = False) -> bool:
        """Whether a box was ticked or an option chosen."""
        return str(value) in self.submitted.values(name) if self.is_for(form) else default

    def values(self, form: str, name: str) -> tuple[str, ...]:
        """Every text that was sent under this name."""
        return self.submitted.values(name) if self.is_for(form) else ()

    def key(self, form: str) -> str:
        """The key that the form was sent with: sent again, it is the same request."""
        return self.submitted.value(KEY) if self.is_for(form) and not self.needs_new_key else ""


def nonempty_lines(text: str) -> Iterable[str]:
    """The lines of a text that hold anything, trimmed."""
    return (line.strip() for line in text.splitlines() if line.strip())
