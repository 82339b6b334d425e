"""The check before the start: what would go wrong in this night, in a sentence each."""

from datetime import datetime

from silverball.kit.values import replace
from silverball.rules.format import PlayKind
from silverball.service.outlook.reads import planning
from silverball.web.page_request import PageRequest
from silverball.web.tournament_night import TournamentNight


def warnings_before_start(request: PageRequest, night: TournamentNight) -> list[str]:
    """Return what players, machines and times would lead to; empty while players are missing."""
    if not night.can_start:
        return []
    found = (_field_warning(night), _machine_warning(night), _end_warning(request, night))
    return [warning for warning in found if warning]


def _field_warning(night: TournamentNight) -> str:
    most, players = night.format.players_max, len(night.active_entrants)
    return f"{night.format.title} takes at most {most} players." if most and players > most else ""


def _machine_warning(night: TournamentNight) -> str:
    """The sentence where a round has no machine to spare, or too few."""
    machines, size = len(night.active_arenas), night.format.players_per_game
    if not machines or not night.opens_rounds or night.kind is not PlayKind.GAMES:
        return ""
    games = -(-len(night.active_entrants) // size) if size > 2 else len(night.active_entrants) // 2
    if games > machines:
        return f"A round has {games} games, and there are {machines} machines: not all can be played at once."
    return "No machine to spare: if one breaks, a game waits." if games == machines else ""


def _end_warning(request: PageRequest, night: TournamentNight) -> str:
    """The sentence where the night would last beyond its planned end."""
    details = night.tournament.details
    if details["end_utc"] is None:
        return ""
    begins = max(night.now, datetime.fromisoformat(details["start_utc"]))
    ends = datetime.fromisoformat(details["end_utc"])
    as_started = replace(night.tournament, status="started")
    with request.site.store.read() as db:
        expected = planning.projected_end(db, as_started, night.format, begins).expected
    if expected is None or expected <= ends:
        return ""
    return f"It would end about {night.clock(expected)}, after the planned end at {night.clock(ends)}."
