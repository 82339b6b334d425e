"""Measures of how plainly the source speaks: names, pronouns, the openings of docstrings.

A floor, not the aim (CONTRIBUTING.md, "Names and prose"). Each measure lists the places that count.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Alone, these say neither what a function does nor what it returns.
BARE_WORDS = frozenset(
    [
        "said",
        "told",
        "shown",
        "kept",
        "made",
        "seen",
        "asked",
        "done",
        "ahead",
        "given",
        "taken",
        "found",
        "wanted",
        "named",
        "drawn",
        "counted",
        "stored",
        "answered",
        "written",
        "sent",
        "due",
        "left",
        "gone",
        "met",
        "heard",
        "lost",
        "known",
        "put",
        "who",
        "whom",
        "whose",
        "what",
        "it",
        "one",
        "ones",
        "other",
        "others",
        "rest",
        "now",
        "then",
        "here",
        "there",
        "before",
        "after",
        "beside",
        "again",
        "anew",
        "so",
        "such",
        "only",
        "else",
    ]
)
VAGUE_LOCALS = frozenset({"one", "it", "said", "thing"})
GENDERED = re.compile(r"\b(he|she|him|his|her|hers|himself|herself)\b", re.IGNORECASE)
VAGUE_OPENING = re.compile(
    r"^(What|Who|Whom|Whose|Whoever|Whatever|Somebody|Someone who|Nobody|Everybody|Everything that)\b"
)
Places = list[str]


class SourceFile:
    """One parsed Python file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path.relative_to(ROOT))
        self.text = path.read_text(encoding="utf-8")
        self.nodes = list(ast.walk(ast.parse(self.text)))

    def place(self, line: int, word: str) -> str:
        return f"{self.name}:{line}: {word}"


def source_files(folder: str) -> list[SourceFile]:
    """The Python files below a folder of the repository, without migrations, which are frozen."""
    paths = sorted((ROOT / folder).rglob("*.py"))
    return [SourceFile(path) for path in paths if not {"versions", "node_modules"} & set(path.parts)]


def shared_class_names(files: list[SourceFile]) -> tuple[Places, int]:
    """Classes of the program whose name another class has too, and the number of all classes."""
    places: defaultdict[str, Places] = defaultdict(list)
    for file in files:
        for node in file.nodes:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(file.place(node.lineno, node.name))
    return [place for listed in places.values() if len(listed) > 1 for place in listed], sum(
        map(len, places.values())
    )


def bare_function_names(files: list[SourceFile]) -> tuple[Places, int]:
    """Functions named by a bare participle or pronoun, and the number of all functions."""
    functions = [
        (file, node)
        for file in files
        for node in file.nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    bare = [
        file.place(node.lineno, node.name) for file, node in functions if node.name.strip("_") in BARE_WORDS
    ]
    return bare, len(functions)


def vague_locals(files: list[SourceFile]) -> Places:
    """Locals and arguments called one, it, said or thing."""
    return [
        file.place(line, name) for file in files for line, name in _bound_names(file) if name in VAGUE_LOCALS
    ]


def _bound_names(file: SourceFile) -> Iterator[tuple[int, str]]:
    for node in file.nodes:
        if isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id


def gendered_lines(files: list[SourceFile]) -> Places:
    """Lines with he, she, his or her: people are they."""
    return [
        file.place(number, line.strip())
        for file in files
        for number, line in enumerate(file.text.splitlines(), 1)
        if GENDERED.search(line)
    ]


def vague_docstrings(files: list[SourceFile]) -> Places:
    """Docstrings that begin with What, Who, Somebody and the like."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return [
        file.place(getattr(node, "lineno", 1), text.splitlines()[0])
        for file in files
        for node in file.nodes
        if isinstance(node, documented) and (text := ast.get_docstring(node)) and VAGUE_OPENING.match(text)
    ]
