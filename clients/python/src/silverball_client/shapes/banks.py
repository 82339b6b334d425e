"""Banks: arenas that are drawn together."""

from silverball_client.shapes.base import Shape


class Bank(Shape, frozen=True, kw_only=True):
    """An ordered list of arenas."""

    bank_id: int
    name: str
    status: str
    organizer_id: int
    arena_ids: tuple[int, ...]
