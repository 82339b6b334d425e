"""A write in progress: its connection, and everything that its commit will publish."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field
from sqlalchemy import Connection

from silverball.store.revisions.stamps import draw_stamp
from silverball.store.tournament.loaded import LoadedTournament

# In place of a sequence number: the channel has ended.
CHANNEL_ENDED = -1
# Execution option of a connection that writes.
WRITES = "silverball_writes"


class Transaction(Struct):
    """One writer's transaction. It is committed where it was opened, and nowhere else."""

    connection: Connection
    # Tournaments as earlier writers left them who share this commit; None where writers share none.
    uncommitted: dict[int, LoadedTournament] | None = None
    # Beside every revision that this writer raises.
    stamp: int = field(default_factory=draw_stamp)
    # Tournament id -> its revision after the commit.
    raised_revisions: dict[int, int] = field(default_factory=dict)
    # Tournament id -> the newest number of its channel, 0 for a new epoch, CHANNEL_ENDED for an end.
    announcements: dict[int, int] = field(default_factory=dict)
    # Part -> id -> what the newest action of this writer has announced, as the interface shows it.
    announced_models: dict[str, Mapping[int, Any]] = field(default_factory=dict)
    # Accounts whose row, tokens or rights this writer changed.
    changed_user_ids: set[int] = field(default_factory=set)
    # Tournaments as this writer left them, for the memory of the process.
    loaded: dict[int, LoadedTournament] = field(default_factory=dict)
    # Commits with the last statement, the one that raises the revision of the world; None where that one was
    # said before. Returns its rows.
    commit: Callable[[], list[tuple[Any, ...]]] | None = None
    # Of the slot of the world, after the commit; 0 for a quiet change.
    world_revision: int = 0
    # Whether this writer hid something of somebody; its answer waits until no node shows that any more.
    hides: bool = False
    # Whether tournaments show a change of this writer, though a job raises their revisions later.
    outdates: bool = False
