"""A list of people on a page: looked at, decided and stored, without scripts."""

import re
from typing import Any

import pytest
from sqlalchemy import func, select

import build
from service.sheets.spreadsheets import an_xlsx
from silverball.store import tables
from silverball.store.database.engine import Store
from web import page_forms
from web.director import HERE, Director
from web.page_forms import PageForm

LIST = "Name\tIFPA\tTown\nAda Quill\t7001\tRome\nBo Larkin\t\t\nbo larkin\t\t\n1st\t\t\n"


@pytest.fixture
def night(director: Director) -> Director:
    director.create("matchplay")
    return director


def as_parts(form: PageForm, file: bytes | None = None, **given: Any) -> dict[str, Any]:
    """The form as multipart: keywords with `__` for a dash."""
    wanted = {name.replace("__", "-"): value for name, value in given.items()}
    parts: list[tuple[str, Any]] = [
        (name, (None, str(value)))
        for name, value in {**dict(form.fields), **wanted}.items()
        if name != "file"
    ]
    if file is not None:
        parts.append(("file", ("players.xlsx", file)))
    return {"files": parts, "headers": HERE}


def send(director: Director, page: str, form_id: str, file: bytes | None = None, **given: Any) -> Any:
    form = page_forms.forms_on(page)[form_id]
    return director.visitor.post(form.action, **as_parts(form, file, **given))


def names(director: Director) -> list[str]:
    with director.store.read() as db:
        rows = (
            select(tables.player.c.name)
            .join(tables.entrant, tables.entrant.c.player_id == tables.player.c.player_id)
            .order_by(tables.entrant.c.place)
        )
        return list(db.execute(rows).scalars())


def players(store: Store) -> int:
    with store.read() as db:
        return int(db.execute(select(func.count()).select_from(tables.player)).scalar_one())


def test_a_pasted_table_is_shown_first_and_nobody_is_added_before(night: Director) -> None:
    answer = night.post(night.forms()["people"], names=LIST)
    assert answer.status_code == 422
    text = page_forms.text_of(answer.text)
    for shown in (
        "Nobody was added yet",
        "3 rows: 0 in your book, 2 new, 1 to decide",
        "bo larkin is in row 2, too. One person twice, or two?",
        "Town: a town; left out.",
        "It is the header.",
        "It is a place or the number of a row.",
    ):
        assert shown in text, shown
    assert players(night.store) == 0
    undecided = send(night, answer.text, "import")
    assert undecided.status_code == 422
    assert "Decide this row first" in page_forms.alerts_on(undecided.text)[0]
    done = send(night, undecided.text, "import", row__3="same-2")
    assert (done.status_code, done.headers["location"]) == (303, night.at)
    assert names(night) == ["Ada Quill", "Bo Larkin"]
    # One action, one undo.
    night.send("undo", "/players")
    assert names(night) == []


def test_a_plain_list_is_added_at_once_unless_somebody_looks_like_another(night: Director) -> None:
    night.send("people", names="Ada Quill\nBo Larkin")
    assert names(night) == ["Ada Quill", "Bo Larkin"]
    answer = night.post(night.forms("/players")["people"], names="Cleo Marsh\nAda Quil")
    assert answer.status_code == 422
    form = page_forms.forms_on(answer.text)["import"]
    assert form.boxes["row-2"][-2:] == ["new", "leaveOut"]
    assert send(night, answer.text, "import", row__2="new").status_code == 303
    assert names(night)[2:] == ["Cleo Marsh", "Ada Quil"]


def test_a_file_is_read_and_its_sheet_and_columns_are_chosen(night: Director) -> None:
    book = an_xlsx({"A": [["Ada Quill", "Bo Larkin"], ["Cleo Marsh", "Dov Levi"]], "B": [["x", "y"]]})
    asked = send(night, night.page("/players"), "people-file", book)
    assert "Which sheet?" in page_forms.text_of(asked.text)
    chosen = send(night, asked.text, "sheet-1")
    assert "2 rows: 0 in your book, 2 new" in page_forms.text_of(chosen.text)
    both = send(night, chosen.text, "reread", column__1="name")
    assert "4 rows: 0 in your book, 4 new" in page_forms.text_of(both.text)
    assert send(night, both.text, "import").status_code == 303
    assert names(night) == ["Ada Quill", "Bo Larkin", "Cleo Marsh", "Dov Levi"]


def test_both_readings_and_other_encodings_are_offered(night: Director) -> None:
    form = night.forms("/import")["read"]
    asked = night.visitor.post(form.action, **as_parts(form, text="Quill, Ada\nLarkin, Bo"))
    text = page_forms.text_of(asked.text)
    assert "They are Ada Quill, Bo Larkin" in text
    assert "They are Quill Ada, Larkin Bo" in text
    chosen = send(night, asked.text, "order-lastFirst")
    assert "2 rows" in page_forms.text_of(chosen.text)
    wrong = send(night, night.page("/import"), "file", "Name\nŠkoda".encode("cp1250"))
    page = page_forms.forms_on(wrong.text)
    assert page["reread"].options["encoding"] == ["windows-1252", "utf-8", "windows-1250", "mac-roman"]
    right = send(night, wrong.text, "reread", encoding="windows-1250")
    assert send(night, right.text, "import").status_code == 303
    assert names(night) == ["Škoda"]


def test_a_changed_row_or_book_is_looked_at_again_with_the_answers(night: Director) -> None:
    answer = night.post(night.forms()["people"], names=LIST)
    changed = send(night, answer.text, "import", row__3="new", name__1="Ada Quilter")
    assert changed.status_code == 409
    form = page_forms.forms_on(changed.text)["import"]
    assert (form.value("row-3"), form.value("name-1")) == ("new", "Ada Quilter")
    assert players(night.store) == 0
    assert send(night, changed.text, "import").status_code == 303
    assert names(night) == ["Ada Quilter", "Bo Larkin", "bo larkin"]


def test_the_book_is_filled_without_a_tournament(director: Director) -> None:
    page = director.visitor.get("/home/players/import").text
    form = page_forms.forms_on(page)["read"]
    look = director.visitor.post(form.action, **as_parts(form, text="Ada Quill\nBo Larkin"))
    done = send(director, look.text, "import", out__2="on")
    assert done.headers["location"] == "/home/players?said=imported"
    assert players(director.store) == 1
    assert "They are in your book." in director.visitor.get(done.headers["location"]).text


@pytest.mark.parametrize(
    ("file", "status", "sentence"),
    [
        (b"\x89PNG\x00\x01\x00\x00", 422, "neither a text nor a spreadsheet"),
        (b"Ada\n" * 5_001, 422, "more than 5,000 rows"),
        (an_xlsx({"A": [["Ada"]]})[:400], 422, "broken"),
        (b"A" * 1_300_000, 413, "too large"),
    ],
)
def test_what_cannot_be_read_is_said_and_changes_nothing(
    night: Director, file: bytes, status: int, sentence: str
) -> None:
    answer = send(night, night.page("/import"), "file", file)
    assert answer.status_code == status
    assert sentence in page_forms.text_of(answer.text)
    assert players(night.store) == 0


def test_only_organizers_look_and_other_forms_take_no_file(night: Director) -> None:
    build.a_tournament(night.store, name="Somebody else's")
    other = re.sub(r"/t/\d+/", "/t/2/", night.at + "/import")
    assert night.visitor.get(other).status_code == 403
    form = night.forms("/import")["read"]
    assert night.visitor.post(other, **as_parts(form, text="Ada")).status_code == 403
    # A form without a file elsewhere is not read as one with a file.
    people = night.forms()["people"]
    assert night.visitor.post(people.action, **as_parts(people, names="Ada")).status_code == 419
    garbage = send(night, night.page("/import"), "read", rows="[1", plan="x", text="Ada")
    assert garbage.status_code == 422
    assert players(night.store) == 4
