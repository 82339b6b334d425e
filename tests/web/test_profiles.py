"""Public profiles, series and calendars, without the details that users hide."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import icalendar
import pytest

import build
import canaries
import hostile
from silverball.store import tables
from silverball.store.database.engine import Store
from web import page_forms
from web.visitor import Visitor, an_account

CANARIES: dict[str, Any] = {**canaries.PROFILE, "email": canaries.EMAIL}


CALENDAR_FIELDS = {
    "uid",
    "dtstamp",
    "last-modified",
    "summary",
    "dtstart",
    "dtend",
    "description",
    "location",
    "url",
}


@pytest.fixture
def visitor(store: Store) -> Iterator[Visitor]:
    """A guest of a site that is open to everybody."""
    with Visitor(store, public_read=True) as opened:
        yield opened


def a_match(store: Store, user_id: int, other_id: int, **values: Any) -> build.Night:
    """A tournament of a series in which two users met: three games, two wins, no draw."""
    night = build.a_tournament(store, players=2, **{"status": "completed", "name": "Duel night", **values})
    people = []
    for place, claimed_by in enumerate((user_id, other_id)):
        player_id = build.a_player(
            store, night.organizer_id, name=f"Book {claimed_by}", claimed_by=claimed_by
        )
        at = {"tournament_id": night.tournament_id, "player_id": player_id}
        build.row(store, tables.entrant, **at, place=place + 5)
        build.row(store, tables.standing, **at, position=place + 1, points=Decimal(9 - place), row={})
        people.append(player_id)
    for (player_id, opponent_id), wins in ((people, 2), (people[::-1], 1)):
        row = {"tournament_id": night.tournament_id, "arena_id": night.arena_ids[0], "games": 3, "wins": wins}
        build.row(
            store, tables.match_summary, **row, losses=3 - wins, player_id=player_id, opponent_id=opponent_id
        )
    return night


def read(visitor: Visitor, path: str) -> str:
    answer = visitor.get(path)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_a_profile_shows_the_user_the_tournaments_and_the_opponents(store: Store, visitor: Visitor) -> None:
    user_id = build.a_user(
        store, name="Zoe Nadir", pronouns="they", location="Malmö", flag="se", initials="ZOE"
    )
    other_id = build.a_user(store, name="Bo Larkin")
    night = a_match(store, user_id, other_id)
    page = read(visitor, f"/users/{user_id}")
    text = page_forms.text_of(page)
    for word in ("Zoe Nadir", "they", "Malmö", "SE", "ZOE", "Duel night", "place 1", "Bo Larkin 3 2 1"):
        assert word in text
    assert f'href="/t/{night.tournament_id}"' in page
    assert f'href="/users/{other_id}"' in page


@pytest.mark.parametrize(
    ("first", "sentence"), [(True, "2 won, 1 lost, in 3 games"), (False, "1 won, 2 lost, in 3 games")]
)
def test_two_users_are_compared_from_both_sides(
    store: Store, visitor: Visitor, *, first: bool, sentence: str
) -> None:
    first_user, second_user = build.a_user(store), build.a_user(store, name="Bo Larkin")
    a_match(store, first_user, second_user)
    a, b = (first_user, second_user) if first else (second_user, first_user)
    assert sentence in page_forms.text_of(read(visitor, f"/users/{a}?against={b}"))


@pytest.mark.parametrize("against", ["999999", "x", "1" * 40, "<b>"])
def test_users_who_never_met_are_compared_with_a_note(store: Store, visitor: Visitor, against: str) -> None:
    page = read(visitor, f"/users/{build.a_user(store)}?against={against}")
    assert "They have not met" in page
    assert "<b>" not in page


def test_only_completed_tournaments_count_for_a_comparison_with_planned_ones_left_out(
    store: Store, visitor: Visitor
) -> None:
    user_id = build.a_user(store)
    night = build.a_tournament(store, status="planned", name="Soon")
    player_id = build.a_player(store, night.organizer_id, claimed_by=user_id)
    build.row(store, tables.entrant, tournament_id=night.tournament_id, player_id=player_id)
    text = page_forms.text_of(read(visitor, f"/users/{user_id}"))
    assert "Soon" in text
    assert "planned" in text
    assert "place" not in text
    assert "Against others" not in text


def test_guests_of_a_closed_site_see_the_name_only(store: Store, tablet: Visitor) -> None:
    user_id, other_id = an_account(store, name="Zoe Nadir", **canaries.PROFILE), build.a_user(store)
    a_match(store, user_id, other_id)
    build.a_rating(store, user_id=user_id)
    page = read(tablet, f"/users/{user_id}?against={other_id}")
    assert "Zoe Nadir" in page
    assert f'href="/account/sign-in?next=/users/{user_id}"' in page
    for word in ("canary", "Duel night", "Rating", "won"):
        assert word not in page
    assert tablet.get(f"/users/{user_id}/rating.svg").status_code == 404
    tablet.sign_in()
    assert "canary" in read(tablet, f"/users/{user_id}")
    assert tablet.get(f"/users/{user_id}/rating.svg").status_code == 200


def test_a_hidden_profile_is_hidden_from_all_visitors(store: Store, visitor: Visitor) -> None:
    user_id = build.a_user(store, name="Zoe Nadir", profile_opt_out=True, **CANARIES)
    a_match(
        store, user_id, build.a_user(store), series_id=build.row(store, tables.series, organizer_id=user_id)
    )
    pages = "".join(
        read(visitor, path) for path in (f"/users/{user_id}", "/s/1", f"/users/{user_id}/calendar.ics")
    )
    assert "Zoe Nadir" in pages
    assert "anary" not in pages
    assert "777123456" not in pages


def test_a_rating_is_shown_with_its_year(store: Store, visitor: Visitor) -> None:
    user_id = build.a_user(store, name="Zoe Nadir")
    build.a_rating(store, user_id=user_id, name="Zoe Nadir", name_folded="zoe nadir")
    page = read(visitor, f"/users/{user_id}")
    assert "Rating 1600 ± 24" in page_forms.text_of(page)
    assert f'src="/users/{user_id}/rating.svg"' in page
    picture = visitor.get(f"/users/{user_id}/rating.svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    assert picture.content.startswith(b"<svg")
    assert b"<script" not in picture.content
    assert "script-src" not in picture.headers["content-security-policy"]


@pytest.mark.parametrize("hidden", [True, False])
def test_a_rating_that_is_hidden_or_not_there_is_not_shown(
    store: Store, visitor: Visitor, *, hidden: bool
) -> None:
    user_id = build.a_user(store, ratings_opt_out=hidden)
    if hidden:
        build.a_rating(store, user_id=user_id)
    page = read(visitor, f"/users/{user_id}")
    assert "1600" not in page
    assert "rating.svg" not in page
    assert visitor.get(f"/users/{user_id}/rating.svg").status_code == 404


def test_an_e_mail_address_is_never_shown(store: Store, visitor: Visitor) -> None:
    user_id = build.a_user(store, **CANARIES)
    page = read(visitor, f"/users/{user_id}")
    assert "canary-mail" not in page
    assert "canary-location" in page


def test_a_hidden_history_is_hidden(store: Store, visitor: Visitor) -> None:
    user_id = build.a_user(store, history_opt_out=True)
    a_match(store, user_id, build.a_user(store), name="Canary night")
    page = read(visitor, f"/users/{user_id}")
    assert "Canary night" not in page
    assert "Tournaments played" not in page
    assert "own wish" in page


def test_a_history_of_completed_tournaments_only(store: Store, visitor: Visitor) -> None:
    user_id, other_id = build.a_user(store, history_only_completed=True), build.a_user(store)
    a_match(store, user_id, other_id, name="Canary night", status="started")
    a_match(store, user_id, other_id, name="Old night")
    page = read(visitor, f"/users/{user_id}")
    assert "Canary night" not in page
    assert "Old night" in page


@pytest.mark.parametrize("who", ["user", "opponent"])
def test_users_without_statistics_are_not_compared(store: Store, visitor: Visitor, who: str) -> None:
    user_id = build.a_user(store, name="Zoe Nadir", stats_opt_out=who == "user")
    other_id = build.a_user(store, name="Canary Opponent", stats_opt_out=who == "opponent")
    a_match(store, user_id, other_id)
    page = read(visitor, f"/users/{user_id}?against={other_id}")
    assert "Canary Opponent" not in page
    assert "2 won" not in page


def test_a_long_history_has_pages(store: Store, visitor: Visitor) -> None:
    user_id, organizer_id = build.a_user(store), build.a_user(store)
    player_id = build.a_player(store, organizer_id, claimed_by=user_id)
    for number in range(26):
        tournament_id = build.row(
            store, tables.tournament, organizer_id=organizer_id, name=f"Night {number:02}", status="completed"
        )
        build.row(store, tables.entrant, tournament_id=tournament_id, player_id=player_id)
    newest, oldest = read(visitor, f"/users/{user_id}"), read(visitor, f"/users/{user_id}?page=2")
    assert "Night 25" in newest
    assert "Night 00" not in newest
    assert "Night 00" in oldest
    assert "Page 2 of 2" in page_forms.text_of(oldest)
    assert "Nothing is on this page" in read(visitor, f"/users/{user_id}?page=3")
    for odd in ("0", "-1", "x", "1e3", "99999999999999999999"):
        assert "Night 25" in read(visitor, f"/users/{user_id}?page={odd}")


@pytest.mark.parametrize("path", ["/users/{}", "/users/{}/calendar.ics", "/s/{}"])
@pytest.mark.parametrize("number", ["999999", "0", "-1", "x", "9" * 30, "%00", "1.0"])
def test_a_missing_page_says_so_and_links_on(visitor: Visitor, path: str, number: str) -> None:
    answer = visitor.get(path.format(number))
    assert answer.status_code == 404
    assert 'href="/account"' in answer.text


# Series


def test_a_series_shows_its_standings_and_nights(store: Store, visitor: Visitor) -> None:
    user_id, other_id = build.a_user(store, name="Zoe Nadir"), build.a_user(store)
    organizer_id = build.a_user(store, name="Olga Ramp", role="organizer")
    series_id = build.row(store, tables.series, organizer_id=organizer_id, removed_results=-1)
    for day in (5, 12):
        at = {
            "start_utc": datetime(2026, 3, day, 19, tzinfo=UTC),
            "start_local": f"2026-03-{day:02} 20:00:00",
        }
        a_match(store, user_id, other_id, series_id=series_id, name=f"Night of the {day}th", **at)
    page = read(visitor, f"/s/{series_id}")
    text = page_forms.text_of(page)
    assert "Winter League" in text
    assert "Olga Ramp" in text
    assert "The best night of each player counts." in text
    assert text.index("Night of the 5th") < text.index("Night of the 12th")
    assert f'href="/users/{user_id}"' in page
    assert "03-12" in text


def test_a_series_with_a_curve_says_what_is_still_possible(store: Store, visitor: Visitor) -> None:
    winner_id, loser_id = build.a_user(store, name="Zoe Nadir"), build.a_user(store, name="Yan Otis")
    series_id = build.row(store, tables.series, organizer_id=build.a_user(store), scoring="bg_linear")
    a_match(store, winner_id, loser_id, series_id=series_id)
    assert "Possible" not in read(visitor, f"/s/{series_id}")
    build.a_tournament(store, status="planned", series_id=series_id)
    text = page_forms.text_of(read(visitor, f"/s/{series_id}"))
    assert "1 night is left, worth 100 points at most" in text
    assert "Possible" in text
    assert "200" in text


@pytest.mark.parametrize(
    ("removed", "sentence"),
    [
        (0, "Every night counts."),
        (-1, "The best night of each player counts."),
        (-8, "The best 8 nights of each player count."),
        (1, "The worst night of each player does not count; a missed one is worth 0."),
        (2, "The worst 2 nights of each player do not count; a missed one is worth 0."),
    ],
)
def test_a_series_says_which_nights_count(
    store: Store, visitor: Visitor, removed: int, sentence: str
) -> None:
    organizer_id = build.a_user(store)
    series_id = build.row(store, tables.series, organizer_id=organizer_id, removed_results=removed)
    assert sentence in page_forms.text_of(read(visitor, f"/s/{series_id}"))


def test_a_series_without_nights_is_shown_as_it_is(store: Store, visitor: Visitor) -> None:
    series_id = build.row(store, tables.series, organizer_id=build.a_user(store))
    text = page_forms.text_of(read(visitor, f"/s/{series_id}"))
    assert "Nobody has played yet." in text
    assert "Every night counts." in text


# Calendars


def events(visitor: Visitor, user_id: int) -> list[Any]:
    answer = visitor.get(f"/users/{user_id}/calendar.ics")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/calendar; charset=utf-8"
    return list(icalendar.Calendar.from_ical(answer.content).walk("VEVENT"))


def test_a_calendar_has_the_tournaments_of_the_organizer(store: Store, visitor: Visitor) -> None:
    location_id = build.row(
        store,
        tables.location,
        organizer_id=build.a_user(store),
        name="The Drain",
        address="1 Pipe; Malmö",
        lat=55.6,
        lng=13.0,
    )
    night = build.a_tournament(
        store, name="Thursday, Strikes", location_id=location_id, end_utc=build.NOW + timedelta(hours=4)
    )
    build.row(store, tables.tournament, organizer_id=night.organizer_id, name="Only a test", test=True)
    (event,) = events(visitor, night.organizer_id)
    assert str(event["uid"]) == f"tournament-{night.tournament_id}@silverball.test"
    assert str(event["summary"]) == "Thursday, Strikes"
    assert event["dtstart"].dt == build.NOW
    assert event["dtend"].dt == build.NOW + timedelta(hours=4)
    assert str(event["location"]) == "The Drain, 1 Pipe; Malmö"
    assert (event["geo"].latitude, event["geo"].longitude) == (55.6, 13.0)
    assert str(event["url"]) == f"http://silverball.test/t/{night.tournament_id}"


def test_a_calendar_is_the_same_file_as_long_as_nothing_changes(store: Store, visitor: Visitor) -> None:
    night = build.a_tournament(store)
    path = f"/users/{night.organizer_id}/calendar.ics"
    before = visitor.get(path).content
    visitor.wait(days=3)
    assert visitor.get(path).content == before


def test_a_tournament_that_ends_before_it_begins_has_three_hours_there(
    store: Store, visitor: Visitor
) -> None:
    night = build.a_tournament(store, end_utc=build.NOW - timedelta(hours=1))
    (event,) = events(visitor, night.organizer_id)
    assert event["dtend"].dt - event["dtstart"].dt == timedelta(hours=3)


def test_a_calendar_goes_on_past_the_first_page(store: Store, visitor: Visitor) -> None:
    organizer_id = build.a_user(store)
    for number in range(102):
        build.row(store, tables.tournament, organizer_id=organizer_id, name=f"Night {number}")
    assert len(events(visitor, organizer_id)) == 102


def test_hostile_names_are_text_on_every_page_and_in_the_calendar(store: Store, visitor: Visitor) -> None:
    user_id = build.a_user(store, name="Zoe Nadir")
    for payload in hostile.PAYLOADS[:: 1 if store.is_sqlite else 10]:
        name = payload.replace("\x00", "") or "x"
        other_id = build.a_user(store, name=name, location=name, role="organizer")
        series_id = build.row(store, tables.series, organizer_id=other_id, name=name)
        location_id = build.row(store, tables.location, organizer_id=other_id, name=name, address=name)
        a_match(
            store,
            other_id,
            user_id,
            organizer_id=other_id,
            name=name,
            description=name,
            series_id=series_id,
            location_id=location_id,
        )
        for path in (f"/users/{other_id}", f"/s/{series_id}", f"/users/{user_id}"):
            page = read(visitor, path)
            assert page_forms.foreign_in(page) == [], (path, payload)
        found = events(visitor, other_id)
        assert len(found) == 1, payload
        assert {key.lower() for key in found[0]} <= CALENDAR_FIELDS, payload
