"""The organizer's home: players, machines, locations and series, form by form, without a browser."""

import re
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select, update

import build
import hostile
from selection import examples
from silverball.store import tables
from silverball.store.database import migrate
from silverball.store.database.engine import Store
from silverball.store.tournament.chain import with_name_digest
from silverball.web.book.pages import ACTIONS
from silverball.web.book.sections import SECTIONS
from silverball_wire.machines import Manufacturer
from web import page_forms
from web.director import FORM_TYPE, HERE
from web.visitor import Visitor, an_account

TABLES = {
    "players": tables.player,
    "arenas": tables.arena,
    "locations": tables.location,
    "series": tables.series,
}
# A valid form of each section, and the values that are then stored.
FILLED: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "players": (
        {"name": "Bo Larkin", "ifpaId": "12", "labels": "junior, club"},
        {"name": "Bo Larkin", "ifpa_id": 12, "labels": ["junior", "club"], "status": "active"},
    ),
    "arenas": (
        {"name": "Meteor Shower", "opdbId": "GweeP-Ml9pZ", "categoryId": "4", "status": "inactive"},
        {"name": "Meteor Shower", "opdb_id": "GweeP-Ml9pZ", "category_id": 4, "status": "inactive"},
    ),
    "locations": (
        {"name": "The Drain", "address": "1 Pipe, Malmö", "lat": "55,605", "lng": "13.0038"},
        {"name": "The Drain", "address": "1 Pipe, Malmö", "lat": 55.605, "lng": 13.0038},
    ),
    "series": (
        {"name": "Winter", "scoring": "bg_linear", "removedResults": "-8", "test": "on"},
        {"name": "Winter", "scoring": "bg_linear", "removed_results": -8, "test": True},
    ),
}


@pytest.fixture
def organizer(store: Store, visitor: Visitor) -> int:
    user_id = an_account(store, name="Olga Ramp", role="organizer")
    visitor.sign_in()
    return user_id


def page_of(visitor: Visitor, path: str) -> str:
    answer = visitor.get(path)
    assert answer.status_code == 200, (path, answer.text)
    return answer.text


def send(visitor: Visitor, path: str, form_id: str, **fields: Any) -> Any:
    form = page_forms.forms_on(page_of(visitor, path))[form_id]
    return visitor.post(form.action, content=urlencode(form.filled(**fields)), headers={**FORM_TYPE, **HERE})


def send_form(visitor: Visitor, path: str, form_id: str, **fields: Any) -> str:
    """Send a form that must succeed; returns the page that it leads to."""
    answer = send(visitor, path, form_id, **fields)
    assert answer.status_code == 303, (answer.status_code, page_forms.alerts_on(answer.text))
    to: str = answer.headers["location"]
    page_of(visitor, to)
    return to


def stored_items(store: Store, kind: str) -> list[Any]:
    with store.read() as db:
        return list(db.execute(select(TABLES[kind]).order_by(*TABLES[kind].primary_key)).mappings())


def test_a_visitor_signs_in_first(visitor: Visitor) -> None:
    for path in ("/home", "/home/players", "/home/players/1"):
        assert visitor.get(path).headers["location"] == f"/account/sign-in?next={path}"


def test_home_shows_tournaments_and_what_the_book_holds(
    store: Store, visitor: Visitor, organizer: int
) -> None:
    night = build.a_tournament(store, organizer_id=organizer)
    build.a_tournament(store, name="Somebody else's night")
    page = page_of(visitor, "/home")
    text = page_forms.text_of(page)
    assert "Thursday Strikes" in text
    assert "Somebody else's night" not in text
    assert "Players 4" in text
    assert "Machines 2" in text
    for path in (
        f"/t/{night.tournament_id}/run",
        f"/t/{night.tournament_id}",
        f"/users/{organizer}/calendar.ics",
    ):
        assert f'href="{path}"' in page


def test_a_number_of_somebody_else_is_asked(store: Store, visitor: Visitor, organizer: int) -> None:
    ada = build.a_player(store, organizer, name="Ada Quill", ifpa_id=12)
    asked = send(visitor, "/home/players", "new", name="Bo Larkin", ifpaId="12")
    assert asked.status_code == 409
    assert page_forms.alerts_on(asked.text) == [
        "Federation number 12 is that of Ada Quill in your book. Check it, or tick that it is them."
    ]
    form = page_forms.forms_on(asked.text)["new"]
    sent = urlencode(form.filled(numberWins="on"))
    answer = visitor.post(form.action, content=sent, headers={**FORM_TYPE, **HERE})
    assert answer.headers["location"] == f"/home/players/{ada}?said=added"
    assert len(stored_items(store, "players")) == 1


@pytest.mark.parametrize("kind", SECTIONS)
def test_a_thing_is_added_changed_and_removed(
    store: Store, visitor: Visitor, organizer: int, kind: str
) -> None:
    fields, wanted = FILLED[kind]
    to = send_form(visitor, f"/home/{kind}", "new", **fields)
    (row,) = stored_items(store, kind)
    assert {name: row[name] for name in wanted} == wanted
    assert row["organizer_id"] == organizer
    path = to.partition("?")[0]
    assert page_forms.forms_on(page_of(visitor, path))["change"].value("name") == wanted["name"]
    # Sent without a change, it changes nothing.
    send_form(visitor, path, "change")
    assert stored_items(store, kind) == [row]
    send_form(visitor, path, "change", name="Another name")
    renamed = {**row, "name": "Another name"}
    assert stored_items(store, kind) == [with_name_digest(renamed) if kind == "players" else renamed]
    assert send_form(visitor, path, "out") == f"/home/{kind}?said=gone"
    assert stored_items(store, kind) == []


@pytest.mark.parametrize("kind", SECTIONS)
def test_a_name_is_all_that_is_needed(store: Store, visitor: Visitor, organizer: int, kind: str) -> None:
    send_form(visitor, f"/home/{kind}", "new", name="Just a name")
    assert [row["name"] for row in stored_items(store, kind)] == ["Just a name"]


@pytest.mark.parametrize(
    ("kind", "field", "typed", "sentence"),
    [
        ("players", "name", "", "The name field is required."),
        ("players", "name", "x" * 101, "must not be greater than 100 characters"),
        ("players", "ifpaId", "many", "The ifpa id field must be an integer."),
        ("players", "labels", ",".join("abcdefghijk"), "must not have more than 10 items"),
        ("arenas", "opdbId", "no such id!", "must be an id of the machine database"),
        ("arenas", "categoryId", "0", "must be at least 1"),
        ("locations", "lat", "north", "The lat field must be a number."),
        ("locations", "lat", "91", "must not be greater than 90"),
        ("locations", "lat", "55", "lng"),
        ("series", "removedResults", "9999", "must not be greater than 1000"),
    ],
)
def test_a_refused_form_says_why_and_keeps_its_entries(
    store: Store, visitor: Visitor, organizer: int, kind: str, field: str, typed: str, sentence: str
) -> None:
    answer = send(visitor, f"/home/{kind}", "new", **{"name": "Kept text", field: typed})
    assert answer.status_code == 422
    assert sentence in " ".join(page_forms.alerts_on(answer.text))
    assert stored_items(store, kind) == []
    form = page_forms.forms_on(answer.text)["new"]
    assert form.value(field) == typed
    assert field == "name" or form.value("name") == "Kept text"


def test_a_second_tap_on_add_adds_nothing(store: Store, visitor: Visitor, organizer: int) -> None:
    form = page_forms.forms_on(page_of(visitor, "/home/players"))["new"]
    sent = urlencode(form.filled(name="Bo Larkin"))
    answers = [visitor.post(form.action, content=sent, headers={**FORM_TYPE, **HERE}) for _ in range(2)]
    assert [answer.headers["location"] for answer in answers] == ["/home/players/1?said=added"] * 2
    assert len(stored_items(store, "players")) == 1


def test_what_a_tournament_uses_is_not_removed(store: Store, visitor: Visitor, organizer: int) -> None:
    night = build.a_tournament(store, organizer_id=organizer)
    answer = send(visitor, f"/home/players/{night.player_ids[0]}", "out")
    assert answer.status_code == 409
    assert "Set the player inactive instead." in page_forms.alerts_on(answer.text)[0]


@pytest.mark.parametrize("kind", SECTIONS)
def test_a_book_is_open_to_its_owner_only(store: Store, visitor: Visitor, organizer: int, kind: str) -> None:
    other = build.a_user(store, role="organizer")
    thing_id = build.row(store, TABLES[kind], organizer_id=other, name="Foreign")
    own_id = build.row(store, TABLES[kind], organizer_id=organizer, name="Own")
    assert visitor.get(f"/home/{kind}/{thing_id}").status_code == 404
    assert "Foreign" not in page_of(visitor, f"/home/{kind}")
    answer = send(
        visitor, f"/home/{kind}/{own_id}", "change", name="Taken", **{SECTIONS[kind].id_field: thing_id}
    )
    assert answer.status_code == 403
    assert sorted(row["name"] for row in stored_items(store, kind)) == ["Foreign", "Own"]


@pytest.mark.parametrize("path", ["/home/none", "/home/players/x", "/home/players/999999", "/home/arenas/0"])
def test_what_is_not_there_is_said(visitor: Visitor, organizer: int, path: str) -> None:
    assert visitor.get(path).status_code == 404


def test_a_long_book_has_pages_and_a_search(store: Store, visitor: Visitor, organizer: int) -> None:
    for number in range(101):
        build.a_player(store, organizer, name=f"Näme {number:03}")
    first, second = page_of(visitor, "/home/players"), page_of(visitor, "/home/players?page=2")
    assert "Näme 000" in first
    assert "Näme 100" not in first
    assert "Näme 100" in second
    assert "Näme 100" in page_of(visitor, "/home/players?q=name+100")
    assert "Nothing in use has that" in page_of(visitor, "/home/players?q=zz%00")
    for odd in ("0", "x", "-1", "999", "9" * 40):
        assert visitor.get(f"/home/players?page={odd}").status_code == 200


def test_a_claim_is_approved(store: Store, visitor: Visitor, organizer: int) -> None:
    player_id, user_id = build.a_player(store, organizer), build.a_user(store, name="Una Ball")
    build.row(store, tables.claim, player_id=player_id, user_id=user_id, at=build.NOW)
    assert "1 claim waits" in page_of(visitor, "/home")
    page = page_forms.text_of(page_of(visitor, "/home/players"))
    assert "Una Ball says: I am Bo Larkin" in page
    send_form(visitor, "/home/players", f"claim-approve-{player_id}-{user_id}")
    assert stored_items(store, "players")[0]["claimed_by"] == user_id
    assert "says: I am" not in page_of(visitor, "/home/players")


def test_a_claim_is_turned_down(store: Store, visitor: Visitor, organizer: int) -> None:
    player_id, user_id = build.a_player(store, organizer), build.a_user(store)
    build.row(store, tables.claim, player_id=player_id, user_id=user_id, at=build.NOW)
    send_form(visitor, "/home/players", f"claim-out-{player_id}-{user_id}")
    assert stored_items(store, "players")[0]["claimed_by"] is None
    with store.read() as db:
        assert db.execute(select(func.count()).select_from(tables.claim)).scalar_one() == 0


def test_claims_on_other_books_are_not_shown(store: Store, visitor: Visitor, organizer: int) -> None:
    other = build.a_player(store, build.a_user(store), name="Foreign")
    build.row(store, tables.claim, player_id=other, user_id=organizer, at=build.NOW)
    assert "says: I am" not in page_of(visitor, "/home/players")


def test_two_entries_of_a_player_are_merged(store: Store, visitor: Visitor, organizer: int) -> None:
    night = build.a_tournament(store, organizer_id=organizer)
    gone = night.player_ids[0]
    kept = build.a_player(store, organizer, name="Player One")
    to = send_form(visitor, f"/home/players/{gone}?q=one", "merge", playerId=kept)
    assert to == f"/home/players/{kept}?said=merged"
    assert visitor.get(f"/home/players/{gone}").status_code == 404
    with store.read() as db:
        entrants = set(db.execute(select(tables.entrant.c.player_id)).scalars())
    assert kept in entrants
    assert gone not in entrants


@pytest.mark.both_databases
def test_the_book_lists_likely_doubles_and_says_what_a_merge_does(
    store: Store, visitor: Visitor, organizer: int
) -> None:
    night = build.a_tournament(store, organizer_id=organizer, players=1)
    ada = build.a_player(store, organizer, name="Ada Quill", ifpa_id=77)
    near = build.a_player(store, organizer, name="Quill, A.")
    other = build.a_player(store, organizer, name="Somebody", ifpa_id=77)
    for name, number in (("Bo Quill", None), ("Ada Quill", 78)):
        build.a_player(store, organizer, name=name, ifpa_id=number)
    page = page_of(visitor, "/home/players")
    offered = re.findall(r'href="(/home/players/\d+\?with=\d+)#twice"', page)
    assert offered[0] == f"/home/players/{other}?with={ada}"
    assert f"/home/players/{near}?with={ada}" in offered
    # One surname is no double, and neither are two numbers.
    assert len(offered) == 3
    with store.write() as transaction:
        own = update(tables.entrant).where(tables.entrant.c.player_id == night.player_ids[0])
        transaction.connection.execute(own.values(player_id=near))
    page = page_of(visitor, f"/home/players/{near}?with={ada}")
    assert "What follows: 1 tournament of" in page
    assert f'value="{ada}"' in page
    for strange in ("x", "9" * 30, str(near), "-1"):
        assert "What follows" not in page_of(visitor, f"/home/players/{near}?with={strange}")


@pytest.mark.both_databases
def test_likely_double_machines_are_merged_and_the_merge_is_undone(
    store: Store, visitor: Visitor, organizer: int
) -> None:
    night = build.a_tournament(store, organizer_id=organizer, arenas=2)
    first, second = night.arena_ids
    same = build.an_arena(store, organizer, name="MÁCHINE 1")
    for title in (None, "GA", "GB"):
        build.an_arena(store, organizer, name="Comet", opdb_id=title)
    build.a_game(store, night.tournament_id, night.player_ids[:2], arena_id=first)
    page = page_of(visitor, "/home/arenas")
    assert re.findall(r'href="(/home/arenas/\d+)\?with=\d+#twice"', page) == [f"/home/arenas/{same}"]
    assert "one name" in page_forms.text_of(page)
    assert "Twice in your book?" not in page_of(visitor, f"/home/arenas/{second}")
    page = page_forms.text_of(page_of(visitor, f"/home/arenas/{first}"))
    assert f"MÁCHINE 1 number {same}, 0 tournaments, 0 games" in page
    assert f"What follows: 1 tournament and 1 game of Machine 1 , number {first}, will be on it." in page
    to = send_form(visitor, f"/home/arenas/{first}", "arena-merge", arenaId=same)
    assert to == f"/home/arenas/{same}?said=machines-merged"
    assert "Likely doubles" not in page_of(visitor, "/home/arenas")
    assert "Twice in your book?" not in page_of(visitor, f"/home/arenas/{first}")
    assert 'href="/home/actions"' in page_of(visitor, "/home")
    page = page_of(visitor, "/home/actions")
    assert f"Machine {first} was merged into MÁCHINE 1 , machine {same}" in page_forms.text_of(page)
    (form,) = re.findall(r'id="(undo-\d+)"', page)
    assert send_form(visitor, "/home/actions", form).startswith("/home/actions?said=undone")
    page = page_forms.text_of(page_of(visitor, "/home/actions?said=undone"))
    assert "Undone." in page
    with store.read() as db:
        assert set(db.execute(select(tables.lineup_arena.c.arena_id)).scalars()) == {first, second}


def test_machines_of_one_lineup_are_not_offered_and_cannot_be_merged(
    store: Store, visitor: Visitor, organizer: int
) -> None:
    night = build.a_tournament(store, organizer_id=organizer)
    first, second = night.arena_ids
    with store.write() as transaction:
        transaction.connection.execute(update(tables.arena).values(name="Godzilla"))
    assert "Likely doubles" not in page_of(visitor, "/home/arenas")
    page = page_forms.text_of(page_of(visitor, f"/home/arenas/{first}"))
    assert "both were in 1 tournament, so they are two machines" in page
    answer = send(visitor, f"/home/arenas/{first}", "arena-merge", arenaId=second)
    assert answer.status_code == 409
    assert "had both machines" in page_forms.alerts_on(answer.text)[0]


def test_a_list_that_filled_the_book_is_undone_and_the_page_says_who_stays(
    store: Store, visitor: Visitor, organizer: int
) -> None:
    rows = [{"line": line, "name": name} for line, name in enumerate(("Ada Quill", "Bo Larkin", "Cleo"), 1)]
    look = build.do(store, "POST", "/api/players/import", {"rows": rows}, by=organizer)[1]["data"]
    body = {"rows": rows, "plan": look["plan"]}
    stored = build.do(store, "POST", "/api/players/import", body, by=organizer)[1]["data"]
    build.do(
        store, "PATCH", f"/api/players/{stored['rows'][1]['playerId']}", {"labels": ["left"]}, by=organizer
    )
    page = page_of(visitor, "/home/actions")
    assert "A list brought 3 players." in page_forms.text_of(page)
    (form,) = re.findall(r'id="(undo-\d+)"', page)
    send_form(visitor, "/home/actions", form)
    page = page_forms.text_of(page_of(visitor, "/home/actions"))
    assert "Undone. These stay: Bo Larkin : It was changed since." in page
    assert [row["name"] for row in stored_items(store, "players")] == ["Bo Larkin"]


def test_a_merge_that_cannot_be_undone_says_why(store: Store, visitor: Visitor, organizer: int) -> None:
    first, second, third = (build.an_arena(store, organizer) for _ in range(3))
    send_form(visitor, f"/home/arenas/{first}", "arena-merge", arenaId=second)
    send_form(visitor, f"/home/arenas/{second}", "arena-merge", arenaId=third)
    *_, oldest = re.findall(r'id="(undo-\d+)"', page_of(visitor, "/home/actions"))
    answer = send(visitor, "/home/actions", oldest)
    assert answer.status_code == 409
    assert "was merged into another one since" in page_forms.alerts_on(answer.text)[0]


def test_players_who_met_cannot_be_merged(store: Store, visitor: Visitor, organizer: int) -> None:
    night = build.a_tournament(store, organizer_id=organizer)
    first, second, *_ = night.player_ids
    answer = send(visitor, f"/home/players/{first}?q=player", "merge", playerId=second)
    assert answer.status_code == 409
    assert "Both players were in tournament" in page_forms.alerts_on(answer.text)[0]


def test_a_machine_is_found_in_the_machine_database(store: Store, visitor: Visitor, organizer: int) -> None:
    title = {"opdb_id": "G4ODR-MLzY7", "opdb_group": "G4ODR", "entry_type": "machine", "name": "Comet Rider"}
    maker = Manufacturer(manufacturer_id=1, name="Vector", full_name=None)
    entry = msgspec.structs.replace(build.MACHINE, **title, year=1987, manufacturer=maker)
    build.row(store, tables.machine, **title, entry=msgspec.to_builtins(entry))
    page = page_of(visitor, "/home/arenas?machine=comet")
    assert "Comet Rider Vector 1987" in page_forms.text_of(page)
    send_form(visitor, "/home/arenas?machine=comet", "title-1")
    (arena,) = stored_items(store, "arenas")
    assert (arena["name"], arena["opdb_id"]) == ("Comet Rider", "G4ODR-MLzY7")
    assert "No title has that" in page_of(visitor, "/home/arenas?machine=zzz")


def test_an_account_that_is_no_organizer_is_refused(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    for path in ("/home", "/home/players"):
        assert "Only organizers keep a book." in page_of(visitor, path)
    sent = urlencode({"csrf": visitor.csrf(), "name": "x", "form": "new", "page": "/home/players"})
    answer = visitor.post("/home/do/players-new", content=sent, headers={**FORM_TYPE, **HERE})
    assert answer.status_code == 403
    assert "Only organizers keep a book." in page_forms.alerts_on(answer.text)[0]


def test_a_form_of_an_older_session_comes_back_filled(store: Store, visitor: Visitor, organizer: int) -> None:
    sent = urlencode({"csrf": "old", "name": "Typed before", "form": "new", "page": "/home/arenas"})
    answer = visitor.post("/home/do/arenas-new", content=sent, headers={**FORM_TYPE, **HERE})
    assert answer.status_code == 419
    assert page_forms.forms_on(answer.text)["new"].value("name") == "Typed before"
    assert stored_items(store, "arenas") == []
    assert visitor.post("/home/do/arenas-new", content=sent, headers=FORM_TYPE).status_code == 419
    assert visitor.get("/home/do/arenas-new").headers["location"] == "/home"


def test_hostile_names_are_text_in_the_book(store: Store, visitor: Visitor, organizer: int) -> None:
    for payload in hostile.PAYLOADS[:: 1 if store.is_sqlite else 10]:
        name = payload.replace("\x00", "") or "x"
        for kind, table in TABLES.items():
            build.row(store, table, organizer_id=organizer, name=name)
            assert page_forms.foreign_in(page_of(visitor, f"/home/{kind}")) == [], payload
        claimant = build.a_user(store, name=name)
        player_id = stored_items(store, "players")[-1]["player_id"]
        build.row(store, tables.claim, player_id=player_id, user_id=claimant, at=build.NOW)
        path = f"/home/players/{player_id}?{urlencode({'q': name}, errors='replace')}"
        assert page_forms.foreign_in(page_of(visitor, path)) == [], payload
    for kind in SECTIONS:
        page = page_of(visitor, f"/home/{kind}")
        assert page_forms.foreign_in(page) == []


FIELDS = "name status labels ifpaId opdbId categoryId address lat lng scoring removedResults test player_id"
NAMES = [*FIELDS.split(), "arena_id", "location_id", "series_id", "playerId", "userId", "form", "page", "key"]
VALUES = st.one_of(
    st.sampled_from(
        ["", "1", "2", "0", "-1", "on", "active", "completed", "points", "custom", "9" * 30, "1.5"]
    ),
    st.sampled_from(["/home/players", "/home/players/1", "/home/none", "//evil.example", "new", "change"]),
    st.sampled_from(["NaN", "Infinity", "1e999", "\x00", "\ud800", "a\nb", ",,,", "GweeP-Ml9pZ"]),
    st.sampled_from(hostile.PAYLOADS),
)


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A signed-in organizer with one item in each section."""
    opened = Store(f"sqlite:///{tmp_path_factory.mktemp('book') / 'book.db'}")
    migrate.migrate(opened)
    with Visitor(opened) as visitor:
        organizer_id = an_account(opened, role="organizer")
        for table in TABLES.values():
            for name in ("One", "Two"):
                build.row(opened, table, organizer_id=organizer_id, name=name)
        visitor.sign_in()
        yield visitor
    opened.close()


@pytest.mark.sample(6)
@pytest.mark.parametrize("action", sorted(ACTIONS))
def test_any_input_succeeds_or_is_refused_with_a_sentence(book: Visitor, action: str) -> None:
    csrf = book.csrf()

    @settings(
        max_examples=examples(15),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(fields=st.lists(st.tuples(st.sampled_from(NAMES), VALUES), max_size=14))
    def try_it(fields: list[tuple[str, str]]) -> None:
        body = urlencode([*fields, ("csrf", csrf)], errors="replace")
        answer = book.post(f"/home/do/{action}", content=body, headers={**FORM_TYPE, **HERE})
        assert answer.status_code in {303, 403, 404, 409, 422}
        if answer.status_code == 303:
            assert answer.headers["location"].startswith("/home")
        else:
            assert page_forms.alerts_on(answer.text)

    try_it()
