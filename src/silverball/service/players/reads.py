"""Players of an organizer's book, entrants of a tournament, and clubs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta, UnsetType
from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    func,
    literal,
    or_,
    select,
    true,
    type_coerce,
)

from silverball.kit.errors import NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.kit.values import compile_builder
from silverball.rules.mechanics import seeding
from silverball.rules.model import fields
from silverball.service.core import access
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.core.calls import PageRows, refuse_deep_pagination
from silverball.store import tables
from silverball.store import types as store_types
from silverball.store.database.conditions import is_among
from silverball.store.database.statements import NamedRow, RowMapper, Statement
from silverball.store.people import names
from silverball_wire import base
from silverball_wire.base import UNSET, Id
from silverball_wire.players import Claim, Club, EntrantPart, Player
from silverball_wire.values import Number, Status

PER_PAGE = 100
CLAIMS_MAX = 1000
BOOK_MAX = 20_000
SEARCH_MAX = 50
_PLAYER, _ENTRANT, _CLAIMANT = tables.player.c, tables.entrant.c, tables.user.c
_TOURNAMENT = tables.tournament.c
# Needs the join of `player_rows`.
ROW = RowMapper(
    _PLAYER.player_id,
    _PLAYER.name,
    _PLAYER.ifpa_id,
    _PLAYER.status,
    _PLAYER.organizer_id,
    _PLAYER.claimed_by,
    _PLAYER.labels,
    _PLAYER.label_color,
    _CLAIMANT.profile_opt_out,
)
_SHOWN = fields.shown_columns(fields.ENTRANT)
_PREFIX = "entrant_"
ENTRANT_ROW = RowMapper(
    *ROW.columns,
    _ENTRANT.seed_rank,
    _CLAIMANT.ratings_opt_out,
    *(
        # As whole hundredths: rosters are read often, and a Decimal costs as much as the rest of the row.
        (
            type_coerce(_ENTRANT[field.stored_in], store_types.Id)
            if field.kind == "points"
            else _ENTRANT[field.stored_in]
        ).label(_PREFIX + field.stored_in)
        for field in _SHOWN
    ),
)


def _points_number(hundredths: int) -> Number:
    """Points as a JSON number: 10, not 10.0."""
    whole, rest = divmod(hundredths, 100)
    return hundredths / 100 if rest else whole


def _points_or_unset(hundredths: int) -> Number | UnsetType:
    """Points that are absent when there are none: existing clients never saw the key."""
    return _points_number(hundredths) if hundredths else UNSET


_build_entrant: Callable[..., EntrantPart] = compile_builder(
    EntrantPart,
    fields.published_sources(
        [field for field in _SHOWN if field.name != "seed_value"],
        {"points": _points_number, "score_adjustment": _points_or_unset},
        prefix=_PREFIX,
    ),
    others=("seed",),
)


class PlayerQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/players. Source: interface 4.1 and 8."""

    status: Status | None = None
    players: Annotated[tuple[Id, ...], Meta(max_length=25)] = ()
    """Ids of players: only these."""
    page: PageNumber = 1


def player_rows(mapper: RowMapper = ROW) -> Select[Any]:
    """A query of ROW, or of a mapper with more columns, for all players with the users who claimed them."""
    return (
        select(*mapper.columns)
        .select_from(tables.player)
        .outerjoin(tables.user, _CLAIMANT.user_id == _PLAYER.claimed_by)
    )


_ENTRANTS = (
    player_rows(ENTRANT_ROW)
    .join(tables.entrant, _ENTRANT.player_id == _PLAYER.player_id)
    .where(_ENTRANT.tournament_id == bindparam("tournament_id"))
)
_ROSTER = Statement(_ENTRANTS.order_by(_ENTRANT.place, _PLAYER.player_id), mapper=ENTRANT_ROW, is_list=True)
_SETTINGS = Statement(
    select(_TOURNAMENT.settings).where(_TOURNAMENT.tournament_id == bindparam("tournament_id"))
)
_ENTRANTS_BY_ID = _ENTRANTS.where(_PLAYER.player_id.in_(bindparam("player_ids", expanding=True))).order_by(
    _PLAYER.player_id
)


def player_item(row: NamedRow, viewer: AuthenticatedCaller | None) -> Player:
    """The player in a row of ROW."""
    return _player(row, viewer, UNSET)


def _entrant_item(row: NamedRow, viewer: AuthenticatedCaller | None, seeding_key: str | None) -> Player:
    """The entrant in a row of ENTRANT_ROW.

    Where seeds come from ratings, those of people who hide their rating are left out.
    """
    seed = row.entrant_seed
    if seeding_key == seeding.MANUAL:
        seed = seeding.published_seed(seed, row.seed_rank)
    elif row.ratings_opt_out and seeding_key in seeding.RATING_SEEDS:
        seed = seed if access.sees_hidden_details(viewer, row.claimed_by) else None
    part = _build_entrant(row, seed=seed)
    return _player(row, viewer, part)


def _player(row: NamedRow, viewer: AuthenticatedCaller | None, part: EntrantPart | UnsetType) -> Player:
    ifpa_id = row.ifpa_id
    if row.profile_opt_out and ifpa_id is not None and not access.sees_hidden_details(viewer, row.claimed_by):
        ifpa_id = None
    return Player(
        player_id=row.player_id,
        name=row.name,
        ifpa_id=ifpa_id,
        status=row.status,
        organizer_id=row.organizer_id,
        claimed_by=row.claimed_by,
        labels=row.labels,
        label_color=row.label_color,
        tournament_player=part,
    )


def shows_stats_to(viewer: AuthenticatedCaller | None) -> ColumnElement[bool]:
    """Whether a row of `player_rows` may appear in statistics (interface.md 2, row 20)."""
    shown_to_all = _CLAIMANT.stats_opt_out.is_not(true())
    if viewer is None:
        return shown_to_all
    if viewer.sees_everything:
        return true()
    # Answers for callers without opt-outs are shared, so they must not include a caller's own rows.
    return or_(shown_to_all, _PLAYER.claimed_by == viewer.user_id) if viewer.has_opt_outs else shown_to_all


def owned_by(
    db: Connection, organizer_id: int, query: PlayerQuery, viewer: AuthenticatedCaller | None
) -> PageRows[Player]:
    """One page of the organizer's players, oldest first."""
    refuse_deep_pagination(query.page, PER_PAGE)
    wanted = _conditions(organizer_id, query)
    total = db.execute(select(func.count()).select_from(tables.player).where(wanted)).scalar_one()
    rows = player_rows().where(wanted).order_by(_PLAYER.player_id)
    rows = rows.limit(PER_PAGE).offset(PER_PAGE * (query.page - 1))
    return PageRows([player_item(row, viewer) for row in db.execute(rows).all()], total)


def _conditions(organizer_id: int, query: PlayerQuery) -> ColumnElement[bool]:
    wanted = [_PLAYER.organizer_id == organizer_id]
    if query.status is not None:
        wanted.append(_PLAYER.status == query.status)
    if query.players:
        wanted.append(_PLAYER.player_id.in_(query.players))
    return and_(*wanted)


def existing_players(
    db: Connection, player_ids: Sequence[int], viewer: AuthenticatedCaller | None
) -> tuple[Player, ...]:
    """The players with these ids that exist, by id."""
    rows = player_rows().where(_PLAYER.player_id.in_(player_ids)).order_by(_PLAYER.player_id)
    return tuple(player_item(row, viewer) for row in db.execute(rows.limit(len(player_ids))).all())


def search_players(
    db: Connection, organizer_id: int, words: str, viewer: AuthenticatedCaller | None
) -> tuple[Player, ...]:
    """At most 50 active players of the organizer's book whose name contains the words, by name."""
    wanted = and_(_PLAYER.organizer_id == organizer_id, _PLAYER.status == "active")
    rows = player_rows().where(wanted, names.NameContains(_PLAYER.name, literal(words)))
    rows = rows.order_by(_PLAYER.name, _PLAYER.player_id).limit(SEARCH_MAX)
    return tuple(player_item(row, viewer) for row in db.execute(rows).all())


_ACTIVE_NAMES = Statement(
    select(_PLAYER.player_id, _PLAYER.name)
    .where(_PLAYER.organizer_id == bindparam("organizer_id"), _PLAYER.status == "active")
    .order_by(_PLAYER.player_id)
    .limit(BOOK_MAX),
    is_list=True,
)


def ids_by_name(db: Connection, organizer_id: int, wanted: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Requested name -> ids of the book's active players of that name, ignoring case and accents."""
    folded_names = {names.fold(name) for name in wanted}
    ids: dict[str | None, list[int]] = {}
    for row in _ACTIVE_NAMES.rows(db, organizer_id=organizer_id):
        if (folded := names.fold(row.name)) in folded_names:
            ids.setdefault(folded, []).append(row.player_id)
    return {name: tuple(ids.get(names.fold(name), ())) for name in wanted}


def entrants(
    db: Connection,
    tournament_id: int,
    viewer: AuthenticatedCaller | None,
    *,
    settings: Mapping[str, Any] | None = None,
) -> tuple[Player, ...]:
    """All entrants of the tournament, in the order in which they were added.

    Who has read the tournament's `settings` already hands them in; they are read otherwise.
    """
    rows = _ROSTER.rows(db, tournament_id=tournament_id)
    return _entrant_items(db, tournament_id, rows, viewer, settings)


def entrants_by_ids(
    db: Connection, tournament_id: int, player_ids: Sequence[int], viewer: AuthenticatedCaller | None
) -> tuple[Player, ...]:
    """The entrants of the tournament among these players, by id."""
    rows = db.execute(_ENTRANTS_BY_ID, {"tournament_id": tournament_id, "player_ids": player_ids})
    return _entrant_items(db, tournament_id, ENTRANT_ROW.rows(rows), viewer)


def _entrant_items(
    db: Connection,
    tournament_id: int,
    rows: Sequence[NamedRow],
    viewer: AuthenticatedCaller | None,
    settings: Mapping[str, Any] | None = None,
) -> tuple[Player, ...]:
    if not rows:
        return ()
    if settings is None:
        (found,) = _SETTINGS.rows(db, tournament_id=tournament_id)
        settings = found.settings
    seeding_key = settings.get("seeding")
    return tuple([_entrant_item(row, viewer, seeding_key) for row in rows])


def stored_seeds(db: Connection, tournament_id: int) -> dict[int, int | None]:
    """Player id -> the seed as it is stored, where manual seeds count from 1."""
    return {row.player_id: row.entrant_seed for row in _ROSTER.rows(db, tournament_id=tournament_id)}


def find_player(db: Connection, player_id: int, viewer: AuthenticatedCaller | None) -> Player:
    """The player. Raises NotFound."""
    players = existing_players(db, [player_id], viewer)
    if not players:
        raise NotFound("Player", player_id)
    return players[0]


def pending_claims(db: Connection, user_id: int) -> tuple[Claim, ...]:
    """Pending claims: the user's own, and those on players of the user's book; oldest first."""
    claim = tables.claim.c
    rows = (
        select(claim.player_id, claim.user_id, claim.at)
        .join(tables.player, _PLAYER.player_id == claim.player_id)
        .where(or_(claim.user_id == user_id, _PLAYER.organizer_id == user_id))
        .order_by(claim.at, claim.player_id, claim.user_id)
        .limit(CLAIMS_MAX)
    )
    return tuple(
        Claim(player_id=player_id, user_id=claimant_id, created_at=base.iso(at))
        for player_id, claimant_id, at in db.execute(rows).all()
    )


def claimable_players(db: Connection, words: str, viewer: AuthenticatedCaller | None) -> tuple[Player, ...]:
    """At most 50 unclaimed players of any book whose name contains the words, by name.

    Only players who entered a tournament are found; others are known to their organizer alone.
    """
    played = select(_ENTRANT.player_id).where(_ENTRANT.player_id == _PLAYER.player_id).exists()
    is_named = names.name_contains(db, _PLAYER.name, words)
    wanted = and_(_PLAYER.claimed_by.is_(None), is_named, played)
    rows = player_rows().where(wanted).order_by(_PLAYER.name, _PLAYER.player_id).limit(SEARCH_MAX)
    return tuple(player_item(row, viewer) for row in db.execute(rows).all())


def players_of_user(db: Connection, user_id: int, viewer: AuthenticatedCaller | None) -> tuple[Player, ...]:
    """The players claimed by this user, by name."""
    rows = player_rows().where(_PLAYER.claimed_by == user_id)
    rows = rows.order_by(_PLAYER.name, _PLAYER.player_id).limit(CLAIMS_MAX)
    return tuple(player_item(row, viewer) for row in db.execute(rows).all())


def newest_tournaments(db: Connection, player_ids: Sequence[int]) -> dict[int, tuple[int, str]]:
    """Player id -> id and name of the player's most recent tournament."""
    tournament = tables.tournament.c
    order = func.row_number().over(
        partition_by=_ENTRANT.player_id,
        order_by=(tournament.start_utc.desc(), tournament.tournament_id.desc()),
    )
    played = (
        select(_ENTRANT.player_id, tournament.tournament_id, tournament.name, order.label("place"))
        .join(tables.tournament, tournament.tournament_id == _ENTRANT.tournament_id)
        .where(is_among(_ENTRANT.player_id, player_ids))
        .subquery()
    )
    rows = select(played.c.player_id, played.c.tournament_id, played.c.name).where(played.c.place == 1)
    return {player_id: (tournament_id, name) for player_id, tournament_id, name in db.execute(rows).all()}


def club_or_none(db: Connection, club_id: int) -> Club | None:
    """The club; None when it does not exist."""
    row = db.execute(select(tables.club).where(tables.club.c.club_id == club_id)).mappings().first()
    return None if row is None else Club(**row)


def club_of_user(db: Connection, user_id: int) -> int | None:
    """The id of the club that the user is a member of; None without one."""
    row = select(tables.user.c.club_id).where(tables.user.c.user_id == user_id)
    return db.execute(row).scalar_one_or_none()


def find_club(db: Connection, club_id: int) -> Club:
    """The club. Raises NotFound."""
    club = club_or_none(db, club_id)
    if club is None:
        raise NotFound("Club", club_id)
    return club
