"""Every command, program and answer in the documents is run as printed, or listed here with a reason."""

import csv
import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from house import doc_blocks, printed
from house.doc_blocks import ROOT, Block, all_blocks, documents
from house.doc_shell import DocumentShell, RunningDemo, missing_tools, outputs
from house.not_run import NOT_RUN, REFUSED, reason
from house.running_demo import running_demo

# Documents whose commands use a database of their own; the others use that of the demo.
OWN = frozenset(
    {"docs/accounts.md", "docs/backup.md", "docs/federation.md", "docs/hosting.md", "docs/machines.md"}
    | {"docs/moving.md"}
)
# Documents that count on the default, as whoever has set nothing does.
UNSET = frozenset({"README.md"})
DEMO_DATA = ROOT / "src" / "silverball" / "demo" / "data"
BLOCKS = all_blocks()
RUN = [block for block in BLOCKS if block.language == "sh" and reason(block) is None]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDemo]:
    """A running demo."""
    with running_demo(tmp_path_factory.mktemp("demo")) as running:
        yield running


def blocks_of(document: str) -> list[Block]:
    return [block for block in BLOCKS if block.document == document and reason(block) is None]


def give_files(document: str, demo: RunningDemo, folder: Path) -> None:
    """Write the files that a document takes for granted."""
    if document == "docs/federation.md":
        records = DEMO_DATA / "federation.csv"
        (folder / "players.csv").write_bytes(records.read_bytes())
        with records.open(encoding="utf-8") as lines:
            (folder / "players.json").write_text(json.dumps(list(csv.DictReader(lines))))
    elif document == "docs/machines.md":
        for name in ("opdb.json", "pintips.json"):
            (folder / name).write_bytes((DEMO_DATA / "machines" / name).read_bytes())
        (folder / "changelog.json").write_text('{"data": []}')
    elif document == "docs/hosting.md":
        # The night of a club, whose server has run for a while.
        (folder / "silverball.db").unlink()
        with closing(sqlite3.connect(demo.folder / "silverball.db")) as running:
            running.execute("VACUUM INTO ?", (str(folder / "silverball.db"),))
        key_file = demo.folder / "silverball.db.secret"
        (folder / key_file.name).write_bytes(key_file.read_bytes())


@pytest.mark.sample(4)
@pytest.mark.parametrize("document", sorted({block.document for block in RUN}))
def test_the_lines_of_a_document_do_what_it_says(
    document: str, demo: RunningDemo, tmp_path: Path, empty_sqlite: Path
) -> None:
    blocks = blocks_of(document)
    if missing := missing_tools(blocks):
        pytest.skip(f"not installed here: {', '.join(missing)}")
    if demo.live_id is None and any("tournaments/1/" in block.text for block in blocks):
        pytest.skip("this demo has no tournament 1 that goes on while it runs")
    own = f"sqlite:///{tmp_path / 'silverball.db'}"
    if document in OWN:
        # What `silverball migrate` makes on the day of the installation.
        shutil.copyfile(empty_sqlite, tmp_path / "silverball.db")
    give_files(document, demo, tmp_path)
    database_url = own if document in OWN else None if document in UNSET else demo.database_url
    shell = DocumentShell(demo, tmp_path, database_url)
    results = {result.block: result for result in shell.run(blocks)}
    for result in results.values():
        text = f"{result.printed[-2000:]} {result.complaints[-2000:]}"
        assert result.is_done, f"{result.block.place} failed: {text}"
    for shown, run in outputs(blocks):
        text = results[run].printed
        if shown.language == "json":
            fault = printed.difference(printed.shown_json(shown.text), printed.last_json(text))
        else:
            fault = printed.difference_of_text(shown.text, text)
        assert fault is None, f"{shown.place}: {fault}\n{text[-2000:]} {results[run].complaints}"


def test_every_block_is_run_or_listed_with_a_reason() -> None:
    files = {block.file_name for block in BLOCKS} - {None}
    commands = "\n".join(block.text for block in RUN)
    assert [name for name in files if name is not None and name not in commands] == []
    shown = {block for document in documents() for block, _ in outputs(list(doc_blocks.blocks(document)))}
    neither = [
        block.place
        for block in BLOCKS
        if not (block in RUN or block in shown or block.is_golden or block.file_name or reason(block))
    ]
    assert neither == []


def test_nothing_is_listed_that_is_not_there() -> None:
    listed = [(document, start) for document, starts in NOT_RUN.items() for start in starts]
    listed += [(document, start) for document, starts in REFUSED.items() for start in starts]
    there = {(block.document, block.text) for block in BLOCKS}
    gone = [
        (document, start)
        for document, start in listed
        if not any(document == name and text.startswith(start) for name, text in there)
    ]
    assert gone == []


def test_every_make_target_in_a_document_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {
        target
        for block in BLOCKS
        for words in re.findall(r"^(?:.*&& )?make ([a-z -]+)", block.text, re.MULTILINE)
        for target in words.split()
    }
    assert named - targets == set()
    assert named >= {"run", "test", "docs"}


@pytest.mark.parametrize(
    "block", [block for block in BLOCKS if block.language == "json"], ids=lambda block: block.place
)
def test_every_json_block_can_be_read(block: Block) -> None:
    assert printed.shown_json(block.text) is not None


@pytest.mark.parametrize(
    ("shown", "answer", "fault"),
    [
        ('{"a": 1, ...}', {"a": 1, "b": 2}, None),
        ('{"a": 1}', {"a": 1, "b": 2}, "$: has also ['b']"),
        ('{"a": ..., "c": [1, ..., 9]}', {"a": None, "c": [1, 2, 3, 9]}, None),
        ('{"c": [1, ..., 9]}', {"c": [9]}, "$.c: only 1 elements"),
        ('{"t": "slv_..."}', {"t": "slv_x"}, None),
        ('{"a": 1, ...}', {"a": True}, "$.a: 1, not True"),
        ("[]", [1], "$: 0 elements are shown, there are 1"),
    ],
)
def test_what_is_shown_is_compared_with_what_is_printed(
    shown: str, answer: object, fault: str | None
) -> None:
    assert printed.difference(printed.shown_json(shown), json.loads(json.dumps(answer))) == fault
