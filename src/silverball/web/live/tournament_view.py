"""A tournament as everybody may see it: names, standings, and the state of its feed channel.

Nothing here reads a clock: a page stays cached as long as the tournament's revision stands.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property

from msgspec import Struct, field

from silverball.kit.values import replace
from silverball.rules.families import frenzy as frenzy_family
from silverball.rules.format import PlayKind
from silverball.rules.model.settings_protocols import playoff_bands_of
from silverball.rules.model.tournament import Game, Round, SinglePlayerGame, Tournament
from silverball.rules.ranking import cutoffs
from silverball.service.core import loaded
from silverball.service.corrections import reads as corrections
from silverball.service.corrections.reads import CorrectedPlace
from silverball.service.history import reads as history
from silverball.service.parts import reads as parts
from silverball.service.prizes import reads as prizes
from silverball.service.prizes.reads import PrizeSheet
from silverball.service.standings import reads as standing_reads
from silverball.service.worth.reads.estimates import Worth
from silverball.store import announcements, past
from silverball.store.announcements import ChannelHead
from silverball.store.engine import Db, Store
from silverball.store.past import JournalSpan
from silverball.web import load_nights, tournament_worth
from silverball.web.live import bracket_drawing, bracket_tree, forecast_view, movers, round_points
from silverball.web.live.bracket_drawing import BracketPage
from silverball.web.live.bracket_tree import BracketHalf
from silverball.web.live.forecast_view import ForecastView
from silverball.web.live.movers import Mover
from silverball.web.live.round_points import RoundPoints
from silverball.web.tournament_night import TournamentNight
from silverball_wire.standings import Standing
from silverball_wire.tournaments import Tournament as WireTournament

PARTS = parts.PartsQuery(include_location=True, include_series=True, include_linked_tournaments=True)
RESULTS_SHOWN_MAX = 20
MOVERS_SHOWN_MAX = 5
CALL_SHOWN_FOR = timedelta(minutes=5)


class StandingRow(Struct, frozen=True):
    """A line of the standings, and the text of the cutoff below it."""

    standing: Standing
    cutoff_text: str = ""


class WaitingList(Struct, frozen=True):
    """The players who wait at one place, first come first."""

    title: str
    player_ids: Sequence[int]


class HoleProgress(Struct, frozen=True):
    """A round in which everybody plays alone, with open and played games."""

    round: Round
    waiting: Sequence[SinglePlayerGame]
    played: Sequence[SinglePlayerGame]


class PastAction(Struct, frozen=True):
    """An action of the journal, and when it was done."""

    action_id: int
    done_at: datetime


class PublicTournament(Struct, frozen=True, kw_only=True, dict=True):
    """The data of all public pages of a tournament."""

    night: TournamentNight
    api_tournament: WireTournament
    # By position; none before the start.
    standings: Sequence[Standing]
    # The state of the feed's channel when this was read; later events are news.
    head: ChannelHead
    # What it is worth; None where the page does not show it, and for a test.
    worth: Worth | None = None
    # Its forecast; None where the page does not show it, and while it is off.
    forecast: ForecastView | None = None
    # Player id -> the place that a correction changed.
    corrected: Mapping[int, CorrectedPlace] = field(default_factory=dict)
    # The actions after which it can be shown; None without a journal.
    span: JournalSpan | None = None
    # The action after which it is shown; None for the tournament as it is now.
    past_action: PastAction | None = None

    @property
    def tournament(self) -> Tournament:
        return self.night.tournament

    @property
    def is_completed(self) -> bool:
        return self.tournament.status == "completed"

    @property
    def changes_without_revision(self) -> bool:
        """Whether a number that it shows may change without a new revision."""
        numbers = (self.worth, self.forecast)
        is_awaited = any(number is not None and number.is_being_computed for number in numbers)
        return is_awaited or (self.worth is not None and self.worth.spans_tournaments)

    @cached_property
    def standing_rows(self) -> list[StandingRow]:
        """The standings, with a cutoff below the last place of each playoff band."""
        standings = self.standings
        texts: dict[int, str] = {}
        for band in playoff_bands_of(self.tournament.settings):
            (cutoff,) = cutoffs.parse_cutoffs([band])
            qualified = sum(standing.position <= cutoff.last_place for standing in standings)
            if 0 < qualified < len(standings):
                text = band["text"] if isinstance(band, Mapping) else band.text
                texts[qualified] = text or f"The first {cutoff.last_place}"
        return [
            StandingRow(standing, texts.get(number, "")) for number, standing in enumerate(standings, start=1)
        ]

    @cached_property
    def prizes(self) -> PrizeSheet | None:
        """The prize money, where the organizer publishes it; not as it stood earlier."""
        plan = self.tournament.prizes
        if plan is None or not plan.is_published or self.past_action is not None:
            return None
        return prizes.prize_sheet(self.tournament, {row.player_id: row.position for row in self.standings})

    @cached_property
    def movers(self) -> list[Mover]:
        """The players who moved most with the newest results."""
        return movers.find_movers(self.tournament, self.standings)[:MOVERS_SHOWN_MAX]

    # Open games and queues

    @property
    def open_games(self) -> list[Game]:
        return self.night.open_games

    def game_on_stream(self, machine: str) -> Game | None:
        """The open game on the machine with this id; without one the game called last, else the first."""
        if machine:
            return next((game for game in self.open_games if str(game.arena_id) == machine), None)
        calls = self.tournament.state.calls
        called = [game for game in self.open_games if game.game_id in calls]
        newest = max(called, key=lambda game: calls[game.game_id], default=None)
        return newest or next(iter(self.open_games), None)

    def standing_of(self, player_id: int) -> Standing | None:
        """The player's row of the standings."""
        return next((row for row in self.standings if row.player_id == player_id), None)

    @cached_property
    def waiting_lists(self) -> list[WaitingList]:
        """The queues of machines, of holes and of the tournament."""
        places = {(spot.arena_id, spot.round_id) for spot in self.tournament.waiting_spots}
        lists = []
        for arena_id, round_id in sorted(places, key=lambda place: (place[0] or 0, place[1] or 0)):
            spots = self.night.queue_for(arena_id=arena_id, round_id=round_id)
            title = self.night.arena_name(arena_id) if arena_id else self.night.round_name(round_id)
            lists.append(WaitingList(title or "Next", [spot.player_id for spot in spots]))
        return lists

    @cached_property
    def holes(self) -> list[HoleProgress]:
        """The open rounds in which everybody plays alone."""
        if self.night.kind not in {PlayKind.HOLES, PlayKind.RACE}:
            return []
        rounds = self.tournament.rounds_in_order
        return [self.hole_progress(round_) for round_ in rounds if round_.status != "completed"]

    def hole_progress(self, round_: Round) -> HoleProgress:
        """The round's open games, and its played games by name."""
        games = self.tournament.attempts_by_round.get(round_.round_id, ())
        played = [game for game in games if game.status == "completed" and not game.is_voided]
        played.sort(key=lambda game: self.night.player_name(game.player_id).lower())
        return HoleProgress(round_, self.night.waiting_in_round(round_.round_id), played)

    # Rounds

    def find_round(self, round_id: str) -> Round | None:
        """The round with this id; without one the open round that began last, else the newest."""
        rounds = self.tournament.rounds_in_order
        match = next((round_ for round_ in rounds if str(round_.round_id) == round_id), None)
        if match is not None or not rounds:
            return match
        open_rounds = [round_ for round_ in rounds if round_.status != "completed"]
        if not open_rounds:
            return rounds[-1]
        return open_rounds[0] if self.night.kind is PlayKind.HOLES else open_rounds[-1]

    def games_of_round(self, round_: Round) -> list[Game]:
        """The round's games without byes, in the order in which they are called."""
        games = [game for game in self.tournament.games_by_round.get(round_.round_id, ()) if not game.is_bye]
        return sorted(games, key=lambda game: (game.set_number, game.game_index or 0, game.game_id))

    def byes_of_round(self, round_: Round) -> list[int]:
        """The players who have a bye."""
        games = self.tournament.games_by_round.get(round_.round_id, ())
        return [game.player_ids[0] for game in games if game.is_bye]

    @cached_property
    def round_points(self) -> RoundPoints:
        """The points of each player in each round, best player first."""
        return round_points.points_by_round(
            self.tournament, [standing.player_id for standing in self.standings]
        )

    @cached_property
    def newest_results(self) -> list[Game]:
        """The newest results of games outside of rounds."""
        games = [game for game in self.night.newest_results if game.round_id is None]
        return games[:RESULTS_SHOWN_MAX]

    @cached_property
    def newest_scores(self) -> list[SinglePlayerGame]:
        """The newest scores, where players choose their machines."""
        is_shown = self.night.kind is PlayKind.SCORES
        return self.night.newest_scores[:RESULTS_SHOWN_MAX] if is_shown else []

    @cached_property
    def bracket_halves(self) -> list[BracketHalf]:
        """The bracket, in formats that have one."""
        return bracket_tree.bracket_halves(self.tournament)

    @property
    def bracket_pages(self) -> list[BracketPage]:
        """The bracket in parts that fit a wall."""
        return bracket_drawing.wall_pages(self.bracket_halves)

    # Times

    @property
    def round_began_at(self) -> datetime | None:
        """The time at which the open round began."""
        newest = self.tournament.newest_round
        is_open = newest is not None and newest.status != "completed" and self.night.opens_rounds
        return newest.created_at if newest is not None and is_open else None

    @property
    def round_ends_at(self) -> datetime | None:
        """When the time of the open round is up; None without a timer, and for the past."""
        return None if self.past_action else self.night.round_ends_at

    def call_ends_at(self, game: Game) -> datetime | None:
        """The moment until which the game is shown as called; None when nobody was called."""
        called_at = None if self.past_action else self.night.called_at(game)
        return None if called_at is None else called_at + CALL_SHOWN_FOR

    @property
    def clock_ends_at(self) -> datetime | None:
        """The time at which the clock runs out, while it runs."""
        is_running = self.night.has_clock and not self.night.is_paused and not self.is_completed
        return self.tournament.state.clock_ends_at if is_running else None

    @property
    def seconds_paused(self) -> int:
        """The seconds left on a paused clock; 0 while it runs."""
        return frenzy_family.paused_seconds(self.tournament) if self.night.has_clock else 0


def load_public_tournament(
    store: Store,
    tournament_id: int,
    now: datetime,
    action_id: int | None = None,
    *,
    with_worth: bool = False,
    with_forecast: bool = False,
) -> PublicTournament:
    """The tournament without a viewer, as it is now or as it stood after an action.

    Raises NotFound, Invalid for an action that the journal does not tell of, and Conflict for an unknown
    format or a journal that does not lead to the tournament.
    """
    with store.read() as db:
        current = loaded.load_with_revision(db, tournament_id)
        head = announcements.channel_head(db, tournament_id)
        assert head is not None
        tournament = current.tournament
        earlier = None if action_id is None else history.tournament_after(db, tournament_id, action_id)
        if earlier is not None:
            # Names are today's, that of the tournament too.
            tournament = replace(earlier, details=tournament.details)
            rows = history.standings_of(earlier)
        else:
            rows = standing_reads.decoded_standings(db, tournament_id)
        return PublicTournament(
            night=load_nights.public_night(db, tournament, now),
            api_tournament=parts.find_tournament(db, tournament_id, PARTS, None),
            standings=rows,
            head=head,
            worth=tournament_worth.shown_worth(db, current.tournament) if with_worth else None,
            # What was forecast at an earlier action is not kept.
            forecast=forecast_view.shown_forecast(db, tournament)
            if with_forecast and earlier is None
            else None,
            corrected={} if earlier else corrections.corrected_places(db, tournament_id),
            span=past.journal_span(db, tournament_id),
            past_action=None if earlier is None else _past_action(db, tournament_id, action_id or 0),
        )


def _past_action(db: Db, tournament_id: int, action_id: int) -> PastAction:
    return PastAction(action_id, past.action_time(db, tournament_id, action_id))


def points_text(points: object) -> str:
    """Points without zero decimals; empty when there are none."""
    return "" if points is None else str(points).removesuffix(".00")


def motd_expires_at(text: object) -> str:
    """The time at which the message of the day expires, in ISO 8601; empty when it never does."""
    try:
        at = datetime.fromisoformat(str(text))
    except ValueError:
        return ""
    # Stored times without a zone are UTC.
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
