"""Results of a rating period from this site's tournaments. Source: ratings, section A.4."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Select, and_, false, func, select

from silverball.rules.format import CountedIn
from silverball.rules.ranking.regimes import WinLossRule
from silverball.rules.ratings import counting
from silverball.rules.ratings.events import GameSeats, RatedEvent, RatedPerson
from silverball.rules.registry import FORMATS, rated_types
from silverball.service.periods import people, seats
from silverball.store import confirmed_numbers, names, rating_days, snapshot, tables
from silverball.store.batches import ascending_batches

KIND = "tournament"
_T, _G, _SEAT = tables.tournament.c, tables.game.c, tables.game_player.c
_P, _E, _U = tables.player.c, tables.entrant.c, tables.user.c


class _CountingTournament(Struct, frozen=True):
    """A tournament that counts."""

    tournament_id: int
    name: str
    type: str
    day: date
    regime: WinLossRule


def counts_between(first: date, last: date) -> ColumnElement[bool]:
    """Whether a tournament was completed on these days, is of a rated format, and is no test."""
    begins = datetime.combine(first, time(), UTC)
    ends = datetime.combine(last + timedelta(days=1), time(), UTC)
    return and_(
        _T.status == "completed",
        _T.completed_at >= begins,
        _T.completed_at < ends,
        _T.type.in_(sorted(rated_types())),
        _T.test == false(),
    )


class TournamentResults:
    """The results from tournaments, for one run. Each player is loaded only once."""

    def __init__(self) -> None:
        self._people: dict[int, RatedPerson] = {}

    def first_day(self, db: Connection) -> date | None:
        """The day of the oldest tournament that may count."""
        may_count = (
            _T.status == "completed",
            _T.type.in_(sorted(rated_types())),
            _T.test == false(),
        )
        rows = select(_T.completed_at).where(*may_count, _T.completed_at.is_not(None))
        oldest = db.execute(rows.order_by(_T.completed_at).limit(1)).scalar_one_or_none()
        return None if oldest is None else rating_days.rating_day(oldest)

    def events(self, db: Connection, first: date, last: date) -> Iterator[RatedEvent]:
        """The tournaments that were completed on these days, by id."""
        nights = _counting_tournaments(db, first, last)
        if not nights:
            return
        entered = self._people_by_tournament(db, first, last)
        games = seats.games_from_seats(
            _seat_rows(db, first, last), {night.tournament_id: night.regime for night in nights}
        )
        for night in nights:
            tournament_id = night.tournament_id
            is_by_strokes = FORMATS[night.type].counted_in is CountedIn.STROKES
            played = (
                _golf_games(db, tournament_id) if is_by_strokes else games.get(tournament_id, GameSeats())
            )
            own = entered.get(tournament_id, {})
            yield RatedEvent(KIND, tournament_id, night.name, night.day, own, played)

    def _people_by_tournament(
        self, db: Connection, first: date, last: date
    ) -> dict[int, dict[int, RatedPerson]]:
        """Tournament id -> player id -> person; without players who were removed from the tournament."""
        rows = (
            select(_E.tournament_id, _E.player_id)
            .select_from(tables.tournament)
            .join(tables.entrant, _E.tournament_id == _T.tournament_id)
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
        confirmed = confirmed_numbers.all_confirmed(db)
        columns = (_P.player_id, _P.organizer_id, _P.name, _P.claimed_by, _P.ifpa_id, _U.name)
        rows = select(*columns).outerjoin(tables.user, _U.user_id == _P.claimed_by)
        for player_id, organizer_id, name, user_id, ifpa_id, user_name in db.execute(
            rows.where(_P.player_id.in_(player_ids))
        ):
            written = RatedPerson(
                name=user_name or name,
                user_id=user_id,
                ifpa_id=ifpa_id,
                organizer_id=organizer_id,
                name_key=names.name_key(name),
            )
            self._people[player_id] = people.with_confirmed_number(written, confirmed)


def _counting_tournaments(db: Connection, first: date, last: date) -> list[_CountingTournament]:
    columns = (_T.tournament_id, _T.name, _T.type, _T.start_utc, _T.completed_at, _T.settings)
    rows = db.execute(select(*columns).where(counts_between(first, last)).order_by(_T.tournament_id))
    return [
        _CountingTournament(
            row.tournament_id,
            row.name,
            row.type,
            rating_days.rating_day(row.completed_at),
            FORMATS[row.type].win_loss_rule(row.settings),
        )
        for row in rows
        if counting.is_counting(FORMATS[row.type].rated, row.start_utc, row.completed_at, is_test=False)
    ]


def _seat_rows(db: Connection, first: date, last: date) -> list[Any]:
    """The seats of all completed games, in the columns that `games_from_seats` expects."""
    rows = (
        select(
            _G.tournament_id,
            _G.game_id,
            _SEAT.slot,
            _SEAT.player_id,
            # No player has the id 0.
            func.coalesce(_SEAT.result_position, 0),
            _SEAT.points,
            _G.finishing_order,
        )
        .select_from(tables.tournament)
        .join(tables.game, _G.tournament_id == _T.tournament_id)
        .join(tables.game_player, _SEAT.game_id == _G.game_id)
        .where(
            counts_between(first, last),
            _G.status == "completed",
            _G.bye == false(),
            _G.forfeited_by.is_(None),
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


def _golf_games(db: Connection, tournament_id: int) -> GameSeats:
    """The groups of each round of a golf bracket, in the order of their strokes."""
    tournament = snapshot.load(db, tournament_id)
    stages = FORMATS[tournament.type].group_stages
    assert stages is not None
    games = GameSeats()
    for round_ in tournament.rounds_in_order:
        result = stages.round_result(tournament, round_)
        for group in result.groups:
            if group in result.finished_groups and len(group) > 1:
                strokes = [float(result.scores[player_id]) for player_id in group]
                games.add(counting.places_by_value(group, strokes))
    return games
