"""The names that docs/renames.md leads to exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "silverball"
ROW = re.compile(r"^\| `([\w.]+)` \| `([\w.]+)`", re.MULTILINE)
PAGE = (ROOT / "docs" / "renames.md").read_text(encoding="utf-8")
MODULES, NAMES = PAGE.split("## Classes, functions and attributes")


def module_file(dotted: str) -> Path | None:
    path = SOURCE / dotted.replace(".", "/")
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file.exists()), None)


@cache
def words(file: Path) -> frozenset[str]:
    """Every name that a file defines or assigns."""
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    defined = {
        node.name for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assigned = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    attributes = {
        node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    return frozenset(defined | assigned | attributes)


def leads_somewhere(dotted: str) -> bool:
    """Whether the longest module in the name exists and holds the rest."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        file = module_file(".".join(parts[:count]))
        if file is not None:
            return set(parts[count:]) <= words(file)
    return False


@pytest.mark.parametrize("section", [MODULES, NAMES], ids=["modules", "names"])
def test_every_new_name_exists(section: str) -> None:
    rows = ROW.findall(section)
    assert rows
    assert [f"{old} -> {new}" for old, new in rows if not leads_somewhere(new)] == []
