"""The programs of scripts/, as modules."""

import importlib.util
from types import ModuleType

from house.doc_blocks import ROOT


def load_script(name: str) -> ModuleType:
    """Return the program with this name."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
