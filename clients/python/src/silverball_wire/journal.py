"""The journal of a tournament, as its organizer reads it. Our addition: interface.md 3."""

from silverball_wire.base import Instant, Wire
from silverball_wire.pages import PaginationLinks, PaginationMeta


class JournalChange(Wire, frozen=True, kw_only=True):
    """One change: its name and a sentence."""

    change: str
    """Name of the change, such as `GameCompleted`."""
    text: str
    """Sentence about the change."""


class ActivityLog(Wire, frozen=True, kw_only=True):
    """One change in a tournament, in the form of existing clients."""

    activity_log_id: int
    """Number of the line, newer lines having larger ones."""
    tournament_id: int
    action: str
    """Name of the change, such as `GameCompleted`."""
    player_ids: tuple[int, ...]
    """Ids of the players whom the change is about; none for most changes of the tournament itself."""
    created_at: str
    """When it happened, as ISO 8601 in UTC."""


class JournalAction(Wire, frozen=True, kw_only=True):
    """One request and the changes that it made."""

    action_id: int
    """Number of the action within the tournament, from 1."""
    at: Instant
    """When it happened, as ISO 8601 in UTC."""
    actor_id: int | None
    """Id of the account that acted; null for a device or the service itself."""
    actor_name: str | None
    """Name of the actor; null for the service itself."""
    source: str
    """Address of the client, or the part of the program that acted: `import`, `clock`."""
    dice_seed: str | None
    """Seed of the random numbers of a draw; null without a draw, and until the tournament is completed."""
    changes: tuple[JournalChange, ...]
    """The changes that the action made, in order."""
    undone: bool
    """Whether the action was undone."""
    undoes: int | None
    """Number of the action that this one undid; null for any other action."""
    can_undo: bool
    """Whether this is the action that undo would revert now."""


class JournalMeta(PaginationMeta, frozen=True, kw_only=True):
    """The position of a page of the journal, and the action that comes next."""

    undoable: int | None
    """Number of the action that undo would revert now, on whichever page it is; null for none."""


class JournalPage(Wire, frozen=True, kw_only=True):
    """A page of the journal."""

    data: tuple[JournalAction, ...]
    """The items on this page."""
    links: PaginationLinks
    """Links to other pages."""
    meta: JournalMeta
    journal_head: str | None
    """Hash of the newest line: it proves what the journal was until now. Null for an empty journal."""
