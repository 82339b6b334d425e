"""A tournament as everybody may see it: names, standings, and the state of its feed channel.

Nothing here reads a clock: a page stays cached as long as the tournament's revision stands.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from itertools import groupby

from msgspec import Struct, field

from silverball.kit.values import replace
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.families import frenzy as frenzy_family
from silverball.rules.format import PlayKind
from silverball.rules.model.settings_protocols import playoff_bands_of
from silverball.rules.model.tournament import Game, Round, SinglePlayerGame, Tournament
from silverball.rules.ranking import standing
from silverball.service.core import loaded
from silverball.service.games.reads import corrections, history
from silverball.service.games.reads.corrections import CorrectedPlace
from silverball.service.money import reads as money_reads
from silverball.service.money.reads import PrizeSheet
from silverball.service.outlook.reads import forecasts
from silverball.service.outlook.reads.forecasts import PublishedForecast
from silverball.service.outlook.reads.worth import Worth
from silverball.service.standings.reads import standings
from silverball.service.tournaments.reads import parts
from silverball.store.database.engine import Db, Store
from silverball.store.tournament import announcements, journal
from silverball.store.tournament.announcements import ChannelHead
from silverball.store.tournament.journal import JournalSpan
from silverball.web import letters, tournament_night, tournament_worth
from silverball.web.live import bracket_tree
from silverball.web.live.bracket_tree import BracketHalf, BracketPage
from silverball.web.tournament_night import TournamentNight
from silverball_wire.plans import CertainFact, PlayerForecast, WithdrawnFact
from silverball_wire.standings import Standing
from silverball_wire.tournaments import Tournament as WireTournament

# Biggest movers: the standings now, compared with those before the newest results.


# The newest results, in formats without rounds that the organizer opens.
NEWEST_WINDOW = timedelta(minutes=30)


class Mover(Struct, frozen=True):
    """A player whose position changed; `places` is positive for the way up."""

    player_id: int
    position: int
    places: int


def find_movers(tournament: Tournament, standings: Sequence[Standing]) -> list[Mover]:
    """The players who moved, the longest way first, then by position."""
    format_ = tournament_commands.format_of(tournament)
    if not format_.is_ranked_by_points or tournament.status == "planned":
        return []
    before = _before_newest_results(tournament)
    if before is None:
        return []
    positions = {standing.player_id: standing.position for standing in format_.rank(before)}
    movers = [
        Mover(standing.player_id, standing.position, positions[standing.player_id] - standing.position)
        for standing in standings
        if positions.get(standing.player_id, standing.position) != standing.position
    ]
    return sorted(movers, key=lambda mover: (-abs(mover.places), mover.position, mover.player_id))


def _before_newest_results(tournament: Tournament) -> Tournament | None:
    """The tournament without its newest results; None when there were none before them."""
    if tournament_commands.format_of(tournament).can_open_rounds and tournament.rounds:
        return _without_newest_round(tournament)
    times = [at for game in tournament.games if (at := _completed_at(game))]
    times += [at for game in tournament.single_player_games if (at := _played_at(game))]
    if not times or min(times) > max(times) - NEWEST_WINDOW:
        return None
    since = max(times) - NEWEST_WINDOW
    games = tuple(game for game in tournament.games if (_completed_at(game) or since) <= since)
    single_player_games = tuple(
        game for game in tournament.single_player_games if (_played_at(game) or since) <= since
    )
    return replace(tournament, status="started", games=games, single_player_games=single_player_games)


def _without_newest_round(tournament: Tournament) -> Tournament | None:
    """The tournament before the newest round that has a result."""
    played = rounds_with_results(tournament)
    return as_before_round(tournament, played[-1].round_index) if len(played) > 1 else None


def rounds_with_results(tournament: Tournament) -> list[Round]:
    """The rounds in which something has a result, in order."""
    ids_with_results = {game.round_id for game in tournament.games if _completed_at(game)}
    ids_with_results |= {game.round_id for game in tournament.single_player_games if _played_at(game)}
    return [round_ for round_ in tournament.rounds_in_order if round_.round_id in ids_with_results]


def as_before_round(tournament: Tournament, round_index: int) -> Tournament:
    """The tournament without this round and those after it."""
    rounds = tuple(round_ for round_ in tournament.rounds if round_.round_index < round_index)
    round_ids = {round_.round_id for round_ in rounds} | {None}
    single_player_games = tournament.single_player_games
    return replace(
        tournament,
        status="started",
        rounds=rounds,
        games=tuple(game for game in tournament.games if game.round_id in round_ids),
        single_player_games=tuple(game for game in single_player_games if game.round_id in round_ids),
    )


def _completed_at(game: Game) -> datetime | None:
    return game.completed_at if game.status == "completed" and not game.is_bye else None


def _played_at(game: SinglePlayerGame) -> datetime | None:
    return game.updated_at if game.status == "completed" else None


# The points of a tournament's players, round by round.


class PointsRow(Struct, frozen=True):
    """A player's points in each round; None for a round without a result of theirs."""

    player_id: int
    points: Sequence[Decimal | None]


class RoundPoints(Struct, frozen=True):
    """The points of all players in the rounds that have results."""

    rounds: Sequence[Round]
    rows: Sequence[PointsRow]


def points_by_round(tournament: Tournament, player_ids: Sequence[int]) -> RoundPoints:
    """A row for each of the players, in their order; tiebreak games and void games give no points."""
    rounds, columns = [], []
    for round_ in tournament.rounds_in_order:
        column = _points_of_round(tournament, round_.round_id)
        if column:
            rounds.append(round_)
            columns.append(column)
    rows = [PointsRow(player_id, [column.get(player_id) for column in columns]) for player_id in player_ids]
    return RoundPoints(rounds, rows)


def _points_of_round(tournament: Tournament, round_id: int) -> dict[int, Decimal]:
    """Player id -> points in the round."""
    earned = [
        (player_id, points)
        for game in tournament.games_by_round.get(round_id, ())
        if not game.is_tiebreak
        for player_id, points in zip(game.player_ids, game.result_points, strict=False)
    ]
    earned += [
        (attempt.player_id, attempt.points)
        for attempt in tournament.attempts_by_round.get(round_id, ())
        if not attempt.is_voided
    ]
    totals: dict[int, Decimal] = {}
    for player_id, points in earned:
        if points is not None:
            totals[player_id] = totals.get(player_id, Decimal(0)) + points
    return totals


# The forecast of a tournament in the words of its pages.


# Rows that are shown at once; the others are behind a line to tap.
ROWS_FIRST = 8
ROWS_ON_WALL = 6
# Withdrawals that are shown, and the players that a line of them names.
LINES_MAX = 3
NAMES_MAX = 6
REASONS = {
    "adjusted": "points or strikes were adjusted",
    "corrected": "a result was changed",
    "joined": "somebody joined or came back",
    "left": "somebody left",
    "pairing": "a pairing was changed",
    "settings": "the settings were changed",
}


class ForecastRow(Struct, frozen=True):
    """A player's line: chances as texts, empty without a number, and what is certain."""

    player_id: int
    win: str
    cut: str
    facts: Sequence[str]


class WithdrawnLine(Struct, frozen=True):
    """The facts that one change withdrew: why, when, and by player what they said."""

    reason: str
    withdrawn_at: datetime
    facts: Sequence[tuple[int, str]]

    @property
    def named(self) -> Sequence[tuple[int, str]]:
        return self.facts[:NAMES_MAX]

    @property
    def unnamed_count(self) -> int:
        return len(self.facts) - len(self.named)


class ForecastView(Struct, frozen=True, dict=True):
    """A forecast as pages show it."""

    published: PublishedForecast

    @property
    def is_being_computed(self) -> bool:
        return self.published.is_being_computed

    @property
    def notes(self) -> Sequence[str]:
        return self.published.forecast.notes

    @property
    def has_chances(self) -> bool:
        return self.published.forecast.nights_simulated > 0

    @property
    def cut_position(self) -> int | None:
        return self.published.forecast.cut_position

    @property
    def has_cut(self) -> bool:
        """Whether chances to reach the cut are shown."""
        return any(row.cut is not None for row in self.published.forecast.players)

    @cached_property
    def rows(self) -> list[ForecastRow]:
        """All players; in formats without chances those about whom something is certain."""
        players = self.published.forecast.players
        listed = players if self.has_chances else [row for row in players if row.facts]
        return [_forecast_row(row, self.cut_position) for row in listed]

    @property
    def first_rows(self) -> list[ForecastRow]:
        return self.rows[:ROWS_FIRST]

    @property
    def other_rows(self) -> list[ForecastRow]:
        return self.rows[ROWS_FIRST:]

    @property
    def wall_rows(self) -> list[ForecastRow]:
        """The players whom a wall shows: in formats without chances those who can still be first."""
        return self.rows[:ROWS_ON_WALL]

    @property
    def withdrawn(self) -> list[WithdrawnLine]:
        """The facts that no longer hold, by change, newest first."""
        by_change = groupby(self.published.forecast.withdrawn, lambda fact: (fact.withdrawn_at, fact.reason))
        lines = [
            WithdrawnLine(
                REASONS[reason],
                datetime.fromisoformat(withdrawn_at),
                [(fact.player_id, _fact_text(fact, self.cut_position)) for fact in facts],
            )
            for (withdrawn_at, reason), facts in by_change
        ]
        return lines[:LINES_MAX]


def shown_forecast(db: Db, tournament: Tournament) -> ForecastView | None:
    """Return the forecast of a running tournament; None while it is off."""
    if tournament.status != "started" or not forecasts.has_forecast(tournament):
        return None
    return ForecastView(forecasts.tournament_forecast(db, tournament.tournament_id))


def _forecast_row(row: PlayerForecast, cut: int | None) -> ForecastRow:
    certain = {fact.goal: fact.fact for fact in row.facts}
    return ForecastRow(
        player_id=row.player_id,
        win=_percent_text(row.win, certain.get("win")),
        cut=_percent_text(row.cut, certain.get("cut")),
        facts=_fact_texts(row.facts, cut),
    )


def _percent_text(chance: float | None, fact: str | None) -> str:
    """The chance in percent; a simulation alone never shows 0 or 100."""
    if chance is None:
        return ""
    percent = round(chance * 100)
    if percent < 1 and fact != "out":
        return "<1 %"
    if percent > 99 and fact != "clinched":
        return ">99 %"
    return f"{percent} %"


def _fact_texts(facts: Sequence[CertainFact], cut: int | None) -> list[str]:
    """The certain facts in words; whoever is out of the cut cannot win either."""
    is_out = any(fact.goal == "cut" and fact.fact == "out" for fact in facts)
    has_won = any(fact.goal == "win" and fact.fact == "clinched" for fact in facts)
    shown = [
        fact for fact in facts if not (is_out and fact.goal == "win") and not (has_won and fact.goal == "cut")
    ]
    return [_fact_text(fact, cut) for fact in sorted(shown, key=lambda fact: fact.goal)]


def _fact_text(fact: CertainFact | WithdrawnFact, cut: int | None) -> str:
    """`through`, `2nd is enough for the top 4`, `cannot win`."""
    goal = f"the top {cut}" if fact.goal == "cut" and cut is not None else "the cut"
    if fact.fact == "place":
        enough = "a win is enough" if fact.place == 1 else f"{_ordinal(fact.place or 0)} is enough"
        return f"{enough} to win" if fact.goal == "win" else f"{enough} for {goal}"
    if fact.goal == "win":
        return "certain winner" if fact.fact == "clinched" else "cannot win"
    return f"in {goal}" if fact.fact == "clinched" else f"out of {goal}"


def _ordinal(place: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{'th' if place % 100 in {11, 12, 13} else ending}"


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
            (cutoff,) = standing.parse_cutoffs([band])
            qualified = sum(standing.position <= cutoff.last_place for standing in standings)
            if 0 < qualified < len(standings):
                text = band["text"] if isinstance(band, Mapping) else band.text
                goal = text or "the final"
                last = standings[qualified - 1].position
                tied = sum(bool(row.on_cutoff_bubble) and row.position == last for row in standings)
                goal = f"{tied} tied for {_ordinal(last)}" if tied > 1 else goal
                texts[qualified] = f"Top {cutoff.last_place}: {goal}"
        return [
            StandingRow(standing, texts.get(number, "")) for number, standing in enumerate(standings, start=1)
        ]

    @cached_property
    def prizes(self) -> PrizeSheet | None:
        """The prize money, where the organizer publishes it; not as it stood earlier."""
        plan = self.tournament.prizes
        if plan is None or not plan.is_published or self.past_action is not None:
            return None
        return money_reads.prize_sheet(
            self.tournament, {row.player_id: row.position for row in self.standings}
        )

    @cached_property
    def moves(self) -> dict[int, Mover]:
        """Player id -> how far they moved with the newest results."""
        return {mover.player_id: mover for mover in find_movers(self.tournament, self.standings)}

    @property
    def movers(self) -> list[Mover]:
        """The players who moved most with the newest results."""
        return list(self.moves.values())[:MOVERS_SHOWN_MAX]

    @cached_property
    def machine_of_player(self) -> dict[int, int]:
        """Player id -> the machine on which they play at the moment."""
        return {
            player_id: game.arena_id
            for game in self.open_games
            if game.arena_id is not None
            for player_id in game.player_ids
        }

    @cached_property
    def round_progress(self) -> tuple[int, int] | None:
        """How many games of the open round are done, and of how many; None where rounds do not open."""
        newest = self.tournament.newest_round
        if newest is None or self.tournament.status != "started" or not self.night.opens_rounds:
            return None
        games = self.games_of_round(newest)
        return sum(game.status == "completed" for game in games), len(games)

    @cached_property
    def standings_by_letter(self) -> list[tuple[str, list[StandingRow]]]:
        """The standings by name."""
        return letters.by_letter(
            self.standing_rows, lambda row: self.night.player_name(row.standing.player_id)
        )

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
        return points_by_round(self.tournament, [standing.player_id for standing in self.standings])

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
    def winner_ids(self) -> list[int]:
        """The players on the first place."""
        return [standing.player_id for standing in self.standings if standing.position == 1]

    @property
    def bracket_pages(self) -> list[BracketPage]:
        """The bracket in parts that fit a wall."""
        return bracket_tree.wall_pages(self.bracket_halves)

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
            rows = standings.decoded_standings(db, tournament_id)
        return PublicTournament(
            night=tournament_night.public_night(db, tournament, now),
            api_tournament=parts.find_tournament(db, tournament_id, PARTS, None),
            standings=rows,
            head=head,
            worth=tournament_worth.shown_worth(db, current.tournament) if with_worth else None,
            # What was forecast at an earlier action is not kept.
            forecast=shown_forecast(db, tournament) if with_forecast and earlier is None else None,
            corrected={} if earlier else corrections.corrected_places(db, tournament_id),
            span=journal.journal_span(db, tournament_id),
            past_action=None if earlier is None else _past_action(db, tournament_id, action_id or 0),
        )


def _past_action(db: Db, tournament_id: int, action_id: int) -> PastAction:
    return PastAction(action_id, journal.action_time(db, tournament_id, action_id))


def motd_expires_at(text: object) -> str:
    """The time at which the message of the day expires, in ISO 8601; empty when it never does."""
    try:
        at = datetime.fromisoformat(str(text))
    except ValueError:
        return ""
    # Stored times without a zone are UTC.
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
