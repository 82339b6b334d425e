"""The tables keyed by change are complete: each change has a writer and feed events."""

from typing import get_args

from silverball.rules.model import changes
from silverball.rules.model.changes import Added, Altered, Change, Removed, TournamentAltered
from silverball.service.core.feed_events import (
    ADDED,
    ANNOUNCE,
    CHANGED,
    CREATED_OR_UPDATED,
    DELETED,
    IDS_FIELD,
)
from silverball.store.tournament.writers import STORED_PARTS, WRITERS
from silverball_wire.events import EVENTS

BASE_CLASSES = {Change, Added, Altered, Removed, TournamentAltered}
# An imported tournament is written by `store/tournament/imports.py`, and its channel starts a new epoch.
IMPORT = changes.TournamentImported
CONCRETE_CHANGES = {
    kind
    for kind in vars(changes).values()
    if isinstance(kind, type) and issubclass(kind, Change) and kind not in BASE_CLASSES and not get_args(kind)
} - {IMPORT}


def test_every_change_has_a_writer_and_a_row_of_feed_events() -> None:
    assert set(WRITERS) == CONCRETE_CHANGES
    assert set(ANNOUNCE) == CONCRETE_CHANGES


def test_every_part_of_a_tournament_is_in_some_event() -> None:
    in_events = set(CHANGED) | set(CREATED_OR_UPDATED) | {"queue"}
    # Suggestions are sent with games, banks and scorekeepers with the tournament, purchases with players.
    # The sign-up list is for who runs the tournament; the waiting list announces the tournament.
    inside = {"suggestions", "banks", "scorekeepers", "purchases", "sign_ups"}
    assert in_events | inside == set(STORED_PARTS)


def test_every_event_that_is_announced_has_a_published_shape() -> None:
    names = {*ADDED.values(), *CHANGED.values(), *DELETED.values(), *CREATED_OR_UPDATED.values()}
    assert names | {"TournamentUpdated", "QueueChanged"} == set(EVENTS)
    assert set(IDS_FIELD) == {*ADDED.values(), *CHANGED.values(), *DELETED.values()}
