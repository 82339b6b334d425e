"""The data of an account: its export, and the reasons against deleting it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Row, Select, Table, func, null, select

from silverball.kit.errors import Conflict, NotFound
from silverball.rules.mechanics import seeding
from silverball.service.standings import reads as standings
from silverball.store import audit, tables

# Tournaments that a refusal names; there may be many more.
TOURNAMENTS_NAMED_MAX = 3
_USER, _PLAYER, _T = tables.user.c, tables.player.c, tables.tournament.c


class AccountHasOpenTournaments(Conflict):
    sentence = "Tournaments of this account are not over: {names}. Complete or delete them first."


class LastAdmin(Conflict):
    sentence = "This is the only admin who can sign in. Make somebody else an admin before you delete it."


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
        select(_T.name.label("tournament"), *_own_columns(table), *more)
        .join(tables.tournament, _T.tournament_id == table.c.tournament_id)
        .where(table.c.player_id.in_(_claimed_player_ids(user_id)))
        .order_by(table.c.tournament_id, *table.primary_key)
    )


def _claimed_player_ids(user_id: int) -> Select[tuple[int]]:
    return select(_PLAYER.player_id).where(_PLAYER.claimed_by == user_id)


def _entered_tournaments(user_id: int) -> Select[Any]:
    own = tables.entrant.c
    columns = (_T.tournament_id, _T.name, _T.type, _T.status, _T.start_local, own.player_id)
    labelled = (
        *columns,
        own.status.label("entrant_status"),
        null().label("position"),
        null().label("points"),
        own.seed,
        own.seed_rank,
        _T.settings,
    )
    return (
        select(*labelled)
        .select_from(tables.entrant)
        .join(tables.tournament, _T.tournament_id == own.tournament_id)
        .where(own.player_id.in_(_claimed_player_ids(user_id)))
        .order_by(own.tournament_id, own.player_id)
    )


def _with_places_and_seeds(db: Connection, rows: Sequence[Row[Any]]) -> Sequence[Sequence[Any]]:
    """The rows of tournaments played, with the place, and with the seed as the interface shows it."""
    player_ids = {row.player_id for row in rows}
    tournament_ids = select(tables.entrant.c.tournament_id).where(tables.entrant.c.player_id.in_(player_ids))
    places = standings.places_where(db, _T.tournament_id.in_(tournament_ids), player_ids)
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
        select(_T.name.label("tournament"), *_own_columns(seat), game.status, game.started_at)
        .add_columns(arena.name.label("arena"))
        .join(tables.tournament, _T.tournament_id == seat.c.tournament_id)
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
    organized = select(*_own_columns(own)).join(tables.tournament, _T.tournament_id == own.c.tournament_id)
    return organized.where(_T.organizer_id == user_id).order_by(own.c.webhook_id)


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
    own = (_T.organizer_id == user_id, _T.status != "completed")
    unfinished = select(_T.name).where(*own).order_by(_T.tournament_id).limit(TOURNAMENTS_NAMED_MAX)
    names = db.execute(unfinished).scalars().all()
    if names:
        raise AccountHasOpenTournaments(names=", ".join(names))
    is_admin = (_USER.role == "admin") & _USER.password_hash.is_not(None)
    admins = select(func.count()).select_from(tables.user).where(is_admin)
    others = db.execute(admins.where(_USER.user_id != user_id)).scalar_one()
    if others == 0 and db.execute(admins).scalar_one():
        raise LastAdmin


def claimed_players(db: Connection, user_id: int) -> Mapping[int, str]:
    """Player id -> name, of the players claimed by this account."""
    rows = select(_PLAYER.player_id, _PLAYER.name).where(_PLAYER.claimed_by == user_id)
    return {row.player_id: row.name for row in db.execute(rows.order_by(_PLAYER.player_id))}
