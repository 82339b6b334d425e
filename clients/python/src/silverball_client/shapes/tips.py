"""Tips: short playing advice for a title."""

from silverball_client.shapes.base import Shape


class Tip(Shape, frozen=True, kw_only=True):
    """A tip, as listed with its machine."""

    tip_id: int
    text: str
    category: str
    vote_total: int
    own_vote: int | None


class OpdbInfo(Shape, frozen=True, kw_only=True):
    """A summary of the machine that the tips are for."""

    name: str
    supplementary: str
    has_ruleset: bool
    pinball_primer_url: str | None
    bobs_guide_url: str | None
    pinball_rules_url: str | None
    pinball_cards_url: str | None


class PinTipsBundle(Shape, frozen=True, kw_only=True):
    """The tips for a machine, best first."""

    pintips: tuple[Tip, ...]
    opdb_info: OpdbInfo | None
