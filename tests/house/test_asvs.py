"""docs/asvs.md: every requirement of levels 1 and 2 of ASVS 5.0.0 has a line, and every named test exists."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "asvs.md"
BYTES_MAX = 28_000
# How many requirements of levels 1 and 2 each section has, which are the first of it; chapters 10 and 17 are
# about what this program has not.
SECTIONS = {
    "1.1": 2,
    "1.2": 9,
    "1.3": 11,
    "1.4": 3,
    "1.5": 2,
    "2.1": 3,
    "2.2": 3,
    "2.3": 4,
    "2.4": 1,
    "3.2": 2,
    "3.3": 4,
    "3.4": 6,
    "3.5": 5,
    "3.7": 2,
    "4.1": 3,
    "4.2": 1,
    "4.3": 2,
    "4.4": 4,
    "5.1": 1,
    "5.2": 3,
    "5.3": 2,
    "5.4": 3,
    "6.1": 3,
    "6.2": 12,
    "6.3": 4,
    "6.4": 4,
    "6.5": 5,
    "6.6": 3,
    "6.8": 4,
    "7.1": 3,
    "7.2": 4,
    "7.3": 2,
    "7.4": 5,
    "7.5": 2,
    "7.6": 2,
    "8.1": 2,
    "8.2": 3,
    "8.3": 1,
    "8.4": 1,
    "9.1": 3,
    "9.2": 4,
    "11.1": 2,
    "11.2": 3,
    "11.3": 3,
    "11.4": 4,
    "11.5": 1,
    "11.6": 1,
    "12.1": 3,
    "12.2": 2,
    "12.3": 4,
    "13.1": 1,
    "13.2": 5,
    "13.3": 2,
    "13.4": 5,
    "14.1": 2,
    "14.2": 4,
    "14.3": 3,
    "15.1": 3,
    "15.2": 3,
    "15.3": 7,
    "16.1": 1,
    "16.2": 5,
    "16.3": 4,
    "16.4": 3,
    "16.5": 3,
}
NUMBERS = re.compile(r"(\d+\.\d+)\.(\d+)(?:-(\d+))?")
ROW = re.compile(r"^\| ((?:\d+\.\d+\.\d+(?:-\d+)?(?:, )?)+) \| (.+) \| (.*)\|$", re.MULTILINE)
NAMED = re.compile(r"`((?:[a-z_]+/)*test_[a-z0-9_]+\.py)(?:::(test_[a-z0-9_]+))?`")


@cache
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def numbers_in(cell: str) -> Iterator[str]:
    for section, first, last in NUMBERS.findall(cell):
        yield from (f"{section}.{number}" for number in range(int(first), int(last or first) + 1))


def test_each_requirement_has_one_line() -> None:
    treated = [number for cell, _, _ in ROW.findall(page()) for number in numbers_in(cell)]
    wanted = [f"{section}.{number + 1}" for section, count in SECTIONS.items() for number in range(count)]
    assert sorted(treated) == sorted(wanted)


def test_each_chapter_is_treated() -> None:
    chapters = [int(number) for number in re.findall(r"^## V(\d+) ", page(), re.MULTILINE)]
    assert chapters == list(range(1, 18))


def test_each_line_names_its_test_a_page_or_the_reason() -> None:
    bare = [
        numbers
        for numbers, done, held in ROW.findall(page())
        if not (NAMED.search(held) or "](" in done or done.startswith("does not apply: "))
    ]
    assert bare == []


def test_each_named_test_exists() -> None:
    missing = [
        f"{file}::{name}"
        for file, name in NAMED.findall(page())
        if not (ROOT / "tests" / file).is_file() or (name and name not in functions_of(file))
    ]
    assert missing == []


@cache
def functions_of(file: str) -> frozenset[str]:
    module = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in module.body if isinstance(node, ast.FunctionDef))


def test_the_page_is_short_and_is_found() -> None:
    assert len(page().encode()) <= BYTES_MAX
    for place in ("docs/security.md", "docs/README.md", "zensical.toml"):
        assert "asvs.md" in (ROOT / place).read_text(encoding="utf-8"), place


def test_the_times_for_mending_libraries_are_written_down() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert re.search(r"critical or high[^.]*within \d+ days", text)
    assert "make audit" in text
