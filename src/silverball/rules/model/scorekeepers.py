"""Accounts that record results of a tournament, or direct it."""

from msgspec import Struct


class Scorekeeper(Struct, frozen=True, kw_only=True):
    """An account that may record results here; a director may do all that the organizer may but delete."""

    user_id: int
    place: int = 0
    is_director: bool = False
