"""Results of a rating period from this site's tournaments. Source: ratings, section A.4."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Select, and_, exists, false, func, select

from silverball.kit.errors import NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.kit.values import replace
from silverball.rules.format import CountedIn
from silverball.rules.mechanics import plays
from silverball.rules.ranking.standing import StoredResult, WinLossRule
from silverball.rules.ratings import standing
from silverball.rules.ratings.seats import GameSeats, RatedEvent, RatedPerson
from silverball.rules.ratings.standing import FinishedGame
from silverball.rules.registry import FORMATS, rated_types
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.core.calls import PageRows, refuse_deep_pagination
from silverball.service.submissions import reads as submissions_reads
from silverball.service.tournaments.reads import tournaments as nights
from silverball.store import tables
from silverball.store.database.conditions import ascending_batches
from silverball.store.people import names, rating_days
from silverball.store.people.rating_days import ConfirmedNumbers
from silverball.store.tournament import snapshot
from silverball_wire.periods import ExtEvent, PeriodStatus, RatingPeriod, RatingPeriodBundle

# Convert the seats of many tournaments to games with finishing places.
#
# Nearly all games store their order as `resultPositions` and are converted in bulk; the others one at a
# time, by the rules. NumPy is imported on first use.


if TYPE_CHECKING:
    from silverball.rules.ratings.kernel import Ints

# Tournament, game, slot, player, the player in this place of the order (0: nobody), points, full order,
# those who gave up.
SeatRow = Sequence[Any]
_ORDER_COLUMN, _GAVE_UP_COLUMN = 6, 7


def games_from_seats(seats: Sequence[SeatRow], regimes: Mapping[int, WinLossRule]) -> dict[int, GameSeats]:
    """Tournament id -> its games. Takes seats in any order, and the rule of each rated tournament."""
    import numpy as np

    if not seats:
        return {}
    table = np.array([seat[:5] for seat in seats], np.int64)
    order = np.lexsort((table[:, 2], table[:, 1], table[:, 0]))
    table = table[order]
    tournament_ids, game_ids = table[:, 0], table[:, 1]
    starts = np.flatnonzero(np.r_[True, game_ids[1:] != game_ids[:-1]])
    lengths = np.diff(np.r_[starts, len(table)])
    by_positions = [
        tournament_id for tournament_id, regime in regimes.items() if regime is WinLossRule.POSITIONS
    ]
    is_plain = np.isin(tournament_ids[starts], by_positions) & _is_order_complete(table, starts, lengths)
    has_order = np.array(
        [seat[_ORDER_COLUMN] is not None or seat[_GAVE_UP_COLUMN] is not None for seat in seats]
    )[order]
    is_plain &= ~has_order[starts] & (lengths >= standing.PLAYERS_MIN)
    games = _games_by_position(table, starts, lengths, is_plain)
    for game in np.flatnonzero(~is_plain).tolist():
        seat_numbers = order[starts[game] : starts[game] + lengths[game]].tolist()
        rows = [seats[seat] for seat in seat_numbers]
        regime = regimes.get(rows[0][0])
        places = {} if regime is None else _places_by_regime(regime, rows)
        if places:
            own = games.setdefault(rows[0][0], GameSeats())
            own.add(places, has_draws=regime is None or standing.has_draws(regime))
    return games


def _is_order_complete(table: "Ints", starts: "Ints", lengths: "Ints") -> Any:
    """For each game, whether its finishing order names all its players."""
    import numpy as np

    game = np.repeat(np.arange(len(starts)), lengths)
    players = table[np.lexsort((table[:, 3], game)), 3]
    positions = table[np.lexsort((table[:, 4], game)), 4]
    return np.logical_and.reduceat(players == positions, starts)


def _games_by_position(table: "Ints", starts: "Ints", lengths: "Ints", is_plain: Any) -> dict[int, GameSeats]:
    """Games by tournament, where the order's slot is the finishing place."""
    import numpy as np

    seated = np.repeat(is_plain, lengths)
    keys = table[seated, 4]
    place = np.arange(len(table)) - np.repeat(starts, lengths)
    places, sizes = place[seated], lengths[is_plain]
    tournament_ids = table[starts[is_plain], 0]
    if not len(tournament_ids):
        return {}
    first_games = np.flatnonzero(np.r_[True, tournament_ids[1:] != tournament_ids[:-1]])
    last_games = np.r_[first_games[1:], len(sizes)]
    ends = np.cumsum(sizes)
    games: dict[int, GameSeats] = {}
    for first, last in zip(first_games.tolist(), last_games.tolist(), strict=True):
        begin, end = (ends[first] - sizes[first]), ends[last - 1]
        lengths_of_games = sizes[first:last].tolist()
        games[int(tournament_ids[first])] = GameSeats(
            keys[begin:end].tolist(),
            places[begin:end].tolist(),
            lengths_of_games,
            list(lengths_of_games),
            [1] * len(lengths_of_games),
        )
    return games


def _places_by_regime(rule: WinLossRule, rows: Sequence[SeatRow]) -> dict[int, int]:
    """Player id -> finishing place in one game, by the rules."""
    gone = _json_list(rows[0][_GAVE_UP_COLUMN])
    # Who gave up is not rated; the others are, among themselves.
    played = [seat for seat in rows if seat[3] not in gone]
    if len(played) < standing.PLAYERS_MIN:
        return {}
    _, _, _, player_ids, _, points, orders, _ = zip(*played, strict=True)
    order = tuple(player_id for player_id in _json_list(orders[0]) if player_id not in gone)
    positions = [seat[4] for seat in rows if seat[4] not in gone]
    known_positions = tuple(player_id or None for player_id in positions[: len(played)])
    return standing.counting_places(
        rule, FinishedGame(StoredResult(player_ids, known_positions, points), order)
    )


def _json_list(text: str | None) -> tuple[int, ...]:
    return () if text is None else tuple(json.loads(text))


# Rated people with the numbers that count for them. Source: ratings, section A.5.


def with_confirmed_number(person: RatedPerson, confirmed: ConfirmedNumbers) -> RatedPerson:
    """The person with the number that is confirmed for their account, and no other one.

    Without an account, the person with a confirmed number is the account that it is confirmed for. The
    name in the book then finds nothing: whoever typed the number must not join ratings by it.
    """
    if person.user_id is not None:
        return replace(person, ifpa_id=confirmed.number_by_user.get(person.user_id))
    holder = None if person.ifpa_id is None else confirmed.user_by_number.get(person.ifpa_id)
    if holder is None:
        return person
    name = confirmed.name_by_user[holder]
    return replace(person, name=name, user_id=holder, organizer_id=None, name_key=None)


KIND = "tournament"
_TOURNAMENT, _GAME, _SEAT = tables.tournament.c, tables.game.c, tables.game_player.c
_PLAYER, _ENTRANT, _USER = tables.player.c, tables.entrant.c, tables.user.c


class _CountingTournament(Struct, frozen=True):
    """A tournament that counts."""

    tournament_id: int
    name: str
    type: str
    day: date
    regime: WinLossRule
    # Games, or single player games where strokes count, that were played too late to be rated.
    late_ids: frozenset[int] = frozenset()

    @property
    def is_by_strokes(self) -> bool:
        """Whether strokes order the groups of its rounds."""
        return _is_by_strokes(self.type)


def _is_by_strokes(type_: str) -> bool:
    return FORMATS[type_].counted_in is CountedIn.STROKES


def counts_between(first: date, last: date) -> ColumnElement[bool]:
    """Whether a tournament was completed on these days, is of a rated format, and is no test."""
    begins = datetime.combine(first, time(), UTC)
    ends = datetime.combine(last + timedelta(days=1), time(), UTC)
    return and_(
        _TOURNAMENT.status == "completed",
        _TOURNAMENT.completed_at >= begins,
        _TOURNAMENT.completed_at < ends,
        _TOURNAMENT.type.in_(sorted(rated_types())),
        _TOURNAMENT.test == false(),
    )


class TournamentResults:
    """The results from tournaments, for one run. Each player is loaded only once."""

    def __init__(self) -> None:
        self._people: dict[int, RatedPerson] = {}

    def first_day(self, db: Connection) -> date | None:
        """The day of the oldest tournament that may count."""
        may_count = (
            _TOURNAMENT.status == "completed",
            _TOURNAMENT.type.in_(sorted(rated_types())),
            _TOURNAMENT.test == false(),
        )
        rows = select(_TOURNAMENT.completed_at).where(*may_count, _TOURNAMENT.completed_at.is_not(None))
        oldest = db.execute(rows.order_by(_TOURNAMENT.completed_at).limit(1)).scalar_one_or_none()
        return None if oldest is None else rating_days.rating_day(oldest)

    def events(self, db: Connection, first: date, last: date) -> Iterator[RatedEvent]:
        """The tournaments that were completed on these days, by id."""
        nights = _counting_tournaments(db, first, last)
        if not nights:
            return
        entered = self._people_by_tournament(db, first, last)
        late_ids = {game_id for night in nights if not night.is_by_strokes for game_id in night.late_ids}
        seated = _seat_rows(db, first, last)
        if late_ids:
            seated = [seat for seat in seated if seat[1] not in late_ids]
        games = games_from_seats(seated, {night.tournament_id: night.regime for night in nights})
        for night in nights:
            tournament_id = night.tournament_id
            played = _golf_games(db, night) if night.is_by_strokes else games.get(tournament_id, GameSeats())
            own = entered.get(tournament_id, {})
            yield RatedEvent(KIND, tournament_id, night.name, night.day, own, played)

    def _people_by_tournament(
        self, db: Connection, first: date, last: date
    ) -> dict[int, dict[int, RatedPerson]]:
        """Tournament id -> player id -> person; without players who were removed from the tournament."""
        rows = (
            select(_ENTRANT.tournament_id, _ENTRANT.player_id)
            .select_from(tables.tournament)
            .join(tables.entrant, _ENTRANT.tournament_id == _TOURNAMENT.tournament_id)
            .where(counts_between(first, last))
        )
        members = _driver_rows(db, rows)
        for batch in ascending_batches({player_id for _, player_id in members} - self._people.keys()):
            self._load_people(db, batch)
        entered: dict[int, dict[int, RatedPerson]] = {}
        for tournament_id, player_id in members:
            entered.setdefault(tournament_id, {})[player_id] = self._people[player_id]
        return entered

    def _load_people(self, db: Connection, player_ids: Sequence[int]) -> None:
        confirmed = rating_days.all_confirmed(db)
        columns = (
            _PLAYER.player_id,
            _PLAYER.organizer_id,
            _PLAYER.name,
            _PLAYER.claimed_by,
            _PLAYER.ifpa_id,
            _USER.name,
        )
        select_people = select(*columns).outerjoin(tables.user, _USER.user_id == _PLAYER.claimed_by)
        rows = db.execute(select_people.where(_PLAYER.player_id.in_(player_ids))).all()
        shared = _names_of_others(db, {row.organizer_id for row in rows if row.claimed_by is not None})
        for player_id, organizer_id, name, user_id, ifpa_id, user_name in rows:
            key = names.name_key(name)
            written = RatedPerson(
                name=user_name or name,
                user_id=user_id,
                ifpa_id=ifpa_id,
                organizer_id=organizer_id,
                name_key=None if user_id is not None and (organizer_id, key) in shared else key,
            )
            self._people[player_id] = with_confirmed_number(written, confirmed)


def _names_of_others(db: Connection, organizer_ids: set[int]) -> set[tuple[int, str]]:
    """Names of players in these books who played and have nothing but their name: it is theirs alone.

    Whoever has an account and the same name does not take over what was rated under it; otherwise the order
    in which days are rated would decide who is whom.
    """
    has_played = exists().where(_ENTRANT.player_id == _PLAYER.player_id)
    rows = select(_PLAYER.organizer_id, _PLAYER.name).where(
        _PLAYER.claimed_by.is_(None), _PLAYER.ifpa_id.is_(None), has_played
    )
    return {
        (organizer_id, names.name_key(name))
        for batch in ascending_batches(organizer_ids)
        for organizer_id, name in db.execute(rows.where(_PLAYER.organizer_id.in_(batch)))
    }


def _counting_tournaments(db: Connection, first: date, last: date) -> list[_CountingTournament]:
    began_at = (
        select(func.min(_GAME.started_at))
        .where(_GAME.tournament_id == _TOURNAMENT.tournament_id, _GAME.bye == false())
        .scalar_subquery()
    )
    columns = (
        _TOURNAMENT.tournament_id,
        _TOURNAMENT.name,
        _TOURNAMENT.type,
        _TOURNAMENT.completed_at,
        _TOURNAMENT.rated_until,
        _TOURNAMENT.settings,
        func.coalesce(began_at, _TOURNAMENT.start_utc, type_=_TOURNAMENT.start_utc.type).label("began_at"),
    )
    rows = db.execute(select(*columns).where(counts_between(first, last)).order_by(_TOURNAMENT.tournament_id))
    found = [_counting_tournament(db, row) for row in rows.all()]
    return [night for night in found if night is not None]


def _counting_tournament(db: Connection, row: Any) -> _CountingTournament | None:
    """The tournament in a row, if it is short enough to count.

    One that was completed within a week of its first game and never reopened needs no closer look.
    """
    form, late_ids = FORMATS[row.type], frozenset[int]()
    began_at, ended_at, is_by_strokes = row.began_at, row.completed_at, _is_by_strokes(row.type)
    is_plain = row.rated_until is None and not is_by_strokes
    if not (is_plain and standing.is_counting(form.rated, began_at, ended_at, is_test=False)):
        tournament = snapshot.load(db, row.tournament_id)
        began_at, ended_at = plays.play_span(tournament, ended_at)
        late_ids = frozenset(
            result.game_id
            for result in plays.late_results(tournament)
            # Holes that separate tied players change no group's order.
            if result.is_single is is_by_strokes and (result.is_play or not is_by_strokes)
        )
    if not standing.is_counting(form.rated, began_at, ended_at, is_test=False):
        return None
    day, rule = rating_days.rating_day(row.completed_at), form.win_loss_rule(row.settings)
    return _CountingTournament(row.tournament_id, row.name, row.type, day, rule, late_ids)


def _seat_rows(db: Connection, first: date, last: date) -> list[Any]:
    """The seats of all completed games, in the columns that `games_from_seats` expects."""
    rows = (
        select(
            _GAME.tournament_id,
            _GAME.game_id,
            _SEAT.slot,
            _SEAT.player_id,
            # No player has the id 0.
            func.coalesce(_SEAT.result_position, 0),
            _SEAT.points,
            _GAME.finishing_order,
            _GAME.gave_up,
        )
        .select_from(tables.tournament)
        .join(tables.game, _GAME.tournament_id == _TOURNAMENT.tournament_id)
        .join(tables.game_player, _SEAT.game_id == _GAME.game_id)
        .where(
            counts_between(first, last),
            _GAME.status == "completed",
            _GAME.bye == false(),
            _GAME.forfeited_by.is_(None),
        )
    )
    return _driver_rows(db, rows)


def _driver_rows(db: Connection, rows: Select[Any]) -> list[Any]:
    """Raw rows of the driver: for thousands of rows, result processing is too expensive."""
    cursor = db.execute(rows).cursor
    assert cursor is not None
    fetched = list(cursor.fetchall())
    cursor.close()
    return fetched


def _golf_games(db: Connection, night: _CountingTournament) -> GameSeats:
    """The groups of each round of a golf bracket, in the order of their strokes, without late ones."""
    tournament = snapshot.load(db, night.tournament_id)
    late_groups = {
        (attempt.round_id, attempt.player_id)
        for attempt in tournament.single_player_games
        if attempt.single_player_game_id in night.late_ids
    }
    stages = FORMATS[tournament.type].group_stages
    assert stages is not None
    games = GameSeats()
    for round_ in tournament.rounds_in_order:
        result = stages.round_result(tournament, round_)
        for group in result.groups:
            is_late = any((round_.round_id, player_id) in late_groups for player_id in group)
            if group in result.finished_groups and len(group) > 1 and not is_late:
                strokes = [float(result.scores[player_id]) for player_id in group]
                games.add(standing.places_by_value(group, strokes))
    return games


# Published rating periods. Source: ratings.md A.7.


PER_PAGE = 25
TOURNAMENTS_MAX = 1000
_RATING_PERIOD = tables.rating_period.c
COLUMNS = (
    _RATING_PERIOD.rating_period_id,
    _RATING_PERIOD.period_date,
    _RATING_PERIOD.status,
    _RATING_PERIOD.tournament_count,
    _RATING_PERIOD.challenge_count,
    _RATING_PERIOD.ext_event_count,
    _RATING_PERIOD.result_count,
    _RATING_PERIOD.player_count,
)


class PeriodQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/rating-periods."""

    page: PageNumber = 1


def period_item(values: Sequence[Any], now: datetime) -> RatingPeriod:
    """The period in a row of COLUMNS."""
    period_id, day, status, tournament_count, challenges, ext_events, results, players = values
    return RatingPeriod(
        rating_period_id=period_id,
        period_date=day,
        status=_period_status(status, day, now),
        tournament_count=tournament_count,
        challenge_count=challenges,
        ext_event_count=ext_events,
        result_count=results,
        player_count=players,
    )


def _period_status(stored: str, day: str, now: datetime) -> PeriodStatus:
    """The published status; a day that is not over yet is open."""
    if stored == rating_days.WAITING:
        return "open" if day >= rating_days.rating_day(now).isoformat() else "waiting"
    return "dirty" if stored == rating_days.DIRTY else "processed"


def periods_page(db: Connection, query: PeriodQuery, now: datetime) -> PageRows[RatingPeriod]:
    """One page of the periods, newest first."""
    refuse_deep_pagination(query.page, PER_PAGE)
    total = db.execute(select(func.count()).select_from(tables.rating_period)).scalar_one()
    rows = select(*COLUMNS).order_by(_RATING_PERIOD.period_date.desc())
    rows = rows.limit(PER_PAGE).offset(PER_PAGE * (query.page - 1))
    return PageRows([period_item(row, now) for row in db.execute(rows)], total)


def find_period(
    db: Connection, day: str, viewer: AuthenticatedCaller | None, now: datetime
) -> RatingPeriodBundle:
    """A period with the tournaments of its day that count. Raises NotFound."""
    row = db.execute(select(*COLUMNS).where(_RATING_PERIOD.period_date == day)).first()
    if row is None:
        raise NotFound("RatingPeriod", day)
    date_of_period = date.fromisoformat(day)
    own = tables.tournament.c
    rows = (
        nights.tournament_rows()
        .where(counts_between(date_of_period, date_of_period))
        .order_by(own.tournament_id)
    )
    return RatingPeriodBundle(
        rating_period=period_item(row, now),
        tournaments=tuple(nights.tournament_items(db, rows.limit(TOURNAMENTS_MAX), viewer)),
        challenges=(),
        ext_events=tuple(
            ExtEvent(
                ext_event_id=event.event_id,
                name=event.name,
                type=event.format,
                submitter_name=event.submitter_name,
                submitter_id=event.submitter_id,
            )
            for event in submissions_reads.counting_events(db, date_of_period)
        ),
    )


# Results of a rating period from approved submissions. Source: ratings, section A.8.


SUBMISSION_KIND = "submission"


class SubmissionResults:
    """The results from submissions, for one run."""

    def first_day(self, db: Connection) -> date | None:
        """The day of the oldest submission that counts."""
        return submissions_reads.first_day(db)

    def events(self, db: Connection, first: date, last: date) -> Iterator[RatedEvent]:
        """The events of these days, by day and id."""
        confirmed = rating_days.all_confirmed(db)
        for day in submissions_reads.event_days(db, first, last):
            for event in submissions_reads.counting_events(db, day):
                present = {
                    place: with_confirmed_number(
                        RatedPerson(
                            name=player.name,
                            user_id=player.user_id,
                            ifpa_id=player.ifpa_id,
                            organizer_id=event.submitter_id,
                            name_key=names.name_key(player.name),
                        ),
                        confirmed,
                    )
                    for place, player in enumerate(event.players)
                }
                yield RatedEvent(
                    SUBMISSION_KIND, event.event_id, event.name, event.day, present, _event_games(event)
                )


def _event_games(event: submissions_reads.SubmittedEvent) -> GameSeats:
    games = GameSeats()
    for groups in event.games:
        games.add({player: place for place, group in enumerate(groups) for player in group})
    return games


# The sources of results, for runs and for their verification.


class ResultSource(Protocol):
    """A source of results, created for each run."""

    def first_day(self, db: Connection, /) -> date | None:
        """The day of the oldest result; None without results."""
        ...

    def events(self, db: Connection, first: date, last: date, /) -> Iterable[RatedEvent]:
        """The events from the first to the last day."""
        ...


# A new source is one line here. Code that changes its results marks their day (store/people/rating_days.py).
SOURCES: Sequence[Callable[[], ResultSource]] = (TournamentResults, SubmissionResults)
