"""The state there, compared with the mirror here and written as changes through the one door."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from random import Random
from typing import Any

import msgspec
from msgspec import Struct, field

from silverball.exchange.bundle import book as bundle_book
from silverball.exchange.bundle import file as bundle_file
from silverball.exchange.bundle import id_map, renumbering
from silverball.exchange.bundle import rows as bundle_rows
from silverball.exchange.mirror import standing_differences as differences
from silverball.kit.conversions import convert
from silverball.rules.model.changes import Change, TournamentImported
from silverball.service.bundles import writes as bundle_writes
from silverball.service.bundles.reads import bundles as bundle_reads
from silverball.service.core import mirrored
from silverball.service.core.enact import ActionContext
from silverball.service.mirrors import reads as mirror_reads
from silverball.service.mirrors import writes
from silverball.store import remote_ids
from silverball.store.engine import Store
from silverball.store.remote_ids import IdMap
from silverball.store.transaction import Transaction
from silverball_wire.bundle import Bundle

SOURCE = "mirror"


class MirrorCopy(Struct):
    """The tournament here, and the ids that the things of the other service have in it."""

    store: Store
    source_name: str
    tournament_id: int
    ids: IdMap = field(default_factory=dict)
    _book_digest: bytes = b""

    def apply(self, raw: Any, now: datetime) -> Sequence[Change]:
        """Bring the copy to this state, and return what has changed.

        Raises BrokenBundle or another Refusal for a state that is none: its parts were read one after the
        other, while it went on.
        """
        bundle_file.parse(msgspec.json.encode(raw), self.source_name)
        with self.store.write(self.tournament_id) as transaction:
            bundle, book = self._local(transaction, raw)
            digest = msgspec.json.encode(book)
            if digest != self._book_digest:
                bundle_writes.store_contents(transaction, book, now=now)
            primary = raw["tournament"].get("primaryConfigSettings")
            parts = bundle_rows.build_parts(bundle, primary=primary)
            # Slugs lead to the other service.
            parts["shortcuts"] = []
            there = TournamentImported(tournament_id=self.tournament_id, parts=parts, origin={})
            context = ActionContext(actor_id=None, source=SOURCE, now=now)
            changes = mirrored.enact_differences(transaction, there, context)
        self._book_digest = digest
        return changes

    def standing_differences(self, there: Sequence[Mapping[str, Any]]) -> list[str]:
        """A sentence for each player whose place or points differ from these rows of the other service."""
        with self.store.read() as db:
            return differences.standing_differences(
                db, self.tournament_id, there, self.ids.get("playerId", {})
            )

    def _local(self, transaction: Transaction, raw: Any) -> tuple[Bundle, bundle_writes.BundleContents]:
        """The bundle with the ids that its things have here, and what it holds beside the tournament."""
        db = transaction.connection
        raw = msgspec.json.decode(msgspec.json.encode(raw))
        organizer_id = raw["tournament"]["organizerId"]
        owner_id = id_map.known_owner(db, self.source_name, organizer_id)
        ids = id_map.choose_ids(db, raw, self.source_name, new_ids=False)
        renumbering.renumber(raw, ids)
        if owner_id is not None:
            renumbering.set_owner(raw, owner_id)
        new = {
            kind: {old: new for old, new in pairs.items() if self.ids.get(kind, {}).get(old) != new}
            for kind, pairs in ids.items()
        }
        remote_ids.remember_ids(db, self.source_name, {kind: pairs for kind, pairs in new.items() if pairs})
        self.ids = ids
        bundle = convert(raw, Bundle, str_keys=True)
        book = bundle_book.build_book(bundle)
        bundle_reads.refuse_renamed_users(db, book.users)
        return bundle, book


def begin(store: Store, source_name: str, raw: Any, now: datetime, dice: Random) -> MirrorCopy:
    """Import a tournament as a mirror, or go on with the mirror that it has here. Raises Refusal."""
    remote_id = int(raw["tournament"]["tournamentId"])
    with store.read() as db:
        known = remote_ids.known_ids(db, source_name, {"tournamentId": [remote_id]})["tournamentId"]
        local_id = known.get(remote_id)
        if local_id is not None and mirror_reads.find_mirror(db, local_id) is not None:
            return MirrorCopy(store, source_name, local_id)
    file = bundle_file.parse(msgspec.json.encode(raw), source_name)
    with store.write() as transaction:
        imported = bundle_file.import_bundle(transaction, file, source=source_name, now=now, dice=dice)
        writes.begin_mirror(transaction, imported.tournament_id, source_name, remote_id)
    return MirrorCopy(store, source_name, imported.tournament_id)
