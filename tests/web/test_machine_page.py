"""The page of a machine, with its tips."""

from typing import Any

import pytest

import hostile
from exchange import opdb_files as files
from silverball.exchange import machine_files, opdb
from silverball.store.database.engine import Store
from web import page_forms
from web.visitor import Visitor


def give_tips(store: Store, *texts: str, **entry: Any) -> None:
    raw = files.second_shape()
    for listed in raw["entries"]:
        listed.update(entry)
    tips = [files.a_tip(number, "G4ODR", text=text) for number, text in enumerate(texts, 1)]
    with store.write() as transaction:
        opdb.import_machines(transaction, opdb.parse_machines(raw))
        machine_files.import_tips(transaction, machine_files.parse_pintips(tips))


@pytest.mark.parametrize("opdb_id", ["G4ODR", "G4ODR-MLzY7"])
def test_a_machine_shows_maker_year_and_tips(store: Store, visitor: Visitor, opdb_id: str) -> None:
    give_tips(store, "Shoot the comet.", "Save the second ball.")
    answer = visitor.get(f"/machines/{opdb_id}")
    assert answer.status_code == 200
    text = page_forms.text_of(answer.text)
    assert "Comet Rider" in text
    assert "Nebula, 1994" in text
    assert "Shoot the comet." in text
    assert "Save the second ball." in text


def test_only_web_addresses_become_links(store: Store, visitor: Visitor) -> None:
    links = {"pinballRulesUrl": "https://rules.example/comet", "bobsGuideUrl": "javascript:alert(1)"}
    give_tips(store, hostile.PAYLOADS[0], **links)
    html = visitor.get("/machines/G4ODR").text
    assert 'href="https://rules.example/comet"' in html
    assert "javascript:" not in html


def test_an_unknown_machine_is_not_found(visitor: Visitor) -> None:
    assert visitor.get("/machines/Gunknown").status_code == 404
    assert visitor.get("/machines/medieval").status_code == 404
