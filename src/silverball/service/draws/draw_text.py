"""Draws in a person's words."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from silverball.service.tournaments.journal_text import times_text

# Setting `pairing` -> how it puts players together.
PAIRINGS = {
    "balanced": "whoever met least often so far meets",
    "balanced_series": "whoever met least often in the series so far meets",
    "swiss": "whoever has about as many points meets",
    "strict_swiss": "whoever has about as many points meets, and nobody meets again while it can be avoided",
    "random": "chance alone decides who meets",
    "tiers": "the table is cut into tiers, and each tier plays among itself",
}
NOT_COMMITTED = (
    "This tournament was drawn before commitments: nothing was published by which its draws could be checked."
)
COMMITTED = (
    "All draws come from a seed, a long random number. The hash of the seed was published when the "
    "tournament was made, so nobody could choose another one later. {ending}"
)
HIDDEN = (
    "The seed is shown when the tournament is completed; until then nobody sees it, the organizer neither."
)
REVEALED = "The seed is shown now: its hash is the one that was published, and it gives every draw again."


class DrawCounts(Struct, frozen=True, kw_only=True):
    """How often something was done to the draw of a round."""

    dry_runs: int
    redraws: int
    swaps: int
    takes: int

    @property
    def in_words(self) -> Sequence[tuple[str, int]]:
        return (
            ("looked at {times} before it was made", self.dry_runs),
            ("asked for with other dice {times}", self.redraws),
            ("taken back {times} and made again", self.takes),
            ("changed by hand {times}: players were swapped", self.swaps),
        )


def seeds_text(commitments: int, *, is_revealed: bool) -> str:
    """A sentence about the source of all draws of a tournament."""
    if not commitments:
        return NOT_COMMITTED
    text = COMMITTED.format(ending=REVEALED if is_revealed else HIDDEN)
    if commitments > 1:
        text += " It was reopened, and each time a new seed was committed to, because the old one was known."
    return text


def round_text(games: Sequence[Mapping[str, Any]], settings: Mapping[str, Any], counts: DrawCounts) -> str:
    """Sentences about the draw of a round, and about everything that was done to it by hand."""
    players = sum(len(game["player_ids"]) for game in games if not game.get("game_index"))
    how = PAIRINGS.get(str(settings.get("pairing")), "the schedule of the format decides who meets")
    drawn = f"{players} players were drawn: {how}; the dice decide among equals."
    named = [text.format(times=times_text(count)) for text, count in counts.in_words if count]
    if not named:
        return f"{drawn} Nobody looked at the draw before, asked for another one or changed it by hand."
    return f"{drawn} The draw was {', '.join(named[:-1]) + ' and ' if named[1:] else ''}{named[-1]}."
