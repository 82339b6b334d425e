"""The fenced blocks of the documents: what is in them, and what stands around them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(?P<language>[a-z]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"<!-- example [^>]+ -->\s*$")
# "Save this as `bot.py`:" before a block.
SAVED_AS = re.compile(r"\bas `(?P<name>[\w-]+\.(?:py|mjs|json|csv))`[^`\n]*:\s*$")
OUTPUT_LANGUAGES = frozenset({"json", "text"})


@dataclass(frozen=True)
class Block:
    """A fenced block of a document."""

    document: str
    line: int
    language: str
    text: str
    # The paragraph above the block, without the blank line.
    introduction: str
    # Whether only blank lines, or one line ending in a colon, are between this block and the one before.
    follows: bool

    @property
    def place(self) -> str:
        """The document and the line."""
        return f"{self.document}:{self.line}"

    @property
    def file_name(self) -> str | None:
        """The name under which a reader is asked to save the block."""
        found = SAVED_AS.search(self.introduction)
        return None if found is None else found["name"]

    @property
    def is_golden(self) -> bool:
        """Whether the block is copied from a golden sample."""
        return EXAMPLE.search(self.introduction) is not None


def documents() -> list[Path]:
    """List every document with something to run."""
    first = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
    return [*first, *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(document: Path) -> Iterator[Block]:
    """Yield the blocks of a document in their order."""
    text, end = document.read_text(encoding="utf-8"), 0
    for fence in FENCE.finditer(text):
        between = text[end : fence.start()]
        paragraphs = [part for part in between.split("\n\n") if part.strip()]
        introduction = paragraphs[-1].strip() if paragraphs else ""
        is_short = len(paragraphs) == 1 and "\n" not in introduction and introduction.endswith(":")
        yield Block(
            document=document.relative_to(ROOT).as_posix(),
            line=text.count("\n", 0, fence.start()) + 1,
            language=fence["language"],
            text=fence["text"],
            introduction=introduction,
            follows=end > 0 and (not paragraphs or is_short),
        )
        end = fence.end()


def all_blocks() -> list[Block]:
    """List the blocks of all documents."""
    return [block for document in documents() for block in blocks(document)]


def is_output(block: Block, previous: Block | None) -> bool:
    """Return whether a block shows what the block before it prints."""
    return (
        block.language in OUTPUT_LANGUAGES
        and block.follows
        and block.file_name is None
        and previous is not None
        and previous.language == "sh"
    )
