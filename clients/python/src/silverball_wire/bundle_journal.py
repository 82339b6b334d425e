"""A line of a tournament's journal with its place in the chain; for bundles."""

from typing import Any

from silverball_wire.base import Id, Instant, Wire


class JournalLine(Wire, frozen=True, kw_only=True):
    """A line as it is stored: its hash covers it and the line before. Source: docs/proof.md."""

    action_id: Id
    change: str
    data: dict[str, Any]
    """What was changed, with the names of the rules."""
    dice_seed: str | None
    draw_version: int | None
    actor_id: Id | None
    """Account that did it; null for the service itself and for a device."""
    source: str
    """Address that it was done from, empty when that was erased."""
    at: Instant
    source_salt: str | None
    source_hash: str
    sealed_labels: dict[str, Any] | None
    """Salt and salted hashes of the labels in `data`; null for a line without labels."""
    hash: str
