"""The documents list every setting, route, command and code, and none that does not exist."""

from collections import Counter
from pathlib import Path

import pytest

from house import doc_examples, tables


@pytest.mark.parametrize(("name", "word"), sorted(tables.TABLES))
def test_a_generated_table_is_up_to_date(name: str, word: str) -> None:
    marked = tables.between((tables.ROOT / name).read_text(encoding="utf-8"), word)
    assert marked is not None, f"{name} has no <!-- {word} --> and <!-- /{word} -->"
    assert marked[0].strip() == tables.TABLES[name, word](), "run: make generated"


@pytest.mark.parametrize("name", sorted(tables.FILES))
def test_a_generated_document_is_up_to_date(name: str) -> None:
    written = (tables.ROOT / name).read_text(encoding="utf-8")
    assert written == tables.FILES[name](), "run: make generated"


@pytest.mark.parametrize("document", doc_examples.documents(), ids=lambda path: path.name)
def test_examples_in_the_documents_are_the_golden_samples(document: Path) -> None:
    written = document.read_text(encoding="utf-8")
    assert written == doc_examples.with_examples(written), "run: make generated"


def test_each_refusal_has_a_code_of_its_own() -> None:
    counts = Counter(kind.code for kind in tables.refusal_classes())
    assert [code for code, count in counts.items() if count > 1] == []


def test_a_released_code_is_never_removed() -> None:
    released = tables.RELEASED_CODES.read_text(encoding="utf-8").split()
    assert sorted(set(released) - {kind.code for kind in tables.refusal_classes()}) == []
