"""Everything stored of a tournament, held against its journal and counted again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from silverball.kit.errors import NotFound
from silverball.rules.model.changes import Added, Altered, TournamentAltered
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.registry import FORMATS
from silverball.rules.verify import draws, replay, results, standings, sums
from silverball.rules.verify import journal as stories
from silverball.rules.verify.replay import ReplayedAction
from silverball.store import journal, snapshot
from silverball.store.journal import Action
from silverball.store.tables import (
    announcement,
    arena_summary,
    match_summary,
    player_arena_summary,
    standing,
    tournament,
)

IMPORTED = "TournamentImported"
SUMMARIES = (arena_summary, player_arena_summary, match_summary)


@dataclass(frozen=True)
class VerificationReport:
    """What was found about a tournament: a sentence for each thing that differs."""

    tournament_id: int
    name: str
    faults: Sequence[str]


@dataclass(frozen=True)
class _JournalHistory:
    """The journal since the tournament was created or came in."""

    actions: Sequence[ReplayedAction]
    # The number of the first action that is told.
    first_action_id: int
    # The tournament as it was created; None when it was not created here.
    created: Tournament | None
    # What came in, by kind; empty when it was created here.
    imported_counts: Mapping[str, Any]


def tournament_ids(db: Connection) -> list[int]:
    """Every tournament, ascending."""
    key = tournament.c.tournament_id
    return list(db.execute(select(key).order_by(key)).scalars())


def verify_tournament(db: Connection, tournament_id: int) -> VerificationReport:
    """Everything about a tournament counted again. Raises NotFound."""
    own = tournament.c
    columns = select(own.name, own.type).where(own.tournament_id == tournament_id)
    row = db.execute(columns).one_or_none()
    if row is None:
        raise NotFound("Tournament", tournament_id)
    # Formats that nobody knows here can only be read.
    faults = _all_faults(db, tournament_id) if row.type in FORMATS else []
    return VerificationReport(tournament_id, row.name, faults)


def _all_faults(db: Connection, tournament_id: int) -> list[str]:
    loaded = snapshot.load(db, tournament_id)
    checks = FORMATS[loaded.type].verify
    story = _journal_history(loaded, journal.all_actions(db, tournament_id))
    found = [*_feed_faults(db, tournament_id), *stories.journal_faults(story.actions, story.first_action_id)]
    found += _replay_faults(loaded, story)
    found += draws.state_faults(loaded, checks)
    found += results.result_faults(loaded, checks, _recorded_game_ids(story.actions))
    # What came in with its standings shows those until something happens.
    if story.actions or story.created is not None:
        found += _standing_faults(db, loaded)
    if any("status" in one.after for one in _tournament_edits(story.actions)):
        found += checks.final_points_faults(loaded)
    return found + sums.summary_faults(loaded, checks, _stored_summaries(db, tournament_id))


def _journal_history(loaded: Tournament, actions: Sequence[Action]) -> _JournalHistory:
    """The journal from the last beginning on."""
    names = [[name for name, _ in one.entries] for one in actions]
    begins = [
        at for at, listed in enumerate(names) if IMPORTED in listed or journal.TOURNAMENT_CREATED in listed
    ]
    if not begins:
        return _JournalHistory(_journal_actions(actions, loaded.type), 1, None, {})
    start = actions[begins[-1]]
    told = _journal_actions(actions[begins[-1] + 1 :], loaded.type)
    name, data = start.entries[0]
    if name == IMPORTED:
        return _JournalHistory(told, start.action_id + 1, None, data)
    began = journal.decode_creation(loaded.tournament_id, loaded.type, data)
    return _JournalHistory([*_journal_actions([start], loaded.type), *told], start.action_id, began, {})


def _journal_actions(actions: Sequence[Action], type_: str) -> list[ReplayedAction]:
    return [ReplayedAction(one.action_id, one.decode_changes(type_), one.undone_action_id) for one in actions]


def _replay_faults(loaded: Tournament, story: _JournalHistory) -> list[str]:
    """The journal told backwards: what does not fit, and what is wrong with the draws in it."""
    book = replay.stored_state(loaded)
    found: list[str] = []
    for told, faults in replay.replay_backwards(book, story.actions):
        found += faults
        # What an undo put back was drawn by the action that is looked at in its turn.
        if told.undone_action_id is None:
            found += draws.draw_faults(FORMATS[loaded.type].verify, book, told.changes, told.action_id)
    return found + replay.beginning_faults(book, story.created, story.imported_counts)


def _recorded_game_ids(told: Sequence[ReplayedAction]) -> set[int]:
    """Ids of the games that got a result here."""
    found = set()
    for one in told:
        for change in one.changes:
            if isinstance(change, Added | Altered):
                thing = change.after if isinstance(change, Altered) else change.thing
                if isinstance(thing, Game) and thing.status == "completed":
                    found.add(thing.game_id)
    return found


def _tournament_edits(told: Sequence[ReplayedAction]) -> list[TournamentAltered]:
    return [change for one in told for change in one.changes if isinstance(change, TournamentAltered)]


def _standing_faults(db: Connection, loaded: Tournament) -> list[str]:
    columns = select(standing.c.player_id, standing.c.position, standing.c.points, standing.c.row)
    rows = db.execute(columns.where(standing.c.tournament_id == loaded.tournament_id)).all()
    found = standings.standings_faults(
        loaded, FORMATS[loaded.type].verify, {one.player_id: one.row for one in rows}
    )
    for player_id, position, points, published in rows:
        if (published["playerId"], published["position"]) != (player_id, position):
            found.append(f"The standings of player {player_id} are stored under another player or place.")
        if published["points"] is not None and f"{float(published['points']):.2f}" != f"{points:.2f}":
            found.append(f"The points of player {player_id} are stored as {points} and shown otherwise.")
    return found


def _stored_summaries(db: Connection, tournament_id: int) -> dict[str, list[Any]]:
    return {
        table.name: list(db.execute(select(table).where(table.c.tournament_id == tournament_id)).mappings())
        for table in SUMMARIES
    }


def _feed_faults(db: Connection, tournament_id: int) -> list[str]:
    """The channel's own counters."""
    own, said = tournament.c, announcement.c
    columns = select(own.epoch, own.seq, own.seq_low, own.revision).where(own.tournament_id == tournament_id)
    row = db.execute(columns).one()
    found = []
    if not 0 <= row.seq_low <= row.seq + 1 or row.revision < 0 or not row.epoch:
        found.append(
            f"The channel cannot be at epoch {row.epoch!r} with announcements {row.seq_low} to {row.seq}."
        )
    kept = select(func.max(said.seq)).where(said.tournament_id == tournament_id, said.epoch == row.epoch)
    newest = db.execute(kept).scalar_one()
    if newest is not None and newest > row.seq:
        found.append(f"Announcement {newest} is kept, but the channel has said {row.seq} only.")
    return found
