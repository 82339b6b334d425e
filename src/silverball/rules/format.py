"""A format is data: its wire name, its settings and its functions."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Literal

from silverball.kit.errors import Conflict
from silverball.rules.attempts import AttemptPlay
from silverball.rules.changes import Change
from silverball.rules.outcome import Outcome
from silverball.rules.ranking.standing import Standing
from silverball.rules.settings import Settings
from silverball.rules.tournament import Entrant, Tournament
from silverball.rules.words import TournamentType

SettingsType = type[Settings]
# When a player who comes late is in: with the next round, at once, or not at all.
Late = Literal["next_round", "at_once", "never"]
# Where rounds come from: the organizer opens and deletes them, results make them, or the start makes all.
Rounds = Literal["opened", "following", "fixed"]
Start = Callable[[Tournament, Random, datetime], list[Change]]
Settle = Callable[[Tournament, Outcome, Random, datetime], list[Change]]
RosterChanged = Callable[[Tournament, Entrant, Random, datetime], list[Change]]


def nothing_at_start(_tournament: Tournament, _dice: Random, _now: datetime) -> list[Change]:
    """For formats whose first games are made when a round is opened."""
    return []


def no_rounds_to_open(tournament: Tournament, _dice: Random, _now: datetime) -> list[Change]:
    """For formats whose rounds are made at the start or that have none. Raises Conflict."""
    raise Conflict(f"The rounds of a {tournament.type} tournament are not opened by hand.")


def next_round_only(_tournament: Tournament, _who: Entrant, _dice: Random, _now: datetime) -> list[Change]:
    """For formats in which who comes or goes matters to the next draw only."""
    return []


def nothing_at_close(_tournament: Tournament, _now: datetime) -> list[Change]:
    """For formats that show the same before and after they are closed."""
    return []


def nothing_at_reopen(_tournament: Tournament) -> list[Change]:
    """For formats that go on from where they were closed."""
    return []


@dataclass(frozen=True, kw_only=True)
class Format:
    """How a tournament of one type is played.

    `start` makes what a started tournament begins with, `open_round` the next round, `settle` what
    follows from a result, `roster_changed` what follows when an entrant came, left or came back (the
    tournament shows it already). All return changes and raise refusals; they change nothing.
    """

    type: TournamentType
    # Field names are the wire keys, in the order they are shown; Meta holds limits and help.
    settings: SettingsType
    # The settings a list shows first: wire keys.
    primary_settings: tuple[str, ...]
    # The standings, by position, then by player id.
    rank: Callable[[Tournament], list[Standing]]
    # Whether the end condition is met; the organizer still closes the tournament.
    is_over: Callable[[Tournament], bool]
    start: Start = nothing_at_start
    open_round: Start = no_rounds_to_open
    settle: Settle
    roster_changed: RosterChanged = next_round_only
    # What follows when the organizer closes the tournament; what was unfinished is gone already.
    at_close: Callable[[Tournament, datetime], list[Change]] = nothing_at_close
    # What is needed to go on when it was closed: the tournament is started again already.
    at_reopen: Callable[[Tournament], list[Change]] = nothing_at_reopen
    # What may be asked about single player games; None in formats without them.
    attempts: AttemptPlay | None = None
    rounds: Rounds = "opened"
    players_min: int = 2
    late: Late = "next_round"
    # Whether an entrant may be taken out once it has begun.
    can_leave: bool = True
    # Whether results of any round may still be changed, or only those of the newest.
    corrects_any_round: bool = False
