"""The documents say what is there: every setting, route and command, and none that is not."""

from pathlib import Path

import pytest

from house import doc_examples, tables


@pytest.mark.parametrize(("name", "word"), sorted(tables.TABLES))
def test_a_generated_table_is_up_to_date(name: str, word: str) -> None:
    found = tables.between((tables.ROOT / name).read_text(encoding="utf-8"), word)
    assert found is not None, f"{name} has no <!-- {word} --> and <!-- /{word} -->"
    assert found[0].strip() == tables.TABLES[name, word](), "run: python tests/house/tables.py"


@pytest.mark.parametrize("name", sorted(tables.FILES))
def test_a_generated_document_is_up_to_date(name: str) -> None:
    written = (tables.ROOT / name).read_text(encoding="utf-8")
    assert written == tables.FILES[name](), "run: python tests/house/tables.py"


@pytest.mark.parametrize("document", doc_examples.documents(), ids=lambda path: path.name)
def test_examples_in_the_documents_are_the_golden_samples(document: Path) -> None:
    written = document.read_text(encoding="utf-8")
    assert written == doc_examples.with_examples(written), "run: python tests/house/doc_examples.py"
