"""Prize money shared among places, in whole cents. Source: pages, section 2, "Prize money".

The federation's fees and then the house share come off the pot. Each place has a share of the rest; players
who share a place have the shares of the places that they fill added and divided. Prizes are rounded down to
a multiple of the chosen unit, and what that leaves is the remainder:

    pot = federation fees + house share + prizes + remainder
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct, UnsetType

from silverball.rules.model.tournament import PrizePlan
from silverball.rules.ranking import standing

# Hundredths of a percent.
WHOLE = 10_000
# Usual shares by the number of places that win money; ours.
STANDARD_SHARES: Mapping[int, tuple[int, ...]] = {
    1: (10_000,),
    2: (6_000, 4_000),
    3: (5_000, 3_000, 2_000),
    4: (4_000, 3_000, 2_000, 1_000),
    5: (3_600, 2_600, 1_800, 1_200, 800),
    6: (3_400, 2_400, 1_700, 1_200, 800, 500),
    7: (3_200, 2_300, 1_600, 1_100, 800, 600, 400),
    8: (3_000, 2_200, 1_500, 1_100, 800, 600, 400, 400),
}


class Purse(Struct, frozen=True, kw_only=True):
    """The pot, what comes off it, and what is left for prizes; in cents."""

    players: int
    pot: int
    federation_fees: int
    house: int

    @property
    def shared(self) -> int:
        """The money that is left for prizes."""
        return self.pot - self.federation_fees - self.house


class Prize(Struct, frozen=True, kw_only=True):
    """The prize of each player who has this place, or of the place itself while nobody has it."""

    position: int
    # The last of the places that the players fill together; `position` without a tie.
    last_position: int
    player_ids: tuple[int, ...]
    # Of all these places together, in hundredths of a percent.
    share: int
    # Of each player.
    cents: int

    @property
    def total(self) -> int:
        """The prizes of all these players together; of one, while nobody has the place."""
        return self.cents * max(len(self.player_ids), 1)


def purse_of(plan: PrizePlan, players: int) -> Purse:
    """The purse of a tournament with so many players. The pot pays no more fees than it holds."""
    counted = players if plan.players_paid is None else plan.players_paid
    fees_paid = plan.entry_fee * counted if isinstance(plan.payments, UnsetType) else plan.payments
    pot = fees_paid + plan.extras
    fees = min(plan.federation_fee * counted, pot)
    house = (pot - fees) * plan.house_share // WHOLE
    return Purse(players=counted, pot=pot, federation_fees=fees, house=house)


def prizes_of(plan: PrizePlan, purse: Purse, placed: Mapping[int, int]) -> tuple[Prize, ...]:
    """The prizes, best place first. Takes player id -> position; empty before there are standings.

    Players on a place below the last share have no prize. A prize that rounds down to nothing is listed.
    """
    if not placed:
        return tuple(
            _prize(plan, purse, position, (), share) for position, share in enumerate(plan.shares, start=1)
        )
    prizes = []
    for position, player_ids in standing.members_by_position(placed).items():
        share = sum(plan.shares[position - 1 : position - 1 + len(player_ids)])
        if share:
            prizes.append(_prize(plan, purse, position, player_ids, share))
    return tuple(prizes)


def _prize(plan: PrizePlan, purse: Purse, position: int, player_ids: tuple[int, ...], share: int) -> Prize:
    heads = max(len(player_ids), 1)
    units = purse.shared * share // (WHOLE * heads * plan.rounding)
    return Prize(
        position=position,
        last_position=position + heads - 1,
        player_ids=player_ids,
        share=share,
        cents=units * plan.rounding,
    )


def remainder_of(purse: Purse, prizes: Sequence[Prize]) -> int:
    """The rest of the purse: from rounding, and from places that nobody has."""
    return purse.shared - sum(prize.total for prize in prizes)
