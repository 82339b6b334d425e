"""Plans of nights to come."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from operator import itemgetter
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, field
from sqlalchemy import ColumnElement, Connection, false, func, select

from silverball.kit.errors import Invalid
from silverball.kit.http.query import Query
from silverball.rules.format import Format
from silverball.rules.model import settings_protocols
from silverball.rules.model.settings import TournamentSettings, read_settings
from silverball.rules.model.tournament import Tournament
from silverball.rules.planning import event
from silverball.rules.planning.answers import Circumstances, MeaningfulGames, nights_for
from silverball.rules.planning.event import EventPart
from silverball.rules.planning.nights import DoesNotFit, NightShape
from silverball.rules.planning.pace import NIGHTS_MIN, Pace, PastNight, PlayedGame, learn_pace
from silverball.rules.planning.value import value_of_rated, winner_points
from silverball.rules.registry import FORMATS
from silverball.service.outlook.reads.estimates import plain_number
from silverball.store import tables
from silverball.store.database.conditions import is_among
from silverball.store.tournament import forecasts
from silverball_wire.base import Id
from silverball_wire.plans import Plan, PlanOption, PlanWorth

# The newest nights of a format say what is usual there now.
NIGHTS_PER_FORMAT = 10
NIGHTS_READ_MAX = 300
_END_AND_BEGIN = itemgetter(0, 1)
_TOURNAMENT, _GAME, _SEAT = tables.tournament.c, tables.game.c, tables.game_player.c
_ROUND, _SOLO, _ENTRANT = tables.round_.c, tables.single_player_game.c, tables.entrant.c


class NightRecord(Struct, kw_only=True):
    """A completed tournament, as far as its length is concerned."""

    tournament_id: int
    settings: TournamentSettings
    players: int = 0
    games: list[PlayedGame] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    begins: datetime | None = None
    ends: datetime | None = None

    @property
    def past_night(self) -> PastNight:
        """The pace of the night."""
        return PastNight(games=tuple(self.games), gaps=tuple(self.gaps))

    @property
    def machines(self) -> int:
        """Number of arenas that were played."""
        return len({game.arena_id for game in self.games if game.arena_id is not None})

    @property
    def minutes(self) -> float:
        """Minutes from the first game to the last result; 0 when they are not known."""
        return _minutes(self.begins, self.ends) if self.begins and self.ends else 0.0

    def extend_to(self, begins: datetime, ends: datetime) -> None:
        """Make the night long enough for a game."""
        self.begins = begins if self.begins is None else min(self.begins, begins)
        self.ends = ends if self.ends is None else max(self.ends, ends)

    def shape(self, form: Format) -> NightShape | None:
        """The shape of the night; None when it could not be planned today."""
        try:
            return form.planning.shape(self.settings, self.players) if self.players > 1 else None
        except (DoesNotFit, Invalid):
            return None


def past_nights(
    db: Connection, organizer_ids: Collection[int], form: Format, before: datetime
) -> list[NightRecord]:
    """The newest completed nights of a format that ended before this moment, newest first."""
    return past_nights_by_format(db, organizer_ids, (form,), before)[form.type]


def past_nights_by_format(
    db: Connection, organizer_ids: Collection[int], forms: Sequence[Format], before: datetime
) -> dict[str, list[NightRecord]]:
    """Type -> the newest completed nights of these organizers that ended before this moment.

    Tests do not count, nor do settings that this version does not know.
    """
    by_type = {form.type: form for form in forms}
    rows = (
        select(_TOURNAMENT.tournament_id, _TOURNAMENT.type, _TOURNAMENT.settings)
        .where(
            _TOURNAMENT.organizer_id.in_(organizer_ids),
            _TOURNAMENT.type.in_(by_type),
            _TOURNAMENT.status == "completed",
            _TOURNAMENT.test.is_(false()),
            _TOURNAMENT.completed_at < before,
        )
        .order_by(_TOURNAMENT.completed_at.desc(), _TOURNAMENT.tournament_id.desc())
        .limit(NIGHTS_READ_MAX)
    )
    found: dict[str, list[NightRecord]] = {type_: [] for type_ in by_type}
    with db.execute(rows) as newest:
        for row in newest:
            nights = found[row.type]
            if len(nights) < NIGHTS_PER_FORMAT:
                settings = _known_settings(by_type[row.type], row.settings)
                if settings is not None:
                    nights.append(NightRecord(tournament_id=row.tournament_id, settings=settings))
            # The settings of older nights are not read.
            if all(len(of_format) == NIGHTS_PER_FORMAT for of_format in found.values()):
                break
    records = {night.tournament_id: night for nights in found.values() for night in nights}
    if records:
        _add_players(db, records)
        _add_games(db, records)
        _add_attempts(db, records)
        _add_gaps(db, records)
    return found


def _known_settings(form: Format, stored: dict[str, Any]) -> TournamentSettings | None:
    try:
        return read_settings(form.settings, stored)
    except (msgspec.ValidationError, ValueError):
        return None


def _add_players(db: Connection, records: dict[int, NightRecord]) -> None:
    counted = select(_ENTRANT.tournament_id, func.count()).where(is_among(_ENTRANT.tournament_id, records))
    for tournament_id, count in db.execute(counted.group_by(_ENTRANT.tournament_id)).all():
        records[tournament_id].players = count


def _add_games(db: Connection, records: dict[int, NightRecord]) -> None:
    """The games of each night. Games of one group are opened together, so each begins with the last."""
    points: ColumnElement[Any] = func.sum(_SEAT.points)
    rows = (
        select(
            *(
                _GAME.tournament_id,
                _GAME.round_id,
                _GAME.set_number,
                _GAME.arena_id,
                _GAME.started_at,
                _GAME.duration_seconds,
            ),
            func.count().label("size"),
            points.label("points"),
        )
        .join(tables.game_player, _SEAT.game_id == _GAME.game_id)
        .where(
            is_among(_GAME.tournament_id, records),
            # PostgreSQL would rather read all seats there are than look up those of so many games.
            is_among(_SEAT.tournament_id, records),
            _GAME.status == "completed",
            _GAME.bye.is_(false()),
            _GAME.started_at.is_not(None),
            _GAME.duration_seconds.is_not(None),
        )
        .group_by(_GAME.game_id)
    )
    groups: dict[tuple[Any, ...], list[tuple[datetime, datetime, int, float, int | None]]] = defaultdict(list)
    moments: dict[int, list[datetime]] = defaultdict(list)
    for tournament_id, round_id, set_number, arena_id, begins, seconds, size, won in db.execute(rows).all():
        key = (tournament_id, round_id, set_number if round_id else begins)
        ends = begins + timedelta(seconds=seconds)
        groups[key].append((ends, begins, size, float(won or 1), arena_id))
        moments[tournament_id] += (begins, ends)
    for tournament_id, times in moments.items():
        records[tournament_id].extend_to(min(times), max(times))
    # In these, a match stands for the games that were won.
    of_matches = {
        tournament_id for tournament_id in moments if _counts_matches(records[tournament_id].settings)
    }
    for (tournament_id, *_), played in groups.items():
        add = records[tournament_id].games.append
        played.sort(key=_END_AND_BEGIN)
        free_at = played[0][1]
        for ends, begins, size, won, arena_id in played:
            length = _minutes(max(begins, free_at), ends)
            if tournament_id in of_matches:
                length /= max(won, 1.0)
            add(PlayedGame(size=size, minutes=length, arena_id=arena_id))
            free_at = ends


def _counts_matches(settings: TournamentSettings) -> bool:
    """Whether a row stands for several single games."""
    return settings.has_matches and settings_protocols.games_per_round(settings) > 1


def _add_attempts(db: Connection, records: dict[int, NightRecord]) -> None:
    rows = select(
        _SOLO.tournament_id,
        _SOLO.arena_id,
        _SOLO.started_at,
        _SOLO.created_at,
        _SOLO.updated_at,
        _SOLO.duration_seconds,
    ).where(is_among(_SOLO.tournament_id, records), _SOLO.status == "completed", _SOLO.voided.is_(false()))
    for row in db.execute(rows).all():
        record = records[row.tournament_id]
        record.extend_to(row.started_at or row.created_at, row.updated_at)
        if row.duration_seconds is not None:
            length = row.duration_seconds / 60
            record.games.append(PlayedGame(size=1, minutes=length, arena_id=row.arena_id))


def _add_gaps(db: Connection, records: dict[int, NightRecord]) -> None:
    rows = (
        select(_ROUND.tournament_id, _ROUND.created_at, _ROUND.completed_at)
        .where(is_among(_ROUND.tournament_id, records), _ROUND.completed_at.is_not(None))
        .order_by(_ROUND.tournament_id, _ROUND.round_index)
    )
    by_night: dict[int, list[tuple[datetime, datetime]]] = defaultdict(list)
    for tournament_id, created_at, completed_at in db.execute(rows).all():
        by_night[tournament_id].append((created_at, completed_at))
    for tournament_id, spans in by_night.items():
        records[tournament_id].gaps.extend(_gaps_between(spans))


def _gaps_between(spans: Sequence[tuple[datetime, datetime]]) -> Iterable[float]:
    """Minutes from the end of a round to the opening of the next; rounds opened ahead have none."""
    for (_, ended), (opened, _) in pairwise(spans):
        if opened >= ended:
            yield _minutes(ended, opened)


def _minutes(begins: datetime, ends: datetime) -> float:
    return (ends - begins).total_seconds() / 60


DICE_SEED = 15
_USER = tables.user.c


def club_organizers(db: Connection, user_id: int) -> tuple[int, ...]:
    """Ids of the members of the user's club; only the user without one."""
    club_id = select(_USER.club_id).where(_USER.user_id == user_id).scalar_subquery()
    members = db.execute(
        select(_USER.user_id).where(_USER.club_id == club_id).order_by(_USER.user_id)
    ).scalars()
    return tuple(members) or (user_id,)


def paces(
    db: Connection, user_id: int, forms: Sequence[Format], before: datetime, arena_ids: Sequence[int] = ()
) -> Mapping[str, Pace]:
    """Type -> the pace of the nights of the user's club that ended before this moment.

    arena_ids: the arenas that will be played, if they are known.
    """
    found = past_nights_by_format(db, club_organizers(db, user_id), forms, before)
    return {form.type: _pace(form, found[form.type]).on_machines(arena_ids) for form in forms}


def _pace(form: Format, nights: Sequence[NightRecord]) -> Pace:
    pace = learn_pace([night.past_night for night in nights])
    if pace.is_default or len(nights) < NIGHTS_MIN:
        return pace
    # NumPy is loaded when somebody plans.
    import numpy as np

    from silverball.rules.planning.simulation import FinishedNight, calibrate

    finished = [
        # Where no arenas are recorded, no game is known to have waited for one.
        FinishedNight(
            shape=shape,
            players=night.players,
            machines=night.machines or night.players,
            minutes=night.minutes,
        )
        for night in nights
        if (shape := night.shape(form)) is not None
    ]
    return calibrate(pace, finished, np.random.default_rng(DICE_SEED))


COMPUTING = "computing"
DECIMALS = 2


def planned_circumstances(
    db: Connection, *, machines: int, start: datetime | None, closes: datetime | None, now: datetime
) -> Circumstances:
    """The facts about a planned night: its machines, its day, and the whole hours that the room is open."""
    is_open_for = timedelta(0) if start is None or closes is None else closes - start
    return Circumstances(
        arenas=machines,
        hours=is_open_for // timedelta(hours=1),
        held_on=(start or now).date(),
        find_outcome=forecasts.outcome_finder(db),
    )


def planned_worth(answer: MeaningfulGames, players: int) -> PlanWorth:
    """The worth if all players are rated and add nothing but the base."""
    graded = event.grade_of_event(EventPart(meaningful_games=answer, players=players))
    grade, base = graded.grade, value_of_rated(players)
    value = None if grade is None else winner_points(base, tgp_percent=grade.percent)
    too_few = (event.TOO_FEW,) if players < event.PLAYERS_MIN else ()
    return PlanWorth(
        meaningful_games=None if grade is None else plain_number(event.shown_games(grade)),
        tgp=None if grade is None else grade.percent,
        capped=grade is not None and grade.is_capped,
        base_value=plain_number(base),
        value=None if value is None else plain_number(round(value, DECIMALS)),
        source=COMPUTING if graded.is_being_computed else answer.origin,
        simulated_nights=answer.simulated_nights,
        notes=(*too_few, *graded.notes),
    )


PLAYERS_MAX = 500
MACHINES_MAX = 500
ARENAS_MAX = 500
DAYS_MAX = 7
DEFAULTS, NIGHTS = "defaults", "nights"


class PlanQuery(Query, frozen=True, kw_only=True):
    """Parameters of POST /api/plan."""

    players: int
    """Number of players, from 2 to 500."""
    machines: int | None = None
    """Number of machines, from 1 to 500; needed unless the arenas are named."""
    arena_ids: Annotated[tuple[Id, ...], Meta(max_length=ARENAS_MAX)] = ()
    """Ids of the arenas that will be played, in place of a number of machines."""
    start: Annotated[str, Meta(max_length=40)] | None = None
    """When the first game begins, as in `2026-03-05T19:30`; with or without a time zone."""
    closes: Annotated[str, Meta(max_length=40)] | None = None
    """When the room closes, in the form of `start`."""
    types: Annotated[tuple[Annotated[str, Meta(max_length=50)], ...], Meta(max_length=50)] = ()
    """Formats to plan; all of them when it is left out."""


def plan(db: Connection, query: PlanQuery, user_id: int, now: datetime) -> Plan:
    """Every format with every number of rounds, when it would end and what it is worth. Raises Invalid."""
    machines = _check(query)
    start, closes = _times(query)
    forms = _forms(query)
    pace_by_type = paces(db, user_id, forms, now, query.arena_ids)
    # NumPy is loaded when somebody plans.
    import numpy as np

    from silverball.rules.outlook import plans as outlook

    # The same question has the same answer.
    dice = np.random.default_rng((query.players, machines))
    planned = outlook.plan_nights(
        forms,
        players=query.players,
        machines=machines,
        pace_of=lambda form: pace_by_type[form.type],
        dice=dice,
        circumstances=planned_circumstances(db, machines=machines, start=start, closes=closes, now=now),
    )
    return Plan(
        players=query.players,
        machines=machines,
        start=query.start,
        closes=query.closes,
        simulated_nights=nights_for(query.players, outlook.NIGHTS_SIMULATED),
        options=tuple(
            _option(night, query.players, pace_by_type[night.form.type], start, closes) for night in planned
        ),
    )


def _check(query: PlanQuery) -> int:
    """The number of machines. Raises Invalid for the impossible."""
    faults: dict[str, list[str]] = {}
    if query.players < 2:
        faults["players"] = ["A night needs at least 2 players."]
    elif query.players > PLAYERS_MAX:
        faults["players"] = [f"A plan takes at most {PLAYERS_MAX} players, not {query.players}."]
    machines = len(set(query.arena_ids)) or query.machines
    if machines is None:
        faults["machines"] = ["Say how many machines there are, or which arenas."]
    elif machines < 1:
        faults["machines"] = ["Without machines nothing can be played. Give at least 1."]
    elif machines > MACHINES_MAX:
        faults["machines"] = [f"A plan takes at most {MACHINES_MAX} machines, not {machines}."]
    if faults:
        raise Invalid(faults)
    assert machines is not None
    return machines


def _times(query: PlanQuery) -> tuple[datetime | None, datetime | None]:
    """Start and close. Raises Invalid for texts that are no times, and for a close before the start."""
    start, closes = _moment("start", query.start), _moment("closes", query.closes)
    if start is None and closes is not None:
        raise Invalid({"start": ["Give the start too, to compare it with when the room closes."]})
    if start is not None and closes is not None:
        if (start.tzinfo is None) != (closes.tzinfo is None):
            raise Invalid({"closes": ["Give both times with a time zone, or both without."]})
        if closes <= start:
            raise Invalid({"closes": ["The room closes before the night begins. Give a later time."]})
        if closes - start > timedelta(days=DAYS_MAX):
            raise Invalid({"closes": [f"The room closes more than {DAYS_MAX} days after the start."]})
    return start, closes


def _moment(field: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        # A night that begins at the end of time has no end.
        moment + timedelta(days=400)
    except (ValueError, OverflowError) as error:
        raise Invalid({field: ["This is no day and time. Write it as in 2026-03-05T19:30."]}) from error
    return moment


def _forms(query: PlanQuery) -> list[Format]:
    unknown = [type_ for type_ in query.types if type_ not in FORMATS]
    if unknown:
        raise Invalid({"types": [f"There is no format called {unknown[0]}."]})
    return [form for form in FORMATS.values() if not query.types or form.type in query.types]


def _option(
    night: Any, players: int, pace: Pace, start: datetime | None, closes: datetime | None
) -> PlanOption:
    ends = [None if minutes is None else round(minutes) for minutes in (night.expected, night.line)]
    expected, latest = [
        None if start is None or minutes is None else start + timedelta(minutes=minutes) for minutes in ends
    ]
    return PlanOption(
        type=night.form.type,
        title=night.form.title,
        label=night.label,
        settings=dict(night.choice),
        expected_minutes=ends[0],
        latest_minutes=ends[1],
        expected_end=None if expected is None else expected.isoformat(),
        latest_end=None if latest is None else latest.isoformat(),
        fits=None if latest is None or closes is None else latest <= closes,
        pace=DEFAULTS if pace.is_default else NIGHTS,
        nights=pace.nights,
        note=night.note,
        worth=None if night.meaningful_games is None else planned_worth(night.meaningful_games, players),
    )


class ProjectedEnd(Struct, frozen=True, kw_only=True):
    """When a night ends: on average, by the line of nine in ten, and where its pace comes from."""

    expected: datetime | None
    line: datetime | None
    note: str | None
    # Nights that the pace was learned from; 0 for the published defaults.
    nights: int


def projected_end(db: Connection, tournament: Tournament, form: Format, now: datetime) -> ProjectedEnd:
    """The end of a started tournament, with the pace of nights that ended before it began."""
    organizer_id = tournament.details["organizer_id"]
    arena_ids = [arena.arena_id for arena in tournament.lineup if arena.is_active]
    pace = paces(db, organizer_id, (form,), _began(tournament, now), arena_ids)[form.type]
    # NumPy is loaded when somebody plans.
    import numpy as np

    from silverball.rules.outlook.plans import project_end

    # The same state has the same end.
    dice = np.random.default_rng((tournament.tournament_id, len(tournament.games)))
    found = project_end(tournament, form, pace, dice, now)
    return ProjectedEnd(expected=found.expected, line=found.line, note=found.note, nights=pace.nights)


def _began(tournament: Tournament, now: datetime) -> datetime:
    moments = [round_.created_at for round_ in tournament.rounds]
    moments += [game.started_at for game in tournament.games]
    return min((moment for moment in moments if moment is not None), default=now)
