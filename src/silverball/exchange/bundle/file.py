"""The import and export of bundles: a whole tournament as one JSON file in the published shapes."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any, Literal

import msgspec
from msgspec import Struct

from silverball.exchange.bundle import book as bundle_book
from silverball.exchange.bundle import checks, engine_rows, id_map
from silverball.exchange.bundle import rows as bundle_rows
from silverball.exchange.bundle.checks import (
    BrokenBundle,
    BundleCheck,
    distinct_ids,
    require_moment,
    tuple_or_empty,
)
from silverball.kit.errors import Conflict, Invalid
from silverball.kit.values import convert
from silverball.rules.model.changes import TournamentImported
from silverball.rules.registry import FORMATS
from silverball.service.core import enact
from silverball.service.moving import reads as moving_reads
from silverball.service.moving import writes as moving_writes
from silverball.service.moving.writes import BundleContents
from silverball.store.database.engine import Db
from silverball.store.database.transaction import Transaction
from silverball.store.tournament import chain, journal
from silverball.store.tournament.chain import LineContent, WrittenLine
from silverball.store.tournament.imports import IdMap
from silverball_wire import base
from silverball_wire.base import UnsetType
from silverball_wire.bundle import Bundle, JournalLine

# The journal in a bundle: its lines must be those that were written, in the order in which they were.


# Lines beside changes -> the members of their data that others read.
NOTE_MEMBERS: dict[str, dict[str, type]] = {
    **{name: {} for name in journal.NOTES},
    journal.ACTION_UNDONE: {"action": int},
    journal.PLAYERS_MERGED: {"removed": int, "remaining": int},
    journal.ARENAS_MERGED: {"removed_arena": int, "remaining_arena": int, "is_undo": bool},
    journal.RESULT_CORRECTED: {"reason": str},
    journal.QUEUE_DISSOLVED: {"arena": int, "player_ids": list},
    journal.GAME_NOTED: {"game": int, "kind": str, "ruling": str},
    journal.SEED_COMMITTED: {"commitment": str},
    journal.SEED_EXPORTED: {},
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
    named = moving_reads.things_named(line.data for line in tuple_or_empty(bundle.journal))
    is_whole = all(ids == moving_reads.stored_ids(db, kind, ids) for kind, ids in named.items())
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
            at=base.parse_moment(line.at),
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


BYTES_MAX = 50 * 2**20
SOURCE = "import"


class BundleFile(Struct, frozen=True):
    """A file that was read and checked."""

    name: str
    raw: Any
    bundle: Bundle

    @property
    def tournament_id(self) -> int:
        return self.bundle.tournament.tournament_id


class ImportedBundle(Struct, frozen=True):
    """The outcome of an import."""

    tournament_id: int
    name: str
    outcome: Literal["new", "replaced", "unchanged"]
    # Name of an id -> old id -> new id, when the import renumbered.
    ids: IdMap = msgspec.field(default_factory=dict)
    # Whether the file has a journal that could not be taken.
    is_journal_left: bool = False


class ImportWouldOverwrite(Conflict):
    """A tournament with the bundle's id exists and is not an unchanged import of it."""

    sentence = (
        "Tournament {tournament_id} exists already as {name}, and {reason}. "
        "To have both, import it with new ids as from another source (--renumber --source NAME)."
    )

    def __init__(self, tournament_id: int, name: str, reason: str) -> None:
        super().__init__(tournament_id=tournament_id, name=repr(name), reason=reason)


def read(path: Path) -> BundleFile:
    """Read and check a file. Raises BrokenBundle with the JSON path of the first fault."""
    size = path.stat().st_size
    if size > BYTES_MAX:
        raise BrokenBundle("$", f"The file has {size} bytes; a bundle has at most {BYTES_MAX}.")
    return parse(path.read_bytes(), path.name)


def parse(content: bytes, name: str) -> BundleFile:
    """Decode and check the content of a file. Raises BrokenBundle."""
    try:
        raw = msgspec.json.decode(content)
        checks.refuse_unstorable_values(raw)
        bundle = convert(raw, Bundle, str_keys=True)
    except msgspec.ValidationError as error:
        raise checks.fault_from_validation(error) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BrokenBundle("$", f"The file is not JSON in UTF-8 ({error}).") from error
    if bundle.tournament.type not in FORMATS:
        raise BrokenBundle("$.tournament.type", f"{bundle.tournament.type!r} is not a format.")
    check = BundleCheck(bundle)
    check.run()
    engine_rows.check_facts(check)
    check_lines(check)
    return BundleFile(name, raw, bundle)


def import_bundle(
    transaction: Transaction,
    file: BundleFile,
    *,
    owner_id: int | None = None,
    new_ids: bool = False,
    source: str | None = None,
    now: datetime,
    dice: Random,
) -> ImportedBundle:
    """Store the whole bundle in the caller's transaction.

    `owner_id` is the user who gets the tournament and all that its organizer owns in the bundle.
    `source` names the service that the ids are of: what an earlier file of it brought is the same thing
    again, and an id that is taken here is replaced. `new_ids` keeps none. Raises Conflict when an id is
    in use by something else, BrokenBundle when the results do not fit the format.
    """
    db = transaction.connection
    organizer_id = file.bundle.tournament.organizer_id
    ids = id_map.choose_ids(db, file.raw, source, new_ids=new_ids) if new_ids or source is not None else {}
    new_organizer_id = ids.get("userId", {}).get(organizer_id, organizer_id)
    if owner_id is None and source is not None:
        owner_id = id_map.known_owner(db, source, organizer_id)
    same = {} if owner_id is None else {owner_id: new_organizer_id}
    bundle = _bundle_with(db, file, ids, owner_id, source)
    book = bundle_book.build_book(bundle)
    change = _import_change(file, bundle, book, organizer_id)
    outcome = _outcome(db, bundle, change, organizer_id, is_mapped=source is not None)
    tournament = bundle.tournament
    lines: Sequence[WrittenLine] = ()
    if outcome != "unchanged":
        if source is None:
            moving_reads.refuse_renamed_users(db, book.users)
        _refuse_used_ids(db, change, book, same)
        moving_writes.store_contents(transaction, book, now=now)
        lines = usable_lines(db, bundle) if outcome == "new" else []
        if not lines:
            change = engine_rows.without_actions(change)
        _enact_import(transaction, bundle, change, lines, now=now, dice=dice)
        for occasion in book.occasions:
            moving_writes.join_occasion(
                db, occasion["occasion_id"], tournament.tournament_id, tournament.organizer_id
            )
        if source is not None:
            owner = None if owner_id is None else (organizer_id, owner_id)
            id_map.remember_ids(db, source, ids, owner)
    is_journal_left = "journal" in file.raw and outcome != "unchanged" and not lines
    return ImportedBundle(tournament.tournament_id, tournament.name, outcome, ids, is_journal_left)


def _are_changed(ids: IdMap) -> bool:
    return any(old != new for pairs in ids.values() for old, new in pairs.items())


def _bundle_with(db: Db, file: BundleFile, ids: IdMap, owner_id: int | None, source: str | None) -> Bundle:
    """The bundle with these ids and this owner.

    Its short link is dropped when it leads elsewhere in this database.
    """
    tournament = file.bundle.tournament
    is_renumbered = _are_changed(ids)
    is_given = owner_id not in (None, tournament.organizer_id)
    tournament_id = ids.get("tournamentId", {}).get(tournament.tournament_id, tournament.tournament_id)
    shortcut = tournament.shortcut
    is_link_dropped = (
        bool(ids)
        and not isinstance(shortcut, UnsetType)
        and shortcut is not None
        and moving_reads.is_slug_taken(db, shortcut.slug, tournament_id)
    )
    refers = source is not None and bool((file.raw.get("engine") or {}).get("finalSource"))
    if not (is_renumbered or owner_id is not None or is_link_dropped or refers):
        return file.bundle
    raw = msgspec.json.decode(msgspec.json.encode(file.raw))
    id_map.renumber(raw, ids)
    if source is not None:
        id_map.refer_to_known(db, source, raw)
    if owner_id is not None:
        id_map.set_owner(raw, owner_id)
    if is_link_dropped:
        del raw["tournament"]["shortcut"]
    if is_given or is_renumbered:
        # Its lines name the ids that they were written with, and their hashes cover them.
        for name in ("journal", "formerPlayers", "formerArenas"):
            raw.pop(name, None)
    return convert(raw, Bundle, str_keys=True)


def export_bundle(
    db: Db, tournament_id: int, *, with_journal: bool = False, with_seed: bool = False
) -> bytes:
    """The bundle of a tournament as the content of a file; before completion with the seed only if asked.

    Raises NotFound, and Conflict for a journal that would show the seed.
    """
    loaded = moving_reads.load_bundle(db, tournament_id, with_journal=with_journal, with_seed=with_seed)
    return msgspec.json.encode(loaded) + b"\n"


def _import_change(
    file: BundleFile, bundle: Bundle, book: BundleContents, organizer_id: int
) -> TournamentImported:
    primary = file.raw["tournament"].get("primaryConfigSettings")
    parts = bundle_rows.build_parts(bundle, primary=primary)
    digest = hashlib.sha256(msgspec.json.encode([parts, book])).hexdigest()
    # The organizer's id as in the file: it tells apart files that use the same tournament id.
    origin = {"file": file.name, "digest": digest, "organizerId": organizer_id}
    return TournamentImported(
        tournament_id=bundle.tournament.tournament_id,
        parts=parts,
        origin=origin | {name: len(rows) for name, rows in parts.items() if name != "tournament"},
    )


def _outcome(
    db: Db, bundle: Bundle, change: TournamentImported, organizer_id: int, *, is_mapped: bool
) -> Literal["new", "replaced", "unchanged"]:
    """The effect of the import on the database. Raises ImportWouldOverwrite."""
    tournament_id = bundle.tournament.tournament_id
    existing = moving_reads.find_existing(db, tournament_id, passes_over_merges=is_mapped)
    if existing is None:
        return "new"
    if existing.change is None:
        raise ImportWouldOverwrite(tournament_id, existing.name, "it was not imported")
    if existing.change not in (journal.TOURNAMENT_IMPORTED, journal.JOURNAL_IMPORTED):
        raise ImportWouldOverwrite(tournament_id, existing.name, "it has changed since its import")
    if existing.data.get("organizerId") != organizer_id:
        raise ImportWouldOverwrite(tournament_id, existing.name, "it belongs to another organizer")
    return "unchanged" if existing.data.get("digest") == change.origin["digest"] else "replaced"


def _refuse_used_ids(
    db: Db, change: TournamentImported, book: BundleContents, same: Mapping[int, int]
) -> None:
    """Raise IdInUse for the first id that something else has in this database."""
    owned = {
        "locationId": book.locations,
        "seriesId": book.series,
        "arenaId": book.arenas,
        "playerId": book.players,
        "bankId": book.banks,
        "eventId": book.occasions,
    }
    for kind, rows in owned.items():
        moving_reads.refuse_other_owners(db, kind, rows, same)
    named = [{"series_id": series_id, "organizer_id": book.organizer_id} for series_id in book.series_named]
    moving_reads.refuse_other_owners(db, "seriesId", named, same)
    for kind, part in PART_BY_ID_NAME.items():
        key = moving_reads.id_column(moving_reads.PART_TABLES[kind])
        rows = change.parts[part]
        moving_reads.refuse_other_tournaments(
            db, kind, [values[key] for values in rows], change.tournament_id
        )
    for values in change.parts["shortcuts"]:
        moving_reads.refuse_taken_slug(db, values["slug"], change.tournament_id)


# Name of an id -> the part whose rows it identifies.
PART_BY_ID_NAME = {
    "roundId": "rounds",
    "gameId": "games",
    "suggestionId": "suggestions",
    "singlePlayerGameId": "single_player_games",
    "cardId": "cards",
    "queueId": "queue",
    "shortcutId": "shortcuts",
    "entryId": "purchases",
}


def _enact_import(
    transaction: Transaction,
    bundle: Bundle,
    change: TournamentImported,
    lines: Sequence[WrittenLine],
    *,
    now: datetime,
    dice: Random,
) -> None:
    context = enact.ActionContext(actor_id=None, source=SOURCE, now=now)
    is_without_seed = not isinstance(bundle.engine, UnsetType) and bundle.engine.dice_seed is None
    is_drawn_on = is_without_seed and bundle.tournament.status != "completed"
    new_seed = enact.new_seed(dice) if is_drawn_on else ""
    try:
        enact.enact_import(transaction, change, context, dice, lines, new_seed=new_seed)
    except Invalid as error:
        field_name, sentences = next(iter(error.errors.items()))
        raise BrokenBundle(_json_path(bundle, field_name), sentences[0]) from error


def _json_path(bundle: Bundle, field_name: str) -> str:
    """The JSON path (`$.games[4].resultPoints`) for a field of the rules (`games.123.resultPoints`)."""
    head, _, rest = field_name.partition(".")
    game_id, _, member = rest.partition(".")
    for n, game in enumerate(bundle.games if head == "games" else ()):
        if str(game.game_id) == game_id:
            return f"$.games[{n}].{member}"
    return f"$.tournament.{field_name}"
