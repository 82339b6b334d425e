"""The journal in a bundle: its lines must be those that were written, in the order in which they were."""

import msgspec

from silverball.exchange.bundle.checks import BundleCheck, distinct_ids, require_moment, tuple_or_empty
from silverball.exchange.bundle.faults import BrokenBundle
from silverball.kit.conversions import convert
from silverball.service.bundles.reads import bundles as reads
from silverball.store import chain, journal
from silverball.store.chain import LineContent, WrittenLine
from silverball.store.engine import Db
from silverball_wire import times
from silverball_wire.base import UnsetType
from silverball_wire.bundle import Bundle
from silverball_wire.bundle_journal import JournalLine

# Lines beside changes -> the members of their data that others read.
NOTE_MEMBERS: dict[str, dict[str, type]] = {
    **{name: {} for name in journal.NOTES},
    journal.ACTION_UNDONE: {"action": int},
    journal.PLAYERS_MERGED: {"removed": int, "remaining": int},
    journal.RESULT_CORRECTED: {"reason": str},
    journal.QUEUE_DISSOLVED: {"arena": int, "player_ids": list},
    journal.GAME_NOTED: {"game": int, "kind": str, "ruling": str},
    journal.SEED_COMMITTED: {"commitment": str},
    journal.DRAW_PREVIEWED: {"times": int},
    journal.TOURNAMENT_IMPORTED: {},
    journal.MATCHES_MERGED: {},
}


def check_lines(check: BundleCheck) -> None:
    """Check the chain and each change of the journal. Raises BrokenBundle at the first fault."""
    lines = check.bundle.journal
    if isinstance(lines, UnsetType):
        return
    beside = (*tuple_or_empty(check.bundle.sign_up_players), *tuple_or_empty(check.bundle.former_players))
    players = (*tuple_or_empty(check.tournament.players), *beside)
    distinct_ids("$.formerPlayers", players, "player_id")
    arenas = (*tuple_or_empty(check.tournament.arenas), *tuple_or_empty(check.bundle.former_arenas))
    distinct_ids("$.formerArenas", arenas, "arena_id")
    if not lines:
        raise BrokenBundle("$.journal", "It has no line. Leave it out where there is none.")
    action_id = 0
    for n, line in enumerate(lines):
        path = f"$.journal[{n}]"
        require_moment(f"{path}.at", line.at)
        if line.action_id not in (action_id, action_id + 1) or not line.action_id:
            raise BrokenBundle(f"{path}.actionId", f"Action {line.action_id} does not follow {action_id}.")
        action_id = line.action_id
        _check_data(path, line, check.tournament.type)
    previous = ""
    for n, written in enumerate(written_lines(check.bundle)):
        previous = written.content.hash_after(previous)
        if written.hash != previous:
            sentence = "The line, or one before it, was changed, added or removed after it was written."
            raise BrokenBundle(f"$.journal[{n}].hash", sentence)


def usable_lines(db: Db, bundle: Bundle) -> list[WrittenLine]:
    """The lines as they are stored; none when they name something that is not here, as undo would fail."""
    lines = written_lines(bundle)
    named = reads.things_named(line.data for line in tuple_or_empty(bundle.journal))
    is_whole = all(ids == reads.stored_ids(db, kind, ids) for kind, ids in named.items())
    return lines if is_whole else []


def written_lines(bundle: Bundle) -> list[WrittenLine]:
    """The lines of the journal as they are stored, first to last; none without a journal."""
    lines: list[WrittenLine] = []
    action_id = position = 0
    for line in tuple_or_empty(bundle.journal):
        position = position + 1 if line.action_id == action_id else 1
        action_id = line.action_id
        text = msgspec.json.encode(line.data).decode()
        content = LineContent(
            tournament_id=bundle.tournament.tournament_id,
            action_id=action_id,
            position=position,
            actor_id=line.actor_id,
            at=times.parse_moment(line.at),
            dice_seed=line.dice_seed,
            draw_version=line.draw_version,
            source_hash=line.source_hash,
            change=line.change,
            data=chain.covered_data(text, line.sealed_labels),
        )
        written = WrittenLine(
            content=content,
            data_text=text,
            source=line.source,
            source_salt=line.source_salt,
            sealed_labels=line.sealed_labels,
            hash=line.hash,
        )
        lines.append(written)
    return lines


def _check_data(path: str, line: JournalLine, type_: str) -> None:
    """Check that the data of a line can be read back."""
    try:
        if line.change in journal.CHANGES:
            journal.decode_change(line.change, line.data, type_)
        elif line.change == journal.TOURNAMENT_CREATED:
            journal.decode_creation(1, type_, line.data)
        elif line.change not in NOTE_MEMBERS:
            raise BrokenBundle(f"{path}.change", f"{line.change!r} is not a line of a journal.")
        else:
            for name, kind in NOTE_MEMBERS[line.change].items():
                convert(line.data[name], kind)
        chain.covered_data(msgspec.json.encode(line.data).decode(), line.sealed_labels)
    except (msgspec.ValidationError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise BrokenBundle(f"{path}.data", f"It is not that of a {line.change}.") from error
