"""Banks: arenas that are drawn together."""

from silverball_wire.base import Wire
from silverball_wire.values import Status


class Bank(Wire, frozen=True, kw_only=True):
    """An ordered list of arenas. Source: interface.md 2, row 27."""

    bank_id: int
    name: str
    status: Status
    organizer_id: int
    arena_ids: tuple[int, ...]
