"""Mean durations in whole seconds."""

from collections.abc import Iterable


def mean_seconds(durations: Iterable[float | None]) -> int | None:
    """The mean of the known durations in whole seconds, halves up; None when none is known."""
    known = [duration for duration in durations if duration is not None]
    return mean_from_total(sum(known), len(known))


def mean_from_total(total: float | None, count: int) -> int | None:
    """The mean from a sum and a count; None when the count is 0."""
    if total is None or count == 0:
        return None
    return int((2 * total + count) // (2 * count))
