"""A format is data: its names, its settings, what is true of it, and its functions."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from random import Random
from typing import Any, Literal

from msgspec import Struct, field

from silverball.kit.errors import Conflict
from silverball.rules.families.brackets import BracketRules
from silverball.rules.families.group_stages import GroupStageRules
from silverball.rules.mechanics import rounds as round_rules
from silverball.rules.mechanics.attempts import AttemptRules
from silverball.rules.mechanics.free_games import FreeGameRules
from silverball.rules.model.changes import Change
from silverball.rules.model.outcome import Outcome
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.tournament import Entrant, Game, LineupArena, Round, Tournament
from silverball.rules.planning.answers import MeaningfulGamesRule, PlayedGamesRule
from silverball.rules.planning.nights import UNPLANNED, NightPlanning
from silverball.rules.ranking.standing import Standing, WinLossRule
from silverball.rules.scoring.point_maps import WireRows
from silverball.rules.verify.checks import FormatChecks

SettingsType = type[TournamentSettings]
# When a late player is in: with the next round, at once, or not at all.
LateEntry = Literal["next_round", "at_once", "never"]
Start = Callable[[Tournament, Random, datetime], list[Change]]
Settle = Callable[[Tournament, Outcome, Random, datetime], list[Change]]
RosterChanged = Callable[[Tournament, Entrant, Random, datetime], list[Change]]
ResultCleared = Callable[[Tournament, Game], list[Change]]
RequireRankable = Callable[[Tournament, Sequence[Game]], None]
CompleteRound = Callable[[Tournament, Round, datetime], list[Change]]
TiedGroups = Callable[[Tournament], list[tuple[int, ...]]]
OpenTiebreak = Callable[[Tournament, Sequence[int], datetime], list[Change]]
LineupChanged = Callable[[Tournament, LineupArena, Random, datetime], list[Change]]
# Takes the settings, and the organizer's own points where the settings ask for them.
PointsMap = Callable[[TournamentSettings, Mapping[str, Any] | None], WireRows | None]
# Takes settings, and returns the wire keys and sentences of those with which no start is possible.
SettingFaults = Callable[[TournamentSettings], Mapping[str, str]]
# Takes the settings that were given, by wire key, and returns those that are not left at their defaults.
DefaultsBeside = Callable[[Mapping[str, Any]], Mapping[str, Any]]
# Takes settings and the number of players, and returns how many of the best seeds wait for a later
# round: one number for each such line.
ByeLines = Callable[[TournamentSettings, int], tuple[int, ...]]
# Takes the settings by wire key, as they are stored.
WinsAndLosses = Callable[[Mapping[str, Any]], WinLossRule]


class RoundsMadeByFormat(Conflict):
    sentence = "The rounds of a {format} tournament are not opened by hand."


class FieldIsFixed(Conflict):
    sentence = "Nobody can join or come back to this tournament: its field is fixed at the start."


class RoundCompletesItself(Conflict):
    sentence = "{round} completes itself with its last result. Record the open games."


class Rounds(StrEnum):
    """Where the rounds of a tournament come from."""

    # The organizer opens and deletes them.
    OPENED = "opened"
    # Results make the next one.
    FOLLOWING = "following"
    # The start makes all of them.
    FIXED = "fixed"
    # There are none.
    NONE = "none"


class FormatGroup(StrEnum):
    """The formats that stand together where one is chosen, in this order, by their heading."""

    MATCH_PLAY = "Match Play"
    KNOCKOUT = "Knockout"
    BRACKETS = "Brackets"
    SCORES = "Score-based"
    OTHERS = "Pingolf & others"


class PlayKind(StrEnum):
    """The form of play, which decides what a night looks like."""

    # Two to four entrants meet on an arena.
    GAMES = "games"
    # All players play the same rounds alone: holes, frames.
    HOLES = "holes"
    # All players play one arena alone, and the lowest score is out.
    RACE = "race"
    # Players choose an arena and play it alone as often as they may.
    SCORES = "scores"


class CountedIn(StrEnum):
    """The unit of the standings."""

    POINTS = "points"
    STRIKES = "strikes"
    STROKES = "strokes"
    PINS = "pins"


class ResultUnit(StrEnum):
    """How the usual result is entered."""

    ORDER = "order"
    STROKES = "strokes"
    ROLLS = "rolls"
    SCORE = "score"


class DemoNight(Struct, frozen=True, kw_only=True):
    """How the demo plays a night of the format."""

    # The name of the night, behind "Finished".
    name: str
    players: int = 8
    # Wire key -> value.
    settings: Mapping[str, Any] = field(default_factory=dict)
    # Games of each player, where the format has no end of its own.
    games_per_player: int = 4


def no_setting_faults(_settings: TournamentSettings) -> Mapping[str, str]:
    """No faults: any of the settings can be started with."""
    return {}


def usual_defaults(_given: Mapping[str, Any]) -> Mapping[str, Any]:
    """No other defaults: none of them contradicts a setting."""
    return {}


def nothing_at_start(_tournament: Tournament, _dice: Random, _now: datetime) -> list[Change]:
    """Make nothing: the first games are made when a round is opened."""
    return []


def refuse_to_open_round(tournament: Tournament, _dice: Random, _now: datetime) -> list[Change]:
    """Refuse: rounds are made at the start, or there are none. Raises Conflict."""
    raise RoundsMadeByFormat(format=tournament.type)


def next_round_only(
    _tournament: Tournament, _entrant: Entrant, _dice: Random, _now: datetime
) -> list[Change]:
    """Change nothing: arrivals and departures matter to the next draw only."""
    return []


def next_draw_only(
    _tournament: Tournament, _arena: LineupArena, _dice: Random, _now: datetime
) -> list[Change]:
    """Change nothing: the lineup matters to the next draw only."""
    return []


def all_active(tournament: Tournament) -> tuple[int, ...]:
    """Ids of all active players, for formats without elimination."""
    return tournament.active_ids


def refuse_to_join(_tournament: Tournament, _entrant: Entrant, _dice: Random, _now: datetime) -> list[Change]:
    """Refuse: the field is fixed at the start. Raises Conflict."""
    raise FieldIsFixed


def nothing_after_clearing(_tournament: Tournament, _game: Game) -> list[Change]:
    """Change nothing: nothing depends on a single result."""
    return []


def never_over(_tournament: Tournament) -> bool:
    """Say no: there is always more to play, and the organizer decides when to stop."""
    return False


def refuse_to_complete_round(_tournament: Tournament, round_: Round, _now: datetime) -> list[Change]:
    """Refuse: rounds complete themselves with their last result. Raises Conflict."""
    raise RoundCompletesItself(round=round_.name)


def no_tied_groups(_tournament: Tournament) -> list[tuple[int, ...]]:
    """No groups: games decide every place that is not shared for good."""
    return []


def nothing_to_fit(_tournament: Tournament) -> list[Change]:
    """Change nothing: no setting follows from the number of players before the start."""
    return []


def nothing_at_close(_tournament: Tournament, _now: datetime) -> list[Change]:
    """Change nothing: the tournament looks the same before and after it is closed."""
    return []


def nothing_at_reopen(_tournament: Tournament) -> list[Change]:
    """Change nothing: play goes on from where it stopped."""
    return []


def always_rankable(_tournament: Tournament, _games: Sequence[Game]) -> None:
    """Refuse nothing: whatever was recorded can be counted."""


def no_bye_lines(_settings: TournamentSettings, _players: int) -> tuple[int, ...]:
    """No lines: nobody waits for a later round because of their seed."""
    return ()


def by_positions(_settings: Mapping[str, Any]) -> WinLossRule:
    """Wins and losses by finishing order."""
    return WinLossRule.POSITIONS


def no_wins_or_losses(_settings: Mapping[str, Any]) -> WinLossRule:
    """No wins and losses: players meet the machine, not each other."""
    return WinLossRule.NONE


class Format(Struct, frozen=True, kw_only=True):
    """One format: its names, its settings, its properties and its functions.

    `start` makes what a started tournament begins with, `open_round` the next round, `settle` what
    follows from a result, `roster_changed` what follows when an entrant came, left or came back (the
    tournament shows it already). All return changes and raise refusals; they change nothing.
    """

    # The wire name.
    type: str
    # The name on pages.
    title: str
    # The heading that it stands under where a format is chosen.
    group: FormatGroup
    # One sentence that helps to choose a format.
    summary: str
    # Field names are the wire keys, in the order they are shown; Meta holds limits and help.
    settings: SettingsType
    # The settings a list shows first: wire keys.
    primary_settings: tuple[str, ...] = ()
    # The settings that matter most nights, at most six, which the form of a new tournament shows: wire
    # keys, in the order they are shown. The others are under "More settings".
    form_settings: tuple[str, ...] = ()
    # What `start` would refuse whoever plays, so that it is refused when it is entered.
    setting_faults: SettingFaults = no_setting_faults
    # The defaults of other settings where the usual ones would contradict those given.
    defaults_beside: DefaultsBeside = usual_defaults
    # How the demo plays it.
    demo: DemoNight
    # What a night of it consists of, for the planner.
    planning: NightPlanning = UNPLANNED

    # What it looks like
    play: PlayKind = PlayKind.GAMES
    # Most players in a game; 1 where players play alone.
    players_per_game: int
    counted_in: CountedIn = CountedIn.POINTS
    result_unit: ResultUnit = ResultUnit.ORDER
    # Whether its results count for ratings.
    rated: bool
    # Whether places follow from points, so that players move up and down with each result.
    is_ranked_by_points: bool = True
    rounds: Rounds = Rounds.OPENED
    # Whether a clock decides how long new games start.
    has_clock: bool = False
    # Whether the next games are drawn on request, outside of rounds.
    has_match_requests: bool = False
    # Whether single player games are bought and scored by the card.
    has_cards: bool = False
    # The bracket of pairs that it is played in, if any.
    bracket: BracketRules | None = None
    # The bracket of groups that it is played in, if any.
    group_stages: GroupStageRules | None = None

    # Results and standings
    # The points by group size and place that a new tournament starts with, as on the wire; None
    # where places earn no points.
    points_map: PointsMap
    win_loss_rule: WinsAndLosses = by_positions
    # The standings, by position, then by player id.
    rank: Callable[[Tournament], list[Standing]]
    # Refuses games, of those that changed, which the standings could not count.
    require_rankable: RequireRankable = always_rankable
    # Whether the end condition is met; the organizer still closes the tournament.
    is_over: Callable[[Tournament], bool]
    # The meaningful games of a planned night by the federation's rules, or why there is no number.
    meaningful_games: MeaningfulGamesRule
    # The same from the record of a played one.
    meaningful_games_played: PlayedGamesRule
    # The rules that verification checks, with computations of its own.
    verify: FormatChecks
    # The sets of players whom a tiebreak may separate; None where those are all who share a place.
    tied_groups: TiedGroups | None = None
    # A tiebreak between tied players, as games of this format.
    open_tiebreak: OpenTiebreak = round_rules.open_tiebreak
    # The lines of its seeds before which players have a bye.
    bye_lines: ByeLines = no_bye_lines
    # Whether points (or strikes) may be adjusted by hand.
    can_adjust: bool = True
    # Whether results of any round may still be changed, or only those of the newest.
    can_correct_any_round: bool = False

    # How it goes on
    start: Start = nothing_at_start
    open_round: Start = refuse_to_open_round
    settle: Settle
    # What follows when the result of a game was cleared; the tournament shows it open already.
    result_cleared: ResultCleared = nothing_after_clearing
    # A round completed by hand.
    complete_round: CompleteRound = round_rules.complete_round
    # What follows when the organizer closes the tournament; what was unfinished is gone already.
    at_close: Callable[[Tournament, datetime], list[Change]] = nothing_at_close
    # What is needed to go on: the tournament is started again already, `completed_at` says when it closed.
    at_reopen: Callable[[Tournament], list[Change]] = nothing_at_reopen
    # What may be asked about games outside drawn rounds; None in formats without them.
    free_games: FreeGameRules | None = None
    # What may be asked about single player games; None in formats without them.
    attempts: AttemptRules | None = None

    # Players and arenas
    players_min: int = 2
    # Most players that it can start with; None for no limit.
    players_max: int | None = None
    # What follows from the number of players while the tournament is planned.
    fit_to_players: Callable[[Tournament], list[Change]] = nothing_to_fit
    late_entry: LateEntry = "next_round"
    # Whether an entrant may be taken out once it has begun.
    can_leave: bool = True
    # Ids of those who would be in the next round: active, and not out.
    playing_ids: Callable[[Tournament], tuple[int, ...]] = all_active
    roster_changed: RosterChanged = next_round_only
    # What follows when an arena came, was taken out of service or came back (the tournament shows it).
    lineup_changed: LineupChanged = next_draw_only

    @property
    def can_open_rounds(self) -> bool:
        """Whether the organizer opens its rounds one by one."""
        return self.rounds is Rounds.OPENED
