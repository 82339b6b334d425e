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
from silverball.exchange.bundle import engine_rows, id_map, journal_lines, note_rows, renumbering
from silverball.exchange.bundle import faults as bundle_faults
from silverball.exchange.bundle import rows as bundle_rows
from silverball.exchange.bundle.checks import BundleCheck
from silverball.exchange.bundle.faults import BrokenBundle
from silverball.kit.conversions import convert
from silverball.kit.errors import Conflict, Invalid
from silverball.rules.model.changes import TournamentImported
from silverball.rules.registry import FORMATS
from silverball.service.bundles import writes
from silverball.service.bundles.reads import bundles as reads
from silverball.service.bundles.writes import BundleContents
from silverball.service.core import enact
from silverball.store import journal
from silverball.store.chain import WrittenLine
from silverball.store.engine import Db
from silverball.store.remote_ids import IdMap
from silverball.store.transaction import Transaction
from silverball_wire.base import UnsetType
from silverball_wire.bundle import Bundle

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
        bundle_faults.refuse_unstorable_values(raw)
        bundle = convert(raw, Bundle, str_keys=True)
    except msgspec.ValidationError as error:
        raise bundle_faults.fault_from_validation(error) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BrokenBundle("$", f"The file is not JSON in UTF-8 ({error}).") from error
    if bundle.tournament.type not in FORMATS:
        raise BrokenBundle("$.tournament.type", f"{bundle.tournament.type!r} is not a format.")
    check = BundleCheck(bundle)
    check.run()
    engine_rows.check_facts(check)
    journal_lines.check_lines(check)
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
    bundle = _bundle_with(db, file, ids, owner_id)
    book = bundle_book.build_book(bundle)
    change = _import_change(file, bundle, book, organizer_id)
    outcome = _outcome(db, bundle, change, organizer_id, is_mapped=source is not None)
    tournament = bundle.tournament
    lines: Sequence[WrittenLine] = ()
    if outcome != "unchanged":
        if source is None:
            reads.refuse_renamed_users(db, book.users)
        _refuse_used_ids(db, change, book, same)
        writes.store_contents(transaction, book, now=now)
        lines = journal_lines.usable_lines(db, bundle) if outcome == "new" else []
        if not lines:
            change = note_rows.without_actions(change)
        _enact_import(transaction, bundle, change, lines, now=now, dice=dice)
        for occasion in book.occasions:
            writes.join_occasion(
                db, occasion["occasion_id"], tournament.tournament_id, tournament.organizer_id
            )
        if source is not None:
            owner = None if owner_id is None else (organizer_id, owner_id)
            id_map.remember_ids(db, source, ids, owner)
    is_journal_left = "journal" in file.raw and outcome != "unchanged" and not lines
    return ImportedBundle(tournament.tournament_id, tournament.name, outcome, ids, is_journal_left)


def _are_changed(ids: IdMap) -> bool:
    return any(old != new for pairs in ids.values() for old, new in pairs.items())


def _bundle_with(db: Db, file: BundleFile, ids: IdMap, owner_id: int | None) -> Bundle:
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
        and reads.is_slug_taken(db, shortcut.slug, tournament_id)
    )
    if not (is_renumbered or owner_id is not None or is_link_dropped):
        return file.bundle
    raw = msgspec.json.decode(msgspec.json.encode(file.raw))
    renumbering.renumber(raw, ids)
    if owner_id is not None:
        renumbering.set_owner(raw, owner_id)
    if is_link_dropped:
        del raw["tournament"]["shortcut"]
    if is_given or is_renumbered:
        # Its lines name the ids that they were written with, and their hashes cover them.
        for name in ("journal", "formerPlayers", "formerArenas"):
            raw.pop(name, None)
    return convert(raw, Bundle, str_keys=True)


def export_bundle(db: Db, tournament_id: int, *, with_journal: bool = False) -> bytes:
    """The bundle of a tournament as the content of a file. Raises NotFound."""
    return msgspec.json.encode(reads.load_bundle(db, tournament_id, with_journal=with_journal)) + b"\n"


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
    existing = reads.find_existing(db, tournament_id, passes_over_merges=is_mapped)
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
        reads.refuse_other_owners(db, kind, rows, same)
    named = [{"series_id": series_id, "organizer_id": book.organizer_id} for series_id in book.series_named]
    reads.refuse_other_owners(db, "seriesId", named, same)
    for kind, part in PART_BY_ID_NAME.items():
        key = reads.id_column(reads.PART_TABLES[kind])
        rows = change.parts[part]
        reads.refuse_other_tournaments(db, kind, [values[key] for values in rows], change.tournament_id)
    for values in change.parts["shortcuts"]:
        reads.refuse_taken_slug(db, values["slug"], change.tournament_id)


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
    try:
        enact.enact_import(
            transaction, change, enact.ActionContext(actor_id=None, source=SOURCE, now=now), dice, lines
        )
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
