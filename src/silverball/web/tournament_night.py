"""A tournament with the names of its players, machines and scorekeepers, as its pages show it."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Struct, field

from silverball.kit.errors import Conflict, NotAllowed, Refusal
from silverball.rules.commands import games
from silverball.rules.commands import tiebreaks as tiebreak_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.families import best_game as best_game_family
from silverball.rules.families import frenzy as frenzy_family
from silverball.rules.format import CountedIn, Format, PlayKind, ResultUnit
from silverball.rules.mechanics import match_results, plays, rounds, shared_room
from silverball.rules.mechanics.shared_room import ARENA, RoomGame
from silverball.rules.model import settings_protocols
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
from silverball.service.core import access, loaded
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.core.loaded import SharedRoom
from silverball.service.journal.reads import journal
from silverball.service.journal.reads.journal import LastAction
from silverball.service.moving import reads as moving_reads
from silverball.service.players import reads as player_reads
from silverball.service.users import reads as user_reads
from silverball.service.venues import reads as venues_reads
from silverball.store.database.engine import Db
from silverball.store.tournament import announcements
from silverball.store.tournament.announcements import ChannelHead
from silverball.web import site
from silverball.web.site import Site
from silverball_wire import base
from silverball_wire.standings import Standing as StandingOnWire
from silverball_wire.tournaments import JournalAction


class MatchCount(Struct, frozen=True, kw_only=True):
    """The games won in a match, and what can be recorded next."""

    # In playing order.
    wins: Sequence[int]
    wins_needed: int
    takes_legs: bool
    is_decided_by_legs: bool
    # The number of the next single game, from 1, and the arena where it is expected.
    next_number: int
    next_arena_id: int | None

    @property
    def score_text(self) -> str:
        """The games won, in playing order: "2 to 1"; empty while nobody has won any."""
        return " to ".join(map(str, self.wins)) if any(self.wins) else ""


def count_match(tournament: Tournament, game: Game) -> MatchCount | None:
    """How a match stands; None for a game that is decided at once."""
    if not match_results.is_played_in_legs(tournament, game):
        return None
    is_counted = None in game.result_positions
    needed = settings_protocols.wins_needed(tournament.settings)
    wins = [int(points or 0) if is_counted else 0 for points in game.result_points]
    return MatchCount(
        wins=wins,
        wins_needed=needed,
        takes_legs=match_results.takes_legs(tournament, game),
        is_decided_by_legs=bool(game.legs) and needed in wins,
        next_number=len(game.legs) + 1,
        next_arena_id=games.expected_arena_id(tournament, game),
    )


# The note on pages of a tournament that another service runs.


class MirrorNotice(Struct, frozen=True):
    """The service that runs the tournament, and the last state of it that is known."""

    host: str
    # The last moment that is known, while the other service does not answer.
    lost_at: datetime | None = None
    # The same on the clock of the hall: `22:41`.
    lost_clock: str = ""
    # Players whose place or points differ there.
    standings_differ: int = 0


def mirror_notice(db: Db, tournament: Tournament) -> MirrorNotice | None:
    """The note for this tournament; None when it is run here."""
    mirror = moving_reads.find_mirror(db, tournament.tournament_id)
    if mirror is None:
        return None
    different = mirror.standings_differ or 0
    if mirror.lost_at is None:
        return MirrorNotice(mirror.host, standings_differ=different)
    zone = ZoneInfo(tournament.details["timezone"])
    return MirrorNotice(
        mirror.host, mirror.lost_at, f"{mirror.lost_at.astimezone(zone):%H:%M}", standings_differ=different
    )


# The other tournaments of the room as pages of a tournament show them: who and what is busy there.


class RoomView(Struct, frozen=True):
    """The words of a page about the other tournaments of the room; empty where there is none."""

    # Id and name of the other tournaments whose console the caller may open.
    consoles: Sequence[tuple[int, str]] = ()
    # Entrant or arena of the lineup -> what they do elsewhere: `playing in Women's`.
    players: Mapping[int, str] = msgspec.field(default_factory=dict)
    arenas: Mapping[int, str] = msgspec.field(default_factory=dict)
    # Entrant -> the same with the machine: `on Godzilla in Women's`.
    places: Mapping[int, str] = msgspec.field(default_factory=dict)
    # Game that waits -> the entrant, or the arena, for which it does.
    awaited_players: Mapping[int, int] = msgspec.field(default_factory=dict)
    awaited_arenas: Mapping[int, int] = msgspec.field(default_factory=dict)

    def first_free(self, queue: Sequence[QueueSpot]) -> QueueSpot | None:
        """The spot of the player who is up: the first in the queue who is not busy elsewhere."""
        return next((spot for spot in queue if spot.player_id not in self.players), None)


def load_room_view(db: Db, tournament: Tournament, caller: AuthenticatedCaller | None) -> RoomView:
    """The room of a tournament, for its staff or, without a caller, for everybody."""
    room = loaded.shared_room_of(db, tournament)
    if room is None:
        return RoomView()
    names = {other.tournament_id: str(other.details["name"]) for other in room.others}
    players = shared_room.busy_players(tournament, room.elsewhere)
    arenas = shared_room.busy_arenas(tournament, room.elsewhere)
    machines = _machine_names(db, players.values())
    awaited_players, awaited_arenas = _awaited(tournament, room, players)
    return RoomView(
        consoles=[
            (other.tournament_id, names[other.tournament_id])
            for other in room.others
            if caller is not None and access.may_score(caller, other)
        ],
        players={
            player_id: f"{'up' if game.turn else 'playing'} in {names[game.tournament_id]}"
            for player_id, game in players.items()
        },
        arenas={
            arena_id: f"{'wanted' if game.turn else 'in use'} in {names[game.tournament_id]}"
            for arena_id, game in arenas.items()
        },
        places={
            player_id: _place_text(game, machines, names[game.tournament_id])
            for player_id, game in players.items()
        },
        awaited_players=awaited_players,
        awaited_arenas=awaited_arenas,
    )


def _machine_names(db: Db, games: Collection[RoomGame]) -> dict[int, str]:
    arena_ids = sorted({game.arena_id for game in games if game.arena_id is not None})
    return {arena.arena_id: arena.name for arena in venues_reads.existing_arenas(db, arena_ids)}


def _place_text(game: RoomGame, machines: Mapping[int, str], name: str) -> str:
    """The place of a busy player: `on Godzilla in Main`."""
    if game.turn is not None:
        return f"up next in {name}"
    return f"playing in {name}" if game.arena_id is None else f"on {machines[game.arena_id]} in {name}"


def _awaited(
    tournament: Tournament, room: SharedRoom, players: Mapping[int, RoomGame]
) -> tuple[dict[int, int], dict[int, int]]:
    """Game that waits -> the first of its players who is busy elsewhere; and others -> their machine."""
    awaited_players: dict[int, int] = {}
    awaited_arenas: dict[int, int] = {}
    for own in shared_room.room_games(tournament):
        reason = shared_room.waits_for(own, room.elsewhere)
        if reason is None or own.game is None:
            continue
        busy = [player_id for player_id in own.player_ids if players.get(player_id) is reason]
        if busy:
            awaited_players[own.game.game_id] = busy[0]
        elif own.arena_id is not None and (ARENA, own.arena_id) in reason.resources:
            awaited_arenas[own.game.game_id] = own.arena_id
    return awaited_players, awaited_arenas


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
        return site.refusal_text(refusal, self.name_of)

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
        return base.local(datetime.fromisoformat(at), self.tournament.details["timezone"])[:16]

    def clock(self, at: datetime) -> str:
        """A moment on the clock of the venue: `20:30`."""
        return base.local(at, self.tournament.details["timezone"])[11:16]

    def finishing_order(self, game: Game) -> list[int]:
        """Player ids, first to last, as far as they are recorded."""
        recorded = game.finishing_order or game.result_positions
        return [player_id for player_id in recorded if player_id is not None]

    def match_of(self, game: Game) -> MatchCount | None:
        """How the match stands, where several games decide it."""
        return count_match(self.tournament, game)

    def is_past_correction(self, game: Game) -> bool:
        """Whether its result changes only by a correction with a reason."""
        return game.status == "completed" and tournament_commands.is_past_correction(self.tournament, game)

    @property
    def can_start(self) -> bool:
        return len(self.active_entrants) >= max(self.format.players_min, 2)

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
        return rounds.round_ends_at(self.tournament)

    def game_ends_at(self, game: Game) -> datetime | None:
        """When the time of the game is up; None without a round timer, and while its clock stands."""
        return rounds.game_ends_at(self.tournament, game)

    @property
    def late_games(self) -> list[tuple[Game, datetime]]:
        """The open games whose time is up, and when it was, the latest first."""
        late = rounds.late_games(self.tournament, self.now)
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

    @cached_property
    def rated_until(self) -> datetime | None:
        """Until when plays count for ratings once it is reopened; None for one that has no ratings."""
        if not self.format.rated or self.tournament.details["test"]:
            return None
        if self.tournament.status == "completed":
            return plays.reopening_of(self.tournament)[1]
        return self.tournament.rated_until

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

    def figure_text(self, standing: Standing | StandingOnWire) -> str:
        """The figure of a place, with its unit: `43 points`; empty where matches alone decide places."""
        if self.has_strikes:
            number, unit = str(standing.strike_count), "strike"
        elif self.format.is_ranked_by_points:
            number, unit = site.points_text(standing.points), self.format.counted_in.value.removesuffix("s")
        else:
            return ""
        return f"{number} {unit}{'' if number == '1' else 's'}"

    @cached_property
    def has_strikes(self) -> bool:
        return self.format.counted_in is CountedIn.STRIKES

    @cached_property
    def ties(self) -> list[tuple[int, ...]]:
        """The sets of players that a tiebreak may separate."""
        return tiebreak_commands.tied_groups(self.tournament) if self.tournament.status == "started" else []


# Loads a tournament for its pages: for its staff, and for everybody.


def load_night(site: Site, tournament_id: int, caller: AuthenticatedCaller) -> TournamentNight:
    """The tournament for its staff. Raises NotFound, and NotStaff for anybody else."""
    with site.store.read() as db:
        tournament = loaded.load_tournament(db, tournament_id)
        if not access.may_score(caller, tournament):
            raise NotStaff
        is_organizer = access.may_manage(caller, tournament)
        actions = journal.JournalRows([], 0, None)
        if is_organizer:
            actions = journal.journal_page(db, tournament_id, journal.JournalQuery(), caller)
        scorekeeper_ids = [scorekeeper.user_id for scorekeeper in tournament.scorekeepers]
        scorekeepers = user_reads.existing_users(db, scorekeeper_ids, caller)
        return TournamentNight(
            tournament=tournament,
            now=site.now(),
            is_organizer=is_organizer,
            is_owner=is_organizer and access.owns(caller, tournament),
            players=player_names(db, tournament_id, caller),
            arenas=arena_names(db, tournament_id),
            scorekeepers={user.user_id: user.name for user in scorekeepers},
            actions=actions.rows,
            last_action=actions.last,
            head=announcements.channel_head(db, tournament_id),
            room=load_room_view(db, tournament, caller),
            mirror=mirror_notice(db, tournament),
        )


def public_night(db: Db, tournament: Tournament, now: datetime) -> TournamentNight:
    """The tournament as everybody may see it."""
    return TournamentNight(
        tournament=tournament,
        now=now,
        is_organizer=False,
        players=player_names(db, tournament.tournament_id, None),
        arenas=arena_names(db, tournament.tournament_id),
        room=load_room_view(db, tournament, None),
        mirror=mirror_notice(db, tournament),
    )


def player_names(db: Db, tournament_id: int, viewer: AuthenticatedCaller | None) -> dict[int, str]:
    """Player id -> name, of all entrants."""
    return {player.player_id: player.name for player in player_reads.entrants(db, tournament_id, viewer)}


def arena_names(db: Db, tournament_id: int) -> dict[int, str]:
    """Arena id -> name, of the lineup."""
    return {arena.arena_id: arena.name for arena in venues_reads.lineup_arenas(db, tournament_id)}
