"""Lists for everybody: past nights of a club, points per round, standings as CSV, and a player's page."""

import codecs
import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree

import pytest

import build
from silverball.store.database.engine import Store
from web import page_forms
from web.director import Director
from web.public_visitor import PublicVisitor
from web.visitor import Visitor


@pytest.fixture
def guest(store: Store) -> Iterator[Visitor]:
    with Visitor(store) as opened:
        yield opened


def page_text(visitor: Visitor, path: str) -> str:
    answer = visitor.get(path)
    assert answer.status_code == 200, answer.text
    return page_forms.text_of(answer.text)


def a_past_night(store: Store, organizer_id: int, name: str, day: str, **values: Any) -> int:
    start = datetime.fromisoformat(f"{day}T19:00:00").replace(tzinfo=UTC)
    night = build.a_tournament(
        store,
        players=2,
        organizer_id=organizer_id,
        **{
            "name": name,
            "status": "completed",
            "start_utc": start,
            "start_local": f"{day} 19:00:00",
            **values,
        },
    )
    return night.tournament_id


def test_the_past_nights_of_a_club_are_listed_by_month(store: Store, guest: Visitor) -> None:
    club, other = build.a_user(store, name="Olga Ramp"), build.a_user(store, name="Otto Tilt")
    for name, day in (("Thursday 1", "2026-07-30"), ("Thursday 2", "2026-08-06"), ("Cup 100%", "2026-08-09")):
        a_past_night(store, club, name, day)
    a_past_night(store, other, "Elsewhere", "2026-08-01")
    a_past_night(store, club, "Only a test", "2026-08-02", test=True)
    a_past_night(store, club, "Tonight", "2026-08-20", status="started")
    text = page_text(guest, f"/users/{club}/nights")
    assert "3 nights" in text
    assert text.index("August 2026") < text.index("Cup 100%") < text.index("Thursday 2")
    assert text.index("Thursday 2") < text.index("July 2026") < text.index("Thursday 1")
    for hidden in ("Elsewhere", "Only a test", "Tonight"):
        assert hidden not in text
    found = page_text(guest, f"/users/{club}/nights?q=thurs+2")
    assert "1 night with thurs 2 in the name" in found
    assert "Thursday 2" in found
    assert "Thursday 1" not in found
    # A sign of the database's own is a letter like any other.
    assert "1 night with %" in page_text(guest, f"/users/{club}/nights?q=%25")
    assert "0 nights" in page_text(guest, f"/users/{club}/nights?page=9&q=nothing")


def test_the_past_nights_of_a_club_are_a_feed_that_a_reader_opens(store: Store, guest: Visitor) -> None:
    club = build.a_user(store, name="Olga & Ramp")
    ended = datetime(2026, 8, 6, 22, 41, tzinfo=UTC)
    second = a_past_night(store, club, "<Thursday> 2", "2026-08-06", completed_at=ended)
    first = a_past_night(store, club, "Thursday 1", "2026-07-30", completed_at=None)
    a_past_night(store, club, "Tonight", "2026-08-20", status="started")
    answer = guest.get(f"/users/{club}/nights.atom")
    assert answer.headers["content-type"].startswith("application/atom+xml")
    feed = ElementTree.fromstring(answer.content)  # our own answer
    name = "{http://www.w3.org/2005/Atom}"
    assert feed.findtext(f"{name}title") == "Nights of Olga & Ramp"
    assert feed.findtext(f"{name}updated") == "2026-08-06T22:41:00Z"
    entries = feed.findall(f"{name}entry")
    assert [entry.findtext(f"{name}title") for entry in entries] == ["<Thursday> 2", "Thursday 1"]
    links = [entry.find(f"{name}link").get("href") for entry in entries]  # type: ignore[union-attr]
    assert [(link or "").rpartition("/t/")[2] for link in links] == [str(second), str(first)]
    assert guest.get(f"/users/{club}/nights.atom").content == answer.content
    assert guest.get("/users/99/nights.atom").status_code == 404


def test_the_nights_of_nobody_are_not_there(guest: Visitor) -> None:
    assert guest.get("/users/99/nights").status_code == 404
    assert guest.get("/t/99/standings.csv").status_code == 404


def test_the_standings_are_a_file_that_a_spreadsheet_opens(store: Store, director: Director) -> None:
    director.create("group_matchplay")
    director.send("people", names="=SUM(A1)\nBo Pike\nCleo Quist\nDov Larkin")
    director.send("machine", names="Godzilla")
    director.send("start")
    director.send("round-open")
    director.finish_all()
    with Visitor(store) as guest:
        answer = guest.get(f"/t/{director.tournament_id}/standings.csv")
    assert answer.headers["content-type"].startswith("text/csv")
    assert "standings-1.csv" in answer.headers["content-disposition"]
    # A spreadsheet reads UTF-8 where the file begins with its mark.
    assert answer.content.startswith(codecs.BOM_UTF8)
    head, first, *others = csv.reader(io.StringIO(answer.content.decode("utf-8-sig")))
    assert head == ["position", "playerId", "name", "points", "strikes"]
    assert (first[0], float(first[3])) == ("1", 7.0)
    assert len(others) == 3
    # A name is no formula.
    names = [row[2] for row in (first, *others)]
    assert "'=SUM(A1)" in names


def test_points_of_each_round_stand_beside_each_other(store: Store, director: Director) -> None:
    director.create("group_matchplay")
    director.start(4)
    for _ in range(2):
        director.send("round-open")
        director.finish_all()
    passer = PublicVisitor(store)
    assert passer.text(f"/t/{director.tournament_id}/points?part=points").startswith(
        "Place Player Round 1 Round 2 Points 1 Player 1 7 7 14 2 Player 2 5 5 10"
    )
    live = passer.page(f"/t/{director.tournament_id}")
    for path in ("points", "standings.csv"):
        assert f'href="/t/{director.tournament_id}/{path}"' in live
    passer.close()


def test_the_live_page_begins_with_a_list_to_find_oneself(store: Store, director: Director) -> None:
    director.create("matchplay")
    director.start(4)
    passer = PublicVisitor(store)
    page = passer.page(f"/t/{director.tournament_id}")
    passer.close()
    main = page[page.index("<main") :]
    assert main.index("Find yourself") < main.index("Playing now")
    for entrant in director.tournament().entrants:
        assert f'href="/t/{director.tournament_id}/players/{entrant.player_id}"' in main


def test_the_page_of_a_player_has_the_message_and_the_place_in_line(
    store: Store, director: Director, guest: Visitor
) -> None:
    director.create("frenzy", frenzyQueueSize=2)
    director.start(6, machines=2)
    build.do(
        store,
        "PATCH",
        f"/api/tournaments/{director.tournament_id}",
        {"motdText": "Pizza is here"},
        by=director.tournament().details["organizer_id"],
    )
    night = director.tournament()
    spots = [spot.player_id for spot in night.waiting_spots]
    text = page_text(guest, f"/t/{director.tournament_id}/players/{spots[1]}")
    assert "From the director: Pizza is here" in text
    assert "Number 2 in line" in text
    playing = night.games[0].player_ids[0]
    page = guest.get(f"/t/{director.tournament_id}/players/{playing}").text
    assert f'data-call="{night.games[0].game_id}"' in page
    assert "called.js" in page


def test_parts_of_the_overlay_are_chosen_by_name(store: Store, director: Director) -> None:
    director.create("matchplay")
    director.start(4)
    passer = PublicVisitor(store)
    page = passer.page(f"/t/{director.tournament_id}/overlay?parts=now,head")
    passer.close()
    assert page.index('id="part-now"') < page.index('id="part-head"')
    assert 'id="part-standings"' not in page
