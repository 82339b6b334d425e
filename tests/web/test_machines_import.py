"""A list of machines on a page: looked at, decided and stored, without scripts."""

from typing import Any

from sqlalchemy import select

import build
from service.sheets.spreadsheets import an_xlsx
from silverball.store import tables
from silverball.store.database.engine import Store
from web import page_forms
from web.director import Director
from web.test_people_import import as_parts


def send(director: Director, page: str, form_id: str, file: bytes | None = None, **given: Any) -> Any:
    form = page_forms.forms_on(page)[form_id]
    return director.visitor.post(form.action, **as_parts(form, file, **given))


def names(store: Store) -> list[str]:
    with store.read() as db:
        return list(db.execute(select(tables.arena.c.name).order_by(tables.arena.c.arena_id)).scalars())


def test_a_list_of_machines_fills_the_lineup(store: Store, director: Director) -> None:
    build.an_arena(store, director.user_id, name="Godzilla")
    director.create("matchplay")
    look = send(
        director, director.page("/machines"), "read", text="Machine\tOPDB id\ngodzilla\t\nComet\t\nComet\t"
    )
    text = page_forms.text_of(look.text)
    assert "3 machines, 1 new" in text
    assert "Comet is in the lineup or the list already. A second one?" in text
    done = send(director, look.text, "import", row__3="leaveOut")
    assert (done.status_code, done.headers["location"]) == (303, f"{director.at}/arenas")
    assert names(store) == ["Godzilla", "Comet"]
    assert len(director.tournament().lineup) == 2


def test_a_file_of_machines_fills_the_book(store: Store, director: Director) -> None:
    page = director.visitor.get("/home/arenas/import").text
    look = send(director, page, "file", an_xlsx({"A": [["Game"], ["Comet"], ["Static Garden"]]}))
    done = send(director, look.text, "import", row__1="leaveOut")
    assert done.headers["location"] == "/home/arenas?said=imported"
    assert names(store) == ["Static Garden"]
    refused = send(director, page, "file", b"\x89PNG\x00\x01\x00\x00")
    assert refused.status_code == 422
    assert "neither a text nor a spreadsheet" in page_forms.alerts_on(refused.text)[0]
