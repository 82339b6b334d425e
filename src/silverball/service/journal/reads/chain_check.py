"""Verification of a journal's chain: is each line what was written, and where it was written?"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from silverball.service.journal.reads import row_checks
from silverball.store.database.engine import Db
from silverball.store.tournament import announcements, chain
from silverball.store.tournament.chain import LineContent

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
        line_faults = row_checks.guarded(
            f"line of action {line.action_id}", partial(_line_faults, row, line, previous)
        )
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
        if chain.salted_hash(row.source_salt, row.source) != row.source_hash:
            yield f"{where} was changed after it was written: its source, its salt or its hash."
    elif row.source:
        yield f"{where} was changed after it was written: its source was erased, and now it has one."
    if row.sealed_labels is not None and chain.has_false_labels(
        msgspec.json.decode(row.data_text), row.sealed_labels
    ):
        yield f"{where} was changed after it was written: its labels are others."
    if line.hash_after(previous) == row.hash:
        if row.digests is not None and row.digests != chain.digests_text(line.digests.values()):
            yield f"{where} was changed after it was written: its short digests."
        return
    changed = chain.changed_values(row.digests, line.digests)
    if changed:
        yield f"{where} was changed after it was written: its {' and its '.join(changed)}."
    else:
        yield f"{where} does not follow the line before it: one was added, removed, moved or written again."
