"""Verification of a stored tournament against its journal and its rules."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Row, func, select

from silverball.kit.errors import NotFound
from silverball.kit.values import replace
from silverball.rules.commands import draws
from silverball.rules.commands.draws import DrawnAction
from silverball.rules.model.changes import Added, Altered, TournamentAltered
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.registry import FORMATS
from silverball.rules.verify import replay, results, standings
from silverball.rules.verify.replay import ReplayedAction
from silverball.service.moving import reads as moving_reads
from silverball.service.moving.reads import Mirror
from silverball.service.standings.reads import standings as reads_standings
from silverball.store import tables
from silverball.store.database.engine import Db
from silverball.store.tournament import announcements, chain, journal, snapshot
from silverball.store.tournament.chain import LineContent
from silverball.store.tournament.journal import Action

# Verification of a journal's chain: is each line what was written, and where it was written?


HEAD_UNKNOWN = (
    "No line of the journal has the hash {head}: a line up to it was changed, added or removed since, "
    "or it is the head of another journal."
)
HEAD_UNPROVEN = "The hash {head} proves nothing: a line up to it was changed, as named above."


class ChainReport(Struct, frozen=True):
    """The faults of a chain, a sentence for each, and what a head proves."""

    faults: Sequence[str]
    # Hash of a line -> the number of its action.
    action_by_hash: Mapping[str, int]
    # The hashes that still prove all lines up to theirs.
    proven: Collection[str]

    def head_fault(self, head: str) -> str | None:
        """The fault of a head that was published earlier; None when it proves the lines up to it."""
        if head in self.proven:
            return None
        return (HEAD_UNPROVEN if head in self.action_by_hash else HEAD_UNKNOWN).format(head=head)


def verify_chain(db: Db, tournament_id: int) -> ChainReport:
    """Compute the chain of a journal again, and compare it with what is stored."""
    lines = list(chain.load_lines(db, tournament_id))
    faults: list[str] = []
    action_by_hash: dict[str, int] = {}
    proven: set[str] = set()
    previous, is_whole = "", True
    for row, line in lines:
        line_faults = list(_line_faults(row, line, previous))
        faults += line_faults
        is_whole = is_whole and not line_faults
        previous = row.hash or ""
        action_by_hash[previous] = line.action_id
        if is_whole:
            proven.add(previous)
    faults += [
        f"Announcement {seq} has a journal head that is the hash of no line: the journal was written again."
        for seq, head in announcements.journal_heads(db, tournament_id)
        if head not in action_by_hash
    ]
    return ChainReport(faults, action_by_hash, proven)


def _line_faults(row: Any, line: LineContent, previous: str) -> Iterator[str]:
    """The faults of one line. Takes the stored hash of the line before."""
    where = f"Line {line.position} of action {line.action_id} ({line.change})"
    if row.hash is None:
        yield f"{where} has no hash: it was added or its hash was removed."
        return
    if row.source_salt is not None:
        if row.source and chain.salted_hash(row.source_salt, row.source) != row.source_hash:
            yield f"{where} was changed after it was written: its source is another one."
    elif row.source:
        yield f"{where} was changed after it was written: its source was erased, and now it has one."
    if row.sealed_labels is not None and chain.has_false_labels(
        msgspec.json.decode(row.data_text), row.sealed_labels
    ):
        yield f"{where} was changed after it was written: its labels are others."
    if line.hash_after(previous) == row.hash:
        return
    changed = chain.changed_values(row.digests, line.digests)
    if changed:
        yield f"{where} was changed after it was written: its {' and its '.join(changed)}."
    else:
        yield f"{where} does not follow the line before it: one was added, removed, moved or written again."


IMPORTED = "TournamentImported"
SUMMARIES = (tables.arena_summary, tables.player_arena_summary, tables.match_summary)


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
    key = tables.tournament.c.tournament_id
    return list(db.execute(select(key).order_by(key)).scalars())


def verify_tournament(db: Connection, tournament_id: int, against: str | None = None) -> VerificationReport:
    """Recompute everything stored of a tournament and report the differences. Raises NotFound.

    `against` is a head of its journal that was published earlier, and must still be one.
    """
    own = tables.tournament.c
    columns = select(own.name, own.type).where(own.tournament_id == tournament_id)
    row = db.execute(columns).one_or_none()
    if row is None:
        raise NotFound("Tournament", tournament_id)
    # Tournaments of unknown formats can be read but not verified.
    faults = _all_faults(db, tournament_id) if row.type in FORMATS else []
    chained = verify_chain(db, tournament_id)
    faults += chained.faults
    report = VerificationReport(
        tournament_id, row.name, faults, mirror=moving_reads.find_mirror(db, tournament_id)
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
    faults += replay.journal_faults(story.actions, story.first_action_id)
    faults += _replay_faults(loaded, story)
    faults += replay.state_faults(loaded, checks)
    faults += standings.prize_faults(loaded)
    faults += standings.sign_up_faults(loaded)
    faults += results.result_faults(loaded, checks, _recorded_game_ids(story.actions))
    # Imported standings of a completed tournament stay in place until the first action.
    if loaded.status == "completed" and (story.actions or story.created is not None):
        faults += _standing_faults(db, loaded)
    elif loaded.status != "completed" and not faults:
        # None are stored; what is whole can be ranked, and the ranking is checked in place of rows.
        ranked = {row.player_id: msgspec.to_builtins(row) for row in reads_standings.ranked_rows(loaded)}
        faults += standings.standings_faults(loaded, checks, ranked)
    if any("status" in change.after for change in _tournament_edits(story.actions)):
        faults += checks.final_points_faults(loaded)
    return faults + standings.summary_faults(loaded, checks, _stored_summaries(db, tournament_id))


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
        ReplayedAction(action.action_id, action.decode_changes(type_), action.undone_action_ids)
        for action in actions
    ]


def _replay_faults(loaded: Tournament, story: _JournalHistory) -> list[str]:
    """Faults found by replaying the journal backwards, and illegal draws in it."""
    state = replay.stored_state(loaded)
    all_faults: list[str] = []
    for action, faults in replay.replay_backwards(state, story.actions):
        all_faults += faults
        # An undo restores draws of an earlier action, which is checked on its own.
        if not action.undone_action_ids:
            all_faults += replay.draw_faults(
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
    columns = select(
        tables.standing.c.player_id,
        tables.standing.c.position,
        tables.standing.c.points,
        tables.standing.c.row,
    )
    rows = db.execute(columns.where(tables.standing.c.tournament_id == loaded.tournament_id)).all()
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
        key_names, count_names = standings.TABLES[table.name]
        columns = select(*(table.c[name] for name in (*key_names, *count_names)))
        stored[table.name] = db.execute(columns.where(table.c.tournament_id == tournament_id)).all()
    return stored


def _feed_faults(db: Connection, tournament_id: int) -> list[str]:
    """Faults in the counters of the feed channel."""
    own, message = tables.tournament.c, tables.announcement.c
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
    message = tables.announcement.c
    columns = select(message.epoch, message.seq, message.name, message.data, message.digest)
    own = (message.tournament_id == tournament_id, message.digest.is_not(None))
    return [
        f"Announcement {seq} ({name}) is not what was announced: its body, name or number was changed."
        for epoch, seq, name, data, digest in db.execute(columns.where(*own).order_by(message.seq))
        if chain.announcement_digest(tournament_id, epoch, seq, name, data) != digest
    ]


def _name_faults(db: Connection, tournament_id: int) -> list[str]:
    """Players whose names were changed past the program."""
    columns = select(tables.player.c.player_id, tables.player.c.name, tables.player.c.name_digest)
    entered = columns.join(tables.entrant, tables.entrant.c.player_id == tables.player.c.player_id).where(
        tables.entrant.c.tournament_id == tournament_id, tables.player.c.name_digest.is_not(None)
    )
    return [
        f"Player {player_id} is named {name!r}, which nobody entered: the name was changed in the database."
        for player_id, name, digest in db.execute(entered.order_by(tables.player.c.player_id))
        if chain.name_digest(name) != digest
    ]


# Verification of draws: the seed is the one that was committed to, and gives what was drawn.


BEFORE_COMMITMENTS = "drawn before commitments"


class DrawsReport(Struct, frozen=True):
    """The outcome of making the draws of a tournament again."""

    tournament_id: int
    faults: Sequence[str]
    # Names of the draws that gave the same again, and of those that cannot be made again from the journal.
    same: Sequence[str] = ()
    not_remade: Sequence[str] = ()
    # Names of the draws by an earlier version of the rules, of which only the legality is known.
    earlier: Sequence[str] = ()
    # Why nothing was compared; None where it was.
    reason: str | None = None


def verify_draws(db: Db, tournament_id: int) -> DrawsReport:
    """Make the draws of a tournament again, and compare its seeds with their commitments."""
    actions = journal.all_actions(db, tournament_id)
    begins = [
        number
        for number, action in enumerate(actions)
        if {journal.TOURNAMENT_IMPORTED, journal.MATCHES_MERGED} & {name for name, _ in action.entries}
    ]
    begin = begins[-1] + 1 if begins else 0
    type_ = snapshot.stored_type(db, tournament_id)
    if type_ not in FORMATS or not commitments(actions):
        return DrawsReport(tournament_id, (), reason=BEFORE_COMMITMENTS)
    stored = snapshot.load(db, tournament_id)
    remade = draws.make_draws_again(
        stored, [_drawn_action(action, stored.type) for action in actions[begin:]]
    )
    faults = [*_commitment_faults(actions), *remade.faults]
    if remade.earlier:
        faults += _draw_faults(stored, _journal_history(stored, actions), remade.earlier)
    earlier = sorted(remade.earlier.items())
    return DrawsReport(tournament_id, faults, remade.same, remade.not_remade, [name for _, name in earlier])


def _draw_faults(loaded: Tournament, story: _JournalHistory, action_ids: Collection[int]) -> list[str]:
    """The rules that the draws of these actions break, whatever their dice gave; first to last."""
    state = replay.stored_state(loaded)
    faults: list[str] = []
    for action, _ in replay.replay_backwards(state, story.actions):
        if action.action_id in action_ids:
            checks = FORMATS[loaded.type].verify
            faults[:0] = replay.draw_faults(checks, state, action.changes, action.action_id)
    return faults


def commitments(actions: Sequence[Action]) -> list[tuple[Action, str]]:
    """The commitments to seeds in these actions, with the action of each; first to last."""
    return [
        (action, data["commitment"])
        for action in actions
        for name, data in action.entries
        if name == journal.SEED_COMMITTED
    ]


def _commitment_faults(actions: Sequence[Action]) -> list[str]:
    return [
        f"Action {action.action_id} committed to another seed than the one that it set."
        for action, committed in commitments(actions)
        if draws.commitment(action.new_seed or "") != committed
    ]


def _drawn_action(action: Action, type_: str) -> DrawnAction:
    facts: Any = next((data for name, data in action.entries if name == journal.DRAW_FACTS), {})
    return DrawnAction(
        action_id=action.action_id,
        at=action.at,
        changes=action.decode_changes(type_),
        dice_seed=action.dice_seed,
        draw_version=action.draw_version,
        is_undo=action.undone_action_id is not None,
        facts=facts,
    )
