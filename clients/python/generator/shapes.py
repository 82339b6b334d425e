"""Python source of the Structs of answers and of the objects in bodies, from those of `silverball`."""

import inspect
import re
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from decimal import Decimal
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT, UNSET, Struct, UnsetType

from silverball.kit.http.body import Body
from silverball_wire.base import Wire

LINE_LENGTH = 110
PLAIN_NAMES: dict[Any, str] = {
    int: "int",
    str: "str",
    bool: "bool",
    float: "float",
    NoneType: "None",
    Any: "Any",
    UnsetType: "UnsetType",
}
# A Literal of more words than this has a name of its own in `words.py`.
WORDS_INLINE_MAX = 3


class Structs:
    """The Structs that the client needs, found from the types of answers and bodies."""

    def __init__(self) -> None:
        self.answers: dict[type[Struct], None] = {}
        self.bodies: dict[type[Struct], None] = {}
        self.words: dict[str, Any] = {}

    def add_answer(self, kind: Any) -> None:
        """Add the Structs in this type of an answer."""
        for struct in _structs_in(kind):
            if struct not in self.answers:
                for base in _struct_bases(struct):
                    self.add_answer(base)
                self.answers[struct] = None
                for hint in get_type_hints(struct).values():
                    self.add_answer(hint)

    def add_body(self, kind: Any) -> None:
        """Add the Structs in this type of a field of a body."""
        for struct in _structs_in(kind):
            if struct not in self.bodies:
                self.bodies[struct] = None
                for hint in get_type_hints(struct).values():
                    self.add_body(hint)

    def answer_type(self, kind: Any) -> str:
        """Return the source of a type in an answer.

        Words are plain text there: a newer service may know more of them.
        """
        origin = get_origin(kind)
        if origin is Literal:
            return type(get_args(kind)[0]).__name__
        if origin in (Union, UnionType):
            return " | ".join(dict.fromkeys(self.answer_type(part) for part in get_args(kind)))
        if origin is tuple:
            return f"tuple[{', '.join(self._tuple_parts(get_args(kind)))}]"
        if kind == tuple[()]:
            return "tuple[()]"
        if origin is dict:
            return f"dict[{', '.join(self.answer_type(part) for part in get_args(kind))}]"
        return _plain_name(kind)

    def _tuple_parts(self, parts: tuple[Any, ...]) -> Iterator[str]:
        if not parts:
            yield "()"
        for part in parts:
            yield "..." if part is ... else self.answer_type(part)

    def input_type(self, kind: Any) -> str:
        """Return the source of a type in a body or a query, as liberal as the service is."""
        origin = get_origin(kind)
        if origin is Literal:
            return self._literal(kind)
        if origin in (Union, UnionType):
            return " | ".join(dict.fromkeys(self.input_type(part) for part in get_args(kind)))
        if origin is tuple:
            return f"Sequence[{self.input_type(get_args(kind)[0])}]"
        if origin is dict:
            return f"Mapping[{', '.join(self.input_type(part) for part in get_args(kind))}]"
        if kind is Decimal:
            return "Decimal | float"
        if kind in (datetime, date):
            return f"{kind.__name__} | str"
        return _plain_name(kind)

    def _literal(self, kind: Any) -> str:
        values = get_args(kind)
        if len(values) > WORDS_INLINE_MAX:
            name = _alias_of(kind)
            if name is not None:
                self.words[name] = kind
                return name
        return f"Literal[{', '.join(map(repr, values))}]"

    def answer_modules(self) -> dict[str, str]:
        """Return the source of `shapes/`: file -> text."""
        by_module: defaultdict[str, list[type[Struct]]] = defaultdict(list)
        for struct in self.answers:
            by_module[shape_module(struct)].append(struct)
        return {
            f"shapes/{module}.py": self._answer_module(module, structs)
            for module, structs in by_module.items()
        }

    def _answer_module(self, module: str, structs: list[type[Struct]]) -> str:
        purpose = (sys.modules[structs[0].__module__].__doc__ or "Answers.").strip().splitlines()[0]
        lines = [f'"""{_without_source(purpose)}"""', "", "from typing import Any", ""]
        lines += ["from msgspec import UNSET, UnsetType, field", ""]
        lines += ["from silverball_client.shapes.base import Shape", *self._imports(module, structs)]
        # Within a module the order of the definitions is kept: bases come first.
        lines += [line for struct in _in_source_order(structs) for line in self._answer_class(struct)]
        return "\n".join(lines) + "\n"

    def _imports(self, module: str, structs: Iterable[type[Struct]]) -> list[str]:
        used = {
            other
            for struct in structs
            for hint in [*get_type_hints(struct).values(), *_struct_bases(struct)]
            for other in _structs_in(hint)
        }
        return sorted(shape_import(other) for other in used if shape_module(other) != module)

    def _answer_class(self, struct: type[Struct]) -> list[str]:
        bases = [base.__name__ for base in _struct_bases(struct)] or ["Shape"]
        lines = ["", "", f"class {struct.__name__}({', '.join(bases)}, frozen=True, kw_only=True):"]
        lines.append(f'    """{_docstring(struct)}"""')
        own = inspect.get_annotations(struct)
        hints = get_type_hints(struct, include_extras=True)
        plain_hints = get_type_hints(struct)
        fields = [field for field in msgspec.structs.fields(struct) if field.name in own]
        if fields:
            lines.append("")
        for field in fields:
            lines += comment_lines(description_of(hints[field.name]), 4)
            default = _default(field)
            lines.append(f"    {field.name}: {self.answer_type(plain_hints[field.name])}{default}")
        return lines

    def body_module(self) -> str:
        """Return the source of `bodies.py`."""
        lines = ['"""Objects inside the bodies of requests."""', ""]
        lines += ["from collections.abc import Mapping, Sequence", "from datetime import date, datetime"]
        lines += ["from decimal import Decimal", "from typing import Any, Literal", ""]
        lines += ["from msgspec import UNSET, Struct, UnsetType", ""]
        classes = [line for struct in self._bodies_in_order() for line in self._body_class(struct)]
        lines += [word_imports(self.words)] if self.words else []
        return "\n".join([*lines, *classes]) + "\n"

    def _bodies_in_order(self) -> list[type[Struct]]:
        """Return the Structs of bodies by name, those inside of others first."""
        ordered: dict[type[Struct], None] = {}

        def place(struct: type[Struct]) -> None:
            for hint in get_type_hints(struct).values():
                for inner in _structs_in(hint):
                    place(inner)
            ordered[struct] = None

        for struct in sorted(self.bodies, key=lambda each: each.__name__):
            place(struct)
        return list(ordered)

    def _body_class(self, struct: type[Struct]) -> list[str]:
        lines = ["", "", f'class {struct.__name__}(Struct, rename="camel", frozen=True, kw_only=True):']
        lines += [f'    """{_docstring(struct)}"""', ""]
        hints, plain_hints = get_type_hints(struct, include_extras=True), get_type_hints(struct)
        for field in msgspec.structs.fields(struct):
            lines += comment_lines(description_of(hints[field.name]), 4)
            lines.append(f"    {field.name}: {self.argument_type(plain_hints[field.name], field.required)}")
        return lines

    def argument_type(self, kind: Any, is_required: bool) -> str:
        """Return the source of a body's field with its default: without a value it is not sent."""
        text = self.input_type(kind)
        if is_required:
            return text
        return f"{text if 'UnsetType' in text else text + ' | UnsetType'} = UNSET"

    def word_module(self) -> str:
        """Return the source of `words.py`."""
        lines = ['"""Sets of words that arguments may be."""', "", "from typing import Literal", ""]
        lines += [
            f"{name} = Literal[{', '.join(map(repr, get_args(kind)))}]"
            for name, kind in sorted(self.words.items())
        ]
        return "\n".join(lines) + "\n"


def shape_module(struct: type[Struct]) -> str:
    """Return the module below `shapes` of a Struct of answers."""
    return struct.__module__.rsplit(".", 1)[-1]


def shape_import(struct: type[Struct]) -> str:
    """Return the line that imports a Struct of answers."""
    return f"from silverball_client.shapes.{shape_module(struct)} import {struct.__name__}"


def word_imports(names: Iterable[str]) -> str:
    """Return the line that imports these words."""
    return f"from silverball_client.words import {', '.join(sorted(names))}"


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


def _struct_bases(struct: type[Struct]) -> list[type[Struct]]:
    return [base for base in struct.__bases__ if issubclass(base, Struct) and base not in (Wire, Struct)]


def _plain_name(kind: Any) -> str:
    if kind in PLAIN_NAMES:
        return PLAIN_NAMES[kind]
    if isinstance(kind, type) and issubclass(kind, Struct):
        return kind.__name__
    raise TypeError(f"the generator has no source for {kind}")


def _alias_of(kind: Any) -> str | None:
    """Return the name under which the service knows this set of words."""
    modules = sorted(name for name in sys.modules if name.startswith("silverball."))
    for module in sorted(modules, key=lambda name: not name.startswith("silverball_wire")):
        for name, value in vars(sys.modules[module]).items():
            if get_origin(value) is Literal and value == kind and name[0].isupper():
                return name
    return None


def _default(field: msgspec.structs.FieldInfo) -> str:
    words = field.name.split("_")
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    renamed = f"name={field.encode_name!r}" if field.encode_name != camel else ""
    if field.default is NODEFAULT and field.default_factory is NODEFAULT:
        return f" = field({renamed})" if renamed else ""
    factory: Any = field.default_factory
    value = field.default if field.default is not NODEFAULT else factory()
    text = "UNSET" if value is UNSET else repr(value)
    return f" = field(default={text}, {renamed})" if renamed else f" = {text}"


def _in_source_order(structs: list[type[Struct]]) -> list[type[Struct]]:
    """Return the Structs in the order in which their module defines them."""
    order = list(vars(sys.modules[structs[0].__module__]))
    return sorted(structs, key=lambda struct: order.index(struct.__name__))


def _docstring(struct: type[Struct]) -> str:
    return _without_source((struct.__doc__ or struct.__name__).strip().splitlines()[0])


def _without_source(text: str) -> str:
    """Return the sentence without its source, which readers of the client do not have."""
    return re.sub(r"\s*Source: .*$", "", text)
