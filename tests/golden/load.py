"""Reads the vector files beside it. Source: formats, section 25."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "vectors"


def vectors(name: str) -> Any:
    """The vectors of one file: groups, series, tier_maps or knockouts."""
    return json.loads((FOLDER / f"{name}.json").read_text())
