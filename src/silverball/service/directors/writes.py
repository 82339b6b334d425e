"""Directors, appointed by the organizer of a tournament, or by a link that the organizer sent them."""

from datetime import timedelta
from random import Random
from typing import Annotated

from msgspec import Meta
from sqlalchemy import delete, func, insert, select

from silverball.kit import tokens
from silverball.kit.errors import Conflict
from silverball.kit.http.body import Body
from silverball.rules.commands import roster as roster_commands
from silverball.service import access
from silverball.service.access import AuthenticatedCaller
from silverball.service.calls import Write
from silverball.service.core import commands
from silverball.service.secret_links import SecretLink
from silverball.service.users import reads as users
from silverball.store.tables import director_link
from silverball.store.tables import user as user_table
from silverball_wire.users import User

TOURNAMENT, USER = "tournament_id", "user_id"
LINK_LIFETIME = timedelta(days=7)
LINKS_MAX = 10
_L = director_link.c


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
    user = users.find_user(call.db, call.ids[USER], call.caller)
    role = call.db.execute(select(user_table.c.role).where(user_table.c.user_id == user.user_id)).scalar_one()
    if access.HIGHEST_ABILITY[role] == "score":
        raise NotAnOrganizersAccount(user=user.name)
    commands.run_command(
        call,
        lambda tournament: roster_commands.add_director(tournament, user.user_id),
        is_allowed=access.owns,
    )
    return user


def remove_director(call: Write[Body]) -> User:
    """Take a director's rights; directors may resign, too."""
    commands.load_tournament(call)
    user = users.find_user(call.db, call.ids[USER], call.caller)
    is_own = user.user_id == call.user_id
    commands.run_command(
        call,
        lambda tournament: roster_commands.remove_director(tournament, user.user_id),
        is_allowed=access.is_organizer if is_own else access.owns,
    )
    return user


def create_link(call: Write[Body], dice: Random) -> SecretLink:
    """Make a link that makes the first organizer who opens it a director, for seven days."""
    tournament_id = commands.load_tournament(call, access.owns).tournament_id
    call.db.execute(delete(director_link).where(_L.expires_at <= call.now))
    unused = select(func.count()).select_from(director_link).where(_L.tournament_id == tournament_id)
    if call.db.execute(unused).scalar_one() >= LINKS_MAX:
        raise TooManyDirectorLinks(limit=LINKS_MAX)
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
        _L.hash == tokens.digest(call.body.link),
        _L.tournament_id == call.ids[TOURNAMENT],
        _L.expires_at > call.now,
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
