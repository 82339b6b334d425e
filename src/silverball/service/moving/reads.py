"""Conflicts of a bundle with stored data, and the bundle of a stored tournament."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    RowMapping,
    Select,
    Table,
    bindparam,
    func,
    or_,
    select,
    true,
    type_coerce,
)

from silverball.kit.errors import Conflict, NotFound
from silverball.kit.security import addresses
from silverball.kit.security.addresses import AddressPolicy
from silverball.kit.values import compile_copy, convert, decode
from silverball.rules.model.finals import FinalSource, FinalStep
from silverball.rules.model.tournament import EngineState, PrizePlan, Reopening, SentResults, SignUpTerms
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.games.reads import games
from silverball.service.money import reads as money_reads
from silverball.service.players import reads as players
from silverball.service.rounds import reads as rounds
from silverball.service.single_player import reads as single_player_reads
from silverball.service.standings.reads import standings
from silverball.service.tournaments.reads import parts
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database import conditions
from silverball.store.tables import history_pull, history_pull_item, user
from silverball.store.tournament import chain, imports, journal
from silverball.store.tournament import rows as tournament_rows
from silverball.store.types import Hundredths, Instant, IsoText, PointsText
from silverball_wire import base, bundle
from silverball_wire.arenas import Arena
from silverball_wire.base import UNSET, UnsetType, Wire
from silverball_wire.players import Player
from silverball_wire.prizes import SignUpPayment
from silverball_wire.rounds import CalledGame, ExtendedGame
from silverball_wire.standings import Standing
from silverball_wire.tournaments import Tournament

_SIGN_UP, _ENTRANT = tables.sign_up.c, tables.entrant.c


def load_sign_up_facts(db: Connection, tournament_id: int) -> dict[str, Any]:
    """The facts of the list by their names in EngineFacts; empty without a list."""
    rows = select(tables.sign_up).where(_SIGN_UP.tournament_id == tournament_id).order_by(_SIGN_UP.player_id)
    own = tables.tournament.c
    stored = db.execute(select(own.sign_up_terms).where(own.tournament_id == tournament_id)).scalar_one()
    entries = tuple(_fact(row) for row in db.execute(rows))
    facts: dict[str, Any] = {"sign_ups": entries} if entries else {}
    if stored is not None:
        terms = convert(stored, SignUpTerms)
        facts["sign_up_terms"] = bundle.SignUpTermsFacts(
            fee=terms.fee,
            late_fee=terms.late_fee,
            late_from=base.iso_or_none(terms.late_from),
            code_number=terms.code_number,
        )
    return facts


def _fact(row: Any) -> bundle.SignUpFacts:
    entry = tournament_rows.to_sign_up(row)
    payment = entry.payment
    return bundle.SignUpFacts(
        player_id=entry.player_id,
        waiting_place=entry.waiting_place,
        signed_up_at=base.iso_or_none(entry.signed_up_at),
        is_late=entry.is_late,
        checked_in_at=base.iso_or_none(entry.checked_in_at),
        payment=None
        if payment is None
        else SignUpPayment(
            cents=payment.cents, how=payment.how, user_id=payment.user_id, paid_at=base.iso(payment.paid_at)
        ),
    )


def ids_beside_tournament(db: Connection, tournament_id: int) -> set[int]:
    """Ids of the people on the list who are not in the tournament."""
    entered = select(_ENTRANT.player_id).where(_ENTRANT.tournament_id == tournament_id)
    listed = select(_SIGN_UP.player_id).where(
        _SIGN_UP.tournament_id == tournament_id, _SIGN_UP.player_id.not_in(entered)
    )
    return set(db.execute(listed).scalars())


# Facts of a tournament that no answer shows, and from which its play goes on.


Shape = TypeVar("Shape", bound=Wire)


def _facts_of(table: Table, *names: str, where: ColumnElement[bool] | None = None) -> Select[Any]:
    """These columns of a tournament's rows, by id."""
    columns = [_fact_column(table.c[name]).label(name) for name in names]
    rows = select(*columns).where(table.c.tournament_id == bindparam("tournament_id"))
    return (rows if where is None else rows.where(where)).order_by(table.c[names[0]])


def _fact_column(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """The column as a bundle writes it."""
    if isinstance(column.type, Instant):
        return type_coerce(column, IsoText)
    return type_coerce(column, PointsText) if isinstance(column.type, Hundredths) else column


_GAME = tables.game.c
ENTRANT_FACTS = _facts_of(tables.entrant, *bundle.EntrantFacts.__struct_fields__)
GAME_FACTS = _facts_of(
    tables.game,
    *[name for name in bundle.GameFacts.__struct_fields__ if name != "is_tiebreak"],
    where=or_(
        _GAME.forfeited_by.is_not(None), _GAME.finishing_order.is_not(None), _GAME.gave_up.is_not(None)
    ),
)
ATTEMPT_FACTS = _facts_of(tables.single_player_game, *bundle.AttemptFacts.__struct_fields__)
PURCHASE_FACTS = _facts_of(tables.entry, *bundle.PurchaseFacts.__struct_fields__)

_KEEPER = tables.scorekeeper.c
DIRECTORS = (
    select(_KEEPER.user_id)
    .where(_KEEPER.tournament_id == bindparam("tournament_id"), _KEEPER.is_director == true())
    .order_by(_KEEPER.user_id)
)


def load_engine_facts(
    db: Connection, tournament_id: int, *, with_journal: bool, with_seed: bool
) -> bundle.EngineFacts:
    """The stored facts that no published shape has, every list by id; a seed that is left out is None."""
    own = tables.tournament.c
    stored = select(own.engine, own.prizes, own.reopening).where(own.tournament_id == tournament_id)
    engine, plan, reopening = db.execute(stored).one()
    state = convert(engine or {}, EngineState, strict=False)
    return bundle.EngineFacts(
        dice_seed=state.dice_seed if with_seed or not state.dice_seed else None,
        redraws=dict(state.redraws),
        clock_ends_at=base.iso_or_none(state.clock_ends_at),
        round_minutes=state.round_minutes,
        timed_round=None
        if state.timed_round_id is None
        else bundle.TimedRound(
            round_id=state.timed_round_id, ends_at=base.iso_or_none(state.timed_round_ends_at)
        ),
        calls=tuple(
            CalledGame(game_id=game_id, called_at=base.iso(at)) for game_id, at in sorted(state.calls.items())
        ),
        extended_games=tuple(
            ExtendedGame(game_id=game_id, ends_at=base.iso(at))
            for game_id, at in sorted(state.extended_ends.items())
        )
        or UNSET,
        director_ids=tuple(db.scalars(DIRECTORS, {"tournament_id": tournament_id})) or UNSET,
        schedule=tuple(bundle.ReleasedLaterPair(player_ids=pair) for pair in state.schedule),
        unfinished_round=None
        if state.unfinished_round is None
        else bundle.UnfinishedRound(round_index=state.unfinished_round, player_ids=state.unfinished_ids),
        left_ids=state.left_ids,
        finals=tuple(map(_final_step_facts, state.planned_finals)) or UNSET,
        final_source=_final_source_facts(state.final_source),
        results_sent=_sent_results_facts(state.results_sent),
        entrants=_load_facts(db, ENTRANT_FACTS, tournament_id, bundle.EntrantFacts),
        games=_load_facts(db, GAME_FACTS, tournament_id, bundle.GameFacts),
        single_player_games=_load_facts(db, ATTEMPT_FACTS, tournament_id, bundle.AttemptFacts),
        purchases=_load_facts(db, PURCHASE_FACTS, tournament_id, bundle.PurchaseFacts),
        notes=rounds.notes_of_tournament(db, tournament_id, with_actions=with_journal) or UNSET,
        **load_sign_up_facts(db, tournament_id),
        prizes=UNSET if plan is None else _prize_facts(convert(plan, PrizePlan)),
        reopening=UNSET if reopening is None else _reopening_facts(convert(reopening, Reopening)),
    )


def _final_step_facts(step: FinalStep) -> bundle.FinalStepFacts:
    within = None if step.within is None else str(step.within)
    return bundle.FinalStepFacts(**{**msgspec.structs.asdict(step), "within": within})


def _final_source_facts(source: FinalSource | UnsetType) -> bundle.FinalSourceFacts | UnsetType:
    if isinstance(source, UnsetType):
        return UNSET
    return bundle.FinalSourceFacts(
        source_tournament=source.tournament_id,
        source_series=source.series_id,
        nights_min=source.nights_min,
        steps=tuple(map(_final_step_facts, source.steps)),
        given_ids=source.given,
        seeded_ids=source.seeded,
        fills_up=source.fills_up,
    )


def _sent_results_facts(sent: SentResults | UnsetType) -> bundle.SentResultsFacts | UnsetType:
    if isinstance(sent, UnsetType):
        return UNSET
    places = [
        bundle.SentPlaceFacts(player_id=place.player_id, position=place.position) for place in sent.places
    ]
    return bundle.SentResultsFacts(sent_at=base.iso(sent.sent_at), places=tuple(places))


def _reopening_facts(reopening: Reopening) -> bundle.ReopeningFacts:
    return bundle.ReopeningFacts(
        first_completed_at=base.iso(reopening.first_completed_at),
        completed_at=base.iso(reopening.completed_at),
        played_until=base.iso(reopening.played_until),
        results=bundle.ResultIds(**msgspec.structs.asdict(reopening.results)),
        late=bundle.ResultIds(**msgspec.structs.asdict(reopening.late)),
    )


_plan_facts = compile_copy(bundle.PrizeFacts, others=("published", "payouts"))


def _prize_facts(plan: PrizePlan) -> bundle.PrizeFacts:
    payouts = tuple(money_reads.prize_payout(payout) for payout in plan.payouts)
    return _plan_facts(plan, published=plan.is_published, payouts=payouts)


def _load_facts(
    db: Connection, statement: Select[Any], tournament_id: int, shape: type[Shape]
) -> tuple[Shape, ...]:
    rows = db.execute(statement, {"tournament_id": tournament_id}).mappings()
    return tuple(shape(**{name: as_tuple(value) for name, value in fact.items()}) for fact in rows)


def as_tuple(value: Any) -> Any:
    """A list of a row as a tuple; anything else unchanged."""
    return tuple(value) if isinstance(value, list) else value


# Refusals of bundles whose ids or links are taken here.


def kind_title(kind: str) -> str:
    """The id's name as the first words of a sentence: `singlePlayerGameId` -> "Single player game"."""
    words = re.sub(r"(?=[A-Z])", " ", kind.removesuffix("Id")).lower()
    return words[0].upper() + words[1:]


class IdInUse(Conflict):
    """Another object has the id; the bundle can be imported with new ids."""

    sentence = "{kind} {key} is here already{where}. Import with new ids (--renumber), or leave it out."

    def __init__(self, kind: str, key: int, where: str) -> None:
        super().__init__(kind=kind_title(kind), key=key, where=where)


class LinkInUse(Conflict):
    """The custom link leads to something else here."""

    sentence = "The custom link {link} is in use already. Import with new ids (--renumber), or leave it out."


class JournalHoldsSeed(Conflict):
    """The hashes of the lines cover the seed, so that they cannot be exported without it."""

    sentence = (
        "The journal holds the seed of the draws, and the tournament is not completed. Export it without "
        "--with-journal, or with --with-seed too; its page of draws then says so."
    )


# SQLite accepts up to 32,766 parameters in a statement.
IDS_AT_ONCE = 5_000
LINE_NAMES = [name for name in bundle.JournalLine.__struct_fields__ if name not in ("data", "at")]
# Exports run as the operator of the service, from whom nothing is hidden.
OPERATOR = AuthenticatedCaller(user_id=0, role="admin", ability="admin")
# Directors are scorekeepers too; which of them direct is among the engine's facts.
ALL_PARTS = parts.PartsQuery(
    **(dict.fromkeys(parts.PartsQuery.__struct_fields__, True) | {"include_directors": False}),
)


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
    return imports.present_ids(db, ID_COLUMNS, ids)


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
    for batch in conditions.ascending_batches(ids):
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

    The map of a source follows merges, so for its files they are no change of the tournament.
    """
    rows = select(tables.tournament.c.name).where(tables.tournament.c.tournament_id == tournament_id)
    row = db.execute(rows.with_for_update()).one_or_none()
    if row is None:
        return None
    line = tables.journal.c
    lines = select(line.change, line.data).where(line.tournament_id == tournament_id)
    if passes_over_merges:
        lines = lines.where(line.change.not_in(journal.MERGES))
    newest = db.execute(lines.order_by(line.journal_id.desc()).limit(1)).one_or_none()
    return (
        ExistingTournament(row.name, None, {})
        if newest is None
        else ExistingTournament(row.name, newest.change, newest.data)
    )


def load_bundle(
    db: Connection, tournament_id: int, *, with_journal: bool = False, with_seed: bool = False
) -> bundle.Bundle:
    """The tournament with all its parts, every list by id; after completion always with its seed.

    Arenas and banks are in the order of the lineup, which nothing else in the file says.

    Raises NotFound, and JournalHoldsSeed where the journal of one that is not over is wanted without it.
    """
    tournament = parts.find_tournament(db, tournament_id, ALL_PARTS, OPERATOR)
    with_seed = with_seed or tournament.status == "completed"
    lines = _load_journal(db, tournament_id) if with_journal else ()
    engine = load_engine_facts(db, tournament_id, with_journal=bool(lines), with_seed=with_seed)
    if with_journal and engine.dice_seed is None:
        raise JournalHoldsSeed
    rows, _ = standings.tournament_standings(db, tournament_id)
    waiting = single_player_reads.all_spots(db, tournament_id)
    own = _with_stored_seeds(db, _without_placeholders(db, tournament))
    head = lines[-1].hash if lines else chain.journal_head(db, tournament_id)
    listed = _things_by_id(db, "playerId", Player, ids_beside_tournament(db, tournament_id))
    present = (*(() if isinstance(own.players, UnsetType) else own.players), *listed)
    return bundle.Bundle(
        source=imports.site_name(db),
        tournament=msgspec.structs.replace(
            own,
            players=_sorted_part(own.players, "player_id"),
            scorekeepers=_sorted_part(own.scorekeepers, "user_id"),
        ),
        rounds=tuple(
            sorted(rounds.rounds_in_tournament(db, tournament_id), key=lambda round_: round_.round_id)
        ),
        games=games.games_in_tournament(db, tournament_id, games.TournamentGamesQuery()),
        legs=games.legs_in_tournament(db, tournament_id) or UNSET,
        single_player_games=single_player_reads.single_player_games_in_tournament(
            db, tournament_id, single_player_reads.SinglePlayerGameFilters(voided=True)
        ),
        cards=single_player_reads.cards_in_tournament(db, tournament_id),
        standings=_standings_by_player(rows),
        queues=waiting or UNSET,
        banks=own.banks or UNSET,
        series=own.series or UNSET,
        scorekeepers=own.scorekeepers or UNSET,
        journal_head=head or UNSET,
        engine=engine,
        journal=lines or UNSET,
        former_players=_former_things(db, "playerId", Player, lines, present) or UNSET,
        sign_up_players=listed or UNSET,
        former_arenas=_former_things(db, "arenaId", Arena, lines, own.arenas) or UNSET,
    )


def _former_things(
    db: Connection,
    kind: str,
    shape: type[Shape],
    lines: Sequence[bundle.JournalLine],
    present: Collection[Any] | UnsetType,
) -> tuple[Shape, ...]:
    """The things that these lines name and that the tournament no longer has, by id."""
    key = id_column(OWNED_TABLES[kind])
    known = set() if isinstance(present, UnsetType) else {getattr(part, key) for part in present}
    return _things_by_id(db, kind, shape, things_named(line.data for line in lines)[kind] - known)


def _things_by_id(db: Connection, kind: str, shape: type[Shape], ids: Collection[int]) -> tuple[Shape, ...]:
    rows = rows_by_id(db, OWNED_TABLES[kind], id_column(OWNED_TABLES[kind]), ids)
    names = [name for name in shape.__struct_fields__ if not name.startswith("tournament_")]
    return tuple(shape(**{name: as_tuple(rows[at][name]) for name in names}) for at in sorted(rows))


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


def _load_journal(db: Connection, tournament_id: int) -> tuple[bundle.JournalLine, ...]:
    """The chained lines, without a last one that only tells that they were imported."""
    lines = [
        bundle.JournalLine(
            data=msgspec.json.decode(row.data_text),
            at=base.iso(row.at),
            **{name: getattr(row, name) for name in LINE_NAMES},
        )
        for row, _ in chain.load_lines(db, tournament_id)
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


def _sorted_part(items: tuple[Any, ...] | UnsetType, key: str) -> tuple[Any, ...] | UnsetType:
    return (
        items if isinstance(items, UnsetType) else tuple(sorted(items, key=lambda item: getattr(item, key)))
    )


_PLAYER, _REMOTE_ID = tables.player.c, tables.remote_id.c
PEOPLE_MAX = 100_000


class BroughtPlayer(Struct, frozen=True):
    """A player with an account or a federation number."""

    player_id: int
    organizer_id: int
    claimed_by: int | None
    ifpa_id: int | None


class SharedName(Struct, frozen=True):
    """A name that several players of one book have; whether they are one person, nobody here knows."""

    name: str
    organizer_id: int
    player_ids: tuple[int, ...]
    # Their ids in the source; the first of each.
    remote_ids: tuple[int, ...]


class _NamedPlayer(Struct, frozen=True):
    name: str
    organizer_id: int
    player_id: int
    remote_id: int


def shared_names(db: Connection, source: str) -> Sequence[SharedName]:
    """The names that several players of the source have in one book here, by name.

    Whoever was said to be somebody else than the first of that name is left out.
    """
    rows = (
        select(
            _PLAYER.name,
            _PLAYER.organizer_id,
            _PLAYER.player_id,
            func.min(_REMOTE_ID.remote_id).label("remote_id"),
        )
        .join(tables.remote_id, _REMOTE_ID.local_id == _PLAYER.player_id)
        .where(_REMOTE_ID.source == source, _REMOTE_ID.kind == "playerId")
        .group_by(_PLAYER.name, _PLAYER.organizer_id, _PLAYER.player_id)
        .order_by(_PLAYER.player_id)
        .limit(PEOPLE_MAX)
    )
    found: dict[tuple[int, str], list[_NamedPlayer]] = {}
    for row in db.execute(rows):
        player = _NamedPlayer(**row._mapping)
        found.setdefault((player.organizer_id, player.name.casefold()), []).append(player)
    different = _different_people(db, source)
    shared = [_shared_name(first, others, different) for first, *others in found.values()]
    return sorted(
        (same for same in shared if len(same.player_ids) > 1),
        key=lambda same: (same.name.casefold(), same.player_ids),
    )


def _shared_name(
    first: _NamedPlayer, others: Sequence[_NamedPlayer], different: Collection[tuple[int, int]]
) -> SharedName:
    same = [first, *(other for other in others if (other.remote_id, first.player_id) not in different)]
    return SharedName(
        first.name,
        first.organizer_id,
        tuple(player.player_id for player in same),
        tuple(player.remote_id for player in same),
    )


def _different_people(db: Connection, source: str) -> set[tuple[int, int]]:
    """Id in the source, and id here, of players of one name who were said to be two people."""
    rows = select(_REMOTE_ID.remote_id, _REMOTE_ID.local_id).where(
        _REMOTE_ID.source == source, _REMOTE_ID.kind == imports.NAMESAKE
    )
    return {(remote_id, local_id) for remote_id, local_id in db.execute(rows)}


def known_people(db: Connection, source: str, organizer_ids: Collection[int]) -> Sequence[BroughtPlayer]:
    """The players of the source in the books of these accounts that an account or a number tells apart."""
    if not organizer_ids:
        return ()
    rows = (
        select(_PLAYER.player_id, _PLAYER.organizer_id, _PLAYER.claimed_by, _PLAYER.ifpa_id)
        .join(tables.remote_id, _REMOTE_ID.local_id == _PLAYER.player_id)
        .where(
            _REMOTE_ID.source == source,
            _REMOTE_ID.kind == "playerId",
            _PLAYER.organizer_id.in_(organizer_ids),
        )
        .where(or_(_PLAYER.claimed_by.is_not(None), _PLAYER.ifpa_id.is_not(None)))
        .distinct()
        .order_by(_PLAYER.player_id)
        .limit(PEOPLE_MAX)
    )
    return [BroughtPlayer(**row._mapping) for row in db.execute(rows)]


_TOURNAMENT, _USER, _JOURNAL = tables.tournament.c, tables.user.c, tables.journal.c


class KnownTournament(Struct, frozen=True):
    """A tournament here that an earlier pull or import of a source has brought."""

    tournament_id: int
    name: str
    updated_at: datetime


def known_tournament(db: Connection, source: str, remote_id: int) -> KnownTournament | None:
    """The tournament here of a tournament of the source, as it was imported.

    None when it was never taken, is gone, or has changed here since.
    """
    ids = imports.known_ids(db, source, {"tournamentId": [remote_id]})["tournamentId"]
    newest = (
        select(_JOURNAL.change)
        .where(_JOURNAL.tournament_id == _TOURNAMENT.tournament_id)
        .order_by(_JOURNAL.journal_id.desc())
        .limit(1)
        .scalar_subquery()
    )
    columns = select(_TOURNAMENT.tournament_id, _TOURNAMENT.name, _TOURNAMENT.updated_at).where(
        newest == journal.TOURNAMENT_IMPORTED
    )
    row = db.execute(columns.where(_TOURNAMENT.tournament_id == ids.get(remote_id, 0))).one_or_none()
    return None if row is None else KnownTournament(row.tournament_id, row.name, row.updated_at)


def require_accounts(db: Connection, user_ids: Collection[int]) -> None:
    """Raise NotFound for the first of these accounts that is not here."""
    stored = set(db.execute(select(_USER.user_id).where(_USER.user_id.in_(user_ids))).scalars())
    for user_id in user_ids:
        if user_id not in stored:
            raise NotFound("User", user_id)


_MIRROR = tables.mirror.c
# Each has a program of its own, so there are never as many.
MIRRORS_MAX = 1_000


class Mirror(Struct, frozen=True):
    """A tournament that another service runs."""

    tournament_id: int
    host: str
    remote_id: int
    # The last moment that is known, while the other service does not answer.
    lost_at: datetime | None
    # Milliseconds from an event there to its announcement here.
    lag_median: int | None
    lag_p99: int | None
    # Players whose place or points differ there; None as long as none did.
    standings_differ: int | None


def find_mirror(db: Connection, tournament_id: int) -> Mirror | None:
    """The mirror with this id; None for an ordinary tournament."""
    row = db.execute(select(tables.mirror).where(_MIRROR.tournament_id == tournament_id)).one_or_none()
    return None if row is None else Mirror(**row._mapping)


def running_mirrors(db: Connection) -> Sequence[Mirror]:
    """The mirrors of tournaments that are not completed, by tournament."""
    tournament = tables.tournament.c
    rows = (
        select(tables.mirror)
        .join(tables.tournament, tournament.tournament_id == _MIRROR.tournament_id)
        .where(tournament.status != "completed")
        .order_by(_MIRROR.tournament_id)
        .limit(MIRRORS_MAX)
    )
    return [Mirror(**row._mapping) for row in db.execute(rows)]


def player_names(db: Connection, player_ids: Collection[int]) -> dict[int, str]:
    """The names of these players, by id."""
    own = tables.player.c
    rows = select(own.player_id, own.name).where(own.player_id.in_(player_ids)).order_by(own.player_id)
    return {row.player_id: row.name for row in db.execute(rows)}


_HISTORY_PULL, _HISTORY_PULL_ITEM = history_pull.c, history_pull_item.c
ACTIVE, STOPPED, FINISHED, FAILED = "active", "stopped", "finished", "failed"
# Until the first tournament was read: requests of one, at one request a second.
SECONDS_EXPECTED = 4.5


class HistoryPull(Struct, frozen=True):
    """A pull that an account started on a page."""

    history_pull_id: int
    user_id: int
    address: str
    has_secret: bool
    wanted: dict[str, Any]
    is_dry_run: bool
    status: str
    reason: str | None
    is_listed: bool
    requests: int
    foreign_requests: int
    seconds: int
    created_at: datetime
    updated_at: datetime
    # Tournaments to take, and those that have a report.
    total: int
    done: int

    @property
    def is_over(self) -> bool:
        return self.status in (FINISHED, FAILED)

    @property
    def minutes_left(self) -> int | None:
        """The whole minutes that the rest takes at the pace so far; None before the list is read."""
        if not self.is_listed:
            return None
        each = self.seconds / self.done if self.done else SECONDS_EXPECTED
        return round((self.total - self.done) * each / 60)


class ListedItem(Struct, frozen=True):
    """A tournament of a pull that has no report yet."""

    remote_id: int
    name: str
    updated_at: str | None


def pull_of(db: Connection, user_id: int) -> HistoryPull | None:
    """The newest pull of this account."""
    count = select(func.count()).where(_HISTORY_PULL_ITEM.history_pull_id == _HISTORY_PULL.history_pull_id)
    rows = select(
        *(column for column in _HISTORY_PULL if column.name not in ("secret", "remote_user", "failures")),
        _HISTORY_PULL.secret.is_not(None).label("has_secret"),
        count.scalar_subquery().label("total"),
        count.where(_HISTORY_PULL_ITEM.report.is_not(None)).scalar_subquery().label("done"),
    ).where(_HISTORY_PULL.user_id == user_id)
    stored = db.execute(rows).mappings().one_or_none()
    if stored is None:
        return None
    return HistoryPull(**{name: stored[name] for name in HistoryPull.__struct_fields__})


def reports_of(db: Connection, history_pull_id: int) -> list[Any]:
    """The reports so far, in the order of the source."""
    rows = select(_HISTORY_PULL_ITEM.report).where(
        _HISTORY_PULL_ITEM.history_pull_id == history_pull_id, _HISTORY_PULL_ITEM.report.is_not(None)
    )
    return list(db.execute(rows.order_by(_HISTORY_PULL_ITEM.place)).scalars())


def next_item(db: Connection, history_pull_id: int) -> ListedItem | None:
    """The first tournament without a report."""
    rows = select(_HISTORY_PULL_ITEM.remote_id, _HISTORY_PULL_ITEM.name, _HISTORY_PULL_ITEM.updated_at)
    rows = rows.where(
        _HISTORY_PULL_ITEM.history_pull_id == history_pull_id, _HISTORY_PULL_ITEM.report.is_(None)
    )
    row = db.execute(rows.order_by(_HISTORY_PULL_ITEM.place).limit(1)).one_or_none()
    return None if row is None else ListedItem(row.remote_id, row.name, row.updated_at)


def is_pull_due(db: Connection, now: datetime) -> bool:
    """Whether a pull waits for somebody to work on it."""
    is_free = or_(_HISTORY_PULL.busy_until.is_(None), _HISTORY_PULL.busy_until < now)
    rows = select(_HISTORY_PULL.history_pull_id).where(
        _HISTORY_PULL.status == ACTIVE, _HISTORY_PULL.due_at <= now, is_free
    )
    return db.execute(rows.limit(1)).first() is not None


def role_of(db: Connection, user_id: int) -> str | None:
    """The role of an account that may act; None when it is suspended."""
    row = select(user.c.role).where(user.c.user_id == user_id, user.c.suspended_at.is_(None))
    return db.execute(row).scalar_one_or_none()


# The addresses that a page may pull from: public ones, by https.


def source_policy(settings: Settings) -> AddressPolicy:
    """The hosts that may be asked; in the demo this machine is one of them."""
    own_hosts = frozenset({addresses.url_host(settings.base_url)} - {""})
    if not settings.allow_loopback:
        return AddressPolicy(own_hosts=own_hosts)
    return AddressPolicy(
        own_hosts=own_hosts,
        schemes=("https", "http"),
        ports=addresses.EVERY_PORT,
        allows_loopback=True,
    )
