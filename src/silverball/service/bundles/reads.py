"""What a bundle would meet here, and the bundle of a tournament that is here."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, RowMapping, Table, func, select

from silverball.kit.errors import Conflict
from silverball.service.access import Caller
from silverball.service.cards import reads as cards
from silverball.service.games import reads as games
from silverball.service.queues import reads as queues
from silverball.service.rounds import reads as rounds
from silverball.service.singleplayer import reads as attempts
from silverball.service.standings import reads as standings
from silverball.service.tournaments.reads import parts
from silverball.store import tables
from silverball.wire.base import UNSET, UnsetType
from silverball.wire.bundle import Bundle
from silverball.wire.standings import Standing
from silverball.wire.tournaments import Tournament

# SQLite takes 32,766 parameters in one statement.
IDS_AT_ONCE = 5_000
# Who exports sees everything: nothing is hidden from the operator of the service.
OPERATOR = Caller(user_id=0, role="admin", ability="admin")
EVERYTHING = parts.PartsQuery(
    **dict.fromkeys(parts.PartsQuery.__struct_fields__, True),
)

# Things that belong to one tournament, by the name of their id on the wire.
OF_TOURNAMENT: dict[str, Table] = {
    "roundId": tables.round_,
    "gameId": tables.game,
    "suggestionId": tables.suggestion,
    "singlePlayerGameId": tables.single_player_game,
    "cardId": tables.card,
    "queueId": tables.queue_entry,
    "shortcutId": tables.shortcut,
}
# Things of an organizer.
OWNED: dict[str, Table] = {
    "playerId": tables.player,
    "arenaId": tables.arena,
    "bankId": tables.bank,
    "locationId": tables.location,
    "seriesId": tables.series,
    "eventId": tables.occasion,
}
COUNTED: dict[str, Table] = {
    "userId": tables.user,
    "tournamentId": tables.tournament,
    **OWNED,
    **OF_TOURNAMENT,
}


def key_of(table: Table) -> str:
    """The name of the table's id column."""
    return next(iter(table.primary_key)).name


def rows_of(db: Connection, table: Table, key: str, ids: Collection[int]) -> dict[int, RowMapping]:
    """Id -> row, for those of these ids that are here."""
    found: dict[int, RowMapping] = {}
    ordered = sorted(set(ids))
    for start in range(0, len(ordered), IDS_AT_ONCE):
        rows = select(table).where(table.c[key].in_(ordered[start : start + IDS_AT_ONCE]))
        found.update({row[key]: row for row in db.execute(rows).mappings()})
    return found


def highest_ids(db: Connection) -> dict[str, int]:
    """Name of an id on the wire -> the highest that is in use."""
    columns = [func.max(table.c[key_of(table)]).label(name) for name, table in COUNTED.items()]
    row = db.execute(
        select(*[select(column).scalar_subquery().label(column.name) for column in columns])
    ).one()
    return {name: value or 0 for name, value in row._mapping.items()}


def refuse_foreign(db: Connection, kind: str, ids: Collection[int], tournament_id: int) -> None:
    """Raises Conflict when one of these parts of a tournament is here, in another tournament."""
    table = OF_TOURNAMENT[kind]
    for one_id, row in rows_of(db, table, key_of(table), ids).items():
        if row["tournament_id"] != tournament_id:
            where = f"in tournament {row['tournament_id']}" if row["tournament_id"] else "elsewhere"
            raise IdInUse(f"{spoken(kind)} {one_id} is here already, {where}.")


def refuse_owned(
    db: Connection, kind: str, rows: Sequence[Mapping[str, Any]], same: Mapping[int, int]
) -> None:
    """Raises Conflict when one of these things is here and is somebody else's.

    `same` says which other organizer an organizer of the bundle may be here.
    """
    table = OWNED[kind]
    key = key_of(table)
    found = rows_of(db, table, key, [row[key] for row in rows])
    for row in rows:
        other = found.get(row[key])
        organizer_id = row["organizer_id"]
        if (
            other is None
            or other.get("placeholder")
            or other["organizer_id"]
            in (
                organizer_id,
                same.get(organizer_id),
            )
        ):
            continue
        raise IdInUse(
            f"{spoken(kind)} {row[key]} is here already as {other['name']!r} of organizer "
            f"{other['organizer_id']}."
        )


def refuse_users(db: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Raises Conflict when one of these users is here under another name."""
    found = rows_of(db, tables.user, "user_id", [row["user_id"] for row in rows])
    for row in rows:
        other = found.get(row["user_id"])
        if other is not None and not other["placeholder"] and other["name"] != row["name"]:
            raise IdInUse(f"User {row['user_id']} is here already as {other['name']!r}.")


def leads_elsewhere(db: Connection, slug: str, tournament_id: int) -> bool:
    """Whether the custom link is in use here, and not for this tournament."""
    shortcut = tables.shortcut.c
    row = db.execute(select(shortcut.tournament_id).where(shortcut.slug == slug)).one_or_none()
    return row is not None and row.tournament_id != tournament_id


def refuse_slug(db: Connection, slug: str, tournament_id: int) -> None:
    """Raises Conflict when the custom link leads elsewhere here."""
    if leads_elsewhere(db, slug, tournament_id):
        raise IdInUse(f"The custom link {slug!r} is in use already.")


def spoken(kind: str) -> str:
    """`singlePlayerGameId` as a sentence begins with it: Single player game."""
    words = re.sub(r"(?=[A-Z])", " ", kind.removesuffix("Id")).lower()
    return words[0].upper() + words[1:]


def is_in_occasion(db: Connection, occasion_id: int, tournament_id: int) -> bool:
    """Whether the tournament belongs to the occasion."""
    table = tables.occasion_tournament
    rows = select(table.c.event_tournament_id).where(
        table.c.occasion_id == occasion_id, table.c.tournament_id == tournament_id
    )
    return db.execute(rows.limit(1)).first() is not None


class IdInUse(Conflict):
    """Another object has the id; the bundle can be given new ones."""

    def __init__(self, sentence: str) -> None:
        super().__init__(f"{sentence} Import with new ids (--renumber), or leave it out.")


@dataclass(frozen=True)
class Here:
    """A tournament that is here already: how it came in last, and whether anything happened since."""

    name: str
    change: str | None
    data: Mapping[str, Any]


def here(db: Connection, tournament_id: int) -> Here | None:
    """The tournament with the newest line of its journal, under its lock; None when it is not here."""
    rows = select(tables.tournament.c.name).where(tables.tournament.c.tournament_id == tournament_id)
    row = db.execute(rows.with_for_update()).one_or_none()
    if row is None:
        return None
    journal = tables.journal
    lines = select(journal.c.change, journal.c.data).where(journal.c.tournament_id == tournament_id)
    newest = db.execute(lines.order_by(journal.c.journal_id.desc()).limit(1)).one_or_none()
    return Here(row.name, None, {}) if newest is None else Here(row.name, newest.change, newest.data)


def whole(db: Connection, tournament_id: int) -> Bundle:
    """The tournament with everything in it, every list by id. Raises NotFound."""
    tournament = parts.one(db, tournament_id, EVERYTHING, OPERATOR)
    rows, _ = standings.of_tournament(db, tournament_id)
    waiting = queues.entries(db, tournament_id)
    own = _without_placeholders(db, tournament)
    return Bundle(
        tournament=_by_id(own),
        rounds=tuple(sorted(rounds.of_tournament(db, tournament_id), key=lambda one: one.round_id)),
        games=games.of_tournament(db, tournament_id, games.TournamentGamesQuery()),
        single_player_games=attempts.of_tournament(db, tournament_id, attempts.AttemptFilters(voided=True)),
        cards=cards.of_tournament(db, tournament_id),
        standings=_by_player(rows),
        queues=waiting or UNSET,
        banks=own.banks or UNSET,
        series=own.series or UNSET,
        scorekeepers=own.scorekeepers or UNSET,
    )


def _by_player(rows: Sequence[Standing]) -> tuple[Standing, ...]:
    decoded = msgspec.json.decode(msgspec.json.encode(rows), type=list[Standing])
    return tuple(sorted(decoded, key=lambda one: one.player_id))


def _without_placeholders(db: Connection, tournament: Tournament) -> Tournament:
    """Who and what is known by its id only stays a mere id."""
    user = rows_of(db, tables.user, "user_id", [tournament.organizer_id])[tournament.organizer_id]
    series = rows_of(db, tables.series, "series_id", [tournament.series_id or 0])
    is_named = tournament.series_id is not None and series[tournament.series_id]["placeholder"]
    return msgspec.structs.replace(
        tournament,
        organizer=UNSET if user["placeholder"] else tournament.organizer,
        series=UNSET if is_named else tournament.series,
    )


def _by_id(tournament: Tournament) -> Tournament:
    return msgspec.structs.replace(
        tournament,
        players=_sorted(tournament.players, "player_id"),
        arenas=_sorted(tournament.arenas, "arena_id"),
        banks=_sorted(tournament.banks, "bank_id"),
        scorekeepers=_sorted(tournament.scorekeepers, "user_id"),
    )


def _sorted(listed: tuple[Any, ...] | UnsetType, key: str) -> tuple[Any, ...] | UnsetType:
    return (
        listed if isinstance(listed, UnsetType) else tuple(sorted(listed, key=lambda one: getattr(one, key)))
    )
