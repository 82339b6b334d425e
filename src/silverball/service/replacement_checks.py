"""Checks of files that replace stored rows."""

from silverball.kit.errors import Conflict

# A file with fewer rows than this share of the stored ones is taken for a damaged file.
SHARE_MIN_PERCENT = 80


class TooFewRows(Conflict):
    """The file has far fewer rows than are stored."""

    sentence = (
        "The file has {found} {items} and {stored} are stored: fewer than {percent} %. "
        "Nothing was changed. If that is intended, import it with --force."
    )


def refuse_too_few(found: int, stored: int, items: str, *, is_forced: bool) -> None:
    """Raises TooFewRows for a file that would delete more than a fifth of the stored rows."""
    if not is_forced and found * 100 < stored * SHARE_MIN_PERCENT:
        raise TooFewRows(found=found, stored=stored, items=items, percent=SHARE_MIN_PERCENT)
