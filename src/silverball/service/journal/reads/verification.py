"""Verification of a stored tournament against its journal and its rules."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Row, select

from silverball.kit.errors import NotFound
from silverball.kit.values import convert, replace
from silverball.rules.commands import draws
from silverball.rules.commands.draws import DrawnAction
from silverball.rules.model.apply import ID_FIELDS
from silverball.rules.model.changes import Added, Altered, PrizePaid, TournamentAltered
from silverball.rules.model.tournament import Game, Payout, Tournament
from silverball.rules.registry import FORMATS
from silverball.rules.verify import replay, results, standings
from silverball.rules.verify.replay import ReplayedAction
from silverball.service.journal.reads import chain_check, row_checks
from silverball.service.journal.reads.row_checks import CANNOT_BE_CHECKED, guarded, read_guarded
from silverball.service.moving import reads as moving_reads
from silverball.service.moving.reads import Mirror
from silverball.service.standings.reads import standings as reads_standings
from silverball.store import tables
from silverball.store.database.engine import Db
from silverball.store.tournament import imports, journal, snapshot
from silverball.store.tournament.journal import Action

SUMMARIES = imports.SUMMARIES
UNKNOWN_TYPE = (
    "The type of the tournament is {type!r}, a format that this version does not know: its results cannot be"
    " verified."
)


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

    def made_here(self) -> Callable[[str, int], bool]:
        """The function that tells whether one of these actions, not an import, made an item of a part."""
        if self.created is not None:
            return lambda _part, _item_id: True
        added = {
            (change.part, getattr(change.subject, ID_FIELDS[change.part]))
            for action in self.actions
            for change in action.changes
            if isinstance(change, Added)
        }
        return lambda part, item_id: (part, item_id) in added


def tournament_ids(db: Connection) -> list[int]:
    """Ids of all tournaments, ascending."""
    key = tables.tournament.c.tournament_id
    return list(db.execute(select(key).order_by(key)).scalars())


def verify_tournament(db: Connection, tournament_id: int, against: str | None = None) -> VerificationReport:
    """Recompute everything stored of a tournament and report the differences. Raises NotFound.

    What cannot be read is a fault as well. `against` is a head of its journal that was published earlier,
    and must still be one.
    """
    own = tables.tournament.c
    columns = select(own.name, own.type).where(own.tournament_id == tournament_id)
    row = db.execute(columns).one_or_none()
    if row is None:
        raise NotFound("Tournament", tournament_id)
    faults = _all_faults(db, tournament_id, row.type)
    chained, broken = read_guarded("journal's chain", lambda: chain_check.verify_chain(db, tournament_id))
    faults += broken if chained is None else chained.faults
    if any(CANNOT_BE_CHECKED in fault for fault in faults):
        faults += guarded("tournament", partial(row_checks.unreadable_faults, db, tournament_id))
    report = VerificationReport(
        tournament_id, row.name, faults, mirror=moving_reads.find_mirror(db, tournament_id)
    )
    if against is None:
        return report
    if chained is None:
        return replace(report, faults=[*faults, chain_check.HEAD_UNPROVEN.format(head=against)])
    head_fault = chained.head_fault(against)
    if head_fault is not None:
        return replace(report, faults=[*faults, head_fault])
    return replace(report, proven_action_id=chained.action_by_hash[against])


def _all_faults(db: Connection, tournament_id: int, type_: str) -> list[str]:
    """The faults of all that is stored, but for the chain of the journal."""
    faults = guarded("feed channel", partial(row_checks.feed_faults, db, tournament_id))
    faults += guarded("names", partial(row_checks.name_faults, db, tournament_id))
    faults += guarded("summaries", partial(row_checks.machine_faults, db, tournament_id))
    if type_ not in FORMATS:
        return [*faults, UNKNOWN_TYPE.format(type=type_)]
    loaded, unloaded = read_guarded("tournament", lambda: snapshot.load(db, tournament_id))
    actions, unread = read_guarded("journal", lambda: journal.all_actions(db, tournament_id))
    faults += [*unloaded, *unread]
    if loaded is None or actions is None:
        return faults
    story, undecoded = _journal_history(loaded, actions)
    faults += undecoded
    if not undecoded:
        faults += guarded("journal", lambda: replay.journal_faults(story.actions, story.first_action_id))
        faults += guarded("history", lambda: _replay_faults(loaded, story))
        faults += guarded("rows", lambda: row_checks.stored_value_faults(db, loaded, story.made_here()))
        faults += guarded(
            "notes", lambda: row_checks.note_faults(db, tournament_id, actions, story.first_action_id)
        )
    faults += guarded("payouts", lambda: _payout_faults(db, loaded, actions))
    return faults + _result_faults(db, loaded, story, is_whole=not faults)


def _result_faults(
    db: Connection, loaded: Tournament, story: _JournalHistory, *, is_whole: bool
) -> list[str]:
    """The faults of results and of what follows from them. `is_whole`: nothing was found before."""
    checks = FORMATS[loaded.type].verify
    faults = guarded("links", partial(row_checks.link_faults, db, loaded.tournament_id))
    faults += guarded("notes", partial(row_checks.noted_player_faults, db, loaded))
    faults += guarded("draws", lambda: replay.state_faults(loaded, checks))
    faults += guarded("prizes", lambda: standings.prize_faults(loaded))
    faults += guarded("sign-up list", lambda: standings.sign_up_faults(loaded))
    recorded = _recorded_game_ids(story.actions)
    faults += guarded("results", lambda: results.result_faults(loaded, checks, recorded))
    # Imported standings of a completed tournament stay in place until the first action.
    if loaded.status == "completed" and (story.actions or story.created is not None):
        faults += guarded("standings", lambda: _standing_faults(db, loaded))
    elif loaded.status != "completed" and is_whole and not faults:
        # None are stored; what is whole can be ranked, and the ranking is checked in place of rows.
        faults += guarded("standings", lambda: _ranking_faults(loaded))
    if any("status" in change.after for change in _tournament_edits(story.actions)):
        faults += guarded("final points", lambda: checks.final_points_faults(loaded))
    stored = partial(_stored_summaries, db, loaded.tournament_id)
    return faults + guarded("summaries", lambda: standings.summary_faults(loaded, checks, stored()))


def _payout_faults(db: Connection, loaded: Tournament, actions: Sequence[Action]) -> list[str]:
    """Prizes that were ticked by others or at other times than the plan says, or that are no prizes."""
    faults: list[str] = []
    paid_ids: set[int] = set()
    for action in actions:
        names = {name for name, _ in action.entries}
        if not names <= {PrizePaid.__name__, *journal.NOTES, journal.ACTION_UNDONE}:
            paid_ids.clear()
        for name, data in action.entries:
            if name == PrizePaid.__name__ and journal.ACTION_UNDONE not in names:
                before, after = (
                    {payout["player_id"]: payout for payout in data[side]["prizes"]["payouts"]}
                    for side in ("before", "after")
                )
                for player_id in after.keys() - before.keys():
                    paid_ids.add(player_id)
                    paid = convert(after[player_id], Payout)
                    if (paid.user_id, paid.paid_at) != (action.actor_id, action.at):
                        faults.append(
                            f"Action {action.action_id} paid player {player_id}, but the payout names another"
                            " account or time."
                        )
    standing = tables.standing.c
    places = select(standing.player_id, standing.position).where(
        standing.tournament_id == loaded.tournament_id
    )
    return faults + standings.payout_faults(loaded, dict(db.execute(places).all()), paid_ids)


def _ranking_faults(loaded: Tournament) -> list[str]:
    ranked = {row.player_id: msgspec.to_builtins(row) for row in reads_standings.ranked_rows(loaded)}
    return standings.standings_faults(loaded, FORMATS[loaded.type].verify, ranked)


def _journal_history(loaded: Tournament, actions: Sequence[Action]) -> tuple[_JournalHistory, list[str]]:
    """The journal since the last creation or import, and the lines that cannot be read."""
    faults: list[str] = []
    begins = [
        at
        for at, action in enumerate(actions)
        if {*journal.BEGINNINGS} & {name for name, _ in action.entries}
    ]
    if not begins:
        return _JournalHistory(_journal_actions(actions, loaded.type, faults), 1, None, {}), faults
    start = actions[begins[-1]]
    later = _journal_actions(actions[begins[-1] + 1 :], loaded.type, faults)
    name, data = start.entries[0]
    if name != journal.TOURNAMENT_CREATED:
        return _JournalHistory(later, start.action_id + 1, None, data), faults
    created, unread = read_guarded(
        f"journal's action {start.action_id} ({name})",
        lambda: journal.decode_creation(loaded.tournament_id, loaded.type, data),
    )
    faults += unread
    whole = [*_journal_actions([start], loaded.type, faults), *later]
    return _JournalHistory(whole, start.action_id, created, {}), faults


def _journal_actions(actions: Sequence[Action], type_: str, faults: list[str]) -> list[ReplayedAction]:
    """The actions decoded, without those that cannot be, which are added to the faults."""
    replayed = []
    for action in actions:
        names = ", ".join(dict.fromkeys(name for name, _ in action.entries))
        decode = partial(_decoded_action, action, type_)
        decoded, unread = read_guarded(f"journal's action {action.action_id} ({names})", decode)
        faults += unread
        if decoded is not None:
            replayed.append(decoded)
    return replayed


def _decoded_action(action: Action, type_: str) -> ReplayedAction:
    return ReplayedAction(action.action_id, action.decode_changes(type_), action.undone_action_ids)


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
    report, faults = read_guarded("draws", lambda: _remade_draws(db, tournament_id))
    return report or DrawsReport(tournament_id, faults)


def _remade_draws(db: Db, tournament_id: int) -> DrawsReport:
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
    story, undecoded = _journal_history(stored, actions)
    if remade.earlier and not undecoded:
        faults += _draw_faults(stored, story, remade.earlier)
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
