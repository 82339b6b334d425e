"""The table of docs/reliability.md: what the trials found, and what was skipped."""

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from house.doc_blocks import ROOT
from house.scripts import load_script
from trials.figures import FILE_SETTING, Figures, count_attempts

DOCUMENT = "# Before\n<!-- figures of `make soak` -->\nold\n<!-- /figures -->\nafter\n"


@pytest.fixture(scope="module")
def table() -> ModuleType:
    return load_script("reliability_table")


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a run with two parts of one trial, one of another, and a skipped one."""
    path = tmp_path / "trials.jsonl"
    monkeypatch.setenv(FILE_SETTING, str(path))
    for recovery in (0.2, 0.4):
        kills = Figures("T1 kills", "sqlite", 150, acknowledged=1_000)
        kills.add_recoveries([recovery, 3 * recovery])
        kills.publish()
    Figures("T10 clocks", "sqlite", 12, acknowledged=24).publish()
    lost = Figures("T2 power cuts", "sqlite", 200, acknowledged=90, lost=1)
    lost.publish()
    with pytest.raises(AssertionError, match="'lost': 1"):
        lost.assert_nothing_wrong()
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"skipped": "T7 no memory", "reason": "no control groups here"}) + "\n")
    return path


def rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if "| T" in line]


def test_the_figures_of_a_trial_are_added_up_and_bounded(table: ModuleType, published: Path) -> None:
    lines = [json.loads(line) for line in published.read_text().splitlines()]
    _, kills, cuts, clocks = rows(table.figures_text(lines))
    # The middle of both medians (0.4 and 0.8), the greater maximum, and 3 in 300.
    assert kills == ["T1 kills", "sqlite", "300", "2,000", *["0"] * 5, "0.60 s / 1.20 s", "1 %"]
    assert clocks == ["T10 clocks", "sqlite", "12", "24", *["0"] * 5, "", "25 %"]
    # What went wrong is shown, and no bound beside it.
    assert cuts == ["T2 power cuts", "sqlite", "200", "90", "1", *["0"] * 4, "", ""]


def test_what_was_tried_is_added_up_in_a_table_of_its_own(
    table: ModuleType, published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tried in (300, 1_000, 40):
        count_attempts("forms" if tried != 40 else "frames", tried)
    document = tmp_path / "security.md"
    document.write_text(f"before\n{table.BEGIN_OF_ATTEMPTS}old\n{table.END}after\n")
    words = ["reliability_table.py", "--attempts", str(published), "--document", str(document)]
    monkeypatch.setattr(sys, "argv", words)
    assert table.main() == 0
    rows = "| What was tried | How often |\n|---|---|\n| forms | 1,300 |\n| frames | 40 |\n"
    assert document.read_text() == f"before\n{table.BEGIN_OF_ATTEMPTS}{rows}{table.END}after\n"
    # The other table knows nothing of it.
    lines = [json.loads(line) for line in published.read_text().splitlines()]
    assert "forms" not in table.figures_text(lines)


def test_what_was_skipped_is_listed_with_its_reason(table: ModuleType, published: Path) -> None:
    lines = [json.loads(line) for line in published.read_text().splitlines()]
    assert "\n- T7 no memory: no control groups here\n" in table.figures_text(lines)


def test_only_the_place_of_the_figures_is_written(
    table: ModuleType, published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = tmp_path / "reliability.md"
    document.write_text(DOCUMENT)
    words = ["reliability_table.py", str(published), "--document", str(document)]
    monkeypatch.setattr(sys, "argv", words)
    assert table.main() == 0
    written = document.read_text()
    assert written.startswith("# Before\n<!-- figures of `make soak` -->\n| Trial |")
    assert written.endswith("<!-- /figures -->\nafter\n")
    assert "old" not in written
    assert table.main() == 0
    assert document.read_text() == written


def test_a_document_without_a_place_for_them_is_refused(table: ModuleType) -> None:
    with pytest.raises(ValueError, match="has no lines"):
        table.with_figures("# Nothing", [])


def test_the_handbook_has_a_place_for_the_figures(table: ModuleType) -> None:
    lines: list[Any] = []
    written = table.with_figures((ROOT / "docs/reliability.md").read_text(), lines)
    assert table.HEAD in written
