"""The drawing of a bracket: the lines between its columns, and its pages on a wall."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from silverball.kit.values import replace
from silverball.web.live.bracket_tree import BracketColumn, BracketHalf, BracketLink

# The lines are drawn in a field of this size, which is stretched to the height of the columns.
WIDTH, HEIGHT = 10, 1000
# A page of a wall has room for this many columns and lines of names.
PAGE_COLUMNS_MAX = 4
PAGE_NAMES_MAX = 16


class BracketPage(Struct, frozen=True):
    """A part of a bracket that fits a wall at once."""

    title: str
    columns: Sequence[BracketColumn]

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to play in it."""
        boxes = [box for column in self.columns for box in column.boxes]
        return all(any(seat.state for seat in box.seats) for box in boxes)


def line_path(column: BracketColumn, following: BracketColumn | None, *, decided: bool) -> str:
    """The path of the lines to the next column: of decided matches, or of the others."""
    if following is None or not following.slot_count:
        return ""
    return "".join(
        f"M0 {_middle(link.from_slot, column.slot_count)}H{WIDTH // 2}"
        f"V{_middle(link.to_slot, following.slot_count)}H{WIDTH}"
        for link in column.links
        if link.is_decided == decided
    )


def _middle(slot: int, slot_count: int) -> int:
    """The height of the middle of a match."""
    return HEIGHT * (2 * slot + 1) // (2 * slot_count)


def wall_pages(halves: Sequence[BracketHalf]) -> list[BracketPage]:
    """The pages with matches that are left to play; that of the final too, when only lower places are."""
    pages_by_half = [list(_pages_of_half(half)) for half in halves]
    unfinished = [
        page
        for half, pages in zip(halves, pages_by_half, strict=True)
        for page in pages
        if not page.is_over or (_has_final(page, half) and not all(other.is_over for other in pages))
    ]
    if unfinished or not halves:
        return unfinished
    return [page for page in pages_by_half[-1] if _has_final(page, halves[-1])]


def _has_final(page: BracketPage, half: BracketHalf) -> bool:
    """Whether the last column of the half is on the page."""
    return any(column.title == half.columns[-1].title for column in page.columns)


def _pages_of_half(half: BracketHalf) -> Iterable[BracketPage]:
    columns = list(half.columns)
    columns += [
        BracketColumn(box.title, [replace(box, slot=0, is_extra=False)], 1) for box in half.extra_boxes
    ]
    while columns:
        seats = max((len(box.seats) for box in columns[0].boxes), default=1)
        sections = -(-columns[0].slot_count // max(1, PAGE_NAMES_MAX // seats))
        run = list(_columns_of_page(columns, sections))
        for section in range(sections):
            pairs = zip(run, [*run[1:], None], strict=True)
            yield BracketPage(half.title, [_cut(column, after, section, sections) for column, after in pairs])
        columns = columns[len(run) :]


def _columns_of_page(columns: Sequence[BracketColumn], sections: int) -> Iterable[BracketColumn]:
    """The first columns, as long as all of them can be cut at the same heights."""
    yield columns[0]
    if columns[0].slot_count % sections:
        return
    for column in columns[1:PAGE_COLUMNS_MAX]:
        if column.slot_count % sections:
            return
        yield column


def _cut(column: BracketColumn, after: BracketColumn | None, section: int, sections: int) -> BracketColumn:
    """One of the sections of a column, from top to bottom."""
    size = -(-column.slot_count // sections)
    first = section * size
    first_after = section * (after.slot_count // sections) if after else 0
    wanted = range(first, min(first + size, column.slot_count))
    boxes = [
        replace(box, slot=box.slot - first) for box in column.boxes if box.slot in wanted and not box.is_extra
    ]
    links = [
        BracketLink(link.from_slot - first, link.to_slot - first_after, link.is_decided)
        for link in column.links
        if link.from_slot in wanted and after is not None
    ]
    return BracketColumn(column.title, boxes, len(wanted), links)
