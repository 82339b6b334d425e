"""Users as other people see them, and what belongs to an account: tokens, devices, directors."""

import hmac
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    RowMapping,
    Select,
    and_,
    bindparam,
    exists,
    func,
    or_,
    select,
    true,
    type_coerce,
)

from silverball.kit.errors import NotAllowed, NotFound
from silverball.kit.security import tokens
from silverball.kit.values import WithSecret, replace
from silverball.service.core import access
from silverball.service.core.access import AuthenticatedCaller, Device
from silverball.service.outlook.reads import federation
from silverball.service.players import reads as players_reads
from silverball.service.ratings import reads as ratings_reads
from silverball.store import tables
from silverball.store.database.conditions import is_among
from silverball.store.database.statements import NamedRow, RowMapper
from silverball.store.people import encryption, names
from silverball.store.tables import (
    OPT_OUTS,
    device,
    device_action,
    director_link,
    player,
    scorekeeper,
    token,
    tournament,
    user,
)
from silverball.store.types import IsoText
from silverball_wire import base
from silverball_wire.base import ID_MAX, UNSET
from silverball_wire.players import ApiToken
from silverball_wire.users import OwnProfile, Shortcut, User, UserBundle, UserCounts

_USER = tables.user.c
# The site value that holds the code of the first account.
FIRST_CODE = "first code"
ROW = RowMapper(
    _USER.user_id,
    _USER.business_profile_id,
    _USER.club_id,
    _USER.name,
    _USER.first_name,
    _USER.last_name,
    _USER.ifpa_id,
    _USER.role,
    _USER.flag,
    _USER.location,
    _USER.pronouns,
    _USER.initials,
    _USER.ratings_opt_out,
    _USER.stats_opt_out,
    _USER.video_opt_out,
    _USER.profile_opt_out,
    _USER.history_opt_out,
    _USER.history_only_completed,
    _USER.avatar,
    _USER.banner,
    _USER.tournament_avatar,
    type_coerce(_USER.created_at, IsoText),
)
_BY_ID = select(*ROW.columns).where(_USER.user_id == bindparam("user_id"))


# Of accounts that an administrator looks for.
ACCOUNTS_LISTED_MAX = 25


class ListedAccount(Struct, frozen=True):
    """An account as administrators see it."""

    user_id: int
    name: str
    email: str | None
    role: str
    suspended_at: datetime | None


def find_accounts(
    db: Connection, words: str, viewer: AuthenticatedCaller, *, role: str = ""
) -> list[ListedAccount]:
    """The accounts with this id, e-mail or part of a name; without words those of the role, or suspended.

    Raises NotAllowed for all but administrators.
    """
    if not viewer.is_admin:
        raise NotAllowed
    rows = select(_USER.user_id, _USER.name, _USER.email, _USER.role, _USER.suspended_at)
    if words:
        matches = [_USER.email == words.lower(), names.name_contains(db, _USER.name, words)]
        if words.isascii() and words.isdigit() and int(words) <= ID_MAX:
            matches.append(_USER.user_id == int(words))
        rows = rows.where(or_(*matches))
    elif role:
        rows = rows.where(_USER.role == role)
    else:
        rows = rows.where(_USER.suspended_at.is_not(None))
    listed = db.execute(rows.order_by(_USER.user_id).limit(ACCOUNTS_LISTED_MAX))
    return [ListedAccount(**row) for row in listed.mappings()]


class HistoryHidden(NotAllowed):
    sentence = "This user has opted out of showing the tournaments they played."


def user_item(row: NamedRow, viewer: AuthenticatedCaller | None) -> User:
    """The user in a row of ROW, as far as this viewer may see them (interface.md 2, rows 20 and 25)."""
    shows_all = not row.profile_opt_out or access.sees_hidden_details(viewer, row.user_id)
    return User(
        user_id=row.user_id,
        business_profile_id=row.business_profile_id,
        club_id=row.club_id,
        name=row.name,
        first_name=row.first_name,
        last_name=row.last_name,
        ifpa_id=row.ifpa_id if shows_all else None,
        role="organizer" if row.role == "admin" else row.role,
        flag=row.flag if shows_all else None,
        location=row.location if shows_all else None,
        pronouns=row.pronouns if shows_all else None,
        initials=row.initials if shows_all else None,
        ratings_opt_out=row.ratings_opt_out,
        stats_opt_out=row.stats_opt_out,
        video_opt_out=row.video_opt_out,
        profile_opt_out=row.profile_opt_out,
        history_opt_out=row.history_opt_out,
        history_only_completed=row.history_only_completed,
        avatar=row.avatar if shows_all else None,
        banner=row.banner if shows_all else None,
        tournament_avatar=row.tournament_avatar if shows_all else None,
        created_at=row.created_at,
    )


def find_user(db: Connection, user_id: int, viewer: AuthenticatedCaller | None) -> User:
    """The user. Raises NotFound."""
    row = db.execute(_BY_ID, {"user_id": user_id}).first()
    if row is None:
        raise NotFound("User", user_id)
    return user_item(row, viewer)


def own_profile(db: Connection, caller: AuthenticatedCaller) -> OwnProfile:
    """The caller's complete profile; no other caller gets this answer."""
    user = find_user(db, caller.user_id, replace(caller, has_opt_outs=True))
    return OwnProfile(**msgspec.structs.asdict(user), data=user)


def user_id_by_email(db: Connection, email: str) -> int | None:
    """The id of the account with this e-mail."""
    row = db.execute(select(_USER.user_id).where(_USER.email == email.strip().lower())).one_or_none()
    return None if row is None else int(row.user_id)


def name_and_email(db: Connection, user_id: int) -> tuple[str, str]:
    """The name and the e-mail address of an account; empty without one. Raises NotFound."""
    row = db.execute(select(_USER.name, _USER.email).where(_USER.user_id == user_id)).one_or_none()
    if row is None:
        raise NotFound("User", user_id)
    return row.name, row.email or ""


def is_new_site(db: Connection) -> bool:
    """Whether this site has no account, token or tournament yet, so that anybody may be its first admin."""
    return all(
        db.execute(select(column).limit(1)).first() is None
        for column in (_USER.user_id, tables.token.c.token_id, tables.tournament.c.tournament_id)
    )


def first_code(db: Connection) -> str | None:
    """The code that the first account is made with; None when there is none."""
    row = select(tables.site_value.c.value).where(tables.site_value.c.name == FIRST_CODE)
    return db.execute(row).scalar_one_or_none()


def existing_users(
    db: Connection, user_ids: Sequence[int], viewer: AuthenticatedCaller | None
) -> tuple[User, ...]:
    """The users with these ids that exist, by id."""
    if not user_ids:
        return ()
    rows = select(*ROW.columns).where(is_among(_USER.user_id, user_ids))
    rows = rows.order_by(_USER.user_id).limit(len(user_ids))
    return tuple(user_item(row, viewer) for row in db.execute(rows).all())


def user_bundle(
    db: Connection, user_id: int, viewer: AuthenticatedCaller | None, *, with_ifpa: bool, with_counts: bool
) -> UserBundle:
    """The user with their rating, federation record, club and counts. Raises NotFound."""
    user = find_user(db, user_id, viewer)
    # A hidden profile shows no federation number, and without a number there is no record.
    ifpa_id = user.ifpa_id if with_ifpa else None
    rating = ratings_reads.user_rating(db, user_id, viewer)
    return UserBundle(
        user=user,
        rating=UNSET if rating is None else rating,
        ifpa=None if ifpa_id is None else federation.published_record(db, ifpa_id),
        shortcut=_shortcut(db, user_id),
        plan=None,
        club=None if user.club_id is None else players_reads.club_or_none(db, user.club_id),
        plan_features=None,
        user_counts=_counts(db, user_id, viewer) if with_counts else UNSET,
    )


def _shortcut(db: Connection, user_id: int) -> Shortcut | None:
    columns = (tables.shortcut.c.shortcut_id, tables.shortcut.c.slug)
    rows = select(*columns).where(tables.shortcut.c.user_id == user_id).order_by(columns[0]).limit(1)
    row = db.execute(rows).first()
    return None if row is None else Shortcut(shortcut_id=row.shortcut_id, slug=row.slug)


def _counts(db: Connection, user_id: int, viewer: AuthenticatedCaller | None) -> UserCounts:
    tournament, series, player, entrant = tables.tournament, tables.series, tables.player, tables.entrant
    organized = select(func.count()).select_from(tournament).where(tournament.c.organizer_id == user_id)
    scored = select(func.count()).select_from(series).where(series.c.organizer_id == user_id)
    played = (
        select(func.count(entrant.c.tournament_id.distinct()))
        .join(player, player.c.player_id == entrant.c.player_id)
        .where(player.c.claimed_by == user_id)
    )
    columns = (
        organized.scalar_subquery().label("tournaments"),
        scored.scalar_subquery().label("series"),
        played.scalar_subquery().label("played"),
    )
    row = db.execute(select(*columns)).one()
    return UserCounts(
        tournament_organized_count=row.tournaments,
        series_organized_count=row.series,
        tournament_play_count=row.played,
        rating_period_count=ratings_reads.period_count(db, user_id, viewer),
    )


def shows_only_completed_to(db: Connection, user_id: int, viewer: AuthenticatedCaller | None) -> bool:
    """Whether this viewer may see only the completed tournaments that the user played.

    Raises NotAllowed when they may see none (interface.md 2, row 20). An unknown user hides nothing.
    """
    columns = (_USER.history_opt_out, _USER.history_only_completed)
    row = db.execute(select(*columns).where(_USER.user_id == user_id)).first()
    if row is None or access.sees_hidden_details(viewer, user_id):
        return False
    if row.history_opt_out:
        raise HistoryHidden
    return bool(row.history_only_completed)


USE_RECORDED_EVERY = timedelta(minutes=1)
HEADER_BYTES_MAX = 200
TOKENS_LISTED_MAX = 1000


class Token(Struct, frozen=True, kw_only=True):
    """A token as its owner sees it: without the secret."""

    token_id: int
    user_id: int
    name: str
    ability: str
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None

    def is_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now


def find_caller(db: Connection, authorization: bytes, now: datetime) -> AuthenticatedCaller | None:
    """The caller whose token is in this Authorization header; None without a valid token."""
    presented = _presented_token(authorization)
    if presented is None:
        return None
    row = db.execute(_token_query(presented)).one_or_none()
    if row is None or not hmac.compare_digest(row.hash, presented.hash):
        return None
    if row.expires_at is not None and row.expires_at <= now:
        return None
    is_use_due = row.last_used_at is None or now - row.last_used_at >= USE_RECORDED_EVERY
    return AuthenticatedCaller(
        user_id=row.user_id,
        role=row.role,
        ability=access.highest_ability(row.role, row.abilities),
        has_opt_outs=any(getattr(row, name) for name in OPT_OUTS),
        token_id=row.token_id,
        token_to_note=row.token_id if is_use_due else None,
    )


def owned_by(db: Connection, user_id: int) -> list[Token]:
    """The user's tokens, newest first."""
    rows = _token_rows().where(token.c.user_id == user_id).order_by(token.c.token_id.desc())
    return [_token_from_row(row) for row in db.execute(rows.limit(TOKENS_LISTED_MAX)).mappings()]


def find_token(db: Connection, user_id: int, token_id: int) -> Token:
    """A token of this user. Raises NotFound, also for another user's token."""
    rows = _token_rows().where(token.c.user_id == user_id, token.c.token_id == token_id)
    row = db.execute(rows).mappings().one_or_none()
    if row is None:
        raise NotFound("Token", token_id)
    return _token_from_row(row)


def api_token(token: Token) -> ApiToken:
    """The token in its published shape."""
    return ApiToken(
        token_id=token.token_id,
        name=token.name,
        ability=token.ability,
        created_at=base.iso(token.created_at),
        last_used_at=base.iso_or_none(token.last_used_at),
        expires_at=base.iso_or_none(token.expires_at),
    )


def newest_tokens(db: Connection) -> list[Token]:
    """The newest tokens of the whole site, newest first."""
    rows = _token_rows().order_by(token.c.token_id.desc())
    return [_token_from_row(row) for row in db.execute(rows.limit(TOKENS_LISTED_MAX)).mappings()]


def _presented_token(authorization: bytes) -> tokens.ParsedToken | None:
    if len(authorization) > HEADER_BYTES_MAX:
        return None
    scheme, _, text = authorization.decode("latin-1").strip().partition(" ")
    return tokens.parse_token(text.strip()) if scheme.lower() == "bearer" else None


def _token_query(presented: tokens.ParsedToken) -> Select[tuple[object, ...]]:
    columns = (
        token.c.token_id,
        token.c.hash,
        token.c.abilities,
        token.c.last_used_at,
        token.c.expires_at,
        user.c.user_id,
        user.c.role,
    )
    owner = (token.c.user_id == user.c.user_id) & user.c.suspended_at.is_(None)
    rows = select(*columns, *(user.c[name] for name in OPT_OUTS)).join_from(token, user, owner)
    if presented.token_id is None:
        return rows.where(token.c.hash == presented.hash)
    return rows.where(token.c.token_id == presented.token_id)


def _token_rows() -> Select[tuple[object, ...]]:
    return select(
        token.c.token_id,
        token.c.user_id,
        token.c.name,
        token.c.abilities,
        token.c.created_at,
        token.c.last_used_at,
        token.c.expires_at,
        user.c.role,
    ).join_from(token, user, token.c.user_id == user.c.user_id)


def _token_from_row(row: RowMapping) -> Token:
    values = dict(row)
    ability = access.highest_ability(values.pop("role"), values.pop("abilities"))
    return Token(ability=ability, **values)


# Devices by their secret, whether they still work, and the actions they recorded.
#
# A scorekeeper's link holds a random secret, of which the hash is stored. The codes of players and games
# are derived from one secret per tournament: no code needs a row of its own, and all are replaced at once.


SCOREKEEPER, CODES = "scorekeeper", "codes"
DEVICES_MAX = 50
# An old code is recognized as revoked until the codes were replaced this often.
CODES_KNOWN_MAX = 50
_DEVICE, _TOURNAMENT = device.c, tournament.c


class KnownDevice(Struct, frozen=True, kw_only=True):
    """A device looked up by its secret, and whether it still works."""

    device: Device
    name: str
    tournament_name: str
    is_revoked: bool
    # Whether the tournament is completed. Reopening it makes the device work again.
    is_over: bool

    @property
    def is_usable(self) -> bool:
        return not self.is_revoked and not self.is_over


class DeviceItem(Struct, frozen=True, kw_only=True):
    """A scorekeeper's device, as its organizer sees it."""

    device_id: int
    name: str
    created_at: datetime
    # The last time the link was opened or a result was entered.
    last_used_at: datetime | None


class PrintedCodes(WithSecret, frozen=True):
    """The secret from which a tournament's printed codes are derived."""

    device_id: int
    secret: str
    created_at: datetime

    def player_code(self, player_id: int) -> str:
        return tokens.derive_secret(self.secret, f"player {player_id}")

    def game_code(self, game_id: int) -> str:
        return tokens.derive_secret(self.secret, f"game {game_id}")


def find_device(db: Connection, secret: str) -> KnownDevice | None:
    """The scorekeeper's device with this secret; None when no link ever had this secret."""
    # The lookup is by hash, so its duration reveals nothing about the secret.
    rows = _device_rows().where(_DEVICE.hash == tokens.digest(secret), _DEVICE.kind == SCOREKEEPER)
    row = db.execute(rows).one_or_none()
    return None if row is None else _known_device(row)


def find_code(
    db: Connection, tournament_id: int, code: str, *, player_id: int | None = None, game_id: int | None = None
) -> KnownDevice | None:
    """The device behind the code of this player or game; None when the code is not theirs."""
    own = (_DEVICE.tournament_id == tournament_id, _DEVICE.kind == CODES)
    rows = _device_rows().where(*own).order_by(_DEVICE.device_id.desc()).limit(CODES_KNOWN_MAX)
    for row in db.execute(rows):
        codes = _printed_codes(db, row)
        wanted = codes.game_code(game_id) if game_id is not None else codes.player_code(player_id or 0)
        if hmac.compare_digest(wanted.encode(), code.encode("utf-8", "replace")):
            return _known_device(row, player_id=player_id, game_id=game_id)
    return None


def current_codes(db: Connection, tournament_id: int) -> PrintedCodes | None:
    """The tournament's valid codes; None when there are none."""
    own = (_DEVICE.tournament_id == tournament_id, _DEVICE.kind == CODES, _DEVICE.revoked_at.is_(None))
    row = db.execute(select(device).where(*own)).one_or_none()
    return None if row is None else _printed_codes(db, row)


def _printed_codes(db: Connection, row: Row[Any]) -> PrintedCodes:
    return PrintedCodes(row.device_id, encryption.decrypt(db, row.secret), row.created_at)


def active_devices(db: Connection, tournament_id: int) -> list[DeviceItem]:
    """The scorekeepers' devices that are not revoked, oldest first."""
    own = (_DEVICE.tournament_id == tournament_id, _DEVICE.kind == SCOREKEEPER, _DEVICE.revoked_at.is_(None))
    columns = select(_DEVICE.device_id, _DEVICE.name, _DEVICE.created_at, _DEVICE.last_used_at).where(*own)
    rows = db.execute(columns.order_by(_DEVICE.device_id).limit(DEVICES_MAX)).mappings()
    return [DeviceItem(**row) for row in rows]


def devices_by_giver(db: Connection, tournament_id: int) -> Mapping[int, list[DeviceItem]]:
    """Account id -> the scorekeepers' devices that it made and that still work, oldest first."""
    own = (_DEVICE.tournament_id == tournament_id, _DEVICE.kind == SCOREKEEPER, _DEVICE.revoked_at.is_(None))
    columns = (_DEVICE.device_id, _DEVICE.name, _DEVICE.created_at, _DEVICE.last_used_at)
    rows = select(_DEVICE.created_by, *columns).where(*own, _DEVICE.created_by.is_not(None))
    found: dict[int, list[DeviceItem]] = {}
    for created_by, *values in db.execute(rows.order_by(_DEVICE.device_id)):
        names = (column.name for column in columns)
        found.setdefault(created_by, []).append(DeviceItem(**dict(zip(names, values, strict=True))))
    return found


def actor_names(db: Connection, tournament_id: int, action_ids: Collection[int]) -> Mapping[int, str]:
    """Action id -> the device that did it: `device: Tablet at the bar`, `code of Ada`."""
    action = device_action.c
    rows = (
        select(action.action_id, _DEVICE.kind, _DEVICE.name, action.player_id, player.c.name.label("player"))
        .join(device, _DEVICE.device_id == action.device_id)
        .outerjoin(player, player.c.player_id == action.player_id)
        .where(action.tournament_id == tournament_id, action.action_id.in_(action_ids))
        .order_by(action.action_id)
    )
    return {row.action_id: _actor_name(row) for row in db.execute(rows)}


def _actor_name(row: Any) -> str:
    if row.kind == SCOREKEEPER:
        return f"device: {row.name}"
    if row.player_id is None:
        return "code of a game"
    return f"code of {row.player or f'player {row.player_id}'}"


def _may_give(given_by: ColumnElement[int | None]) -> ColumnElement[bool]:
    """Whether this account may hand out what serves the tournament now; nobody stands for its organizer."""
    giver = user.alias()
    directs = exists().where(
        scorekeeper.c.tournament_id == _TOURNAMENT.tournament_id,
        scorekeeper.c.user_id == giver.c.user_id,
        scorekeeper.c.is_director == true(),
    )
    is_able = exists().where(
        giver.c.user_id == given_by,
        giver.c.suspended_at.is_(None),
        or_(giver.c.role == "admin", and_(giver.c.role == "organizer", directs)),
    )
    return or_(given_by.is_(None), given_by == _TOURNAMENT.organizer_id, is_able)


def _device_rows() -> Select[Any]:
    columns = (
        *device.c,
        _may_give(_DEVICE.created_by).label("is_given"),
        _TOURNAMENT.organizer_id,
        _TOURNAMENT.name.label("tournament_name"),
        _TOURNAMENT.status,
    )
    rows = select(*columns, user.c.suspended_at)
    return rows.join(tournament, _TOURNAMENT.tournament_id == _DEVICE.tournament_id).join(
        user, user.c.user_id == _TOURNAMENT.organizer_id
    )


def _known_device(row: Row[Any], *, player_id: int | None = None, game_id: int | None = None) -> KnownDevice:
    return KnownDevice(
        device=Device(
            device_id=row.device_id,
            tournament_id=row.tournament_id,
            organizer_id=row.organizer_id,
            player_id=player_id,
            game_id=game_id,
        ),
        name=row.name,
        tournament_name=row.tournament_name,
        is_revoked=row.revoked_at is not None or row.suspended_at is not None or not row.is_given,
        is_over=row.status == "completed",
    )


_DIRECTOR_LINK = director_link.c


class DirectorLink(Struct, frozen=True, kw_only=True):
    """A link that makes its reader a director, with the tournament and who made it."""

    tournament_id: int
    tournament_name: str
    made_by: str


def directed_ids(user_id: int) -> Select[tuple[int]]:
    """A query of the ids of the tournaments that this user directs."""
    return select(scorekeeper.c.tournament_id).where(
        scorekeeper.c.user_id == user_id, scorekeeper.c.is_director == true()
    )


def require_director(db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None) -> str:
    """The tournament's status. Raises NotFound, and NotAllowed for all but organizer, directors, admins."""
    viewer_id = -1 if viewer is None else viewer.user_id
    own_row = and_(
        scorekeeper.c.tournament_id == _TOURNAMENT.tournament_id,
        scorekeeper.c.user_id == viewer_id,
        scorekeeper.c.is_director == true(),
    )
    columns = select(_TOURNAMENT.status, _TOURNAMENT.organizer_id, scorekeeper.c.user_id.label("director_id"))
    rows = columns.select_from(tournament.outerjoin(scorekeeper, own_row))
    row = db.execute(rows.where(_TOURNAMENT.tournament_id == tournament_id)).one_or_none()
    if row is None:
        raise NotFound("Tournament", tournament_id)
    if viewer is None or not (viewer.sees_everything or viewer_id in (row.organizer_id, row.director_id)):
        raise NotAllowed
    return str(row.status)


def may_choose_directors() -> ColumnElement[bool]:
    """Whether who made a link may choose directors now: the organizer, while they are one, or an admin."""
    giver = user.alias()
    return exists().where(
        giver.c.user_id == _DIRECTOR_LINK.created_by,
        giver.c.suspended_at.is_(None),
        or_(
            giver.c.role == "admin",
            and_(
                giver.c.role == "organizer",
                exists().where(
                    _TOURNAMENT.tournament_id == _DIRECTOR_LINK.tournament_id,
                    _TOURNAMENT.organizer_id == giver.c.user_id,
                ),
            ),
        ),
    )


def find_link(db: Connection, secret: str, now: datetime) -> DirectorLink | None:
    """The link with this secret; None when it was used, has expired, or who made it may make none now."""
    rows = (
        select(_DIRECTOR_LINK.tournament_id, _TOURNAMENT.name, user.c.name.label("made_by"))
        .select_from(
            director_link.join(tournament, _TOURNAMENT.tournament_id == _DIRECTOR_LINK.tournament_id).join(
                user, user.c.user_id == _DIRECTOR_LINK.created_by
            )
        )
        .where(
            _DIRECTOR_LINK.hash == tokens.digest(secret),
            _DIRECTOR_LINK.expires_at > now,
            may_choose_directors(),
        )
    )
    row = db.execute(rows).one_or_none()
    if row is None:
        return None
    return DirectorLink(tournament_id=row.tournament_id, tournament_name=row.name, made_by=row.made_by)
