"""Conflicts of a bundle with stored data, and the bundle of a stored tournament."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from sqlalchemy import (
    Column,
    Connection,
    RowMapping,
    Table,
    func,
    select,
)

from silverball.kit.conversions import decode
from silverball.service.access import AuthenticatedCaller
from silverball.service.bundles.conflicts import IdInUse, LinkInUse
from silverball.service.bundles.reads import engine_facts, sign_up_facts
from silverball.service.cards import reads as cards
from silverball.service.games.reads import games, legs
from silverball.service.parts import reads as parts
from silverball.service.players import reads as players
from silverball.service.queues import reads as queues
from silverball.service.rounds import reads as rounds
from silverball.service.singleplayer import reads as attempts
from silverball.service.standings import reads as standings
from silverball.store import batches, chaining, journal, present_ids, remote_ids, tables
from silverball_wire import times
from silverball_wire.arenas import Arena
from silverball_wire.base import UNSET, UnsetType, Wire
from silverball_wire.bundle import Bundle
from silverball_wire.bundle_journal import JournalLine
from silverball_wire.players import Player
from silverball_wire.standings import Standing
from silverball_wire.tournaments import Tournament

# SQLite accepts up to 32,766 parameters in a statement.
IDS_AT_ONCE = 5_000
LINE_NAMES = [name for name in JournalLine.__struct_fields__ if name not in ("data", "at")]
# Exports run as the operator of the service, from whom nothing is hidden.
OPERATOR = AuthenticatedCaller(user_id=0, role="admin", ability="admin")
# Directors are scorekeepers too; which of them direct is among the engine's facts.
ALL_PARTS = parts.PartsQuery(
    **(dict.fromkeys(parts.PartsQuery.__struct_fields__, True) | {"include_directors": False}),
)

Shape = TypeVar("Shape", bound=Wire)


# Parts of a tournament, by the wire name of their id.
PART_TABLES: dict[str, Table] = {
    "roundId": tables.round_,
    "gameId": tables.game,
    "suggestionId": tables.suggestion,
    "singlePlayerGameId": tables.single_player_game,
    "cardId": tables.card,
    "queueId": tables.queue_entry,
    "shortcutId": tables.shortcut,
    "entryId": tables.entry,
}
# Things that belong to an organizer, by the wire name of their id.
OWNED_TABLES: dict[str, Table] = {
    "playerId": tables.player,
    "arenaId": tables.arena,
    "bankId": tables.bank,
    "locationId": tables.location,
    "seriesId": tables.series,
    "eventId": tables.occasion,
}
ID_TABLES: dict[str, Table] = {
    "userId": tables.user,
    "tournamentId": tables.tournament,
    **OWNED_TABLES,
    **PART_TABLES,
}

ID_COLUMNS: dict[str, Column[int]] = {
    kind: next(iter(table.primary_key)) for kind, table in ID_TABLES.items()
}


def id_column(table: Table) -> str:
    """The name of the table's id column."""
    return next(iter(table.primary_key)).name


def rows_by_id(db: Connection, table: Table, key: str, ids: Collection[int]) -> dict[int, RowMapping]:
    """Id -> row, for those of the given ids that are stored."""
    by_id: dict[int, RowMapping] = {}
    ordered = sorted(set(ids))
    for start in range(0, len(ordered), IDS_AT_ONCE):
        rows = select(table).where(table.c[key].in_(ordered[start : start + IDS_AT_ONCE]))
        by_id.update({values[key]: values for values in db.execute(rows).mappings()})
    return by_id


def stored_ids(db: Connection, kind: str, ids: Collection[int]) -> set[int]:
    """Those of the ids that are in use; the kind is the id's name on the wire."""
    return all_stored_ids(db, {kind: ids})[kind]


def all_stored_ids(db: Connection, ids: Mapping[str, Collection[int]]) -> dict[str, set[int]]:
    """Kind -> those of its ids that are in use."""
    return present_ids.present_ids(db, ID_COLUMNS, ids)


def highest_ids(db: Connection) -> dict[str, int]:
    """Wire name of an id -> the highest one in use."""
    columns = [func.max(table.c[id_column(table)]).label(name) for name, table in ID_TABLES.items()]
    row = db.execute(
        select(*[select(column).scalar_subquery().label(column.name) for column in columns])
    ).one()
    return {name: value or 0 for name, value in row._mapping.items()}


def refuse_other_tournaments(db: Connection, kind: str, ids: Collection[int], tournament_id: int) -> None:
    """Raise Conflict when one of these parts is stored in another tournament."""
    table = PART_TABLES[kind]
    key = table.c[id_column(table)]
    for batch in batches.ascending_batches(ids):
        elsewhere = table.c.tournament_id.is_distinct_from(tournament_id)
        taken = select(key, table.c.tournament_id).where(key.in_(batch), elsewhere).limit(1)
        for taken_id, owner_id in db.execute(taken):
            raise IdInUse(kind, taken_id, f", in tournament {owner_id}" if owner_id else ", elsewhere")


def refuse_other_owners(
    db: Connection, kind: str, rows: Sequence[Mapping[str, Any]], same: Mapping[int, int]
) -> None:
    """Raise Conflict when one of these things belongs to another organizer here.

    `same` maps an organizer of the bundle to the id that the same organizer has here.
    """
    table = OWNED_TABLES[kind]
    key = id_column(table)
    stored = rows_by_id(db, table, key, [values[key] for values in rows])
    for values in rows:
        existing = stored.get(values[key])
        organizer_id = values["organizer_id"]
        if (
            existing is None
            or existing.get("placeholder")
            or existing["organizer_id"] in (organizer_id, same.get(organizer_id))
        ):
            continue
        where = f" as {existing['name']!r} of organizer {existing['organizer_id']}"
        raise IdInUse(kind, values[key], where)


def refuse_renamed_users(db: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Raise Conflict when one of these users has another name here."""
    stored = rows_by_id(db, tables.user, "user_id", [values["user_id"] for values in rows])
    for values in rows:
        existing = stored.get(values["user_id"])
        if existing is not None and not existing["placeholder"] and existing["name"] != values["name"]:
            raise IdInUse("userId", values["user_id"], f" as {existing['name']!r}")


def is_slug_taken(db: Connection, slug: str, tournament_id: int) -> bool:
    """Whether the custom link is in use for something other than this tournament."""
    shortcut = tables.shortcut.c
    row = db.execute(select(shortcut.tournament_id).where(shortcut.slug == slug)).one_or_none()
    return row is not None and row.tournament_id != tournament_id


def refuse_taken_slug(db: Connection, slug: str, tournament_id: int) -> None:
    """Raise Conflict when the custom link leads elsewhere here."""
    if is_slug_taken(db, slug, tournament_id):
        raise LinkInUse(link=repr(slug))


def is_in_occasion(db: Connection, occasion_id: int, tournament_id: int) -> bool:
    """Whether the tournament belongs to the occasion."""
    table = tables.occasion_tournament
    rows = select(table.c.event_tournament_id).where(
        table.c.occasion_id == occasion_id, table.c.tournament_id == tournament_id
    )
    return db.execute(rows.limit(1)).first() is not None


class ExistingTournament(Struct, frozen=True):
    """A stored tournament with the newest line of its journal."""

    name: str
    change: str | None
    data: Mapping[str, Any]


def find_existing(
    db: Connection, tournament_id: int, *, passes_over_merges: bool
) -> ExistingTournament | None:
    """Lock the tournament and return it with the newest line of its journal; None when it is unknown.

    The map of a source follows merges of players, so for its files they are no change of the tournament.
    """
    rows = select(tables.tournament.c.name).where(tables.tournament.c.tournament_id == tournament_id)
    row = db.execute(rows.with_for_update()).one_or_none()
    if row is None:
        return None
    line = tables.journal.c
    lines = select(line.change, line.data).where(line.tournament_id == tournament_id)
    if passes_over_merges:
        lines = lines.where(line.change != journal.PLAYERS_MERGED)
    newest = db.execute(lines.order_by(line.journal_id.desc()).limit(1)).one_or_none()
    return (
        ExistingTournament(row.name, None, {})
        if newest is None
        else ExistingTournament(row.name, newest.change, newest.data)
    )


def load_bundle(db: Connection, tournament_id: int, *, with_journal: bool = False) -> Bundle:
    """The tournament with all its parts, every list by id. Raises NotFound."""
    tournament = parts.find_tournament(db, tournament_id, ALL_PARTS, OPERATOR)
    rows, _ = standings.tournament_standings(db, tournament_id)
    waiting = queues.all_spots(db, tournament_id)
    own = _with_stored_seeds(db, _without_placeholders(db, tournament))
    lines = _load_journal(db, tournament_id) if with_journal else ()
    head = lines[-1].hash if lines else chaining.journal_head(db, tournament_id)
    listed = _listed_players(db, tournament_id)
    present = (*(() if isinstance(own.players, UnsetType) else own.players), *listed)
    return Bundle(
        source=remote_ids.site_name(db),
        tournament=_parts_by_id(own),
        rounds=tuple(
            sorted(rounds.rounds_in_tournament(db, tournament_id), key=lambda round_: round_.round_id)
        ),
        games=games.games_in_tournament(db, tournament_id, games.TournamentGamesQuery()),
        legs=legs.legs_in_tournament(db, tournament_id) or UNSET,
        single_player_games=attempts.single_player_games_in_tournament(
            db, tournament_id, attempts.SinglePlayerGameFilters(voided=True)
        ),
        cards=cards.cards_in_tournament(db, tournament_id),
        standings=_standings_by_player(rows),
        queues=waiting or UNSET,
        banks=own.banks or UNSET,
        series=own.series or UNSET,
        scorekeepers=own.scorekeepers or UNSET,
        journal_head=head or UNSET,
        engine=engine_facts.load_engine_facts(db, tournament_id, with_journal=bool(lines)),
        journal=lines or UNSET,
        former_players=_former_things(db, "playerId", Player, lines, present) or UNSET,
        sign_up_players=listed or UNSET,
        former_arenas=_former_things(db, "arenaId", Arena, lines, own.arenas) or UNSET,
    )


def _listed_players(db: Connection, tournament_id: int) -> tuple[Player, ...]:
    """The people on the sign-up list who are not in the tournament, by id."""
    return _things_by_id(db, "playerId", Player, sign_up_facts.ids_beside_tournament(db, tournament_id))


def _former_things(
    db: Connection,
    kind: str,
    shape: type[Shape],
    lines: Sequence[JournalLine],
    present: Collection[Any] | UnsetType,
) -> tuple[Shape, ...]:
    """The things that these lines name and that the tournament no longer has, by id."""
    key = id_column(OWNED_TABLES[kind])
    known = set() if isinstance(present, UnsetType) else {getattr(part, key) for part in present}
    return _things_by_id(db, kind, shape, things_named(line.data for line in lines)[kind] - known)


def _things_by_id(db: Connection, kind: str, shape: type[Shape], ids: Collection[int]) -> tuple[Shape, ...]:
    rows = rows_by_id(db, OWNED_TABLES[kind], id_column(OWNED_TABLES[kind]), ids)
    names = [name for name in shape.__struct_fields__ if not name.startswith("tournament_")]
    return tuple(
        shape(**{name: engine_facts.as_tuple(rows[at][name]) for name in names}) for at in sorted(rows)
    )


def things_named(data: Iterable[Mapping[str, Any]]) -> dict[str, set[int]]:
    """Name of an id -> the ids of players, arenas and banks that were added, changed or removed."""
    subjects = [line["thing"] for line in data if isinstance(line.get("thing"), dict)]
    return {
        kind: {
            subject[key]
            for subject in subjects
            if isinstance(subject.get(key := id_column(OWNED_TABLES[kind])), int)
        }
        for kind in ("playerId", "arenaId", "bankId")
    }


def _load_journal(db: Connection, tournament_id: int) -> tuple[JournalLine, ...]:
    """The chained lines, without a last one that only tells that they were imported."""
    lines = [
        JournalLine(
            data=msgspec.json.decode(row.data_text),
            at=times.iso(row.at),
            **{name: getattr(row, name) for name in LINE_NAMES},
        )
        for row, _ in chaining.load_lines(db, tournament_id)
        if row.hash is not None
    ]
    if lines and lines[-1].change == journal.JOURNAL_IMPORTED:
        lines.pop()
    return tuple(lines)


def _standings_by_player(rows: Sequence[Standing]) -> tuple[Standing, ...]:
    decoded = decode(msgspec.json.encode(rows), list[Standing])
    return tuple(sorted(decoded, key=lambda standing: standing.player_id))


def _without_placeholders(db: Connection, tournament: Tournament) -> Tournament:
    """The tournament without organizer and series that are only known by id."""
    user = rows_by_id(db, tables.user, "user_id", [tournament.organizer_id])[tournament.organizer_id]
    series = rows_by_id(db, tables.series, "series_id", [tournament.series_id or 0])
    is_named = tournament.series_id is not None and series[tournament.series_id]["placeholder"]
    return msgspec.structs.replace(
        tournament,
        organizer=UNSET if user["placeholder"] else tournament.organizer,
        series=UNSET if is_named else tournament.series,
    )


def _with_stored_seeds(db: Connection, tournament: Tournament) -> Tournament:
    """The tournament with the seeds of a bundle, which count from 1."""
    seeds = players.stored_seeds(db, tournament.tournament_id)
    replaced = [
        msgspec.structs.replace(
            player,
            tournament_player=msgspec.structs.replace(player.tournament_player, seed=seeds[player.player_id]),
        )
        for player in tournament.players or ()
        if not isinstance(player.tournament_player, UnsetType)
    ]
    return msgspec.structs.replace(tournament, players=tuple(replaced))


def _parts_by_id(tournament: Tournament) -> Tournament:
    return msgspec.structs.replace(
        tournament,
        players=_sorted_part(tournament.players, "player_id"),
        arenas=_sorted_part(tournament.arenas, "arena_id"),
        banks=_sorted_part(tournament.banks, "bank_id"),
        scorekeepers=_sorted_part(tournament.scorekeepers, "user_id"),
    )


def _sorted_part(items: tuple[Any, ...] | UnsetType, key: str) -> tuple[Any, ...] | UnsetType:
    return (
        items if isinstance(items, UnsetType) else tuple(sorted(items, key=lambda item: getattr(item, key)))
    )
