"""Verification of a stored tournament against its journal and its rules."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Row, func, select

from silverball.kit.errors import NotFound
from silverball.kit.values import replace
from silverball.rules.model.changes import Added, Altered, TournamentAltered
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.registry import FORMATS
from silverball.rules.verify import draws, prizes, replay, results, sign_ups, standings, sums
from silverball.rules.verify import journal as stories
from silverball.rules.verify.replay import ReplayedAction
from silverball.service.mirrors import reads as mirror_reads
from silverball.service.mirrors.reads import Mirror
from silverball.service.standings import reads as standing_reads
from silverball.service.verify.chain import verify_chain
from silverball.store import digests, journal, snapshot
from silverball.store.journal import Action
from silverball.store.tables import (
    announcement,
    arena_summary,
    entrant,
    match_summary,
    player,
    player_arena_summary,
    standing,
    tournament,
)

IMPORTED = "TournamentImported"
SUMMARIES = (arena_summary, player_arena_summary, match_summary)


class VerificationReport(Struct, frozen=True):
    """The faults of a tournament, a sentence for each."""

    tournament_id: int
    name: str
    faults: Sequence[str]
    # The action up to which a head proves that nothing was changed; None without one.
    proven_action_id: int | None = None
    # The mirror that it is; None where it is run here.
    mirror: Mirror | None = None


class _JournalHistory(Struct, frozen=True):
    """The journal since the tournament was created or imported, or its matches were merged."""

    actions: Sequence[ReplayedAction]
    # The number of the first of the actions.
    first_action_id: int
    # The tournament as it was created; None when it was imported.
    created: Tournament | None
    # The imported counts by kind; empty when it was created here.
    imported_counts: Mapping[str, Any]


def tournament_ids(db: Connection) -> list[int]:
    """Ids of all tournaments, ascending."""
    key = tournament.c.tournament_id
    return list(db.execute(select(key).order_by(key)).scalars())


def verify_tournament(db: Connection, tournament_id: int, against: str | None = None) -> VerificationReport:
    """Recompute everything stored of a tournament and report the differences. Raises NotFound.

    `against` is a head of its journal that was published earlier, and must still be one.
    """
    own = tournament.c
    columns = select(own.name, own.type).where(own.tournament_id == tournament_id)
    row = db.execute(columns).one_or_none()
    if row is None:
        raise NotFound("Tournament", tournament_id)
    # Tournaments of unknown formats can be read but not verified.
    faults = _all_faults(db, tournament_id) if row.type in FORMATS else []
    chained = verify_chain(db, tournament_id)
    faults += chained.faults
    report = VerificationReport(
        tournament_id, row.name, faults, mirror=mirror_reads.find_mirror(db, tournament_id)
    )
    if against is None:
        return report
    head_fault = chained.head_fault(against)
    if head_fault is not None:
        return replace(report, faults=[*faults, head_fault])
    return replace(report, proven_action_id=chained.action_by_hash[against])


def _all_faults(db: Connection, tournament_id: int) -> list[str]:
    loaded = snapshot.load(db, tournament_id)
    checks = FORMATS[loaded.type].verify
    story = _journal_history(loaded, journal.all_actions(db, tournament_id))
    faults = [*_feed_faults(db, tournament_id), *_name_faults(db, tournament_id)]
    faults += stories.journal_faults(story.actions, story.first_action_id)
    faults += _replay_faults(loaded, story)
    faults += draws.state_faults(loaded, checks)
    faults += prizes.prize_faults(loaded)
    faults += sign_ups.sign_up_faults(loaded)
    faults += results.result_faults(loaded, checks, _recorded_game_ids(story.actions))
    # Imported standings of a completed tournament stay in place until the first action.
    if loaded.status == "completed" and (story.actions or story.created is not None):
        faults += _standing_faults(db, loaded)
    elif loaded.status != "completed" and not faults:
        # None are stored; what is whole can be ranked, and the ranking is checked in place of rows.
        ranked = {row.player_id: msgspec.to_builtins(row) for row in standing_reads.ranked_rows(loaded)}
        faults += standings.standings_faults(loaded, checks, ranked)
    if any("status" in change.after for change in _tournament_edits(story.actions)):
        faults += checks.final_points_faults(loaded)
    return faults + sums.summary_faults(loaded, checks, _stored_summaries(db, tournament_id))


def _journal_history(loaded: Tournament, actions: Sequence[Action]) -> _JournalHistory:
    """The journal since the last creation or import."""
    names = [[name for name, _ in action.entries] for action in actions]
    begins = [
        at
        for at, change_names in enumerate(names)
        if {IMPORTED, journal.MATCHES_MERGED, journal.TOURNAMENT_CREATED} & {*change_names}
    ]
    if not begins:
        return _JournalHistory(_journal_actions(actions, loaded.type), 1, None, {})
    start = actions[begins[-1]]
    later = _journal_actions(actions[begins[-1] + 1 :], loaded.type)
    name, data = start.entries[0]
    if name != journal.TOURNAMENT_CREATED:
        return _JournalHistory(later, start.action_id + 1, None, data)
    created = journal.decode_creation(loaded.tournament_id, loaded.type, data)
    return _JournalHistory([*_journal_actions([start], loaded.type), *later], start.action_id, created, {})


def _journal_actions(actions: Sequence[Action], type_: str) -> list[ReplayedAction]:
    return [
        ReplayedAction(action.action_id, action.decode_changes(type_), action.undone_action_id)
        for action in actions
    ]


def _replay_faults(loaded: Tournament, story: _JournalHistory) -> list[str]:
    """Faults found by replaying the journal backwards, and illegal draws in it."""
    state = replay.stored_state(loaded)
    all_faults: list[str] = []
    for action, faults in replay.replay_backwards(state, story.actions):
        all_faults += faults
        # An undo restores draws of an earlier action, which is checked on its own.
        if action.undone_action_id is None:
            all_faults += draws.draw_faults(
                FORMATS[loaded.type].verify, state, action.changes, action.action_id
            )
    return all_faults + replay.beginning_faults(state, story.created, story.imported_counts)


def _recorded_game_ids(actions: Sequence[ReplayedAction]) -> set[int]:
    """Ids of the games whose results were recorded by these actions."""
    game_ids = set()
    for action in actions:
        for change in action.changes:
            if isinstance(change, Added | Altered):
                changed = change.after if isinstance(change, Altered) else change.subject
                if isinstance(changed, Game) and changed.status == "completed":
                    game_ids.add(changed.game_id)
    return game_ids


def _tournament_edits(actions: Sequence[ReplayedAction]) -> list[TournamentAltered]:
    return [
        change for action in actions for change in action.changes if isinstance(change, TournamentAltered)
    ]


def _standing_faults(db: Connection, loaded: Tournament) -> list[str]:
    columns = select(standing.c.player_id, standing.c.position, standing.c.points, standing.c.row)
    rows = db.execute(columns.where(standing.c.tournament_id == loaded.tournament_id)).all()
    faults = standings.standings_faults(
        loaded, FORMATS[loaded.type].verify, {row.player_id: row.row for row in rows}
    )
    for player_id, position, points, published in rows:
        if (published["playerId"], published["position"]) != (player_id, position):
            faults.append(f"The standings of player {player_id} are stored under another player or place.")
        if published["points"] is not None and f"{float(published['points']):.2f}" != f"{points:.2f}":
            faults.append(f"The points of player {player_id} are stored as {points} and shown otherwise.")
    return faults


def _stored_summaries(db: Connection, tournament_id: int) -> dict[str, Sequence[Row[Any]]]:
    """The rows of the summary tables, with the columns that are counted again."""
    stored = {}
    for table in SUMMARIES:
        key_names, count_names = sums.TABLES[table.name]
        columns = select(*(table.c[name] for name in (*key_names, *count_names)))
        stored[table.name] = db.execute(columns.where(table.c.tournament_id == tournament_id)).all()
    return stored


def _feed_faults(db: Connection, tournament_id: int) -> list[str]:
    """Faults in the counters of the feed channel."""
    own, message = tournament.c, announcement.c
    columns = select(own.epoch, own.seq, own.seq_low, own.revision).where(own.tournament_id == tournament_id)
    row = db.execute(columns).one()
    faults = []
    if not 0 <= row.seq_low <= row.seq + 1 or row.revision < 0 or not row.epoch:
        faults.append(
            f"The channel cannot be at epoch {row.epoch!r} with announcements {row.seq_low} to {row.seq}."
        )
    statement = select(func.max(message.seq)).where(
        message.tournament_id == tournament_id, message.epoch == row.epoch
    )
    newest = db.execute(statement).scalar_one()
    if newest is not None and newest > row.seq:
        faults.append(f"Announcement {newest} is stored, but the channel has sent only {row.seq}.")
    return faults + _announcement_faults(db, tournament_id)


def _announcement_faults(db: Connection, tournament_id: int) -> list[str]:
    """Announcements that are not what was announced; those of earlier versions have no digest."""
    message = announcement.c
    columns = select(message.epoch, message.seq, message.name, message.data, message.digest)
    own = (message.tournament_id == tournament_id, message.digest.is_not(None))
    return [
        f"Announcement {seq} ({name}) is not what was announced: its body, name or number was changed."
        for epoch, seq, name, data, digest in db.execute(columns.where(*own).order_by(message.seq))
        if digests.announcement_digest(tournament_id, epoch, seq, name, data) != digest
    ]


def _name_faults(db: Connection, tournament_id: int) -> list[str]:
    """Players whose names were changed past the program."""
    columns = select(player.c.player_id, player.c.name, player.c.name_digest)
    entered = columns.join(entrant, entrant.c.player_id == player.c.player_id).where(
        entrant.c.tournament_id == tournament_id, player.c.name_digest.is_not(None)
    )
    return [
        f"Player {player_id} is named {name!r}, which nobody entered: the name was changed in the database."
        for player_id, name, digest in db.execute(entered.order_by(player.c.player_id))
        if digests.name_digest(name) != digest
    ]
