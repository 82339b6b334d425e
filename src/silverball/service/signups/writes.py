"""Players who sign themselves up on the public page."""

import hmac
from dataclasses import dataclass
from datetime import datetime

import msgspec
from sqlalchemy import Connection

from silverball.kit.errors import Conflict, Invalid, NotAllowed
from silverball.kit.http.fields import Name
from silverball.rules.commands import roster as roster_commands
from silverball.rules.model.tournament import Entrant, Tournament
from silverball.service.core import commands, enact, loaded
from silverball.service.core.enact import ActionContext
from silverball.service.players import reads as players
from silverball.service.roster import reads as roster_reads
from silverball.service.signups import reads
from silverball.store import account_quotas, account_storage, book, digests
from silverball.store.transaction import Transaction


class SignUpClosed(Conflict):
    sentence = "{reason}"


class SignUpCodeWrong(NotAllowed):
    sentence = "This code is not the one of the door. Scan it once more."


class AlreadySignedUp(Conflict):
    sentence = "{name} is on the list already. If that is somebody else, add an initial to your name."


class NameNotUnique(Conflict):
    sentence = "The organizer knows several people called {name}. Ask them to add you."


@dataclass(frozen=True, kw_only=True)
class SignUp:
    """A name and the code of the door, as they were sent."""

    name: str
    code: str


def sign_up(
    transaction: Transaction,
    tournament_id: int,
    sent: SignUp,
    *,
    players_max: int,
    source: str,
    now: datetime,
) -> str:
    """Add the sender to the planned tournament and return their name. `players_max`: of the book.

    Raises Conflict while nobody can sign up and for a name that is taken, NotAllowed for a wrong code.
    """
    tournament = loaded.load_for_change(transaction, tournament_id).tournament
    if reason := reads.closed_reason(tournament, now):
        raise SignUpClosed(reason=reason)
    if not hmac.compare_digest(sent.code.strip().encode(), reads.sign_up_code(tournament).encode()):
        raise SignUpCodeWrong
    account_storage.require_room_in_journal(transaction.connection, tournament.details["organizer_id"])
    name = _valid_name(sent.name)
    entrant = _entrant(transaction.connection, tournament, name, players_max)
    decision = commands.decide_by_draw(
        tournament, "roster", lambda dice: roster_commands.add_entrants(tournament, [entrant], dice, now)
    )
    context = ActionContext(actor_id=None, source=source, now=now)
    enact.enact(transaction, tournament_id, decision.changes, context, dice_seed=decision.dice_seed)
    return name


def _valid_name(text: str) -> str:
    # PostgreSQL stores no NUL.
    words = text.replace("\x00", " ").split()
    try:
        return msgspec.convert(" ".join(words), Name)
    except msgspec.ValidationError as error:
        raise Invalid({"name": ["Enter your name, in at most 100 letters."]}) from error


def _entrant(db: Connection, tournament: Tournament, name: str, players_max: int) -> Entrant:
    """The player of this name in the organizer's book, who is added to it first if need be."""
    organizer_id = tournament.details["organizer_id"]
    known_ids = players.ids_by_name(db, organizer_id, [name])[name]
    free_ids = [player_id for player_id in known_ids if player_id not in tournament.entrant_by_id]
    if known_ids and not free_ids:
        raise AlreadySignedUp(name=name)
    if len(free_ids) > 1:
        raise NameNotUnique(name=name)
    if free_ids:
        claimed = roster_reads.book_players(db, organizer_id, free_ids)
        return Entrant(player_id=free_ids[0], user_id=claimed[free_ids[0]])
    account_quotas.require_room_for_players(db, organizer_id, players_max, 1)
    row = digests.with_name_digest({"name": name, "ifpa_id": None, "status": "active", "labels": []})
    return Entrant(player_id=book.add(db, book.PLAYER, organizer_id, row))
