"""The trimming of announcements."""

from datetime import timedelta

import build
from silverball.jobs import pruning
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import announcements

SAID = [("TournamentUpdated", "{}")]


def _count(store: Store, tournament_id: int) -> int:
    with store.read() as db:
        return len(announcements.load_since(db, tournament_id, "k3f9", 0, 100_000))


def test_an_old_tournament_loses_its_announcements_and_a_running_one_keeps_them(store: Store) -> None:
    long_ago = build.NOW - timedelta(days=30)
    over = build.a_tournament(
        store, status="completed", completed_at=long_ago, updated_at=long_ago
    ).tournament_id
    running = build.a_tournament(store).tournament_id
    for night in (over, running):
        with store.write(night) as transaction:
            announcements.append(transaction, night, SAID * 3, long_ago)
    pruning.prune_announcements(store, build.NOW)
    assert (_count(store, over), _count(store, running)) == (0, 3)
    with store.read() as db:
        head = announcements.channel_head(db, over)
        assert head is not None
        # The numbers go on, and a request for trimmed events is refused.
        assert (head.seq, head.low) == (3, 3)


def test_the_journal_is_never_trimmed(store: Store) -> None:
    long_ago = build.NOW - timedelta(days=30)
    over = build.a_tournament(
        store, status="completed", completed_at=long_ago, updated_at=long_ago
    ).tournament_id
    build.row(
        store,
        tables.journal,
        tournament_id=over,
        action_id=1,
        change="TournamentEdited",
        data={},
        source="test",
        at=long_ago,
    )
    with store.write(over) as transaction:
        announcements.append(transaction, over, SAID, long_ago)
    pruning.prune_announcements(store, build.NOW)
    with store.read() as db:
        assert len(db.execute(tables.journal.select()).all()) == 1
