"""A format is data: its wire name, its settings and its functions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Literal

from silverball.kit.errors import Conflict
from silverball.rules.mechanics import rounds as round_rules
from silverball.rules.mechanics.attempts import AttemptRules
from silverball.rules.mechanics.free_games import FreeGameRules
from silverball.rules.model.changes import Change
from silverball.rules.model.literals import TournamentType
from silverball.rules.model.outcome import Outcome
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.tournament import Entrant, Game, LineupArena, Round, Tournament
from silverball.rules.ranking.standing import Standing

SettingsType = type[TournamentSettings]
# When a player who comes late is in: with the next round, at once, or not at all.
LateEntry = Literal["next_round", "at_once", "never"]
# Where rounds come from: the organizer opens and deletes them, results make them, or the start makes all.
Rounds = Literal["opened", "following", "fixed"]
Start = Callable[[Tournament, Random, datetime], list[Change]]
Settle = Callable[[Tournament, Outcome, Random, datetime], list[Change]]
RosterChanged = Callable[[Tournament, Entrant, Random, datetime], list[Change]]
ResultCleared = Callable[[Tournament, Game], list[Change]]
CompleteRound = Callable[[Tournament, Round, datetime], list[Change]]
TiedGroups = Callable[[Tournament], list[tuple[int, ...]]]
OpenTiebreak = Callable[[Tournament, Sequence[int], datetime], list[Change]]
LineupChanged = Callable[[Tournament, LineupArena, Random, datetime], list[Change]]


def nothing_at_start(_tournament: Tournament, _dice: Random, _now: datetime) -> list[Change]:
    """For formats whose first games are made when a round is opened."""
    return []


def refuse_to_open_round(tournament: Tournament, _dice: Random, _now: datetime) -> list[Change]:
    """For formats whose rounds are made at the start or that have none. Raises Conflict."""
    raise Conflict(f"The rounds of a {tournament.type} tournament are not opened by hand.")


def next_round_only(_tournament: Tournament, _who: Entrant, _dice: Random, _now: datetime) -> list[Change]:
    """For formats in which who comes or goes matters to the next draw only."""
    return []


def next_draw_only(
    _tournament: Tournament, _arena: LineupArena, _dice: Random, _now: datetime
) -> list[Change]:
    """For formats in which another arena matters to the next draw only."""
    return []


def all_active(tournament: Tournament) -> tuple[int, ...]:
    """For formats in which who is active plays on."""
    return tournament.active_ids


def refuse_to_join(_tournament: Tournament, _who: Entrant, _dice: Random, _now: datetime) -> list[Change]:
    """For formats whose field is fixed at the start. Raises Conflict."""
    raise Conflict("Nobody can join or come back to this tournament: its field is fixed at the start.")


def nothing_after_clearing(_tournament: Tournament, _game: Game) -> list[Change]:
    """For formats in which nothing depends on a single result."""
    return []


def never_over(_tournament: Tournament) -> bool:
    """For formats with always something more to play: the organizer closes them."""
    return False


def refuse_to_complete_round(_tournament: Tournament, one: Round, _now: datetime) -> list[Change]:
    """For formats whose rounds are completed by their last result. Raises Conflict."""
    raise Conflict(f"{one.name} completes itself with its last result. Record the open games.")


def no_tied_groups(_tournament: Tournament) -> list[tuple[int, ...]]:
    """For formats whose games decide every place that is not shared for good."""
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
    open_round: Start = refuse_to_open_round
    settle: Settle
    roster_changed: RosterChanged = next_round_only
    # What follows when the organizer closes the tournament; what was unfinished is gone already.
    at_close: Callable[[Tournament, datetime], list[Change]] = nothing_at_close
    # What is needed to go on: the tournament is started again already, `completed_at` says when it closed.
    at_reopen: Callable[[Tournament], list[Change]] = nothing_at_reopen
    # What follows when an arena came, was taken out of service or came back (the tournament shows it).
    lineup_changed: LineupChanged = next_draw_only
    # Ids of those who would be in the next round: active, and not out.
    playing_ids: Callable[[Tournament], tuple[int, ...]] = all_active
    # What may be asked about games outside drawn rounds; None in formats without them.
    free_games: FreeGameRules | None = None
    # What may be asked about single player games; None in formats without them.
    attempts: AttemptRules | None = None
    rounds: Rounds = "opened"
    # What follows when the result of a game was taken away; the tournament shows it open already.
    result_cleared: ResultCleared = nothing_after_clearing
    # A round completed by hand.
    complete_round: CompleteRound = round_rules.complete_round
    # The sets of players whom a tiebreak may separate; None where those are all who share a place.
    tied_groups: TiedGroups | None = None
    # A tiebreak between tied players, as games of this format.
    open_tiebreak: OpenTiebreak = round_rules.open_tiebreak
    # Whether points (or strikes) may be adjusted by hand.
    can_adjust: bool = True
    players_min: int = 2
    late_entry: LateEntry = "next_round"
    # Whether an entrant may be taken out once it has begun.
    can_leave: bool = True
    # Whether results of any round may still be changed, or only those of the newest.
    can_correct_any_round: bool = False
