"""Seeds: the ranking of entrants before the first round. Source: formats, section 4."""

import math
from random import Random

from silverball.kit.values import replace
from silverball.rules.model import settings_protocols
from silverball.rules.model.changes import Change, EntrantChanged, changes_between
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.settings_protocols import has
from silverball.rules.model.tournament import Entrant, Tournament

UNSEEDED_LAST = float("inf")
# By the lower bound, and by the rating itself; the published seed is that number.
BY_LOWER_BOUND, BY_RATING = "mp_rating", "mp_rating_rating"
RATING_SEEDS = frozenset({BY_LOWER_BOUND, BY_RATING})
MANUAL = "manual"


def freeze_seeds(tournament: Tournament, dice: Random) -> list[Change]:
    """Fix every entrant's seed rank, 1 to n; ties inside a criterion are drawn.

    `manual` goes by the organizer's seeds, then by the order of adding; ranks, ratings and series
    positions come as `state.seed_facts` (lower is better). Players without one follow after the others.
    """
    ranked = rank_entrants(tournament, dice)
    changes: list[Change] = []
    for rank, entrant in enumerate(ranked, start=1):
        changes += changes_between(
            EntrantChanged,
            entrant,
            replace(entrant, seed_rank=rank, seed_value=_seed_value(tournament, entrant, rank)),
        )
    return changes


def rank_entrants(tournament: Tournament, dice: Random) -> list[Entrant]:
    """The entrants, best seed first."""
    criterion = settings_protocols.seeding(tournament.settings)
    drawn = dice.sample(tournament.entrants, len(tournament.entrants))
    if criterion == "random":
        return drawn
    if criterion == MANUAL:
        return sorted(tournament.entrants, key=lambda entrant: (_manual_seed(entrant), entrant.place))
    facts = tournament.state.seed_facts
    return sorted(drawn, key=lambda entrant: facts.get(entrant.player_id, UNSEEDED_LAST))


def _manual_seed(entrant: Entrant) -> float:
    # 0 is unseeded, as null is.
    return entrant.seed_value or UNSEEDED_LAST


def _seed_value(tournament: Tournament, entrant: Entrant, rank: int) -> int | None:
    """The published seed: the rating itself when entrants are seeded by rating."""
    if settings_protocols.seeding(tournament.settings) not in RATING_SEEDS:
        return rank
    fact = tournament.state.seed_facts.get(entrant.player_id)
    # Facts have their sign reversed, so that lower is better. Unrated players keep their seed.
    return entrant.seed_value if fact is None else math.floor(0.5 - fact)


def counts_from_zero(settings: TournamentSettings) -> bool:
    """Whether the interface counts the seeds from 0, as it does with manual seeding; inside, 1 is first."""
    return has(settings, settings_protocols.HasSeeding) and settings.seeding == MANUAL


def published_seed(seed_value: int | None, seed_rank: int | None) -> int | None:
    """A manual seed as the interface shows it: 0 is the first, null is unseeded (formats, section 4)."""
    # Imports store the 0 of tournaments in which nobody is seeded; late players have a rank only.
    stored = seed_value or seed_rank
    return stored - 1 if stored else None


def stored_seed(published: int | None) -> int | None:
    """A manual seed of the interface as it is stored."""
    return None if published is None else published + 1


def ids_by_seed(tournament: Tournament) -> list[int]:
    """Ids of the players in the schedule, best seed first, unseeded last in the order of adding."""
    ordered = sorted(
        tournament.field,
        key=lambda entrant: (entrant.seed_rank is None, entrant.seed_rank or 0, entrant.place),
    )
    return [player_id.player_id for player_id in ordered]


def next_seed_rank(tournament: Tournament) -> int:
    """The seed rank of a late player: after all others."""
    return max((entrant.seed_rank or 0 for entrant in tournament.entrants), default=0) + 1
