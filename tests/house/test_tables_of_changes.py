"""From every change you find its row and its events: the tables keyed by change are complete."""

from typing import get_args

from silverball.rules.model import changes
from silverball.rules.model.changes import Added, Altered, Change, Removed, TournamentAltered
from silverball.service.events.feed_events import (
    ADDED,
    ANNOUNCE,
    CHANGED,
    CREATED_OR_UPDATED,
    DELETED,
    IDS_FIELD,
)
from silverball.store.writers import STORED_PARTS, WRITERS
from silverball.wire.events import EVENTS

GENERAL = {Change, Added, Altered, Removed, TournamentAltered}
# A whole tournament that came in: written by `store/imports.py`; its channel begins anew.
IMPORT = changes.TournamentImported
STATED = {
    one
    for one in vars(changes).values()
    if isinstance(one, type) and issubclass(one, Change) and one not in GENERAL and not get_args(one)
} - {IMPORT}


def test_every_change_has_a_writer_and_a_line_that_says_what_it_touches() -> None:
    assert set(WRITERS) == STATED
    assert set(ANNOUNCE) == STATED


def test_every_part_of_a_tournament_is_told_in_some_event() -> None:
    told = set(CHANGED) | set(CREATED_OR_UPDATED) | {"queue"}
    # Suggestions are in their games, banks and scorekeepers in the tournament, purchases in the players.
    inside = {"suggestions", "banks", "scorekeepers", "purchases"}
    assert told | inside == set(STORED_PARTS)


def test_every_event_that_is_announced_has_a_published_shape() -> None:
    names = {*ADDED.values(), *CHANGED.values(), *DELETED.values(), *CREATED_OR_UPDATED.values()}
    assert names | {"TournamentUpdated", "QueueChanged"} == set(EVENTS)
    assert set(IDS_FIELD) == {*ADDED.values(), *CHANGED.values(), *DELETED.values()}
