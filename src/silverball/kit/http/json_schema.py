"""JSON schemas of Structs, as the OpenAPI and AsyncAPI documents publish them."""

from collections.abc import Iterable
from typing import Any

import msgspec

Schema = dict[str, Any]

SCHEMA_REFERENCE = "#/components/schemas/{name}"


def json_schemas(kinds: Iterable[Any]) -> tuple[tuple[Schema, ...], Schema]:
    """The schemas of these types in order, and the components that they refer to."""
    schemas, components = msgspec.json.schema_components(kinds, ref_template=SCHEMA_REFERENCE)
    _drop_types_of_enums(components)
    return schemas, components


def _drop_types_of_enums(components: Schema) -> None:
    """Describe a text with known values by its enum alone, as msgspec does for Literals."""
    waiting: list[Any] = [components]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            waiting += node.values()
            if node.get("type") == "string" and isinstance(node.get("enum"), list):
                del node["type"]
