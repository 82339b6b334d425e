"""Python source of types, and of the objects in bodies, from the Structs of `silverball`."""

import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct, UnsetType

from silverball.kit.http.body import Body
from silverball_wire.base import Wire

LINE_LENGTH = 110
PLAIN_NAMES: dict[Any, str] = {
    int: "int",
    str: "str",
    bool: "bool",
    float: "float",
    bytes: "bytes",
    NoneType: "None",
    Any: "Any",
    UnsetType: "UnsetType",
}
# A Literal of more words than this is imported by its name.
WORDS_INLINE_MAX = 3


class Bodies:
    """The objects inside the bodies that the client sends, found from the types of their fields."""

    def __init__(self) -> None:
        self.structs: dict[type[Struct], None] = {}

    def add(self, kind: Any) -> None:
        """Add the Structs in this type of a field that are no published shapes."""
        for struct in structs_in(kind):
            if struct not in self.structs and not is_shape(struct):
                self.structs[struct] = None
                for hint in get_type_hints(struct).values():
                    self.add(hint)

    def module(self) -> str:
        """Return the source of `bodies.py`."""
        lines = ['"""Objects inside the bodies of requests."""', ""]
        lines += ["from collections.abc import Mapping, Sequence", "from datetime import date, datetime"]
        lines += ["from decimal import Decimal", "from typing import Any, Literal", ""]
        lines += ["from msgspec import UNSET, Struct, UnsetType", ""]
        hints = [hint for struct in self.structs for hint in get_type_hints(struct).values()]
        lines += sorted({line for hint in hints for line in shape_imports(hint)})
        return "\n".join([*lines, *(line for struct in self._in_order() for line in _class(struct))]) + "\n"

    def _in_order(self) -> list[type[Struct]]:
        """Return the Structs by name, those inside of others first."""
        ordered: dict[type[Struct], None] = {}

        def place(struct: type[Struct]) -> None:
            for hint in get_type_hints(struct).values():
                for inner in structs_in(hint):
                    if inner in self.structs:
                        place(inner)
            ordered[struct] = None

        for struct in sorted(self.structs, key=lambda each: each.__name__):
            place(struct)
        return list(ordered)


def _class(struct: type[Struct]) -> list[str]:
    lines = ["", "", f'class {struct.__name__}(Struct, rename="camel", frozen=True, kw_only=True):']
    # Readers of the client do not have the source that the sentence may name.
    sentence = re.sub(r"\s*Source: .*$", "", (struct.__doc__ or struct.__name__).strip().splitlines()[0])
    lines += [f'    """{sentence}"""', ""]
    hints, plain_hints = get_type_hints(struct, include_extras=True), get_type_hints(struct)
    for field in msgspec.structs.fields(struct):
        lines += comment_lines(description_of(hints[field.name]), 4)
        lines.append(f"    {field.name}: {argument_type(plain_hints[field.name], field.required)}")
    return lines


def answer_type(kind: Any) -> str:
    """Return the source of a type in an answer."""
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return " | ".join(dict.fromkeys(answer_type(part) for part in get_args(kind)))
    if origin in (tuple, dict):
        parts = ("..." if part is ... else answer_type(part) for part in get_args(kind))
        return f"{origin.__name__}[{', '.join(parts) or '()'}]"
    return _plain_name(kind)


def input_type(kind: Any) -> str:
    """Return the source of a type in a body or a query, as liberal as the service is."""
    origin = get_origin(kind)
    if origin is Literal:
        alias = _alias_of(kind)
        return alias[1] if alias else f"Literal[{', '.join(map(repr, get_args(kind)))}]"
    if origin in (Union, UnionType):
        return " | ".join(dict.fromkeys(input_type(part) for part in get_args(kind)))
    if origin is tuple:
        return f"Sequence[{input_type(get_args(kind)[0])}]"
    if origin is dict:
        return f"Mapping[{', '.join(input_type(part) for part in get_args(kind))}]"
    if kind is Decimal:
        return "Decimal | float"
    if kind in (datetime, date):
        return f"{kind.__name__} | str"
    return _plain_name(kind)


def argument_type(kind: Any, is_required: bool) -> str:
    """Return the source of a body's field with its default: without a value it is not sent."""
    text = input_type(kind)
    if is_required:
        return text
    return f"{text if 'UnsetType' in text else text + ' | UnsetType'} = UNSET"


def is_shape(struct: type[Struct]) -> bool:
    """Whether this is a published shape, which the client imports instead of having its own."""
    return struct.__module__.startswith("silverball_wire.")


def shape_imports(kind: Any) -> Iterator[str]:
    """Return the lines that import the published shapes and sets of words in this type."""
    for struct in structs_in(kind):
        if is_shape(struct):
            yield f"from {struct.__module__} import {struct.__name__}"
    for literal in _parts_with_origin(kind, Literal):
        alias = _alias_of(literal)
        if alias is not None:
            yield f"from {alias[0]} import {alias[1]}"


def description_of(hint: Any) -> str:
    """Return the sentence about a field, from its `Meta`."""
    for part in getattr(hint, "__metadata__", ()):
        if isinstance(part, msgspec.Meta) and part.description:
            return part.description
    for part in get_args(hint) if get_origin(hint) in (Union, UnionType) else ():
        if description_of(part):
            return description_of(part)
    return ""


def comment_lines(text: str, indent: int) -> list[str]:
    """Return the sentence as comments of at most LINE_LENGTH."""
    prefix = " " * indent + "# "
    return textwrap.wrap(text, LINE_LENGTH, initial_indent=prefix, subsequent_indent=prefix) if text else []


def structs_in(kind: Any) -> list[type[Struct]]:
    """Return the Structs named in this type, without those inside of them."""
    return list(dict.fromkeys(_structs_in(kind)))


def _structs_in(kind: Any) -> Iterator[type[Struct]]:
    if isinstance(kind, type) and issubclass(kind, Struct) and not get_args(kind):
        if kind not in (Wire, Body, Struct):
            yield kind
        return
    for part in get_args(kind):
        yield from _structs_in(part)


def _parts_with_origin(kind: Any, origin: Any) -> Iterator[Any]:
    if get_origin(kind) is origin:
        yield kind
        return
    for part in get_args(kind):
        yield from _parts_with_origin(part, origin)


def _plain_name(kind: Any) -> str:
    if kind in PLAIN_NAMES:
        return PLAIN_NAMES[kind]
    if isinstance(kind, type) and issubclass(kind, Struct):
        return kind.__name__
    raise TypeError(f"the generator has no source for {kind}")


def _alias_of(kind: Any) -> tuple[str, str] | None:
    """Return the module and the name of a larger set of words among the published shapes."""
    if len(get_args(kind)) <= WORDS_INLINE_MAX:
        return None
    for module in sorted(name for name in sys.modules if name.startswith("silverball_wire.")):
        for name, value in vars(sys.modules[module]).items():
            # Not where it is imported from elsewhere.
            if value == kind and f"\n{name} = Literal[" in inspect.getsource(sys.modules[module]):
                return module, name
    return None
