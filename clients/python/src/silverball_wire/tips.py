"""Tips: short playing advice for a title."""

from typing import Literal

from silverball_wire.base import Wire

TipCategory = Literal["general", "multiball", "secret", "skillshot"]


class Tip(Wire, frozen=True, kw_only=True):
    """A tip, as listed with its machine. Source: ratings C.3."""

    tip_id: int
    """Id of the tip."""
    text: str
    """The advice."""
    category: TipCategory
    """What the advice is about."""
    vote_total: int
    """Votes for the tip minus votes against it."""
    own_vote: int | None
    """The caller's vote; null without one."""


class OpdbInfo(Wire, frozen=True, kw_only=True):
    """A summary of the machine that the tips are for. Source: ratings C.3."""

    name: str
    """Name of the machine."""
    supplementary: str
    """Manufacturer and year, such as `Bally, 1994`."""
    has_ruleset: bool
    """Whether there is a page of rules."""
    pinball_primer_url: str | None
    bobs_guide_url: str | None
    pinball_rules_url: str | None
    pinball_cards_url: str | None


class PinTipsBundle(Wire, frozen=True, kw_only=True):
    """The tips for a machine, best first. Source: wire.yaml PinTipsBundle."""

    pintips: tuple[Tip, ...]
    """The tips, best first."""
    opdb_info: OpdbInfo | None
    """Summary of the machine; null when it is not in the machine database."""


class TipRow(Wire, frozen=True, kw_only=True):
    """A tip in the file of all tips. Source: ratings C.2."""

    tip_id: int
    opdb_id: str | None
    category: TipCategory
    vote_total: int
    text: str
    created_at: str
    updated_at: str
