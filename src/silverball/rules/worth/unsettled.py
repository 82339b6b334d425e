"""Cases that the federation's rules do not settle, or that changed on a day. Source: ratings, B.3."""

from datetime import date

# The first day of the rules 6.2, with an alternative for frenzies with finals and a new text for the race.
RULES_OF_2026 = date(2026, 1, 1)

FRENZY_ALTERNATIVE = (
    "A quarter of the field or more goes on from this frenzy: the rules of 2026 have an alternative for it, "
    "which has no number here."
)
RACE_OF_2026 = "The two texts on amazing races in the rules of 2026 differ, so there is no number here."
RACE_BEFORE = "There is no published rule for the meaningful games of an amazing race."


def is_under_rules_of_2026(held_on: date | None) -> bool:
    """Whether the rules of 2026 count for an event of this day; one without a day is under today's."""
    return held_on is None or held_on >= RULES_OF_2026


def frenzy_reason(*, held_on: date | None, players: int, finalists: int) -> str | None:
    """Return why a frenzy has no number, None if it has one: the alternative of 2026 has none here.

    It is for events that advance a quarter of the field or more to finals; the day is that of the event.
    """
    is_new = is_under_rules_of_2026(held_on)
    return FRENZY_ALTERNATIVE if is_new and finalists * 4 >= players > 0 < finalists else None


def race_reason(*, held_on: date | None) -> str:
    """Return why an amazing race has no number, by the rules in force on its day."""
    return RACE_OF_2026 if is_under_rules_of_2026(held_on) else RACE_BEFORE
