"""What is stored of an account: everything that is exported, and what stands in the way of deleting it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, func, select

from silverball.kit.errors import Conflict, NotFound
from silverball.store import tables

# Named in a refusal; there may be many more.
NAMED_MAX = 3
SECRETS = frozenset({"password_hash", "secret"})
_USER, _PLAYER, _T = tables.user.c, tables.player.c, tables.tournament.c


@dataclass(frozen=True)
class Part:
    """A kind of things in the export: its name, what it is, and the statement that finds one account's."""

    name: str
    said: str
    rows: Select[Any]


@dataclass(frozen=True)
class Found:
    """A part with what was found: the names of its columns and a value for each."""

    part: Part
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Any]]


def _all_of(table: Table) -> list[ColumnElement[Any]]:
    return [column for column in table.c if column.name not in SECRETS]


def _owned(table: Table, user_id: int, owner: str = "organizer_id") -> Select[Any]:
    return select(*_all_of(table)).where(table.c[owner] == user_id).order_by(*table.primary_key)


def _played(table: Table, user_id: int, *more: ColumnElement[Any]) -> Select[Any]:
    """Rows of what the account's players did in tournaments, with the tournament's name."""
    return (
        select(_T.name.label("tournament"), *_all_of(table), *more)
        .join(tables.tournament, _T.tournament_id == table.c.tournament_id)
        .where(table.c.player_id.in_(_claimed(user_id)))
        .order_by(table.c.tournament_id, *table.primary_key)
    )


def _claimed(user_id: int) -> Select[tuple[int]]:
    return select(_PLAYER.player_id).where(_PLAYER.claimed_by == user_id)


def _placings(user_id: int) -> Select[Any]:
    own, place = tables.entrant.c, tables.standing.c
    columns = (_T.tournament_id, _T.name, _T.type, _T.status, _T.start_local, own.player_id, own.status)
    labelled = (*columns[:-1], columns[-1].label("entrant_status"), own.seed, place.position, place.points)
    same = and_(place.tournament_id == own.tournament_id, place.player_id == own.player_id)
    return (
        select(*labelled)
        .select_from(tables.entrant)
        .join(tables.tournament, _T.tournament_id == own.tournament_id)
        .outerjoin(tables.standing, same)
        .where(own.player_id.in_(_claimed(user_id)))
        .order_by(own.tournament_id, own.player_id)
    )


def _games(user_id: int) -> Select[Any]:
    seat, game, arena = tables.game_player, tables.game.c, tables.arena.c
    return (
        select(_T.name.label("tournament"), *_all_of(seat), game.status, game.started_at)
        .add_columns(arena.name.label("arena"))
        .join(tables.tournament, _T.tournament_id == seat.c.tournament_id)
        .join(tables.game, game.game_id == seat.c.game_id)
        .outerjoin(tables.arena, arena.arena_id == game.arena_id)
        .where(seat.c.player_id.in_(_claimed(user_id)))
        .order_by(seat.c.game_id, seat.c.slot)
    )


def _rating_history(user_id: int) -> Select[Any]:
    revision, own = tables.rating_revision, tables.rating.c
    # Whom he met there is told by number, and somebody else's.
    columns = [column for column in revision.c if column.name != "meetings"]
    rows = select(*columns).join(tables.rating, own.rating_id == revision.c.rating_id)
    return rows.where(own.user_id == user_id).order_by(revision.c.period_date)


def _without(table: Table, user_id: int, *secrets: str) -> Select[Any]:
    columns = [column for column in table.c if column.name not in secrets]
    return select(*columns).where(table.c.user_id == user_id).order_by(table.c.created_at)


def _webhooks(user_id: int) -> Select[Any]:
    own = tables.webhook
    organized = select(*_all_of(own)).join(tables.tournament, _T.tournament_id == own.c.tournament_id)
    return organized.where(_T.organizer_id == user_id).order_by(own.c.webhook_id)


def parts_of(user_id: int) -> tuple[Part, ...]:
    """Everything that is exported, in order."""
    own = select(*_all_of(tables.user)).where(_USER.user_id == user_id)
    entries = select(*_all_of(tables.player)).where(_PLAYER.claimed_by == user_id)
    claims, acted = tables.claim.c, tables.journal.c
    journal = select(acted.tournament_id, acted.action_id, acted.change, acted.source, acted.at)
    suggested = tables.suggestion.c
    return (
        Part("account", "Your account and what it hides.", own),
        Part("tokens", "Your API tokens, without their secrets.", _without(tables.token, user_id, "hash")),
        Part("sessions", "Where you are signed in.", _without(tables.session, user_id, "hash", "csrf")),
        Part("players", "Players of any book that are you.", entries.order_by(_PLAYER.player_id)),
        Part("claims", "Players that you said are you; nobody has approved it yet.",
             select(*claims).where(claims.user_id == user_id).order_by(claims.at)),
        Part("tournaments_played", "Tournaments that you played, and your places.", _placings(user_id)),
        Part("games", "Your seats in games.", _games(user_id)),
        Part("single_player_games", "Your single player games.", _played(tables.single_player_game, user_id)),
        Part("cards", "Your cards.", _played(tables.card, user_id)),
        Part("entries", "Entries that you bought or were given.", _played(tables.entry, user_id)),
        Part("queues", "Queues that you stood in.", _played(tables.queue_entry, user_id)),
        Part("suggestions", "Results that you sent in.",
             select(*suggested).where(suggested.user_id == user_id).order_by(suggested.suggestion_id)),
        Part("score_keeping", "Tournaments that you keep the scores of.",
             _owned(tables.scorekeeper, user_id, "user_id")),
        Part("tournaments_organized", "Tournaments that you organize.", _owned(tables.tournament, user_id)),
        Part("webhooks", "Webhooks of your tournaments, without their secrets.", _webhooks(user_id)),
        Part("series", "Your series.", _owned(tables.series, user_id)),
        Part("book_players", "The players of your book.", _owned(tables.player, user_id)),
        Part("book_arenas", "The arenas of your book.", _owned(tables.arena, user_id)),
        Part("book_banks", "The banks of your book.", _owned(tables.bank, user_id)),
        Part("book_locations", "The locations of your book.", _owned(tables.location, user_id)),
        Part("events", "Your events.", _owned(tables.occasion, user_id)),
        Part("clubs", "Your clubs.", _owned(tables.club, user_id, "user_id")),
        Part("rating", "Your rating.", _owned(tables.rating, user_id, "user_id")),
        Part("rating_history", "Your rating after each period that you played.", _rating_history(user_id)),
        Part("rating_submissions", "Results that you sent in by address.",
             _owned(tables.rating_submission, user_id, "submitter_id")),
        Part("submission_players", "Where you are in results that were sent in by address.",
             _owned(tables.submission_player, user_id, "user_id")),
        Part("journal", "What you did in tournaments, and from which address.",
             journal.where(acted.actor_id == user_id).order_by(acted.journal_id)),
    )  # fmt: skip


def own_data(db: Connection, user_id: int) -> Iterator[Found]:
    """Every part of the account's data, one after the other. Raises NotFound."""
    require(db, user_id)
    for part in parts_of(user_id):
        found = db.execute(part.rows)
        yield Found(part, tuple(found.keys()), [tuple(row) for row in found])


def require(db: Connection, user_id: int) -> None:
    """Raises NotFound when there is no such account."""
    if db.execute(select(_USER.user_id).where(_USER.user_id == user_id)).first() is None:
        raise NotFound("User", user_id)


def require_erasable(db: Connection, user_id: int) -> None:
    """Raises NotFound, and Conflict when others would be left with something that nobody can run."""
    require(db, user_id)
    own = (_T.organizer_id == user_id, _T.status != "completed")
    unfinished = select(_T.name).where(*own).order_by(_T.tournament_id).limit(NAMED_MAX)
    names = db.execute(unfinished).scalars().all()
    if names:
        raise Conflict(
            f"Tournaments of this account are not over: {', '.join(names)}. Complete or delete them first."
        )
    is_admin = (_USER.role == "admin") & _USER.password_hash.is_not(None)
    admins = select(func.count()).select_from(tables.user).where(is_admin)
    others = db.execute(admins.where(_USER.user_id != user_id)).scalar_one()
    if others == 0 and db.execute(admins).scalar_one():
        raise Conflict("This is the only admin who can sign in. Make another one before you delete it.")


def claimed_by(db: Connection, user_id: int) -> Mapping[int, str]:
    """Player id -> name, of the players that are this account's."""
    rows = select(_PLAYER.player_id, _PLAYER.name).where(_PLAYER.claimed_by == user_id)
    return {row.player_id: row.name for row in db.execute(rows.order_by(_PLAYER.player_id))}
