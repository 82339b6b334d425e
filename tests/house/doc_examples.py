"""JSON examples in the documents, copied from the golden samples.

A document holds `<!-- example samples/standings.json 0 -->`, a JSON block, and `<!-- /example -->`. The file
is under tests/golden; the words after it lead into it by key and index; `a,b,c` keeps these keys only.
`make generated` writes the blocks.
"""

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
# The samples were observed elsewhere; a reader asks the demo.
OBSERVED_HOST, DEMO_HOST = "https://app.matchplay.events", "http://127.0.0.1:8000"
BLOCK = re.compile(r"<!-- example (?P<words>[^>]+) -->\n(?P<body>.*?)<!-- /example -->", re.DOTALL)


def documents() -> list[Path]:
    """Every document that may hold examples."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def example(words: str) -> str:
    """The block for the words of a marker."""
    file, *steps = words.split()
    value: Any = json.loads((GOLDEN / file).read_text(encoding="utf-8"))
    for step in steps:
        if isinstance(value, list):
            value = value[int(step)]
        elif "," in step:
            value = {name: value[name] for name in step.split(",")}
        else:
            value = value[step]
    text = json.dumps(value, indent=2, ensure_ascii=False).replace(OBSERVED_HOST, DEMO_HOST)
    return f"```json\n{text}\n```\n"


def with_examples(text: str) -> str:
    """The document with all its examples as the golden samples have them."""

    def filled(block: re.Match[str]) -> str:
        return f"<!-- example {block['words']} -->\n{example(block['words'])}<!-- /example -->"

    return BLOCK.sub(filled, text)


if __name__ == "__main__":
    for document in documents():
        text = document.read_text(encoding="utf-8")
        document.write_text(with_examples(text), encoding="utf-8")
