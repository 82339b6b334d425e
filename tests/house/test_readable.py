"""The source speaks plainly: a floor under names and prose."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from house import readable
from house.readable import SourceFile

SHAPES = "clients/python/src/silverball_wire"
WEB = readable.ROOT / "src" / "silverball" / "web"
# In a template a bound name stands after for or set; in JavaScript after const or let, or before an arrow.
TEMPLATE_NAME = re.compile(r"{%-?\s*(?:for|set)\s+(\w+)|\bfor\s+(\w+)\s+in\b")
SCRIPT_NAME = re.compile(r"\b(?:const|let|var)\s+(\w+)|\((\w+)\)\s*=>|\b(\w+)\s*=>")


@pytest.fixture(scope="module")
def source() -> list[SourceFile]:
    return [*readable.source_files("src/silverball"), *readable.source_files(SHAPES)]


@pytest.fixture(scope="module")
def everything(source: list[SourceFile]) -> list[SourceFile]:
    # This file and its neighbour name the words that they look for.
    own = {"tests/house/readable.py", "tests/house/test_readable.py"}
    others = [*readable.source_files("tests"), *readable.source_files("benchmarks")]
    return [*source, *(file for file in others if file.name not in own)]


def test_class_names_are_unique(source: list[SourceFile]) -> None:
    # A shape may have the name of what it shows.
    shared, total = readable.shared_class_names([file for file in source if not file.name.startswith(SHAPES)])
    assert len(shared) <= 0.03 * total, shared


def test_functions_are_named_by_what_they_do_or_return(source: list[SourceFile]) -> None:
    bare, total = readable.bare_function_names(source)
    assert len(bare) <= 0.005 * total, bare


def test_locals_are_named_after_what_they_hold(everything: list[SourceFile]) -> None:
    assert readable.vague_locals(everything) == []


def test_people_are_they(everything: list[SourceFile]) -> None:
    assert readable.gendered_lines(everything) == []


def test_docstrings_begin_with_what_is_returned_or_done(source: list[SourceFile]) -> None:
    assert readable.vague_docstrings(source) == []


def bound_names(path: Path, pattern: re.Pattern[str]) -> Iterator[str]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for found in pattern.finditer(line):
            name = next(group for group in found.groups() if group)
            if name in readable.VAGUE_LOCALS:
                yield f"{path.name}:{number}: {line.strip()}"


def test_variables_of_templates_and_scripts_are_named_after_what_they_hold() -> None:
    templates = [place for path in WEB.rglob("*.html") for place in bound_names(path, TEMPLATE_NAME)]
    scripts = [place for path in WEB.rglob("*.js") for place in bound_names(path, SCRIPT_NAME)]
    assert templates + scripts == []
