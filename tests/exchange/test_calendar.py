"""A calendar file keeps to RFC 5545: rows of 75 octets at most, which join to what was written."""

import re

import icalendar
import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.exchange.calendar import calendar_file
from silverball.service.tournaments.reads.listing import DatedTournament

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
