"""The examples of the published descriptions, taken from the golden samples.

Shapes of which nothing was observed have examples in `own_shapes.json`: answers and bodies of the demo.
"""

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from golden.shapes import FOLDER, SHAPES, sample, sample_names
from silverball_wire.events import EVENTS


def examples() -> dict[str, Any]:
    """Return the first example of each shape, in JSON, by the shape's name."""
    own: dict[str, Any] = json.loads((FOLDER / "own_shapes.json").read_text(encoding="utf-8"))
    found: dict[str, Any] = {}
    for shape in golden_shapes():
        for struct in structs_in(shape):
            found.setdefault(type(struct).__name__, msgspec.to_builtins(struct, str_keys=True))
    envelopes = {"Page", "SimplePage", "Data"}
    found = own | {name: example for name, example in found.items() if name not in envelopes}
    return dict(sorted(found.items()))


def events() -> dict[str, Any]:
    """Return one event of each name, as it is sent: the payload as JSON in a string."""
    listed = json.loads((FOLDER / "events.json").read_text(encoding="utf-8"))
    return {name: {**event, "data": json.dumps(event["data"])} for name, event in sorted(listed.items())}


def examples_json() -> str:
    """Return the file that the package carries."""
    return json.dumps({"shapes": examples(), "events": events()}, indent=1, ensure_ascii=False) + "\n"


def golden_shapes() -> Iterator[Any]:
    """Decode every golden sample, and the payload of every event."""
    for name in sample_names():
        yield msgspec.json.decode(sample(name), type=SHAPES[name])
    for name, event in json.loads((FOLDER / "events.json").read_text(encoding="utf-8")).items():
        yield msgspec.convert(event["data"], EVENTS[name], strict=False)


def structs_in(value: Any) -> Iterator[msgspec.Struct]:
    """Find all Structs in a decoded value."""
    if isinstance(value, msgspec.Struct):
        yield value
        for name in value.__struct_fields__:
            yield from structs_in(getattr(value, name))
    elif isinstance(value, tuple):
        for item in value:
            yield from structs_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from structs_in(item)
