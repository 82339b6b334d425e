"""Threads that convert into the same Struct for the first time, at the same moment, all succeed."""

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from silverball.kit.values import convert, decode

SOURCE = Path(__file__).parents[2] / "src" / "silverball"
# The module with the lock, and the one that lays its types out when a parser is built.
LAID_OUT = {"kit/values.py", "kit/http/body.py"}
CONVERSIONS = {"msgspec.convert", "msgspec.inspect.type_info", "msgspec.inspect.multi_type_info"}
CONVERSIONS |= {"inspect.type_info", "inspect.multi_type_info"}

# In a process of its own: msgspec itself ends it with a segmentation fault in the first of these rounds.
FIRST_CONVERSIONS = """
import sys, threading
import msgspec
from silverball.kit.values import convert, decode
from silverball.kit.http.body import Body, BodyParser

sys.setswitchinterval(1e-6)
ROUNDS, THREADS, DEPTH = 60, 8, 3


def make(number, depth):
    base = {"bases": (Body,), "frozen": True, "kw_only": True}
    if depth < 0:
        return msgspec.defstruct(f"Leaf{number}", [(f"f{at}", int | None, None) for at in range(20)], **base)
    inner = make(number, depth - 1)
    fields = [(f"g{at}", list[inner] | None, None) for at in range(10)]
    return msgspec.defstruct(f"Node{number}_{depth}", [("inner", inner), *fields], **base)


def value(depth):
    return {"f1": 1, "f19": 3} if depth < 0 else {"inner": value(depth - 1), "g3": [value(depth - 1)]}


failed = []


def run(start, number, kind):
    start.wait()
    try:
        if number % 3 == 0:
            convert(value(DEPTH), kind)
        elif number % 3 == 1:
            decode(msgspec.json.encode(value(DEPTH)), kind)
        else:
            BodyParser(kind).parse(msgspec.json.encode(value(DEPTH)))
    except Exception as error:
        failed.append(repr(error))


for number in range(ROUNDS):
    kind, start = make(number, DEPTH), threading.Barrier(THREADS)
    threads = [threading.Thread(target=run, args=(start, at, kind)) for at in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print(failed or "all converted")
"""


def test_first_conversions_at_the_same_moment_all_succeed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_CONVERSIONS],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "all converted\n"), done.stderr


class Player(msgspec.Struct, frozen=True):
    name: str
    seed: int | None = None


@pytest.mark.parametrize(
    ("content", "kind", "expected"),
    [
        ('{"name": "Ada"}', Player, Player("Ada")),
        ('[{"name": "Ada", "seed": 3}]', tuple[Player, ...], (Player("Ada", 3),)),
        ("null", Player | None, None),
    ],
)
def test_json_and_values_become_their_type(content: str, kind: Any, expected: object) -> None:
    assert decode(content, kind) == expected
    assert convert(msgspec.json.decode(content), kind) == expected


def test_values_of_another_type_are_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="Expected `str`, got `int`"):
        convert({"name": 7}, Player)
    with pytest.raises(msgspec.ValidationError, match="missing required field `name`"):
        decode(b"{}", Player)
    assert convert({"name": "Ada", "seed": "3"}, Player, strict=False) == Player("Ada", 3)


def _converts(tree: ast.AST) -> bool:
    """Whether a thread may lay a type out here."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    in_functions = {id(node) for function in functions for node in ast.walk(function)}
    for call in ast.walk(tree):
        if isinstance(call, ast.Call):
            name = ast.unparse(call.func)
            is_typed = name == "msgspec.json.decode" and any(word.arg == "type" for word in call.keywords)
            # What a module makes when it is loaded is made by one thread.
            is_made_late = name.endswith("Decoder") and bool(call.args) and id(call) in in_functions
            if name in CONVERSIONS or is_typed or is_made_late:
                return True
    return False


def test_nobody_converts_past_the_lock() -> None:
    direct = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if _converts(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert direct == LAID_OUT
