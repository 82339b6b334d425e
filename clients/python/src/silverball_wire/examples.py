"""Examples of the published shapes and events, as their golden samples have them."""

import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_suffix(".json")


def shape_examples() -> dict[str, Any]:
    """Return an example of each shape that has one, by the shape's name."""
    examples: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))["shapes"]
    return examples


def event_examples() -> dict[str, Any]:
    """Return an example of each feed event as it is sent, by the event's name."""
    examples: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))["events"]
    return examples
