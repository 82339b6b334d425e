"""Create accounts, change profiles, set passwords; tokens, links of devices, and directors."""

import hmac
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from sqlalchemy import Connection, delete, func, insert, or_, select, text, update
from sqlalchemy.exc import IntegrityError

from silverball.kit import values
from silverball.kit.errors import Conflict, Invalid, NotAllowed, NotFound
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id, Name
from silverball.kit.security import tokens
from silverball.kit.values import WithSecret
from silverball.rules.commands import roster as roster_commands
from silverball.rules.model.tournament import Tournament
from silverball.service.core import access, commands, feed_events
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.core.calls import Write
from silverball.service.users import reads
from silverball.service.users.reads import CODES, DEVICES_MAX, SCOREKEEPER, USE_RECORDED_EVERY, Token
from silverball.store.counts import quotas
from silverball.store.database.transaction import Transaction
from silverball.store.people import audit, encryption, rating_days
from silverball.store.tables import (
    OPT_OUTS,
    account_link,
    device,
    director_link,
    half_sign_in,
    known_browser,
    session,
    site_value,
    token,
)
from silverball.store.tables import user as user_table
from silverball_wire.users import User

NAME_MAX = 100
EMAIL_MAX = 254
# Without the letters and digits that look alike; twelve of them are 59 bits.
CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
CODE_LENGTH = 12
EMAIL = re.compile(r"[^@\s]+@[^@\s]+")


class ChangedProfile(Body, frozen=True, kw_only=True):
    """The fields that users may change about themselves; all others are prohibited."""

    name: Name | UnsetType = UNSET
    initials: Annotated[str, Meta(max_length=4, pattern=values.ONE_LINE)] | UnsetType | None = UNSET
    pronouns: Annotated[str, Meta(max_length=40, pattern=values.ONE_LINE)] | UnsetType | None = UNSET
    # A region's code in lower case: `se`, `us-ca`.
    flag: Annotated[str, Meta(pattern=r"^[a-z]{2}(-[a-z0-9]{1,3})?$")] | UnsetType | None = UNSET
    location: Annotated[str, Meta(max_length=100, pattern=values.ONE_LINE)] | UnsetType | None = UNSET
    ifpa_id: Id | UnsetType | None = UNSET
    """Federation number of the person; null to remove it."""
    ratings_opt_out: bool | UnsetType = UNSET
    stats_opt_out: bool | UnsetType = UNSET
    video_opt_out: bool | UnsetType = UNSET
    profile_opt_out: bool | UnsetType = UNSET
    history_opt_out: bool | UnsetType = UNSET
    history_only_completed: bool | UnsetType = UNSET


class AccountCannotSignIn(Conflict):
    sentence = "User {user_id} has no e-mail address and cannot sign in, so a password is of no use."


class SiteAlreadyHasAccount(Conflict):
    sentence = "This site has an account already."


class FirstCodeWrong(NotAllowed):
    sentence = (
        "This is not the code of this server. It is in the server's log,"
        " and `silverball user first-code` prints it."
    )


def create_user(
    db: Connection, *, name: str, email: str, role: str, now: datetime, source: str = audit.COMMAND_LINE
) -> int:
    """Create an account without a password, and return its id. Raises Invalid, also for a taken e-mail."""
    name, email = name.strip(), email.strip().lower()
    _require_valid_account(name, email, role)
    values = {
        "name": name,
        "email": email,
        "role": role,
        "placeholder": False,
        **dict.fromkeys(OPT_OUTS, False),
        "created_at": now,
    }
    try:
        user_id = db.execute(insert(user_table).values(**values).returning(user_table.c.user_id)).scalar_one()
    except IntegrityError as error:
        # Only the e-mail can collide, and only the database detects a concurrent insert.
        raise Invalid({"email": ["The email has already been taken."]}) from error
    audit.record(db, "account-made", at=now, user_id=user_id, source=source, detail=role)
    return int(user_id)


def find_or_make_first_code(db: Connection, dice: Random) -> str:
    """The code that the first account of this site is made with. Raises SiteAlreadyHasAccount.

    `dice` is a `secrets.SystemRandom` outside tests. All nodes of one database get the same code.
    """
    if not reads.is_new_site(db):
        raise SiteAlreadyHasAccount
    known = reads.first_code(db)
    if known is not None:
        return known
    letters = dice.choices(CODE_LETTERS, k=CODE_LENGTH)
    code = "-".join("".join(letters[start : start + 4]) for start in range(0, CODE_LENGTH, 4))
    row = insert(site_value).values(name=reads.FIRST_CODE, value=code)
    try:
        with db.begin_nested():
            db.execute(row)
    except IntegrityError:
        # Another node was faster.
        return str(reads.first_code(db))
    return code


def create_first_admin(
    db: Connection,
    *,
    code: str,
    name: str,
    email: str,
    password_hash: str,
    now: datetime,
    source: str = audit.COMMAND_LINE,
) -> int:
    """Create the admin of a new site, and return the id. The code works once.

    Raises Invalid, SiteAlreadyHasAccount and FirstCodeWrong.
    """
    if db.dialect.name == "postgresql":
        # SQLite has one writer at a time; in PostgreSQL two could both find no account.
        db.execute(text('LOCK TABLE "user" IN SHARE ROW EXCLUSIVE MODE'))
    if not reads.is_new_site(db):
        raise SiteAlreadyHasAccount
    known = reads.first_code(db)
    if known is None or not hmac.compare_digest(_plain_code(known), _plain_code(code)):
        raise FirstCodeWrong
    db.execute(delete(site_value).where(site_value.c.name == reads.FIRST_CODE))
    user_id = create_user(db, name=name, email=email, role="admin", now=now, source=source)
    set_password(db, user_id, password_hash)
    return user_id


def _plain_code(code: str) -> bytes:
    """A code without its hyphens and spaces, as people type it."""
    return "".join(code.upper().replace("-", "").split()).encode("utf-8", "replace")


def change_profile(transaction: Transaction, user_id: int, profile: ChangedProfile) -> None:
    """Change the user's profile, in all tournaments that show it."""
    db = transaction.connection
    values = {name: value for name, value in msgspec.structs.asdict(profile).items() if value is not UNSET}
    if values:
        columns = [user_table.c[name] for name in OPT_OUTS]
        before = db.execute(select(*columns).where(user_table.c.user_id == user_id)).mappings().one()
        db.execute(update(user_table).where(user_table.c.user_id == user_id).values(**values))
        transaction.changed_user_ids.add(user_id)
        is_hiding = any(values.get(name) is True and not before[name] for name in OPT_OUTS)
        feed_events.announce_users(transaction, [user_id], is_hiding=is_hiding)
        rating_days.update_user(db, user_id, was_hidden=before[user_table.c.ratings_opt_out.name])


def set_password(db: Connection, user_id: int, password_hash: str) -> None:
    """Set a new password, and end all sessions of the user.

    Raises NotFound or AccountCannotSignIn.
    """
    rows = update(user_table).where(user_table.c.user_id == user_id).values(password_hash=password_hash)
    email = db.execute(rows.returning(user_table.c.email)).one_or_none()
    if email is None:
        raise NotFound("User", user_id)
    if email[0] is None:
        raise AccountCannotSignIn(user_id=user_id)
    for table in (session, half_sign_in, known_browser, account_link):
        db.execute(delete(table).where(table.c.user_id == user_id))


def rehash_password(db: Connection, user_id: int, *, old: str, new: str) -> None:
    """Rehash the same password with current parameters, unless it was changed in the meantime."""
    is_same = (user_table.c.user_id == user_id) & (user_table.c.password_hash == old)
    db.execute(update(user_table).where(is_same).values(password_hash=new))


def _require_valid_account(name: str, email: str, role: str) -> None:
    name_fault = values.name_fault(name, NAME_MAX)
    faults: dict[str, list[str]] = {} if name_fault is None else {"name": [name_fault]}
    if len(email) > EMAIL_MAX:
        faults["email"] = [f"The email field must not be greater than {EMAIL_MAX} characters."]
    elif not EMAIL.fullmatch(email) or not email.isprintable():
        faults["email"] = ["The email field must be a valid email address."]
    if role not in access.ROLES:
        faults["role"] = ["The selected role is invalid."]
    if faults:
        raise Invalid(faults)


EXPIRES_DAYS_MAX = 3650
TOKENS_MAX = 100


class IssuedToken(Struct, frozen=True):
    """A created token. Its text is shown once and stored nowhere."""

    token_id: int
    text: str


class TokenRequest(Body, frozen=True, kw_only=True):
    """A new token of the caller."""

    name: Name
    """Name by which the token is listed."""
    # Each ability includes those before it in the list.
    ability: Literal["read", "score", "manage", "admin"] = "read"
    expires_days: Annotated[int, Meta(ge=1, le=EXPIRES_DAYS_MAX)] | None = None
    """Days until the token expires; null for never."""


class TooManyTokens(Conflict):
    sentence = "An account can have {limit} tokens. Revoke one that is no longer used first."


class AccountCannotHaveTokens(Conflict):
    sentence = "User {user_id} is only a name from an import and cannot have tokens."


class TokenTooStrongToRevoke(NotAllowed):
    sentence = "A token cannot revoke one that can do more than itself."


class TokenTooStrongToRotate(NotAllowed):
    sentence = "A token can rotate itself; with `score` also tokens with the same ability or less."


def create_token(
    db: Connection,
    user_id: int,
    name: str,
    *,
    abilities: Sequence[str] = ("read",),
    expires_days: int | None = None,
    now: datetime,
    dice: Random,
    source: str = audit.COMMAND_LINE,
) -> IssuedToken:
    """Create a token of this user. Raises NotFound, Invalid, TooManyTokens or AccountCannotHaveTokens."""
    owner = db.execute(
        select(user_table.c.role, user_table.c.placeholder).where(user_table.c.user_id == user_id)
    ).one_or_none()
    if owner is None:
        raise NotFound("User", user_id)
    if owner.placeholder:
        raise AccountCannotHaveTokens(user_id=user_id)
    _require_valid_request(owner.role, name.strip(), abilities, expires_days)
    quotas.require_room(
        db,
        token,
        token.c.user_id == user_id,
        owner=f"account {user_id}",
        limit=TOKENS_MAX,
        refusal=lambda _: TooManyTokens(limit=TOKENS_MAX),
    )
    secret = tokens.new_secret(dice)
    values = {
        "user_id": user_id,
        "name": name.strip(),
        "hash": tokens.digest(secret),
        "abilities": sorted(set(abilities), key=access.ABILITIES.index),
        "created_at": now,
        "expires_at": None if expires_days is None else now + timedelta(days=expires_days),
    }
    token_id = db.execute(insert(token).values(**values).returning(token.c.token_id)).scalar_one()
    made = f"{token_id} {access.highest_ability(owner.role, abilities)}"
    audit.record(db, "token-made", at=now, user_id=user_id, source=source, detail=made)
    return IssuedToken(token_id, tokens.full_token(token_id, secret))


def create_token_for_caller(call: Write[TokenRequest], dice: Random) -> IssuedToken:
    """Create a token of the caller. Raises Invalid if it could do more than the caller's own."""
    body = call.body
    if not call.caller.may(body.ability):
        raise Invalid({"ability": ["A token cannot create one that can do more than itself."]})
    return create_token(
        call.db,
        call.user_id,
        body.name,
        abilities=[body.ability],
        expires_days=body.expires_days,
        now=call.now,
        dice=dice,
        source=call.source,
    )


def revoke_for_caller(call: Write[Body], token_to_revoke: Token) -> None:
    """Revoke a token of the caller. Raises NotAllowed if it can do more than the caller's own."""
    if not call.caller.may(token_to_revoke.ability):
        raise TokenTooStrongToRevoke
    token_id = token_to_revoke.token_id
    revoke_token(call.transaction, token_id, user_id=call.user_id, now=call.now, source=call.source)


def revoke_token(
    transaction: Transaction,
    token_id: int,
    *,
    now: datetime,
    user_id: int | None = None,
    source: str = audit.COMMAND_LINE,
) -> None:
    """Revoke a token at once; with a user id, only a token of that user. Raises NotFound."""
    rows = delete(token).where(token.c.token_id == token_id)
    if user_id is not None:
        rows = rows.where(token.c.user_id == user_id)
    owner_id = transaction.connection.execute(rows.returning(token.c.user_id)).scalar_one_or_none()
    if owner_id is None:
        raise NotFound("Token", token_id)
    transaction.changed_user_ids.add(owner_id)
    db = transaction.connection
    audit.record(db, "token-revoked", at=now, user_id=owner_id, source=source, detail=str(token_id))


def rotate_token(
    transaction: Transaction,
    token_id: int,
    *,
    user_id: int,
    now: datetime,
    dice: Random,
    source: str,
    renews: bool = True,
) -> IssuedToken:
    """Give a token of this user a new secret; the old secret works no longer. Raises NotFound.

    `renews` lets a token that expires have as many days as it had, as if it had been made now.
    """
    db, own = transaction.connection, (token.c.token_id == token_id, token.c.user_id == user_id)
    row = db.execute(select(token.c.created_at, token.c.expires_at).where(*own)).one_or_none()
    if row is None:
        raise NotFound("Token", token_id)
    secret = tokens.new_secret(dice)
    values: dict[str, object] = {"hash": tokens.digest(secret), "last_used_at": None}
    if renews:
        values["created_at"] = now
        values["expires_at"] = None if row.expires_at is None else now + (row.expires_at - row.created_at)
    db.execute(update(token).where(*own).values(**values))
    transaction.changed_user_ids.add(user_id)
    audit.record(db, "token-rotated", at=now, user_id=user_id, source=source, detail=str(token_id))
    return IssuedToken(token_id, tokens.full_token(token_id, secret))


def rotate_for_caller(call: Write[Body], token_to_rotate: Token, dice: Random) -> IssuedToken:
    """Rotate a token of the caller, which expires when it did. Raises NotAllowed for one that can do more."""
    token_id = token_to_rotate.token_id
    may_rotate_others = call.caller.may("score") and call.caller.may(token_to_rotate.ability)
    if call.caller.token_id != token_id and not may_rotate_others:
        raise TokenTooStrongToRotate
    return rotate_token(
        call.transaction,
        token_id,
        user_id=call.user_id,
        now=call.now,
        dice=dice,
        source=call.source,
        renews=False,
    )


def record_use(db: Connection, token_id: int, now: datetime) -> None:
    """Store that the token was used, at most once a minute."""
    is_due = or_(token.c.last_used_at.is_(None), token.c.last_used_at <= now - USE_RECORDED_EVERY)
    db.execute(update(token).where(token.c.token_id == token_id, is_due).values(last_used_at=now))


def _require_valid_request(role: str, name: str, abilities: Sequence[str], expires_days: int | None) -> None:
    name_fault = values.name_fault(name, NAME_MAX)
    faults: dict[str, list[str]] = {} if name_fault is None else {"name": [name_fault]}
    allowed = access.abilities_for(role)
    if not abilities or any(ability not in access.ABILITIES for ability in abilities):
        faults["ability"] = ["The selected ability is invalid."]
    elif any(ability not in allowed for ability in abilities):
        faults["ability"] = [f"A token of a {role} can have: {', '.join(allowed)}."]
    if expires_days is not None and not 1 <= expires_days <= EXPIRES_DAYS_MAX:
        faults["expires"] = [f"The expires field must be between 1 and {EXPIRES_DAYS_MAX} days."]
    if faults:
        raise Invalid(faults)


# Links whose secret is shown once and stored nowhere: of a scorekeeper's device, of a director.


class SecretLink(WithSecret, frozen=True):
    """The secret of a new link."""

    secret: str


# Create and revoke links for scorekeepers' devices and printed codes.
#
# Like tokens they are not part of the tournament, so they appear in no journal, undo or feed. The actions
# of a device do, under the device's name.


DEVICE = "device_id"
_DEVICE = device.c


class TooManyDevices(Conflict):
    sentence = "There are {limit} devices already. Revoke those that are not used."


class DeviceForCompletedTournament(Conflict):
    sentence = "The tournament is completed. Reopen it before you add a device."


class NewDevice(Body, frozen=True, kw_only=True):
    """A new scorekeeper's device. The journal shows its name."""

    name: Name


def create_device_link(call: Write[NewDevice], dice: Random) -> SecretLink:
    """Create a link that lets a browser record results until the tournament is completed."""
    tournament = _running_tournament(call)
    quotas.require_room(
        call.db,
        device,
        *_is_active(tournament, SCOREKEEPER),
        owner=f"tournament {tournament.tournament_id}",
        limit=DEVICES_MAX,
        refusal=lambda _: TooManyDevices(limit=DEVICES_MAX),
    )
    secret = tokens.new_link_secret(dice)
    _insert_device(call, SCOREKEEPER, call.body.name, hash=tokens.digest(secret))
    return SecretLink(secret)


def replace_codes(call: Write[Body], dice: Random) -> None:
    """Create new codes for players and games, and invalidate those printed before."""
    tournament = _running_tournament(call)
    call.db.execute(update(device).where(*_is_active(tournament, CODES)).values(revoked_at=call.now))
    _insert_device(
        call, CODES, "Printed codes", secret=encryption.encrypt(call.db, tokens.new_link_secret(dice))
    )


def end_lost_codes(db: Connection, now: datetime) -> None:
    """End the printed codes whose secret no key of this server reads."""
    lost = update(device).where(~encryption.is_readable(db, _DEVICE.secret))
    db.execute(lost.values(secret=None, revoked_at=func.coalesce(_DEVICE.revoked_at, now)))


def revoke_device(call: Write[Any]) -> None:
    """Revoke a device of the tournament, or its codes, at once. Raises NotFound."""
    tournament = commands.load_tournament(call, access.may_manage)
    device_id = call.ids[DEVICE]
    own = (
        _DEVICE.device_id == device_id,
        _DEVICE.tournament_id == tournament.tournament_id,
        _DEVICE.revoked_at.is_(None),
    )
    if call.db.execute(update(device).where(*own).values(revoked_at=call.now)).rowcount == 0:
        raise NotFound("Device", device_id)


def record_device_use(db: Connection, device_id: int, now: datetime) -> None:
    """Store that the device was used, at most once a minute."""
    is_due = or_(_DEVICE.last_used_at.is_(None), _DEVICE.last_used_at <= now - USE_RECORDED_EVERY)
    db.execute(update(device).where(_DEVICE.device_id == device_id, is_due).values(last_used_at=now))


def _running_tournament(call: Write[Any]) -> Tournament:
    tournament = commands.load_tournament(call, access.may_manage)
    if tournament.status == "completed":
        raise DeviceForCompletedTournament
    return tournament


def _is_active(tournament: Tournament, kind: str) -> tuple[Any, ...]:
    return (
        _DEVICE.tournament_id == tournament.tournament_id,
        _DEVICE.kind == kind,
        _DEVICE.revoked_at.is_(None),
    )


def _insert_device(call: Write[Any], kind: str, name: str, **secret: str) -> None:
    values = {"tournament_id": call.ids["tournament_id"], "kind": kind, "name": name, "created_at": call.now}
    # Codes belong to the tournament, and outlive whoever made them.
    given_by = call.user_id if kind == SCOREKEEPER else None
    call.db.execute(insert(device).values(**values, **secret, created_by=given_by))


TOURNAMENT, USER = "tournament_id", "user_id"
LINK_LIFETIME = timedelta(days=7)
LINKS_MAX = 10
_DIRECTOR_LINK = director_link.c


class NotAnOrganizersAccount(Conflict):
    sentence = (
        "{user} is not an organizer on this server, so they cannot direct. An administrator can change that."
    )


class DirectorLinkUsedUp(Conflict):
    sentence = "This link was used, or has expired. Ask whoever gave it to you for a new one."


class TooManyDirectorLinks(Conflict):
    sentence = "There are {limit} links already that nobody has used. They expire after seven days."


class AcceptedLink(Body, frozen=True, kw_only=True):
    """The secret of a link that makes whoever has it a director."""

    link: Annotated[str, Meta(max_length=100)]


def add_director(call: Write[Body]) -> User:
    """Let an account run the tournament: all but deletion and the choice of directors."""
    commands.load_tournament(call, access.owns)
    user = reads.find_user(call.db, call.ids[USER], call.caller)
    role = call.db.execute(select(user_table.c.role).where(user_table.c.user_id == user.user_id)).scalar_one()
    if access.HIGHEST_ABILITY[role] == "score":
        raise NotAnOrganizersAccount(user=user.name)
    commands.run_command(
        call,
        lambda tournament: roster_commands.add_director(tournament, user.user_id),
        is_allowed=access.owns,
    )
    return user


class KeptDevices(Body, frozen=True, kw_only=True):
    """The devices that go on under the organizer's name when the director who made them is taken out."""

    device_ids: Annotated[tuple[Id, ...], Meta(max_length=DEVICES_MAX)] = ()


def remove_director(call: Write[Body]) -> User:
    """Take a director's rights, with the devices that they made; directors may resign, too."""
    return _remove_director(call, ())


def remove_director_and_keep(call: Write[KeptDevices]) -> User:
    """Take a director's rights, with the devices that they made except those that the organizer keeps."""
    return _remove_director(call, call.body.device_ids)


def _remove_director(call: Write[Any], kept_ids: Sequence[int]) -> User:
    commands.load_tournament(call)
    user = reads.find_user(call.db, call.ids[USER], call.caller)
    is_own = user.user_id == call.user_id
    commands.run_command(
        call,
        lambda tournament: roster_commands.remove_director(tournament, user.user_id),
        is_allowed=access.is_organizer if is_own else access.owns,
    )
    made = (_DEVICE.tournament_id == call.ids[TOURNAMENT], _DEVICE.created_by == user.user_id)
    if not is_own:
        call.db.execute(update(device).where(*made, _DEVICE.device_id.in_(kept_ids)).values(created_by=None))
    # For good: the devices do not come back with the director.
    call.db.execute(update(device).where(*made, _DEVICE.revoked_at.is_(None)).values(revoked_at=call.now))
    return user


def create_director_link(call: Write[Body], dice: Random) -> SecretLink:
    """Make a link that makes the first organizer who opens it a director, for seven days."""
    tournament_id = commands.load_tournament(call, access.owns).tournament_id
    call.db.execute(delete(director_link).where(_DIRECTOR_LINK.expires_at <= call.now))
    quotas.require_room(
        call.db,
        director_link,
        _DIRECTOR_LINK.tournament_id == tournament_id,
        owner=f"tournament {tournament_id}",
        limit=LINKS_MAX,
        refusal=lambda _: TooManyDirectorLinks(limit=LINKS_MAX),
    )
    secret = tokens.new_link_secret(dice)
    values = {
        "hash": tokens.digest(secret),
        "tournament_id": tournament_id,
        "created_by": call.user_id,
        "expires_at": call.now + LINK_LIFETIME,
    }
    call.db.execute(insert(director_link).values(**values))
    return SecretLink(secret)


def accept_link(call: Write[AcceptedLink]) -> None:
    """Make the caller a director by a link, which is used up. Raises Conflict for one that is no more."""
    own = (
        _DIRECTOR_LINK.hash == tokens.digest(call.body.link),
        _DIRECTOR_LINK.tournament_id == call.ids[TOURNAMENT],
        _DIRECTOR_LINK.expires_at > call.now,
        reads.may_choose_directors(),
    )
    # Of two forms sent at once the second finds no link.
    if call.db.execute(delete(director_link).where(*own)).rowcount == 0:
        raise DirectorLinkUsedUp
    commands.run_command(
        call,
        lambda tournament: roster_commands.add_director(tournament, call.user_id),
        is_allowed=_has_link,
    )


def _has_link(caller: AuthenticatedCaller, _tournament: object) -> bool:
    """Allow an account that may manage: the link has been checked."""
    return caller.may("manage")
