"""Every source path that a document mentions exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "CONTRIBUTING.md",
    ROOT / "docs" / "how-it-works.md",
    *sorted((ROOT / "docs" / "decisions").glob("*.md")),
]
# `kit/edge/front.py`, `rules/formats`, `tests/mirror.py`: below one of FOLDERS.
MENTIONED = re.compile(r"`((?:src/silverball/)?[a-z_]+(?:/[a-z_]+)+(?:\.(?:py|md|js|html|json|txt))?)/?`")
FOLDERS = (
    ROOT,
    ROOT / "src" / "silverball",
    ROOT / "src" / "silverball" / "web" / "static",
    ROOT / "clients" / "python" / "src",
)


@pytest.mark.parametrize("page", [page for page in PAGES if page.exists()], ids=lambda page: page.name)
def test_every_path_in_a_document_exists(page: Path) -> None:
    mentioned = sorted(set(MENTIONED.findall(page.read_text(encoding="utf-8"))))
    missing = [path for path in mentioned if not any((folder / path).exists() for folder in FOLDERS)]
    assert missing == []
