"""Every refusal is a class of its own, so that it has a code and its facts."""

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "silverball"
FILES = sorted(path for path in SOURCE.rglob("*.py") if path.name != "errors.py")
# The kinds of refusal. Each has subclasses that say what happened.
KINDS = {"Refusal", "NotAllowed", "Conflict", "WrongFormat", "Gone"}


def bare_sentences(tree: ast.AST) -> list[int]:
    """The lines that create a refusal of a general kind with a sentence of their own."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [
        call.lineno
        for call in calls
        if isinstance(call.func, ast.Name | ast.Attribute) and _name(call.func) in KINDS and call.args
    ]


def _name(function: ast.Name | ast.Attribute) -> str:
    return function.id if isinstance(function, ast.Name) else function.attr


def test_a_bare_sentence_is_found() -> None:
    assert bare_sentences(ast.parse('raise Conflict("No.")\nraise errors.Gone(f"{x}")\nraise Conflict')) == [
        1,
        2,
    ]


def test_no_refusal_is_a_bare_sentence() -> None:
    found = {
        path.relative_to(SOURCE).as_posix(): lines
        for path in FILES
        if (lines := bare_sentences(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert found == {}
