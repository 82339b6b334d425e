"""No module of the program imports itself by way of others, type-only imports included."""

import ast
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "src", ROOT / "clients" / "python" / "src")


def import_graph(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Module -> the modules among `sources` that it imports. Takes module name -> source text."""
    graph: dict[str, set[str]] = {}
    for module, source in sources.items():
        imported: set[str] = set()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                imported |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        graph[module] = (imported & sources.keys()) - {module}
    return graph


def modules_in_circles(graph: Mapping[str, set[str]]) -> list[str]:
    """The modules that are left when all modules without remaining imports are taken out, again and again."""
    remaining = {module: set(imported) for module, imported in graph.items()}
    for _ in range(len(graph)):
        free = {module for module, imported in remaining.items() if not imported}
        if not free:
            break
        remaining = {module: imported - free for module, imported in remaining.items() if module not in free}
    return sorted(remaining)


def test_no_two_modules_import_each_other() -> None:
    sources = {
        ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__"): path.read_text(
            encoding="utf-8"
        )
        for folder in FOLDERS
        for path in folder.rglob("*.py")
    }
    assert len(sources) > 100
    assert modules_in_circles(import_graph(sources)) == []


def test_a_planted_circle_is_found() -> None:
    graph = import_graph(
        {
            "room.door": "from room import window",
            "room.window": "if TYPE_CHECKING:\n    from room.door import Door",
            "room.floor": "import os",
        }
    )
    assert modules_in_circles(graph) == ["room.door", "room.window"]
