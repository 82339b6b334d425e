"""The journal of a tournament, as its organizer reads it. Our addition: interface.md 3."""

from silverball_client.shapes.base import Shape


class JournalChange(Shape, frozen=True, kw_only=True):
    """One change: its name and a sentence."""

    change: str
    text: str


class ActivityLog(Shape, frozen=True, kw_only=True):
    """One change in a tournament, in the form of existing clients."""

    activity_log_id: int
    tournament_id: int
    action: str
    player_ids: tuple[int, ...]
    created_at: str


class JournalAction(Shape, frozen=True, kw_only=True):
    """One request and the changes that it made."""

    action_id: int
    at: str
    actor_id: int | None
    actor_name: str | None
    source: str
    dice_seed: str | None
    changes: tuple[JournalChange, ...]
    undone: bool
    undoes: int | None
    can_undo: bool
