"""How the rounds of a tournament were drawn. Our addition."""

from silverball_wire.base import Instant, Wire


class SeedCommitment(Wire, frozen=True, kw_only=True):
    """A seed that draws come from: its hash from the beginning, itself once the tournament is completed."""

    action_id: int
    """Number of the action in the journal that committed to the seed."""
    committed_at: Instant
    """When that was, as ISO 8601 in UTC."""
    commitment: str
    """SHA-256 of the seed's text, in hex."""
    seed: str | None
    """The seed; null until the tournament is completed."""


class RoundDraw(Wire, frozen=True, kw_only=True):
    """How a round was drawn, and what was done to the draw by hand."""

    round_id: int
    name: str
    """Name of the round, such as `Round #1`."""
    drawn_at: Instant
    """When it was drawn, as ISO 8601 in UTC."""
    dry_runs: int
    """How often the draw was looked at before it was made."""
    redraws: int
    """How often other dice were asked for."""
    swaps: int
    """How often players of the drawn games were swapped by hand."""
    takes: int
    """How often the round was drawn and taken back before."""
    text: str
    """All of that in a person's words."""


class TournamentDraws(Wire, frozen=True, kw_only=True):
    """How a tournament was drawn."""

    commitments: tuple[SeedCommitment, ...]
    """The seeds, oldest first; none for a tournament that was drawn before commitments."""
    rounds: tuple[RoundDraw, ...]
    """The rounds that were drawn here, in order."""
    text: str
    """The source of all draws, in a person's words."""
