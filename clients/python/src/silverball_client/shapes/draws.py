"""How the rounds of a tournament were drawn. Our addition."""

from silverball_client.shapes.base import Shape


class SeedCommitment(Shape, frozen=True, kw_only=True):
    """A seed that draws come from: its hash from the beginning, itself once the tournament is completed."""

    action_id: int
    committed_at: str
    commitment: str
    seed: str | None


class RoundDraw(Shape, frozen=True, kw_only=True):
    """How a round was drawn, and what was done to the draw by hand."""

    round_id: int
    name: str
    drawn_at: str
    dry_runs: int
    redraws: int
    swaps: int
    takes: int
    text: str


class TournamentDraws(Shape, frozen=True, kw_only=True):
    """How a tournament was drawn."""

    commitments: tuple[SeedCommitment, ...]
    rounds: tuple[RoundDraw, ...]
    text: str
