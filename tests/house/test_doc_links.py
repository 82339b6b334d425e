"""Every link of the documents leads to a file and a heading, as a git host shows them."""

import re
import shlex
from pathlib import Path
from urllib.parse import unquote

import click
import pytest

from house.doc_blocks import FENCE, ROOT, documents
from silverball.cli.main import silverball_group

LINK = re.compile(r"\[[^\]\n]*\]\((?P<target>[^()\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(?P<title>.+?) *$", re.MULTILINE)
COMMAND = re.compile(r"(?:^|`)(?:\.venv/bin/)?(?P<line>silverball [a-z][^`\n#|<>]*)", re.MULTILINE)
# Words of a line in which a reader puts something of their own.
PLACEHOLDER = re.compile(r"\.\.\.$|^[A-Z]+\.*$|^\$|^\[|\]$|^\($|^\)$")


def without_blocks(text: str) -> str:
    return FENCE.sub("", text)


def anchors(document: Path) -> set[str]:
    """The anchors that a git host gives to the headings of a document."""
    found: set[str] = set()
    for heading in HEADING.finditer(without_blocks(document.read_text(encoding="utf-8"))):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading["title"])
        slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        count = 0
        while f"{slug}-{count}" in found or (count == 0 and slug in found):
            count += 1
        found.add(f"{slug}-{count}" if count else slug)
    return found


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(document: Path) -> None:
    broken = []
    for link in LINK.finditer(without_blocks(document.read_text(encoding="utf-8"))):
        path, _, anchor = unquote(link["target"]).partition("#")
        # Other hosts are not asked.
        if re.match(r"[a-z]+:", path):
            continue
        target = (document.parent / path).resolve() if path else document
        if not target.exists() or (anchor and (target.suffix != ".md" or anchor not in anchors(target))):
            broken.append(link["target"])
    assert broken == []


def test_links_of_the_handbook_stay_inside_it() -> None:
    """The built handbook has the files below docs only."""
    outside = []
    for document in sorted((ROOT / "docs").rglob("*.md")):
        for link in LINK.finditer(without_blocks(document.read_text(encoding="utf-8"))):
            path = link["target"].partition("#")[0]
            is_relative = path and not re.match(r"[a-z]+:", path)
            if is_relative and not (document.parent / path).resolve().is_relative_to(ROOT / "docs"):
                outside.append((document.name, link["target"]))
            if is_relative and (document.parent / path).is_dir():
                outside.append((document.name, link["target"]))
    assert outside == []


def command_lines() -> list[tuple[str, str]]:
    return [
        (document.relative_to(ROOT).as_posix(), found["line"].strip())
        for document in documents()
        # One lists what there was, the other is generated.
        if document.name not in {"CHANGELOG.md", "commands.md"}
        for found in COMMAND.finditer(document.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize(("document", "line"), sorted(set(command_lines())))
def test_every_command_and_option_in_the_documents_exists(document: str, line: str) -> None:
    command: click.Command = silverball_group
    words = shlex.split(line.rstrip(".,;:)").replace("'", ""))[1:]
    while words and isinstance(command, click.Group):
        if PLACEHOLDER.search(words[0]):
            return
        found = command.get_command(click.Context(command), words.pop(0))
        assert found is not None, f"{document}: {line}"
        command = found
    known = {name for parameter in command.params for name in parameter.opts} | {"--help"}
    given = {word.strip("[]").partition("=")[0] for word in words if word.strip("[]").startswith("-")}
    assert given - known == set(), f"{document}: {line}"
