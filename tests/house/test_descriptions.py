"""The published descriptions explain everything they show, and stay small on the wire."""

import gzip
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
import pytest
from jsonschema_rs import Draft202012Validator

from golden.examples import golden_shapes, structs_in
from golden.shapes import FOLDER, SHAPES, sample, sample_names
from silverball import app
from silverball.kit.http.json_schema import json_schemas
from silverball.settings import Settings
from silverball.store.database import migrate
from silverball.store.database.engine import Store
from silverball_wire import resources

WIRE_BYTES_MAX = 100_000
SETTINGS = Settings(base_url="http://127.0.0.1:8000")


@cache
def openapi_bytes() -> bytes:
    store = Store("sqlite://")
    try:
        migrate.migrate(store)
        return app.openapi_document(app.build_api(store, SETTINGS), SETTINGS)
    finally:
        store.close()


def openapi() -> Any:
    return json.loads(openapi_bytes())


def asyncapi() -> Any:
    return json.loads(app.asyncapi_document(SETTINGS))


def described_properties(node: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every property of every schema, with its place."""
    if isinstance(node, list):
        for position, part in enumerate(node):
            yield from described_properties(part, f"{place}[{position}]")
    elif isinstance(node, dict):
        # A property can have the name `properties`; its value has a type then.
        properties = node.get("properties")
        if isinstance(properties, dict) and "type" not in properties:
            for name, schema in properties.items():
                yield f"{place}.{name}", schema
        for key, part in node.items():
            if key not in ("example", "examples", "default", "enum"):
                yield from described_properties(part, f"{place}.{key}")


def operations(document: Any) -> Iterator[tuple[str, Any]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def parameters(document: Any) -> Iterator[tuple[str, Any]]:
    shared = document["components"]["parameters"]
    for place, operation in operations(document):
        for parameter in operation["parameters"]:
            reference = parameter.get("$ref")
            whole = shared[reference.rpartition("/")[2]] if reference else parameter
            yield f"{place} {whole['name']}", whole


def is_sentence(text: Any) -> bool:
    return isinstance(text, str) and len(text.split()) > 1 and text[0] in "`[" + text[0].upper()


@pytest.mark.parametrize("document", [openapi, asyncapi])
def test_every_property_has_a_sentence(document: Any) -> None:
    silent = {
        place
        for place, schema in described_properties(document()["components"])
        if not is_sentence(schema.get("description"))
    }
    assert not silent, "write a sentence below the field, or in silverball_wire/shared_texts.py"


def test_every_parameter_and_header_has_a_sentence() -> None:
    document = openapi()
    silent = [
        place for place, parameter in parameters(document) if not is_sentence(parameter.get("description"))
    ]
    assert silent == []
    headers = document["components"]["headers"].items()
    assert [name for name, header in headers if not is_sentence(header["description"])] == []


def test_every_operation_has_a_title_a_description_and_a_described_tag() -> None:
    document = openapi()
    tags = {tag["name"]: tag["description"] for tag in document["tags"]}
    assert tags.keys() <= resources.TAGS.keys(), "describe the tag in silverball_wire/resources.py"
    for place, operation in operations(document):
        assert operation["summary"], place
        assert operation["description"], place
        assert operation["tags"][0] in tags, place


def test_names_of_operations_and_schemas_are_short_and_unique() -> None:
    document = openapi()
    names = [operation["operationId"] for _, operation in operations(document)]
    assert len(set(names)) == len(names)
    for name in [*names, *document["components"]["schemas"]]:
        assert name.isidentifier(), name
        assert len(name) <= 40, name
        assert not name.startswith("one_"), name


def test_a_type_has_one_spelling() -> None:
    waiting: list[Any] = [openapi()]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            waiting += node.values()
            types = [part.get("type") for part in node.get("anyOf", []) if isinstance(part, dict)]
            assert not {"integer", "number"} <= set(map(str, types)), node
            if node.get("type") == "array" and "properties" not in node:
                assert "items" in node, node


def test_the_document_is_small_on_the_wire() -> None:
    assert len(gzip.compress(openapi_bytes(), 9)) < WIRE_BYTES_MAX


def test_examples_are_valid_for_their_shapes() -> None:
    document = openapi()
    components = document["components"]
    with_examples = {name: shape for name, shape in components["schemas"].items() if "examples" in shape}
    assert {"Tournament", "Game", "Standing", "Arena", "Player", "Round"} <= with_examples.keys()
    for shape in with_examples.values():
        for example in shape["examples"]:
            Draft202012Validator({**shape, "components": components}).validate(example)


@pytest.mark.parametrize("name", sample_names())
def test_every_golden_sample_is_as_described(name: str) -> None:
    (schema,), components = json_schemas([SHAPES[name]])
    ours = msgspec.json.encode(msgspec.json.decode(sample(name), type=SHAPES[name]))
    validator = Draft202012Validator({**schema, "components": {"schemas": components}}, validate_formats=True)
    validator.validate(json.loads(ours))


def test_only_shapes_without_a_golden_sample_have_an_example_of_our_own() -> None:
    own = json.loads((FOLDER / "own_shapes.json").read_text(encoding="utf-8"))
    assert own.keys() <= openapi()["components"]["schemas"].keys()
    observed = {type(struct).__name__ for shape in golden_shapes() for struct in structs_in(shape)}
    assert not own.keys() & observed
