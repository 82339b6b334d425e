"""What happened in a tournament, as its organizer reads it. Ours: interface.md 3."""

from silverball.wire.base import Wire


class JournalChange(Wire, frozen=True, kw_only=True):
    """One thing that changed, by the name of the change and in a sentence."""

    change: str
    text: str


class JournalAction(Wire, frozen=True, kw_only=True):
    """One request, and what it changed."""

    action_id: int
    # ISO, in UTC.
    at: str
    # Null when no account did it: the service itself (then the name is null too), or a device.
    actor_id: int | None
    actor_name: str | None
    # The address that it came from, or who in the house did it: `import`, `clock`.
    source: str
    # The seed of the draw, when there was one.
    dice_seed: str | None
    changes: tuple[JournalChange, ...]
    # Whether it was taken back, and the action that this one took back.
    undone: bool
    undoes: int | None
    # Whether it is the one that undo would take back now.
    can_undo: bool
