"""A calendar file keeps to RFC 5545: rows of 75 octets at most, which join to what was written."""

import re

import icalendar
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.exchange.calendars import calendar_file
from silverball.service.tournaments.reads.listing import DatedTournament
from silverball_wire.arenas import Location

ROW_OCTETS_MAX = 75


def a_tournament(description: str) -> DatedTournament:
    return DatedTournament(
        tournament_id=7,
        name="Thursday at the Drain",
        status="planned",
        type="matchplay",
        start_utc="2026-03-05T19:00:00.000000Z",
        start_local="2026-03-05 20:00:00",
        end_utc=None,
        description=description,
        test=False,
        updated_at="2026-03-01T10:00:00.000000Z",
        location=None,
    )


def rows_of(content: bytes) -> list[bytes]:
    assert content.endswith(b"\r\n")
    return content[:-2].split(b"\r\n")


def description_in(content: bytes) -> str:
    (event,) = icalendar.Calendar.from_ical(content).walk("VEVENT")
    return str(event.get("description", ""))


@pytest.mark.parametrize(
    "description",
    [
        "Short.",
        "A night of pinball with prizes for everybody. " * 20,
        "x" * 62,
        "x" * 63,
        "x" * 500,
        "Bring a friend, a lamp; a bag.\n" * 30,
        "\\" * 200,
        "^" * 200,
        "Flipperabend für alle im Süden, mit Überraschung. " * 10,
        "😀" * 100,
    ],
)
def test_long_lines_are_folded_and_read_back_whole(description: str) -> None:
    content = calendar_file("Tournaments of Ann", [a_tournament(description)], "https://pinball.example")
    assert max(map(len, rows_of(content))) <= ROW_OCTETS_MAX
    assert description_in(content) == description.strip()


@given(st.text(st.sampled_from("ab ,;\\^:\n\"'é😀"), max_size=400))
def test_any_text_is_read_back(description: str) -> None:
    content = calendar_file("Ann", [a_tournament(f"<{description}>")], "https://pinball.example")
    assert max(map(len, rows_of(content))) <= ROW_OCTETS_MAX
    assert description_in(content) == f"<{description}>"


def test_no_escaped_letter_is_divided_between_two_rows() -> None:
    """Some programs unfold after they have read the escapes."""
    for length in range(40, 80):
        content = calendar_file(
            "Ann", [a_tournament("x" * length + ",;,;,;" * 20)], "https://pinball.example"
        )
        assert not any(re.search(rb"(?<!\\)(\\\\)*\\$", row) for row in rows_of(content))


def test_an_entry_has_every_line_that_its_tournament_can_have() -> None:
    """A line for each property; source: RFC 5545, section 3.6.1, and 3.8.1.6 for the place on the map."""
    place = Location(
        location_id=3,
        name="The Drain",
        organizer_id=2,
        status="active",
        address="1 Pipe; Malmö",
        lat=-55.605,
        lng=13,
    )
    tournament = msgspec.structs.replace(
        a_tournament("Bring a friend."), location=place, end_utc="2026-03-05T23:30:00.000000Z"
    )
    content = calendar_file("Ann", [tournament], "https://pinball.example")
    begin, end = rows_of(content).index(b"BEGIN:VEVENT"), rows_of(content).index(b"END:VEVENT")
    assert sorted(row.decode() for row in rows_of(content)[begin + 1 : end]) == [
        "DESCRIPTION:Bring a friend.",
        "DTEND:20260305T233000Z",
        "DTSTAMP:20260301T100000Z",
        "DTSTART:20260305T190000Z",
        "GEO:-55.605;13.0",
        "LAST-MODIFIED:20260301T100000Z",
        "LOCATION:The Drain\\, 1 Pipe\\; Malmö",
        "SUMMARY:Thursday at the Drain",
        "UID:tournament-7@pinball.example",
        "URL:https://pinball.example/t/7",
    ]


@pytest.mark.parametrize("end_utc", [None, "2026-03-05T19:00:00.000000Z", "2026-03-05T18:00:00.000000Z"])
def test_a_night_without_an_end_has_three_hours_in_the_file(end_utc: str | None) -> None:
    tournament = msgspec.structs.replace(a_tournament("Bring a friend."), end_utc=end_utc)
    content = calendar_file("Ann", [tournament], "https://pinball.example")
    assert b"DTEND:20260305T220000Z" in rows_of(content)


def test_three_hours_are_three_hours_where_the_clocks_change_meanwhile() -> None:
    # In Stockholm the clocks go forward at 01:00 UTC: the night is from 00:00 to 04:00 there.
    tournament = msgspec.structs.replace(
        a_tournament("Until late."), start_utc="2026-03-28T23:00:00.000000Z", end_utc=None
    )
    content = calendar_file("Ann", [tournament], "https://pinball.example")
    assert {b"DTSTART:20260328T230000Z", b"DTEND:20260329T020000Z"} <= set(rows_of(content))
