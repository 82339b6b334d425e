"""The data of an account: its export, and the reasons against deleting it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Row, Select, Table, and_, exists, func, null, or_, select

from silverball.kit.errors import Conflict, NotFound
from silverball.kit.security import tokens
from silverball.kit.values import WithSecret
from silverball.rules.mechanics import seeding
from silverball.service.standings.reads import standings
from silverball.store import tables
from silverball.store.people import audit, site_values
from silverball.store.tables import (
    account_link,
    half_sign_in,
    known_browser,
    recovery_code,
    session,
    site_value,
    two_step,
    user,
)

# Tournaments that a refusal names; there may be many more.
TOURNAMENTS_NAMED_MAX = 3
_USER, _PLAYER, _TOURNAMENT = tables.user.c, tables.player.c, tables.tournament.c


class AccountHasOpenTournaments(Conflict):
    sentence = "Tournaments of this account are not over: {names}. Complete or delete them first."


class LastAdmin(Conflict):
    sentence = "This is the only administrator who can sign in. Make somebody else an administrator first."


class ListedAccount(Struct, frozen=True, rename="camel"):
    """An account as an operator sees it."""

    user_id: int
    role: str
    name: str
    email: str | None
    signs_in: bool


def listed_accounts(db: Connection) -> list[ListedAccount]:
    """All accounts but those that an import only named, oldest first."""
    signs_in = and_(_USER.password_hash.is_not(None), _USER.suspended_at.is_(None))
    columns = (_USER.user_id, _USER.role, _USER.name, _USER.email, signs_in)
    rows = db.execute(select(*columns).where(~_USER.placeholder).order_by(_USER.user_id))
    return [ListedAccount(*row) for row in rows]


def _as_selected(_db: Connection, rows: Sequence[Row[Any]]) -> Sequence[Sequence[Any]]:
    return [tuple(row) for row in rows]


class ExportSection(Struct, frozen=True):
    """A section of the export: its name, a description, and the statement that selects its rows."""

    name: str
    description: str
    statement: Select[Any]
    # The rows as exported; the last `helper_columns` of the statement are for this alone.
    published_rows: Callable[[Connection, Sequence[Row[Any]]], Sequence[Sequence[Any]]] = _as_selected
    helper_columns: int = 0


class ExportedSection(Struct, frozen=True):
    """A section with its rows: the names of the columns and a value for each."""

    section: ExportSection
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Any]]


def _own_columns(table: Table) -> list[ColumnElement[Any]]:
    """The columns that leave the program at all; a column without an audience never does."""
    return [column for column in table.c if column.info.get("audience", "secret") != "secret"]


def _owned_rows(table: Table, user_id: int, owner: str = "organizer_id") -> Select[Any]:
    return select(*_own_columns(table)).where(table.c[owner] == user_id).order_by(*table.primary_key)


def _tournament_rows(table: Table, user_id: int, *more: ColumnElement[Any]) -> Select[Any]:
    """Rows of the account's players in tournaments, with the tournament's name."""
    return (
        select(_TOURNAMENT.name.label("tournament"), *_own_columns(table), *more)
        .join(tables.tournament, _TOURNAMENT.tournament_id == table.c.tournament_id)
        .where(table.c.player_id.in_(_claimed_player_ids(user_id)))
        .order_by(table.c.tournament_id, *table.primary_key)
    )


def _claimed_player_ids(user_id: int) -> Select[tuple[int]]:
    return select(_PLAYER.player_id).where(_PLAYER.claimed_by == user_id)


def _entered_tournaments(user_id: int) -> Select[Any]:
    own = tables.entrant.c
    columns = (
        _TOURNAMENT.tournament_id,
        _TOURNAMENT.name,
        _TOURNAMENT.type,
        _TOURNAMENT.status,
        _TOURNAMENT.start_local,
        own.player_id,
    )
    labelled = (
        *columns,
        own.status.label("entrant_status"),
        null().label("position"),
        null().label("points"),
        own.seed,
        own.seed_rank,
        _TOURNAMENT.settings,
    )
    return (
        select(*labelled)
        .select_from(tables.entrant)
        .join(tables.tournament, _TOURNAMENT.tournament_id == own.tournament_id)
        .where(own.player_id.in_(_claimed_player_ids(user_id)))
        .order_by(own.tournament_id, own.player_id)
    )


def _with_places_and_seeds(db: Connection, rows: Sequence[Row[Any]]) -> Sequence[Sequence[Any]]:
    """The rows of tournaments played, with the place, and with the seed as the interface shows it."""
    player_ids = {row.player_id for row in rows}
    tournament_ids = select(tables.entrant.c.tournament_id).where(tables.entrant.c.player_id.in_(player_ids))
    places = standings.places_where(db, _TOURNAMENT.tournament_id.in_(tournament_ids), player_ids)
    published = []
    for row in rows:
        *values, _position, _points, seed, seed_rank, settings = tuple(row)
        place = places.get(row.tournament_id, {}).get(row.player_id)
        if settings.get("seeding") == seeding.MANUAL:
            seed = seeding.published_seed(seed, seed_rank)
        placed = (None, None) if place is None else (place.position, place.points)
        published.append((*values, *placed, seed))
    return published


def _games(user_id: int) -> Select[Any]:
    seat, game, arena = tables.game_player, tables.game.c, tables.arena.c
    return (
        select(_TOURNAMENT.name.label("tournament"), *_own_columns(seat), game.status, game.started_at)
        .add_columns(arena.name.label("arena"))
        .join(tables.tournament, _TOURNAMENT.tournament_id == seat.c.tournament_id)
        .join(tables.game, game.game_id == seat.c.game_id)
        .outerjoin(tables.arena, arena.arena_id == game.arena_id)
        .where(seat.c.player_id.in_(_claimed_player_ids(user_id)))
        .order_by(seat.c.game_id, seat.c.slot)
    )


def _rating_history(user_id: int) -> Select[Any]:
    revision, own = tables.rating_revision, tables.rating.c
    rows = select(*_own_columns(revision)).join(tables.rating, own.rating_id == revision.c.rating_id)
    return rows.where(own.user_id == user_id).order_by(revision.c.period_date)


def _account_rows(table: Table, user_id: int) -> Select[Any]:
    return select(*_own_columns(table)).where(table.c.user_id == user_id).order_by(table.c.created_at)


def _webhooks(user_id: int) -> Select[Any]:
    own = tables.webhook
    organized = select(*_own_columns(own)).join(
        tables.tournament, _TOURNAMENT.tournament_id == own.c.tournament_id
    )
    return organized.where(_TOURNAMENT.organizer_id == user_id).order_by(own.c.webhook_id)


def export_sections(user_id: int) -> tuple[ExportSection, ...]:
    """The sections of the account's export, in order."""
    entries = select(*_own_columns(tables.player)).where(_PLAYER.claimed_by == user_id)
    claims, journal_line, confirmed = tables.claim.c, tables.journal.c, tables.confirmed_number.c
    journal = select(
        journal_line.tournament_id,
        journal_line.action_id,
        journal_line.change,
        journal_line.source,
        journal_line.at,
    )
    suggested, entry = tables.suggestion, tables.audit_entry.c
    reports = select(*_own_columns(suggested)).where(suggested.c.user_id == user_id)
    return (
        *_account_sections(user_id),
        ExportSection("players", "Players of any book that are you.", entries.order_by(_PLAYER.player_id)),
        ExportSection("claims", "Players that you said are you; nobody has approved it yet.",
             select(*_own_columns(tables.claim)).where(claims.user_id == user_id).order_by(claims.at)),
        ExportSection("confirmed_numbers", "Your federation number, as an administrator confirmed it.",
             select(*_own_columns(tables.confirmed_number)).where(confirmed.user_id == user_id)),
        ExportSection("tournaments_played", "Tournaments that you played, and your places.",
                      _entered_tournaments(user_id), _with_places_and_seeds, helper_columns=2),
        ExportSection("games", "Your seats in games.", _games(user_id)),
        ExportSection("single_player_games", "Your single player games.",
                      _tournament_rows(tables.single_player_game, user_id)),
        ExportSection("cards", "Your cards.", _tournament_rows(tables.card, user_id)),
        ExportSection("entries", "Entries that you bought or were given.",
                      _tournament_rows(tables.entry, user_id)),
        ExportSection("sign_ups", "Sign-up lists that you are on, and what you paid.",
                      _tournament_rows(tables.sign_up, user_id)),
        ExportSection("queues", "Queues that you stood in.", _tournament_rows(tables.queue_entry, user_id)),
        ExportSection("suggestions", "Results that you sent in.",
                      reports.order_by(suggested.c.suggestion_id)),
        ExportSection("score_keeping", "Tournaments that you keep the scores of.",
             _owned_rows(tables.scorekeeper, user_id, "user_id")),
        ExportSection("tournaments_organized", "Tournaments that you organize.",
                      _owned_rows(tables.tournament, user_id)),
        ExportSection("webhooks", "Webhooks of your tournaments, without their secrets.", _webhooks(user_id)),
        ExportSection("series", "Your series.", _owned_rows(tables.series, user_id)),
        *_book_sections(user_id),
        ExportSection("events", "Your events.", _owned_rows(tables.occasion, user_id)),
        ExportSection("clubs", "Your clubs.", _owned_rows(tables.club, user_id, "user_id")),
        ExportSection("rating", "Your rating.", _owned_rows(tables.rating, user_id, "user_id")),
        ExportSection("rating_history", "Your rating after each period that you played.",
                      _rating_history(user_id)),
        ExportSection("rating_submissions", "Results that you sent in by address.",
             _owned_rows(tables.rating_submission, user_id, "submitter_id")),
        ExportSection("submission_players", "Where you are in results that were sent in by address.",
             _owned_rows(tables.submission_player, user_id, "user_id")),
        ExportSection("security", "When and from where your account was used for what concerns security.",
             select(entry.event, entry.source, entry.detail, entry.at, entry.last_at, entry.count)
             .where(entry.user_id == user_id, entry.event.not_in(audit.REFUSALS))
             .order_by(entry.audit_entry_id)),
        ExportSection("journal", "What you did in tournaments, and from which address.",
             journal.where(journal_line.actor_id == user_id).order_by(journal_line.journal_id)),
    )  # fmt: skip


def _account_sections(user_id: int) -> tuple[ExportSection, ...]:
    own = select(*_own_columns(tables.user)).where(_USER.user_id == user_id)
    two_step = tables.two_step.c
    return (
        ExportSection("account", "Your account and what it hides.", own),
        ExportSection("tokens", "Your API tokens, without their secrets.",
                      _account_rows(tables.token, user_id)),
        ExportSection("sessions", "Where you are signed in.",
                      _account_rows(tables.session, user_id)),
        ExportSection("two_step_sign_in", "Since when signing in asks for a code, without its secret.",
             select(two_step.confirmed_at).where(two_step.user_id == user_id)),
        ExportSection("history_pull", "What you brought along from another service, without the token.",
                      _account_rows(tables.history_pull, user_id)),
    )  # fmt: skip


def _book_sections(user_id: int) -> tuple[ExportSection, ...]:
    return (
        ExportSection("book_players", "The players of your book.", _owned_rows(tables.player, user_id)),
        ExportSection("book_arenas", "The arenas of your book.", _owned_rows(tables.arena, user_id)),
        ExportSection("book_banks", "The banks of your book.", _owned_rows(tables.bank, user_id)),
        ExportSection("book_locations", "The locations of your book.", _owned_rows(tables.location, user_id)),
        ExportSection(
            "book_actions",
            "What was done to your book and can be undone.",
            _owned_rows(tables.book_action, user_id, "user_id"),
        ),
    )


def account_data(db: Connection, user_id: int) -> Iterator[ExportedSection]:
    """The sections of the account's export with their rows. Raises NotFound."""
    require_account(db, user_id)
    for section in export_sections(user_id):
        found = db.execute(section.statement)
        columns = tuple(found.keys())
        exported = columns[: len(columns) - section.helper_columns]
        yield ExportedSection(section, exported, section.published_rows(db, found.all()))


def require_account(db: Connection, user_id: int) -> None:
    """Raise NotFound unless the account exists."""
    if db.execute(select(_USER.user_id).where(_USER.user_id == user_id)).first() is None:
        raise NotFound("User", user_id)


def require_erasable(db: Connection, user_id: int) -> None:
    """Raise NotFound, or Conflict while other people depend on the account."""
    require_account(db, user_id)
    own = (_TOURNAMENT.organizer_id == user_id, _TOURNAMENT.status != "completed")
    unfinished = (
        select(_TOURNAMENT.name).where(*own).order_by(_TOURNAMENT.tournament_id).limit(TOURNAMENTS_NAMED_MAX)
    )
    names = db.execute(unfinished).scalars().all()
    if names:
        raise AccountHasOpenTournaments(names=", ".join(names))
    require_other_administrator(db, user_id)


def require_other_administrator(db: Connection, user_id: int) -> None:
    """Raise LastAdmin for the only administrator who can sign in."""
    can_sign_in = (_USER.email.is_not(None), _USER.password_hash.is_not(None), _USER.suspended_at.is_(None))
    administrators = select(_USER.user_id).where(_USER.role == "admin", *can_sign_in)
    if db.execute(administrators.limit(2)).scalars().all() == [user_id]:
        raise LastAdmin


def claimed_players(db: Connection, user_id: int) -> Mapping[int, str]:
    """Player id -> name, of the players claimed by this account."""
    rows = select(_PLAYER.player_id, _PLAYER.name).where(_PLAYER.claimed_by == user_id)
    return {row.player_id: row.name for row in db.execute(rows.order_by(_PLAYER.player_id))}


LABEL_LETTERS = 16
LISTED_MAX = 100
_ACCOUNT_LINK = account_link.c
# A mailed link was asked for by the account itself; the others are an administrator's.
IS_MAILED = and_(_ACCOUNT_LINK.user_id.is_not(None), _ACCOUNT_LINK.user_id == _ACCOUNT_LINK.created_by)


class AccountLink(Struct, frozen=True, kw_only=True):
    """A link that can still be used."""

    # The first letters of its hash, which name it on a page.
    label: str
    # The account that gets a new password, with its name and e-mail; None in an invitation.
    user_id: int | None
    name: str | None
    email: str | None
    # The role of the account that an invitation makes; None in a recovery.
    role: str | None
    expires_at: datetime


_ROWS = select(
    _ACCOUNT_LINK.hash,
    _ACCOUNT_LINK.user_id,
    user.c.name,
    user.c.email,
    _ACCOUNT_LINK.role,
    _ACCOUNT_LINK.expires_at,
).select_from(account_link.outerjoin(user, user.c.user_id == _ACCOUNT_LINK.user_id))


def find_link(db: Connection, secret: str, now: datetime) -> AccountLink | None:
    """The link with this secret; None when it was used or withdrawn, or has expired.

    None too when who made it is no administrator now.
    """
    giver = user.alias()
    is_found = (
        _ACCOUNT_LINK.hash == tokens.digest(secret),
        _ACCOUNT_LINK.expires_at > now,
        user.c.suspended_at.is_(None),
        or_(
            IS_MAILED,
            exists().where(
                giver.c.user_id == _ACCOUNT_LINK.created_by,
                giver.c.role == "admin",
                giver.c.suspended_at.is_(None),
            ),
        ),
    )
    row = db.execute(_ROWS.where(*is_found)).mappings().one_or_none()
    return None if row is None else _account_link(dict(row))


def open_links(db: Connection, now: datetime) -> list[AccountLink]:
    """The links that can still be used, the next to expire first, and mailed ones last."""
    in_order = _ROWS.where(_ACCOUNT_LINK.expires_at > now).order_by(
        IS_MAILED, _ACCOUNT_LINK.expires_at, _ACCOUNT_LINK.hash
    )
    rows = db.execute(in_order.limit(LISTED_MAX))
    return [_account_link(dict(row)) for row in rows.mappings()]


def _account_link(row: dict[str, object]) -> AccountLink:
    label = str(row.pop("hash"))[:LABEL_LETTERS]
    return AccountLink(label=label, **row)  # type: ignore[arg-type]  # the columns of the query


EMAIL_MAX = 254
# Of one account at once; signing in once more ends the oldest.
SESSIONS_MAX = 100
# Recorded this seldom, so that reading a page is not a write.
USE_RECORDED_EVERY = timedelta(minutes=5)
# The beginning of a session's hash, which names it on its owner's page.


class Credentials(WithSecret, frozen=True):
    """The stored hash that a password is compared with."""

    user_id: int
    password_hash: str
    is_suspended: bool = False
    # Whether the sign-in asks for a code after the password.
    needs_code: bool = False


class SignedInUser(WithSecret, frozen=True, kw_only=True):
    """The account behind a session cookie."""

    user_id: int
    name: str
    email: str
    role: str
    # Every form posted in this session must send this back.
    csrf: str
    # When the password was last given in this session; None before an upgrade.
    proved_at: datetime | None
    # Whether this request has to be recorded as a use of the session.
    is_use_due: bool
    # The site demands two-step sign-in of this account, which has it off: nothing else is open to them.
    owes_two_step: bool = False


def normalized_email(email: str) -> str:
    """An e-mail as accounts have it; empty, as no account has it, for what cannot be one."""
    email = email.strip().lower()
    # Databases reject control characters in a query, and no address contains any.
    return "" if len(email) > EMAIL_MAX or not email.isprintable() else email


def find_credentials(db: Connection, email: str) -> Credentials | None:
    """The account that signs in with this e-mail; None when there is none or it has no password."""
    is_confirmed = (two_step.c.user_id == user.c.user_id, two_step.c.confirmed_at.is_not(None))
    columns = (user.c.user_id, user.c.password_hash, user.c.suspended_at)
    rows = select(*columns, exists().where(*is_confirmed).label("needs_code"))
    row = db.execute(rows.where(user.c.email == normalized_email(email))).one_or_none()
    if row is None or row.password_hash is None:
        return None
    return Credentials(
        row.user_id,
        row.password_hash,
        is_suspended=row.suspended_at is not None,
        needs_code=bool(row.needs_code),
    )


def is_known_browser(db: Connection, user_id: int, secret: str) -> bool:
    """Whether the browser with this cookie has signed in to this account before."""
    rows = select(known_browser.c.hash).where(
        known_browser.c.hash == tokens.digest(secret), known_browser.c.user_id == user_id
    )
    return bool(secret) and db.execute(rows).first() is not None


# The value of the site that says of whom two-step sign-in is demanded; not there: of nobody.
TWO_STEP_DEMAND = "two-step-demanded"
DEMANDED_OF = ("nobody", "administrators", "everybody")


def two_step_demand(db: Connection) -> str:
    """Of whom the site demands two-step sign-in: one of DEMANDED_OF."""
    return site_values.find_site_value(db, TWO_STEP_DEMAND) or DEMANDED_OF[0]


def _owes_two_step() -> ColumnElement[bool]:
    demand = site_value.c.value
    is_meant = or_(demand == "everybody", and_(demand == "administrators", user.c.role == "admin"))
    is_on = exists().where(two_step.c.user_id == user.c.user_id, two_step.c.confirmed_at.is_not(None))
    return and_(exists().where(site_value.c.name == TWO_STEP_DEMAND, is_meant), ~is_on)


def find_signed_in_user(
    db: Connection, secret: str, now: datetime, idle_limit: timedelta
) -> SignedInUser | None:
    """The user signed in with this cookie; None when the session is unknown or over."""
    # The lookup is by hash, so its duration reveals nothing about the secret.
    rows = (
        select(user.c.user_id, user.c.name, user.c.email, user.c.role, session.c.csrf)
        .add_columns(session.c.proved_at, session.c.seen_at, _owes_two_step().label("owes_two_step"))
        .join_from(session, user, session.c.user_id == user.c.user_id)
        .where(
            session.c.hash == tokens.digest(secret),
            _is_open(now, idle_limit),
            user.c.suspended_at.is_(None),
        )
    )
    row = db.execute(rows).mappings().one_or_none()
    if row is None:
        return None
    values = dict(row)
    seen_at, owes = values.pop("seen_at"), bool(values.pop("owes_two_step"))
    is_use_due = seen_at is None or now - seen_at >= USE_RECORDED_EVERY
    return SignedInUser(**values, is_use_due=is_use_due, owes_two_step=owes)


def _is_open(now: datetime, idle_limit: timedelta) -> ColumnElement[bool]:
    seen_at = session.c.seen_at
    return and_(session.c.expires_at > now, or_(seen_at.is_(None), seen_at > now - idle_limit))


class OpenSession(Struct, frozen=True, kw_only=True):
    """A session that has not ended."""

    label: str
    created_at: datetime
    seen_at: datetime | None
    expires_at: datetime
    network: str
    browser: str
    # Whether this is the session of the current request.
    is_this: bool


def open_sessions(
    db: Connection, user_id: int, secret: str, now: datetime, idle_limit: timedelta
) -> list[OpenSession]:
    """The sessions in which the account is signed in, newest first."""
    rows = select(session).where(session.c.user_id == user_id, _is_open(now, idle_limit))
    rows = rows.order_by(session.c.created_at.desc(), session.c.hash).limit(SESSIONS_MAX)
    current_hash = tokens.digest(secret)
    return [
        OpenSession(
            label=row.hash[:LABEL_LETTERS],
            created_at=row.created_at,
            seen_at=row.seen_at,
            expires_at=row.expires_at,
            network=row.network or "",
            browser=row.browser or "",
            is_this=row.hash == current_hash,
        )
        for row in db.execute(rows)
    ]


class TwoStepSignIn(Struct, frozen=True):
    """Since when the account asks for a code, and the number of its unused recovery codes."""

    confirmed_at: datetime
    recovery_codes_left: int


class HalfSignIn(Struct, frozen=True):
    """The account whose password was given, and whose code is asked for."""

    user_id: int
    email: str


def find_two_step(db: Connection, user_id: int) -> TwoStepSignIn | None:
    """The two-step sign-in of the account; None while it is off."""
    row = select(two_step.c.confirmed_at).where(two_step.c.user_id == user_id)
    confirmed_at = db.execute(row).scalar_one_or_none()
    if confirmed_at is None:
        return None
    unused = select(func.count()).select_from(recovery_code).where(recovery_code.c.user_id == user_id)
    return TwoStepSignIn(confirmed_at, db.execute(unused).scalar_one())


def find_half_sign_in(db: Connection, secret: str, now: datetime) -> HalfSignIn | None:
    """The account that this form signs in to; None when it is too late or the account is suspended."""
    row = (
        select(user.c.user_id, user.c.email)
        .join_from(half_sign_in, user, half_sign_in.c.user_id == user.c.user_id)
        .where(half_sign_in.c.hash == tokens.digest(secret), half_sign_in.c.expires_at > now)
        .where(user.c.suspended_at.is_(None), user.c.email.is_not(None))
    )
    found = db.execute(row).one_or_none()
    return None if found is None else HalfSignIn(found.user_id, found.email)


def account_with_email(db: Connection, email: str) -> int | None:
    """The id of the account with this e-mail."""
    row = select(user.c.user_id).where(user.c.email == email.strip().lower())
    return db.execute(row).scalar_one_or_none()
