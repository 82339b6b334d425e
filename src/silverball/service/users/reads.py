"""Users as other people see them, and what belongs to an account."""

from collections.abc import Sequence
from datetime import datetime

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, bindparam, func, or_, select, type_coerce

from silverball.kit.errors import NotAllowed, NotFound
from silverball.kit.values import replace
from silverball.service import access
from silverball.service.access import AuthenticatedCaller
from silverball.service.clubs import reads as clubs
from silverball.service.federation.reads import records as federation
from silverball.service.ratings.reads import ratings
from silverball.store import name_search, tables
from silverball.store.among import is_among
from silverball.store.statements import NamedRow, RowMapper
from silverball.store.types import IsoText
from silverball_wire.base import ID_MAX, UNSET
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
        matches = [_USER.email == words.lower(), name_search.name_contains(db, _USER.name, words)]
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
    rating = ratings.user_rating(db, user_id, viewer)
    return UserBundle(
        user=user,
        rating=UNSET if rating is None else rating,
        ifpa=None if ifpa_id is None else federation.published_record(db, ifpa_id),
        shortcut=_shortcut(db, user_id),
        plan=None,
        club=None if user.club_id is None else clubs.club_or_none(db, user.club_id),
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
        rating_period_count=ratings.period_count(db, user_id, viewer),
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
