"""All that differs by format stands in its file: a copy works everywhere, and no code asks for a type."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from silverball.rules.registry import FORMATS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "silverball"
CLIENT = ROOT / "clients" / "python" / "src"
PROGRAM = ROOT / "tests" / "house" / "copied_format.py"
# One format of each kind of play, and of each way in which rounds come up.
COPIED = ("pace_matchplay", "double_bracket", "golf_bracket", "frenzy", "card_best_game", "amazingrace")
# Here the formats themselves stand, or data as it was stored at some time.
EXEMPT = ("silverball_wire/generated/", "rules/formats/", "rules/registry.py", "store/migrations/")
# A column, a pairing and a part of paths are spelt like a type.
NAMESAKES = {
    ("silverball_wire/resources.py", "frenzy"),
    ("silverball_wire/shared_texts.py", "best_game"),
    ("rules/model/literals.py", "best_game"),
    ("rules/model/settings.py", "best_game"),
    # Sandboxes of the demo are named after their formats.
    ("demo/sandboxes.py", "best_game"),
    ("demo/sandboxes.py", "frenzy"),
    ("demo/sandboxes.py", "max_matchplay"),
}
QUOTED_TYPE = re.compile(rf"""(["'`])({"|".join(FORMATS)})\1""")


@pytest.mark.sample(2)
@pytest.mark.parametrize("original", COPIED)
def test_a_copied_format_works_everywhere_with_nothing_else_changed(original: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'tests'}"}
    done = subprocess.run(
        [sys.executable, str(PROGRAM), original, str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def choosing_constants(tree: ast.AST) -> Iterator[ast.Constant]:
    """The constants that choose something: compared, matched, a key, or in a collection."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            chosen = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            chosen = [node.value]
        elif isinstance(node, ast.Dict):
            chosen = [key for key in node.keys if key is not None]
        elif isinstance(node, ast.MatchMapping):
            chosen = list(node.keys)
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            chosen = node.elts
        elif isinstance(node, ast.Subscript):
            chosen = [node.slice]
        else:
            continue
        yield from (each for each in chosen if isinstance(each, ast.Constant))


def types_in_python(code: str) -> list[str]:
    """The tournament types that a piece of Python chooses by."""
    return [
        str(constant.value) for constant in choosing_constants(ast.parse(code)) if constant.value in FORMATS
    ]


def test_no_python_chooses_by_a_type() -> None:
    found = []
    for path in sorted([*SOURCE.rglob("*.py"), *(CLIENT / "silverball_wire").rglob("*.py")]):
        name = path.relative_to(CLIENT if path.is_relative_to(CLIENT) else SOURCE).as_posix()
        if not name.startswith(EXEMPT):
            types = types_in_python(path.read_text(encoding="utf-8"))
            found += [(name, type_) for type_ in types if (name, type_) not in NAMESAKES]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        'tournament.type == "golf"',
        'tournament.type in {"golf", "bowling"}',
        'TITLES = {"frenzy": "Frenzy"}',
        'HEAD_TO_HEAD = ("knockout", "matchplay")',
        'TABLES["ladder"]',
        'match tournament.type:\n    case "target":\n        pass',
        'match tournament.type:\n    case "bracket" | "double_bracket":\n        pass',
        'match titles:\n    case {"golf": title}:\n        pass',
    ],
)
def test_each_way_to_choose_by_a_type_is_found(code: str) -> None:
    assert types_in_python(code)


def test_a_keyword_or_a_value_that_names_a_type_is_no_choice() -> None:
    assert types_in_python('TournamentPlan(name="Queues", type="best_game")') == []
    assert types_in_python('body = {"type": "golf"}') == []


def test_every_namesake_is_still_there() -> None:
    found = {
        (name, type_)
        for name, _ in NAMESAKES
        for type_ in types_in_python(
            ((CLIENT if name.startswith("silverball_") else SOURCE) / name).read_text(encoding="utf-8")
        )
    }
    assert found == NAMESAKES


def types_in_text(text: str) -> list[str]:
    """The tournament types that a template or a script quotes."""
    return [match[2] for match in QUOTED_TYPE.finditer(text)]


@pytest.mark.parametrize(
    "text",
    [
        "{% if night.type == 'frenzy' %}",
        '{% if t.type in ("golf", "golf_bracket") %}',
        'if (tournament.type === "max_matchplay") {',
        "switch (type) { case `bowling`: }",
    ],
)
def test_a_type_in_a_template_or_a_script_is_found(text: str) -> None:
    assert types_in_text(text)


@pytest.mark.parametrize("suffix", ["html", "js"])
def test_no_template_or_script_names_a_type(suffix: str) -> None:
    files = sorted(SOURCE.rglob(f"*.{suffix}"))
    assert files
    found = [
        f"{path.relative_to(SOURCE)}: {type_}"
        for path in files
        for type_ in types_in_text(path.read_text(encoding="utf-8"))
    ]
    assert found == []
