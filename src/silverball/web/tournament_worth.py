"""The worth of a tournament, as pages show it."""

from silverball.rules.model.tournament import Tournament
from silverball.service.worth.reads import estimates
from silverball.service.worth.reads.estimates import Worth
from silverball.store.engine import Db


def shown_worth(db: Db, tournament: Tournament) -> Worth | None:
    """Return the worth, the same for everybody; None for a test, which counts nowhere."""
    is_test = tournament.details["test"]
    return None if is_test else estimates.tournament_worth(db, tournament.tournament_id)
