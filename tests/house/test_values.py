"""Values: Structs are copied by `kit/values.py`, and what stays a dataclass has a reason (decision 0026)."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

import silverball
from silverball.kit.security.encryption import EncryptionKey
from silverball.kit.values import WithSecret

SOURCE = Path(silverball.__file__).parent
# The settings have a text beside each field.
DATACLASSES = {"settings.py: Settings"}
# They copy the settings. mypy does not tell a Struct from a dataclass.
FOR_DATACLASSES = {
    "app.py",
    "cli/demo.py",
    "cli/server.py",
    "kit/values.py",
    "settings.py",
}
FUNCTIONS = {"replace", "asdict", "astuple", "fields"}


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Path below the package -> its code. Released migrations are never changed."""
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith("store/migrations/"):
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def uses_functions_of_dataclasses(code: ast.AST) -> bool:
    """Whether it imports or calls what works on dataclasses only."""
    names: set[str] = set()
    for node in ast.walk(code):
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses":
            names |= {name.name for name in node.names}
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "dataclasses":
            names.add(node.attr)
    return bool(FUNCTIONS & names)


def dataclasses_of(code: ast.AST) -> Iterator[ast.ClassDef]:
    for node in ast.walk(code):
        if isinstance(node, ast.ClassDef) and any(
            ast.unparse(decorator).startswith("dataclass") for decorator in node.decorator_list
        ):
            yield node


def structs(code: ast.AST) -> Iterator[ast.ClassDef]:
    """Classes without a decorator: no dataclass."""
    for node in ast.walk(code):
        if isinstance(node, ast.ClassDef) and not node.decorator_list:
            yield node


def called_names(kind: ast.ClassDef) -> set[str]:
    """What the defaults of its fields call."""
    defaults = [node.value for node in kind.body if isinstance(node, ast.AnnAssign)]
    return {ast.unparse(value.func) for value in defaults if isinstance(value, ast.Call)}


def test_no_struct_has_a_field_of_a_dataclass() -> None:
    """Its default would be the description of the field."""
    wrong = []
    for name, code in modules():
        imports = [node for node in ast.walk(code) if isinstance(node, ast.ImportFrom)]
        if any(each.module == "dataclasses" and "field" in {a.name for a in each.names} for each in imports):
            wrong += [f"{name}: {kind.name}" for kind in structs(code) if "field" in called_names(kind)]
    assert wrong == []


def loaded_structs() -> Iterator[type[Struct]]:
    for name, _ in modules():
        path = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for value in vars(importlib.import_module(f"silverball.{path}")).values():
            if isinstance(value, type) and issubclass(value, Struct):
                yield value


def test_no_default_is_read_from_a_class() -> None:
    """A dataclass has it as an attribute; a Struct has the place of the value there."""
    fields: dict[str, set[str]] = {}
    for kind in loaded_structs():
        fields.setdefault(kind.__name__, set()).update(kind.__struct_fields__)
    read = [
        f"{name}: {ast.unparse(node)}"
        for name, code in modules()
        for node in ast.walk(code)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.attr in fields.get(node.value.id, ())
    ]
    assert read == []


def test_only_values_with_a_reason_are_copied_as_a_dataclass() -> None:
    assert {name for name, code in modules() if uses_functions_of_dataclasses(code)} == FOR_DATACLASSES


def test_only_classes_with_a_reason_are_dataclasses() -> None:
    found = {f"{name}: {kind.name}" for name, code in modules() for kind in dataclasses_of(code)}
    assert found == DATACLASSES


def test_a_value_with_a_secret_shows_none_of_it() -> None:
    key = EncryptionKey("c2VjcmV0")
    kinds = {kind for kind in loaded_structs() if issubclass(kind, WithSecret) and kind is not WithSecret}
    assert {"Credentials", "SecretLink", "WebhookToSend"} <= {kind.__name__ for kind in kinds}
    for kind in kinds:
        values = dict.fromkeys(kind.__struct_fields__, "c2VjcmV0")
        assert repr(kind(**values)) == f"{kind.__name__}(...)"
    assert f"{key}{[key]}" == "EncryptionKey(...)[EncryptionKey(...)]"
