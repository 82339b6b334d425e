"""The worth of a tournament, as pages show it."""

from silverball.rules.model.tournament import Tournament
from silverball.service.outlook.reads import worth
from silverball.service.outlook.reads.worth import Worth
from silverball.store.database.engine import Db
from silverball.web.page_request import PageRequest
from silverball.web.tournament_night import TournamentNight


def shown_worth(db: Db, tournament: Tournament) -> Worth | None:
    """Return the worth, the same for everybody; None for a test, which counts nowhere."""
    is_test = tournament.details["test"]
    return None if is_test else worth.tournament_worth(db, tournament.tournament_id)


def worth_of_night(request: PageRequest, night: TournamentNight) -> Worth | None:
    """Return the same for the tournament of a console."""
    with request.site.store.read() as db:
        return shown_worth(db, night.tournament)
