"""Checks of stored prize money. What was paid, to whom and when follows from the journal."""

from silverball.rules.model.tournament import Tournament

ALL_SHARES = 100 * 100


def prize_faults(tournament: Tournament) -> list[str]:
    """Shares that are not the whole purse, and payouts that cannot have been made."""
    plan = tournament.prizes
    if plan is None:
        return []
    faults = []
    if sum(plan.shares) != ALL_SHARES:
        faults.append(f"The shares of the prize money sum to {sum(plan.shares)}, not to {ALL_SHARES}.")
    entered = {entrant.player_id for entrant in tournament.entrants}
    for payout in plan.payouts:
        if payout.player_id not in entered:
            faults.append(f"Player {payout.player_id} was paid and is not in the tournament.")
        if payout.cents <= 0 or payout.cents % plan.rounding:
            faults.append(f"Player {payout.player_id} was paid {payout.cents}, which no prize can be.")
    return faults
