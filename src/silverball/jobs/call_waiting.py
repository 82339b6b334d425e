"""Calls the games that waited for another tournament of their occasion, as soon as they may begin.

A result frees players and machines in the transaction of its own tournament. What follows in the others is
done here, each in a transaction of its own: no transaction changes two tournaments. It follows from the
state of the tournaments alone, so nothing is lost when a process ends in between.
"""

import logging
from collections.abc import Callable
from datetime import UTC, datetime

from silverball.kit.errors import Refusal
from silverball.rules.model.tournament import Tournament
from silverball.service.core import feed_events, loaded, room_calls
from silverball.store.database.engine import Store

LOG = logging.getLogger("silverball.jobs")
POLL_SECONDS = 0.5
# Who is busy in another tournament: entrants and arenas.
BusyIds = tuple[tuple[int, ...], tuple[int, ...]]


class RoomCaller:
    """Looks at the occasions with several running tournaments whenever one of these has changed."""

    def __init__(self, store: Store, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._store = store
        self._now = now
        self._seen: dict[int, dict[int, int]] = {}
        self._busy: dict[int, BusyIds] = {}

    def call_due(self) -> bool:
        """Look at the rooms that have changed; whether there was one."""
        with self._store.read() as db:
            rooms = loaded.running_rooms(db)
        changed = [
            revisions for occasion_id, revisions in rooms.items() if self._seen.get(occasion_id) != revisions
        ]
        for revisions in changed:
            for tournament_id in revisions:
                self._look_at(tournament_id)
        self._seen = rooms
        running = {tournament_id for revisions in rooms.values() for tournament_id in revisions}
        self._busy = {each: ids for each, ids in self._busy.items() if each in running}
        return bool(changed)

    def _look_at(self, tournament_id: int) -> None:
        """Call what is due in a tournament; its pages show who is busy elsewhere, so they are told."""
        now = self._now().replace(microsecond=0)
        with self._store.read() as db:
            tournament = loaded.load_tournament(db, tournament_id)
            busy = _busy_ids(loaded.with_busy_elsewhere(db, tournament))
            is_due = room_calls.is_call_due(db, tournament, now)
        is_news = self._busy.get(tournament_id, ((), ())) != busy
        self._busy[tournament_id] = busy
        if not (is_due or is_news):
            return
        try:
            with self._store.write(tournament_id) as transaction:
                room_calls.call_due_games(transaction, tournament_id, now)
                if is_news:
                    feed_events.announce_tournaments(transaction, [tournament_id])
        except loaded.RunElsewhere:
            # A mirror tells who is busy in it; its games are called where it is run.
            return
        except Refusal as refusal:
            LOG.error("the waiting games of %s cannot be called", tournament_id, exc_info=refusal)


def _busy_ids(informed: Tournament) -> BusyIds:
    return informed.state.busy_player_ids, informed.state.busy_arena_ids
