"""A tournament as its console shows it: the snapshot, everybody's name, who looks, and when."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Literal

from silverball.kit.errors import Conflict, NotAllowed
from silverball.rules.commands import tiebreaks as tiebreak_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.families import best_game as best_game_family
from silverball.rules.families import frenzy as frenzy_family
from silverball.rules.format import Format
from silverball.rules.model.apply import apply_changes
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
from silverball.service import access
from silverball.service.access import AuthenticatedCaller
from silverball.service.arenas import reads as arena_reads
from silverball.service.core import enact
from silverball.service.players import reads as player_reads
from silverball.service.tournaments.reads import journal
from silverball.service.users import reads as user_reads
from silverball.store import announcements
from silverball.store.announcements import ChannelHead
from silverball.web.site import Site
from silverball.wire import times
from silverball.wire.journal import JournalAction

# What is played: games of several, holes and frames that all play, scores on arenas, or a race.
PlayKind = Literal["games", "holes", "scores", "race"]
ID_MENTION = re.compile(r"\b(player|arena|game)s? (\d{1,19}(?:(?:, | and )\d{1,19})*)", re.IGNORECASE)
NUMBER = re.compile(r"\d+")
NOT_STAFF = "This console is for the organizer of the tournament and for those who keep its scores."
RESULTS_SHOWN_MAX = 60
MINUTE_SECONDS = 60
HOURS_FROM_MINUTES = 120
DAYS_FROM_HOURS = 48


@dataclass(frozen=True, kw_only=True)
class TournamentNight:
    """Everything that the pages of one tournament are made of."""

    tournament: Tournament
    now: datetime
    is_organizer: bool = True
    # Id -> name, of everybody and everything in the tournament.
    players: Mapping[int, str] = field(default_factory=dict)
    arenas: Mapping[int, str] = field(default_factory=dict)
    scorekeepers: Mapping[int, str] = field(default_factory=dict)
    # What was done last, newest first; nothing for those who may not read it.
    actions: Sequence[JournalAction] = ()
    # Where the channel stood when this was read: what follows is news.
    head: ChannelHead | None = None

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
        """What the night consists of."""
        if self.format.attempts is None:
            return "games"
        if self.tournament.type == "amazingrace":
            return "race"
        by_format = self.format.attempts.open is None
        return "holes" if by_format else "scores"

    @property
    def newest_action(self) -> JournalAction | None:
        return self.actions[0] if self.actions else None

    @property
    def undoable_action(self) -> JournalAction | None:
        """The action that undo takes back."""
        return next((one for one in self.actions if one.can_undo), None)

    # Names

    def player_name(self, player_id: int | None) -> str:
        return self.players.get(player_id or 0) or f"Player {player_id}"

    def arena_name(self, arena_id: int | None) -> str:
        """The arena's name, or that there is none yet."""
        return "no machine yet" if arena_id is None else self.arenas.get(arena_id) or f"Arena {arena_id}"

    def choices(self, things: Sequence[Entrant | LineupArena]) -> list[tuple[int, str]]:
        """Entrants or arenas as a list to choose from offers them."""
        return [
            (one.player_id, self.player_name(one.player_id))
            if isinstance(one, Entrant)
            else (one.arena_id, self.arena_name(one.arena_id))
            for one in things
        ]

    def game_title(self, game: Game) -> str:
        """`Ada, Bo on Meteor Shower`."""
        return f"{', '.join(self.player_name(one) for one in game.player_ids)} on {self.arena_name(game.arena_id)}"  # noqa: E501

    def with_names(self, sentence: str) -> str:
        """A sentence of the rules, which know ids only, with the names that people know."""

        def named(found: re.Match[str]) -> str:
            one_of = {"player": self.players, "arena": self.arenas, "game": self._game_titles}[
                found[1].lower()
            ]
            is_known = all(int(number) in one_of for number in NUMBER.findall(found[2]))
            if not is_known:
                return found[0]
            told = NUMBER.sub(lambda one: one_of[int(one[0])], found[2])
            return told[:1].upper() + told[1:] if found[1][0].isupper() else told

        return ID_MENTION.sub(named, sentence)

    @cached_property
    def _game_titles(self) -> dict[int, str]:
        return {one.game_id: f"the game of {self.game_title(one)}" for one in self.tournament.games}

    # Who and what takes part

    @cached_property
    def roster(self) -> list[Entrant]:
        """The entrants by name, those who have left last."""
        everybody = self.tournament.entrants
        return sorted(everybody, key=lambda one: (not one.is_active, self.player_name(one.player_id).lower()))

    @cached_property
    def active_entrants(self) -> list[Entrant]:
        return [one for one in self.roster if one.is_active]

    @cached_property
    def lineup(self) -> list[LineupArena]:
        """The arenas by name, those out of service last."""
        machines = self.tournament.lineup
        return sorted(machines, key=lambda one: (not one.is_active, self.arena_name(one.arena_id).lower()))

    @cached_property
    def active_arenas(self) -> list[LineupArena]:
        """The arenas in service, by name."""
        return [one for one in self.lineup if one.is_active]

    # Games

    @cached_property
    def open_games(self) -> list[Game]:
        """Games without a result, in the order in which they are called out."""
        found = [one for one in self.tournament.games if one.status != "completed" and not one.is_bye]
        return sorted(found, key=lambda one: (one.set_number, one.game_index or 0, one.game_id))

    @cached_property
    def newest_results(self) -> list[Game]:
        """Games with a result, newest first."""
        found = [one for one in self.tournament.games if one.status == "completed" and not one.is_bye]
        found.sort(key=lambda one: (one.completed_at or self.now, one.game_id), reverse=True)
        return found[:RESULTS_SHOWN_MAX]

    @cached_property
    def byes(self) -> list[Game]:
        """Byes of the newest round."""
        newest = self.tournament.newest_round
        games = self.tournament.games_by_round.get(newest.round_id, ()) if newest else ()
        return [one for one in games if one.is_bye]

    def seconds_since(self, then: datetime) -> int:
        return max(0, (self.now - then) // timedelta(seconds=1))

    def elapsed_text(self, then: datetime) -> str:
        """How long ago that is, as it is said: `12 min`, `3 h`, `2 days`."""
        minutes = self.seconds_since(then) // MINUTE_SECONDS
        if minutes < HOURS_FROM_MINUTES:
            return f"{minutes} min"
        hours = minutes // 60
        return f"{hours} h" if hours < DAYS_FROM_HOURS else f"{hours // 24} days"

    def local_time(self, at: str) -> str:
        """A moment of the interface by the clock of the hall: `2026-03-05 20:30`."""
        return times.local(datetime.fromisoformat(at), self.tournament.details["timezone"])[:16]

    def finishing_order(self, game: Game) -> list[int]:
        """First to last, as far as it was said."""
        listed = game.finishing_order or game.result_positions
        return [one for one in listed if one is not None]

    def round_name(self, round_id: int | None) -> str:
        one = self.tournament.round_by_id.get(round_id or 0)
        return one.name if one else ""

    @property
    def can_record_strikes(self) -> bool:
        """Whether a result can be told by who gets a strike."""
        chosen = self.tournament.settings
        codes = getattr(chosen, "knockout_four_player_strikes", None)
        is_graded = getattr(chosen, "knockout_fair", False) or getattr(chosen, "knockout_progressive", False)
        return codes is not None and not is_graded and codes not in (100, 101)

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
    def is_over(self) -> bool:
        """Whether the end is reached, were the open round closed: only the organizer's word is missing."""
        return self.tournament.status == "started" and self.format.is_over(self._with_round_closed)

    @cached_property
    def _with_round_closed(self) -> Tournament:
        """The tournament with its open round closed, where that only waits to be done."""
        if not self.opens_rounds or self.open_round is None or self.open_games:
            return self.tournament
        try:
            changes = tournament_commands.complete_round(self.tournament, self.open_round.round_id, self.now)
        except Conflict:
            return self.tournament
        return apply_changes(self.tournament, changes)

    # Playing alone

    @property
    def result_unit(self) -> Literal["strokes", "rolls", "score"]:
        """What a single player game is recorded by."""
        if self.kind != "holes":
            return "score"
        return "rolls" if self.tournament.type == "bowling" else "strokes"

    def waiting_in_round(self, round_id: int) -> list[SinglePlayerGame]:
        """Open single player games of a round: who is up first, then by name."""
        found = self.tournament.attempts_by_round.get(round_id, ())
        order = {one.player_id: place for place, one in enumerate(self.queue_for(round_id=round_id))}
        return sorted(
            (one for one in found if one.status != "completed"),
            key=lambda one: (order.get(one.player_id, len(order)), self.player_name(one.player_id).lower()),
        )

    @cached_property
    def newest_scores(self) -> list[SinglePlayerGame]:
        """Recorded single player games, newest first."""
        found = [one for one in self.tournament.single_player_games if one.status == "completed"]
        found.sort(key=lambda one: (one.updated_at or self.now, one.single_player_game_id), reverse=True)
        return found[:RESULTS_SHOWN_MAX]

    @cached_property
    def started_single_player_games(self) -> list[SinglePlayerGame]:
        """Single player games that somebody began by hand."""
        found = self.tournament.single_player_games
        return [one for one in found if one.status == "started"] if self.kind == "scores" else []

    # Queues

    @property
    def has_queues(self) -> bool:
        return self.kind == "scores" and best_game_family.uses_queues(self.tournament)

    def queue_for(self, *, arena_id: int | None = None, round_id: int | None = None) -> list[QueueSpot]:
        """Who waits there, first come first."""
        found = self.tournament.waiting_spots
        here = [one for one in found if (one.arena_id, one.round_id) == (arena_id, round_id)]
        return sorted(here, key=lambda one: (one.queue_index or 0, one.queue_id))

    @property
    def is_frenzy(self) -> bool:
        return self.tournament.type == "frenzy"

    @property
    def seconds_left(self) -> int:
        return frenzy_family.seconds_left(self.tournament, self.now)

    @property
    def is_paused(self) -> bool:
        return frenzy_family.paused_seconds(self.tournament) > 0

    @property
    def can_create_games(self) -> bool:
        """Whether games are made by hand."""
        if self.tournament.type == "manual_matchplay":
            return True
        return self.is_frenzy and not frenzy_family.has_queue(self.tournament)

    # How it stands

    @cached_property
    def standings(self) -> list[Standing]:
        return [] if self.tournament.status == "planned" else self.format.rank(self.tournament)

    @cached_property
    def ties(self) -> list[tuple[int, ...]]:
        """The sets of players whom a tiebreak may separate."""
        return tiebreak_commands.tied_groups(self.tournament) if self.tournament.status == "started" else []


def load_night(site: Site, tournament_id: int, caller: AuthenticatedCaller) -> TournamentNight:
    """The night as it stands. Raises NotFound, and NotAllowed for those who do not run it."""
    with site.store.read() as db:
        tournament = enact.load_tournament(db, tournament_id)
        if not access.may_score(caller, tournament):
            raise NotAllowed(NOT_STAFF)
        is_organizer = access.may_manage(caller, tournament)
        actions = (
            journal.journal_page(db, tournament_id, journal.JournalQuery(), caller).rows
            if is_organizer
            else ()
        )
        entrants = player_reads.entrants(db, tournament_id, caller)
        keepers = user_reads.existing_users(db, [one.user_id for one in tournament.scorekeepers], caller)
        return TournamentNight(
            tournament=tournament,
            now=site.now(),
            is_organizer=is_organizer,
            players={one.player_id: one.name for one in entrants},
            arenas={one.arena_id: one.name for one in arena_reads.lineup_arenas(db, tournament_id)},
            scorekeepers={one.user_id: one.name for one in keepers},
            actions=actions,
            head=announcements.channel_head(db, tournament_id),
        )
