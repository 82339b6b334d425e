"""A tournament with the names of its players, machines and scorekeepers, as its pages show it."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property

from msgspec import Struct, field

from silverball.kit.errors import Conflict, NotAllowed, Refusal
from silverball.rules.commands import tiebreaks as tiebreak_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.families import best_game as best_game_family
from silverball.rules.families import frenzy as frenzy_family
from silverball.rules.format import CountedIn, Format, PlayKind, ResultUnit
from silverball.rules.mechanics import round_timer
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.settings_protocols import HasStrikesByPlace, has
from silverball.rules.model.tournament import (
    Entrant,
    Game,
    LineupArena,
    QueueSpot,
    Round,
    SinglePlayerGame,
    Tournament,
)
from silverball.rules.ranking.standing import Standing
from silverball.service.tournaments.reads.journal import LastAction
from silverball.store.announcements import ChannelHead
from silverball.web import error_pages
from silverball.web.match_count import MatchCount, count_match
from silverball.web.mirror_notice import MirrorNotice
from silverball.web.room_view import RoomView
from silverball_wire import times
from silverball_wire.journal import JournalAction

RESULTS_SHOWN_MAX = 60
MINUTE_SECONDS = 60
HOURS_FROM_MINUTES = 120
DAYS_FROM_HOURS = 48


class NotStaff(NotAllowed):
    """The caller neither organizes the tournament nor keeps its scores."""

    sentence = "This console is for the organizer of the tournament and for those who keep its scores."


class TournamentNight(Struct, frozen=True, kw_only=True, dict=True):
    """A tournament, the names in it, and the present time."""

    tournament: Tournament
    now: datetime
    is_organizer: bool = True
    # Whether they may delete it and choose directors, too.
    is_owner: bool = False
    # Id -> name.
    players: Mapping[int, str] = field(default_factory=dict)
    arenas: Mapping[int, str] = field(default_factory=dict)
    scorekeepers: Mapping[int, str] = field(default_factory=dict)
    # The newest actions of the journal, newest first; only for the organizer.
    actions: Sequence[JournalAction] = ()
    # What was done last, however long ago it was; only for the organizer.
    last_action: LastAction | None = None
    # The state of the feed's channel when this was read; later events are news.
    head: ChannelHead | None = None
    # The other tournaments of its occasion, which share players and machines.
    room: RoomView = field(default_factory=RoomView)
    # The service that runs it; None for a tournament that is run here.
    mirror: MirrorNotice | None = None

    @property
    def id(self) -> int:
        return self.tournament.tournament_id

    @property
    def name(self) -> str:
        return str(self.tournament.details["name"])

    @property
    def format(self) -> Format:
        return tournament_commands.format_of(self.tournament)

    @property
    def kind(self) -> PlayKind:
        return self.format.play

    # Names

    def player_name(self, player_id: int | None) -> str:
        return self.players.get(player_id or 0) or f"Player {player_id}"

    def arena_name(self, arena_id: int | None) -> str:
        """The arena's name, or a note that there is none yet."""
        return "Machine not set" if arena_id is None else self.arenas.get(arena_id) or f"Machine {arena_id}"

    def choices(self, listed: Sequence[Entrant | LineupArena]) -> list[tuple[int, str]]:
        """Ids and names of entrants or arenas, as options of a select element."""
        return [
            (each.player_id, self.player_name(each.player_id))
            if isinstance(each, Entrant)
            else (each.arena_id, self.arena_name(each.arena_id))
            for each in listed
        ]

    def game_title(self, game: Game) -> str:
        """Players and machine: `Ada, Bo on Meteor Shower`."""
        names = ", ".join(self.player_name(player_id) for player_id in game.player_ids)
        return f"{names} on {self.arena_name(game.arena_id)}"

    def refusal_text(self, refusal: Refusal) -> str:
        """The refusal's sentence with names in place of ids."""
        return error_pages.refusal_text(refusal, self.name_of)

    def name_of(self, kind: str, item_id: int) -> str | None:
        """The name of a player, an arena or a game of this tournament; None for others."""
        return self._names[kind].get(item_id)

    @cached_property
    def _names(self) -> Mapping[str, Mapping[int, str]]:
        games = {game.game_id: f"the game of {self.game_title(game)}" for game in self.tournament.games}
        return {"player": self.players, "arena": self.arenas, "game": games}

    # Entrants and arenas

    @cached_property
    def roster(self) -> list[Entrant]:
        """The entrants by name, inactive ones last."""
        return sorted(
            self.tournament.entrants,
            key=lambda entrant: (not entrant.is_active, self.player_name(entrant.player_id).lower()),
        )

    @cached_property
    def active_entrants(self) -> list[Entrant]:
        return [entrant for entrant in self.roster if entrant.is_active]

    @cached_property
    def lineup(self) -> list[LineupArena]:
        """The arenas by name, those out of service last."""
        return sorted(
            self.tournament.lineup,
            key=lambda arena: (not arena.is_active, self.arena_name(arena.arena_id).lower()),
        )

    @cached_property
    def active_arenas(self) -> list[LineupArena]:
        """The arenas in service, by name."""
        return [arena for arena in self.lineup if arena.is_active]

    # Games

    @cached_property
    def open_games(self) -> list[Game]:
        """Games without a result, in the order in which they are called."""
        games = [game for game in self.tournament.games if game.status != "completed" and not game.is_bye]
        return sorted(games, key=lambda game: (game.set_number, game.game_index or 0, game.game_id))

    @cached_property
    def newest_results(self) -> list[Game]:
        """Games with a result, newest first."""
        games = [game for game in self.tournament.games if game.status == "completed" and not game.is_bye]
        games.sort(key=lambda game: (game.completed_at or self.now, game.game_id), reverse=True)
        return games[:RESULTS_SHOWN_MAX]

    @cached_property
    def byes(self) -> list[Game]:
        """Byes of the newest round."""
        newest = self.tournament.newest_round
        games = self.tournament.games_by_round.get(newest.round_id, ()) if newest else ()
        return [game for game in games if game.is_bye]

    def seconds_since(self, then: datetime) -> int:
        return max(0, (self.now - then) // timedelta(seconds=1))

    def elapsed_text(self, then: datetime) -> str:
        """The time since then, rounded: `12 min`, `3 h`, `2 days`."""
        minutes = self.seconds_since(then) // MINUTE_SECONDS
        if minutes < HOURS_FROM_MINUTES:
            return f"{minutes} min"
        hours = minutes // 60
        return f"{hours} h" if hours < DAYS_FROM_HOURS else f"{hours // 24} days"

    def local_time(self, at: str) -> str:
        """An ISO time of the interface in the tournament's time zone: `2026-03-05 20:30`."""
        return times.local(datetime.fromisoformat(at), self.tournament.details["timezone"])[:16]

    def finishing_order(self, game: Game) -> list[int]:
        """Player ids, first to last, as far as they are recorded."""
        recorded = game.finishing_order or game.result_positions
        return [player_id for player_id in recorded if player_id is not None]

    def match_of(self, game: Game) -> MatchCount | None:
        """How the match stands, where several games decide it."""
        return count_match(self.tournament, game)

    def round_name(self, round_id: int | None) -> str:
        found = self.tournament.round_by_id.get(round_id or 0)
        return found.name if found else ""

    @property
    def can_record_strikes(self) -> bool:
        """Whether a result can be entered as the players who get a strike."""
        settings = self.tournament.settings
        if not has(settings, HasStrikesByPlace):
            return False
        is_graded = settings.knockout_fair or settings.knockout_progressive
        return not is_graded and settings.knockout_four_player_strikes not in (100, 101)

    # Rounds

    @property
    def opens_rounds(self) -> bool:
        """Whether the organizer opens the rounds."""
        return self.format.can_open_rounds

    @property
    def open_round(self) -> Round | None:
        newest = self.tournament.newest_round
        return newest if newest is not None and newest.status != "completed" else None

    @property
    def round_ends_at(self) -> datetime | None:
        """When the time of the open round is up; None without a round timer."""
        return round_timer.round_ends_at(self.tournament)

    def game_ends_at(self, game: Game) -> datetime | None:
        """When the time of the game is up; None without a round timer, and while its clock stands."""
        return round_timer.game_ends_at(self.tournament, game)

    @property
    def late_games(self) -> list[tuple[Game, datetime]]:
        """The open games whose time is up, and when it was, the latest first."""
        late = round_timer.late_games(self.tournament, self.now)
        return [(game, self.now - late_by) for game, late_by in late]

    def called_at(self, game: Game) -> datetime | None:
        """When the players of the game were last called; None when they were not."""
        return self.tournament.state.calls.get(game.game_id)

    @property
    def is_over(self) -> bool:
        """Whether the end condition is met, apart from rounds and the tournament being closed."""
        return self.tournament.status == "started" and self.format.is_over(self._with_round_closed)

    @cached_property
    def _with_round_closed(self) -> Tournament:
        """The tournament with its open round closed, if all games of the round are played."""
        if not self.opens_rounds or self.open_round is None or self.open_games:
            return self.tournament
        try:
            changes = tournament_commands.complete_round(self.tournament, self.open_round.round_id, self.now)
        except Conflict:
            return self.tournament
        return apply_changes(self.tournament, changes)

    # Single player games

    @property
    def result_unit(self) -> ResultUnit:
        """The unit in which a single player game is recorded."""
        return self.format.result_unit

    def waiting_in_round(self, round_id: int) -> list[SinglePlayerGame]:
        """Open single player games of a round: in queue order, then by name."""
        games = self.tournament.attempts_by_round.get(round_id, ())
        order = {spot.player_id: place for place, spot in enumerate(self.queue_for(round_id=round_id))}
        return sorted(
            (game for game in games if game.status != "completed"),
            key=lambda game: (
                order.get(game.player_id, len(order)),
                self.player_name(game.player_id).lower(),
            ),
        )

    @cached_property
    def newest_scores(self) -> list[SinglePlayerGame]:
        """Recorded single player games, newest first."""
        games = [game for game in self.tournament.single_player_games if game.status == "completed"]
        games.sort(key=lambda game: (game.updated_at or self.now, game.single_player_game_id), reverse=True)
        return games[:RESULTS_SHOWN_MAX]

    @cached_property
    def started_single_player_games(self) -> list[SinglePlayerGame]:
        """Single player games that a player has begun."""
        if self.kind is not PlayKind.SCORES:
            return []
        return [game for game in self.tournament.single_player_games if game.status == "started"]

    # Queues and the clock

    @property
    def has_queues(self) -> bool:
        return self.kind is PlayKind.SCORES and best_game_family.uses_queues(self.tournament)

    def queue_for(self, *, arena_id: int | None = None, round_id: int | None = None) -> list[QueueSpot]:
        """The queue of an arena, of a round, or of the tournament, first come first."""
        spots = [
            spot
            for spot in self.tournament.waiting_spots
            if (spot.arena_id, spot.round_id) == (arena_id, round_id)
        ]
        return sorted(spots, key=lambda spot: (spot.queue_index or 0, spot.queue_id))

    @property
    def has_clock(self) -> bool:
        return self.format.has_clock

    @property
    def seconds_left(self) -> int:
        return frenzy_family.seconds_left(self.tournament, self.now)

    @property
    def is_paused(self) -> bool:
        return frenzy_family.paused_seconds(self.tournament) > 0

    @property
    def can_create_games(self) -> bool:
        """Whether scorekeepers create the games."""
        free_games = self.format.free_games
        return (
            free_games is not None
            and free_games.create is not None
            and free_games.can_create(self.tournament)
        )

    # Standings

    @cached_property
    def standings(self) -> list[Standing]:
        return [] if self.tournament.status == "planned" else self.format.rank(self.tournament)

    @cached_property
    def has_strikes(self) -> bool:
        return self.format.counted_in is CountedIn.STRIKES

    @cached_property
    def ties(self) -> list[tuple[int, ...]]:
        """The sets of players that a tiebreak may separate."""
        return tiebreak_commands.tied_groups(self.tournament) if self.tournament.status == "started" else []
