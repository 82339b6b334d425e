"""Checks of results before they are sent to the federation."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from silverball.store.people import names, near_names
from silverball_wire.standings import EventCheck, EventCheckKind, EventResult

TWICE = "{names} have the same federation number. Merge them if they are one person; the file waits for it."
DOUBLE = "{names} may be one person. Merge them if they are."
SAME = "{names} have one name and no number: the federation may take them for one person."
NO_NUMBER = "{names}: no federation number, in the file by name."
LEFT = (
    "{names}: played fewer than half of the qualifying. The federation wants those who took part in at least"
    " half of it; they are not ticked, and their place stays theirs."
)


def checks_of(rows: Sequence[EventResult], player_ids: Collection[int]) -> tuple[EventCheck, ...]:
    """The checks of those in the file, and of those who left early, the gravest first."""
    filed = [row for row in rows if row.player_id in player_ids]
    new = [row for row in filed if row.ifpa_id is None]
    left = [row for row in rows if "below-half" in row.reasons]
    checks = [_check("number-twice", TWICE, group) for group in _with_one_number(filed)]
    checks += [_check("likely-double", DOUBLE, pair) for pair in _likely_doubles(new, filed)]
    checks += [_check("same-name", SAME, group) for group in _of_one_name(new)]
    checks += [_check("no-number", NO_NUMBER, new)] if new else []
    checks += [_check("left-early", LEFT, left)] if left else []
    return tuple(checks)


def _check(kind: EventCheckKind, text: str, rows: Sequence[EventResult]) -> EventCheck:
    shown = ", ".join(row.name if row.position is None else f"{row.name} ({row.position}.)" for row in rows)
    return EventCheck(
        kind=kind, player_ids=tuple(row.player_id for row in rows), text=text.format(names=shown)
    )


def _with_one_number(rows: Sequence[EventResult]) -> list[list[EventResult]]:
    groups: defaultdict[int, list[EventResult]] = defaultdict(list)
    for row in rows:
        if row.ifpa_id is not None:
            groups[row.ifpa_id].append(row)
    return [group for group in groups.values() if len(group) > 1]


def _of_one_name(rows: Sequence[EventResult]) -> list[list[EventResult]]:
    groups: defaultdict[str, list[EventResult]] = defaultdict(list)
    for row in rows:
        groups[names.name_key(row.name)].append(row)
    return [group for group in groups.values() if len(group) > 1]


def _likely_doubles(
    new: Sequence[EventResult], rows: Sequence[EventResult]
) -> Iterator[tuple[EventResult, EventResult]]:
    """Pairs of near names of which one has no number: two numbers are two people."""
    by_word: defaultdict[str, list[EventResult]] = defaultdict(list)
    for row in rows:
        for word in set(names.strip_punctuation(row.name).split()):
            by_word[word].append(row)
    seen: set[frozenset[int]] = set()
    for row in new:
        for word in names.strip_punctuation(row.name).split():
            for other in by_word[word]:
                pair = frozenset((row.player_id, other.player_id))
                is_same = other.ifpa_id is None and names.name_key(row.name) == names.name_key(other.name)
                if len(pair) == 1 or pair in seen or is_same:
                    continue
                seen.add(pair)
                if near_names.are_near(row.name, other.name):
                    yield (row, other)
