"""A file that replaces what is stored is held against what is stored first."""

from silverball.kit.errors import Conflict

# A file with fewer of the things that are stored is taken for a damaged one.
SHARE_MIN_PERCENT = 80


class TooFewRows(Conflict):
    def __init__(self, found: int, stored: int, things: str) -> None:
        super().__init__(
            f"The file has {found} {things} and {stored} are stored: fewer than {SHARE_MIN_PERCENT} %. "
            "Nothing was changed. If that is meant, import it with --force."
        )


def refuse_too_few(found: int, stored: int, things: str, *, is_forced: bool) -> None:
    """Raises TooFew for a file that would take away more than a fifth of what is stored."""
    if not is_forced and found * 100 < stored * SHARE_MIN_PERCENT:
        raise TooFewRows(found, stored, things)
