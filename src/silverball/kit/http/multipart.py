"""Forms with a file (`multipart/form-data`), for the routes that take one."""

import io

from msgspec import Struct
from python_multipart import parse_form
from python_multipart.exceptions import FormParserError, MultipartParseError
from python_multipart.multipart import Field, File

from silverball.kit.errors import Invalid

MULTIPART = b"multipart/form-data"
# Our forms have fewer.
PARTS_MAX = 1_200


class FormPart(Struct, frozen=True):
    """A field of a form, or a file under its field's name."""

    name: str
    content: bytes
    is_file: bool = False

    @property
    def text(self) -> str:
        """The field's text."""
        return self.content.decode("utf-8", "replace")


def is_multipart(content_type: bytes) -> bool:
    """Whether a body of this type is such a form."""
    return content_type.partition(b";")[0].strip().lower() == MULTIPART


def read_form(content: bytes, content_type: bytes) -> list[FormPart]:
    """The fields and files in the order they were sent. Raises Invalid for a broken form."""
    parts: list[FormPart] = []

    def take_field(field: Field) -> None:
        parts.append(FormPart(_name(field.field_name), field.value or b""))

    def take_file(file: File) -> None:
        file.file_object.seek(0)
        parts.append(FormPart(_name(file.field_name), file.file_object.read(), is_file=True))
        file.close()

    headers = {"Content-Type": content_type, "Content-Length": b"%d" % len(content)}
    try:
        parse_form(headers, io.BytesIO(content), take_field, take_file)
    except (FormParserError, MultipartParseError, ValueError) as error:
        raise Invalid({"body": ["The form cannot be read: it is cut off or has no boundary."]}) from error
    if len(parts) > PARTS_MAX:
        raise Invalid({"body": [f"The form has more than {PARTS_MAX} fields."]})
    return parts


def _name(field_name: bytes | None) -> str:
    return (field_name or b"").decode("utf-8", "replace")
