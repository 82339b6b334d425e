"""The journal of a tournament, as its organizer reads it. Our addition: interface.md 3."""

from silverball.wire.base import Wire


class JournalChange(Wire, frozen=True, kw_only=True):
    """One change: its name and a sentence."""

    change: str
    text: str


class JournalAction(Wire, frozen=True, kw_only=True):
    """One request and the changes that it made."""

    action_id: int
    # ISO 8601, in UTC.
    at: str
    # Null when the actor is a device, or the service itself (then the name is null too).
    actor_id: int | None
    actor_name: str | None
    # The client's address, or the part of the program that acted: `import`, `clock`.
    source: str
    # The seed of the random numbers, for a draw.
    dice_seed: str | None
    changes: tuple[JournalChange, ...]
    # Whether the action was undone, and the action that it undid.
    undone: bool
    undoes: int | None
    # Whether the action is the one that undo would revert now.
    can_undo: bool
