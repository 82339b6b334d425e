"""The end of a running tournament, as its console shows it."""

from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection

from silverball.rules.format import Format
from silverball.rules.model.tournament import Tournament
from silverball.service.planning.reads import paces


class ProjectedEnd(Struct, frozen=True, kw_only=True):
    """When a night ends: on average, by the line of nine in ten, and where its pace comes from."""

    expected: datetime | None
    line: datetime | None
    note: str | None
    # Nights that the pace was learned from; 0 for the published defaults.
    nights: int


def projected_end(db: Connection, tournament: Tournament, form: Format, now: datetime) -> ProjectedEnd:
    """The end of a started tournament, with the pace of nights that ended before it began."""
    organizer_id = tournament.details["organizer_id"]
    arena_ids = [arena.arena_id for arena in tournament.lineup if arena.is_active]
    pace = paces.paces(db, organizer_id, (form,), _began(tournament, now), arena_ids)[form.type]
    # NumPy is loaded when somebody plans.
    import numpy as np

    from silverball.rules.outlook.projection import project_end

    # The same state has the same end.
    dice = np.random.default_rng((tournament.tournament_id, len(tournament.games)))
    found = project_end(tournament, form, pace, dice, now)
    return ProjectedEnd(expected=found.expected, line=found.line, note=found.note, nights=pace.nights)


def _began(tournament: Tournament, now: datetime) -> datetime:
    moments = [round_.created_at for round_ in tournament.rounds]
    moments += [game.started_at for game in tournament.games]
    return min((moment for moment in moments if moment is not None), default=now)
