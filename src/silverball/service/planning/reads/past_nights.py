"""How long the nights of a club were: lengths of games, pauses between rounds, and whole nights."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from operator import itemgetter
from typing import Any

import msgspec
from msgspec import Struct, field
from sqlalchemy import ColumnElement, Connection, false, func, select

from silverball.kit.errors import Invalid
from silverball.rules.format import Format
from silverball.rules.model import play_settings
from silverball.rules.model.settings import TournamentSettings, read_settings
from silverball.rules.planning.pace import PastNight, PlayedGame
from silverball.rules.planning.shapes import DoesNotFit, NightShape
from silverball.store import tables
from silverball.store.among import is_among

# The newest nights of a format say what is usual there now.
NIGHTS_PER_FORMAT = 10
NIGHTS_READ_MAX = 300
_END_AND_BEGIN = itemgetter(0, 1)
_T, _G, _SEAT = tables.tournament.c, tables.game.c, tables.game_player.c
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
        select(_T.tournament_id, _T.type, _T.settings)
        .where(
            _T.organizer_id.in_(organizer_ids),
            _T.type.in_(by_type),
            _T.status == "completed",
            _T.test.is_(false()),
            _T.completed_at < before,
        )
        .order_by(_T.completed_at.desc(), _T.tournament_id.desc())
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
            *(_G.tournament_id, _G.round_id, _G.set_number, _G.arena_id, _G.started_at, _G.duration_seconds),
            func.count().label("size"),
            points.label("points"),
        )
        .join(tables.game_player, _SEAT.game_id == _G.game_id)
        .where(
            is_among(_G.tournament_id, records),
            # PostgreSQL would rather read all seats there are than look up those of so many games.
            is_among(_SEAT.tournament_id, records),
            _G.status == "completed",
            _G.bye.is_(false()),
            _G.started_at.is_not(None),
            _G.duration_seconds.is_not(None),
        )
        .group_by(_G.game_id)
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
    return settings.has_matches and play_settings.games_per_round(settings) > 1


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
