"""Results for the federation on the console: ticks, reasons, text to paste, and the file."""

import re
from html import unescape

import pytest
from sqlalchemy import update

import build
import hostile
from silverball.store import tables
from silverball.store.database.engine import Store
from web import page_forms
from web.director import Director
from web.visitor import Visitor


def number_players(store: Store, numbers: dict[int, int | None]) -> None:
    """Give the players these federation numbers."""
    with store.write() as transaction:
        for player_id, number in numbers.items():
            own = tables.player.c.player_id == player_id
            transaction.connection.execute(update(tables.player).where(own).values(ifpa_id=number))


def finished(store: Store, director: Director) -> list[int]:
    """A completed night of four without ties, by place; all but the second have a number."""
    director.play("group_matchplay", players=4)
    director.finish_all()
    director.send("complete", "/standings")
    order = [player_id for _, player_id in director.standings()]
    number_players(store, {order[0]: 5001, order[1]: None, order[2]: 5003, order[3]: 5004})
    return order


def pasted(html: str) -> list[list[str]]:
    """The rows of the text to paste."""
    area = re.search(r'<textarea id="pasted-text"[^>]*>\n?(.*?)</textarea>', html, re.DOTALL)
    return [] if area is None else [line.split("\t") for line in unescape(area[1]).splitlines()]


def ticked(html: str) -> set[str]:
    return set(re.findall(r'name="(tick-\d+)" value="on" checked', html))


def test_a_night_that_is_not_finished_says_so(director: Director) -> None:
    director.play("matchplay", players=4)
    assert "is not finished, so its places can still change." in director.page("/federation")
    assert "pasted-text" not in director.page("/federation")
    answer = director.visitor.get(f"{director.at}/federation/csv")
    assert (answer.status_code, answer.headers["location"]) == (303, f"{director.at}/federation")
    assert f"{director.at}/federation" in director.page("/more")


def test_places_stay_whoever_is_ticked_and_newcomers_are_named(store: Store, director: Director) -> None:
    order = finished(store, director)
    assert f'href="{director.at}/federation"' in director.page("/standings")
    page = director.page("/federation")
    assert "no federation number" in page
    assert ticked(page) == {f"tick-{player_id}" for player_id in order}
    names = [director.name(player_id) for player_id in order]
    rows = pasted(page)
    assert rows == [
        ["1", names[0], "5001"],
        ["2", names[1], ""],
        ["3", names[2], "5003"],
        ["4", names[3], "5004"],
    ]
    assert "no federation number, in the file by name" in page

    form = director.forms("/federation")["federation-choice"]
    query = "&".join(f"tick-{player_id}=on" for player_id in order[1:3])
    answer = director.visitor.get(f"{form.action}?{query}")
    chosen = ",".join(map(str, sorted(order[1:3])))
    assert answer.headers["location"] == f"{director.at}/federation?players={chosen}"
    page = director.page(f"/federation?players={chosen}")
    assert ticked(page) == {f"tick-{player_id}" for player_id in order[1:3]}
    assert pasted(page) == [["2", names[1], ""], ["3", names[2], "5003"]]
    link = re.search(r'href="([^"]+/federation/csv[^"]+)"', page)
    assert link is not None
    file = director.visitor.get(unescape(link[1]))
    assert file.headers["content-type"].startswith("text/csv")
    assert file.text == f"\ufeffPlace,Name,IFPA number\n2,{names[1]},\n3,{names[2]},5003\n"
    number_players(store, {order[3]: 5003})
    page = director.page("/federation")
    assert "have the same federation number" in page
    assert pasted(page) == []
    answer = director.visitor.get(f"{director.at}/federation/csv")
    assert (answer.status_code, answer.headers["location"]) == (303, f"{director.at}/federation")


def test_nobody_ticked_is_nobody_and_not_those_of_before(store: Store, director: Director) -> None:
    finished(store, director)
    answer = director.visitor.get(f"{director.at}/federation/choice")
    assert answer.headers["location"] == f"{director.at}/federation?players=none"
    page = director.page("/federation?players=none")
    assert "Nobody is ticked." in page
    assert ticked(page) == set()
    file = director.visitor.get(f"{director.at}/federation/csv?players=none")
    assert file.text == "\ufeffPlace,Name,IFPA number\n"


@pytest.mark.sample(3)
@pytest.mark.parametrize("choice", ["999999", "0,,x", "9" * 400, "-1", "%00", "%F0%9F%8E%B1"])
def test_strange_choices_name_nobody(store: Store, director: Director, choice: str) -> None:
    finished(store, director)
    stranger = director.page(f"/federation?players={choice}")
    assert pasted(stranger) in ([], pasted(director.page("/federation?players=none")))
    assert director.visitor.get(f"{director.at}/federation/choice?tick-{choice}=on").status_code == 303


def test_only_the_organizer_has_the_page_and_the_file(store: Store, director: Director) -> None:
    finished(store, director)
    for path in ("/federation", "/federation/csv"):
        with Visitor(store) as guest:
            assert guest.get(director.at + path).status_code in (302, 303, 401, 403)


def test_hostile_names_are_text(store: Store, director: Director) -> None:
    order = finished(store, director)
    names = ["</textarea><script>alert(1)</script>", "=1+1", *hostile.PAYLOADS[:2]]
    with store.write() as transaction:
        for player_id, name in zip(order, names, strict=True):
            own = tables.player.c.player_id == player_id
            transaction.connection.execute(update(tables.player).where(own).values(name=name))
    page = director.page("/federation")
    assert "<script>alert" not in page
    assert pasted(page)[0][1] == names[0]
    file = director.visitor.get(f"{director.at}/federation/csv").text
    assert file.splitlines()[1] == f"1,{names[0]},5001"


def test_a_series_that_is_completed_has_its_file(store: Store, director: Director) -> None:
    order = finished(store, director)
    series_id = build.row(store, tables.series, organizer_id=director.user_id)
    with store.write() as transaction:
        own = tables.tournament.c.tournament_id == director.tournament_id
        transaction.connection.execute(update(tables.tournament).where(own).values(series_id=series_id))
    visitor = director.visitor
    assert visitor.get(f"/s/{series_id}/federation.csv").status_code == 409
    assert "federation.csv" not in visitor.get(f"/s/{series_id}").text
    with store.write() as transaction:
        transaction.connection.execute(update(tables.series).values(status="completed"))
    assert f'href="/s/{series_id}/federation.csv"' in visitor.get(f"/s/{series_id}").text
    lines = visitor.get(f"/s/{series_id}/federation.csv").text.splitlines()
    assert lines[0] == "\ufeffPlace,Name,IFPA number"
    assert {line.rpartition(",")[2] for line in lines[1:]} == {"5001", "", "5003", "5004"}
    assert len(order) == 4
    assert page_forms.forms_on(director.page("/federation"))
    with Visitor(store) as guest:
        assert "federation.csv" not in guest.get(f"/s/{series_id}").text
        assert guest.get(f"/s/{series_id}/federation.csv").status_code == 303
    assert visitor.get("/s/999/federation.csv").status_code == 404


def test_what_was_sent_before_the_places_changed_is_named(store: Store, director: Director) -> None:
    first, *_, last = finished(store, director)
    director.send("sent", "/federation")
    assert "with the places of now" in director.page("/federation")
    director.send("reopen", "/standings")
    director.send("adjusting", f"/player?player={last}", pointsAdjustment="20")
    assert "what differs shows once it is finished again" in director.page("/federation")
    director.send("complete", "/standings")
    text = page_forms.text_of(director.page("/federation"))
    assert "Sent before the places changed" in text
    assert f"{director.name(last)} was sent as 4, and is 1 now" in text
    assert f"{director.name(first)} was sent as 1, and is 2 now" in text
    assert "noted as sent to the federation" in director.page("/journal")
    director.send("not-sent", "/federation")
    assert "was sent as" not in page_forms.text_of(director.page("/federation"))
