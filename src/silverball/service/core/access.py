"""Callers and their permissions: pure functions over a loaded caller."""

from collections.abc import Collection
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from silverball.kit.errors import REFERENCE_KINDS, Conflict, Invalid, NotAllowed, Sentence
from silverball.kit.http.body import Body
from silverball.rules.model.tournament import Game, Tournament
from silverball.service.core.calls import Write
from silverball.store.people import book, merging
from silverball.store.people.book import OwnedKind

ABILITIES = ("read", "score", "manage", "admin")
ROLES = ("player", "organizer", "admin")
# The highest ability of a token, by the role of its account.
HIGHEST_ABILITY = {"player": "score", "organizer": "manage", "admin": "admin"}
SHARED_VIEWER = "shared"
# The user id of a caller without an account.
NO_USER_ID = 0


class Device(Struct, frozen=True, kw_only=True):
    """A caller without an account, in one tournament: a scorekeeper's browser, or a printed code."""

    device_id: int
    tournament_id: int
    # The organizer who made it.
    organizer_id: int
    # The player or game of a printed code; a scorekeeper's browser has neither.
    player_id: int | None = None
    game_id: int | None = None

    @property
    def is_scorekeeper(self) -> bool:
        return self.player_id is None and self.game_id is None


class AuthenticatedCaller(Struct, frozen=True, kw_only=True):
    """The account behind a request, as loaded with its token or session; or a device."""

    user_id: int
    role: str
    # The highest ability of the token; each includes those before it in ABILITIES.
    ability: str
    # Whether the account has any opt-out: then it sees more of itself than others see.
    has_opt_outs: bool = False
    # The token that was sent; None for a sign-in or a device.
    token_id: int | None = None
    # The token whose use has to be recorded; None when that was done within the last minute.
    token_to_note: int | None = None
    # Set when the caller is a device; `user_id` is NO_USER_ID then.
    device: Device | None = None

    @property
    def is_admin(self) -> bool:
        """Whether both the account's role and the token's ability are admin, as changes need it."""
        return self.role == "admin" and self.ability == "admin"

    @property
    def sees_everything(self) -> bool:
        """Whether nothing is hidden: from an admin, with any token of theirs."""
        return self.role == "admin"

    @property
    def idempotency_owner_id(self) -> int:
        """The account that owns the caller's idempotency keys."""
        return self.device.organizer_id if self.device else self.user_id

    def may(self, ability: str) -> bool:
        """Whether the token's ability includes this one."""
        return ABILITIES.index(self.ability) >= ABILITIES.index(ability)

    @property
    def viewer(self) -> str:
        """The viewer class: callers of the same class see the same answers."""
        if self.sees_everything:
            return "admin"
        return f"user {self.user_id}" if self.has_opt_outs else SHARED_VIEWER


def device_caller(device: Device) -> AuthenticatedCaller:
    """A device as a caller: it can record and report results, if its tournament allows it."""
    return AuthenticatedCaller(user_id=NO_USER_ID, role="player", ability="score", device=device)


def abilities_for(role: str) -> tuple[str, ...]:
    """The abilities that a token of an account with this role can have, lowest first."""
    return ABILITIES[: ABILITIES.index(HIGHEST_ABILITY[role]) + 1]


def highest_ability(role: str, abilities: Collection[str]) -> str:
    """The highest of a token's abilities, limited by the role of its user."""
    allowed = abilities_for(role)
    highest = max((ABILITIES.index(ability) for ability in abilities), default=0)
    return allowed[min(highest, len(allowed) - 1)]


def sees_hidden_details(viewer: AuthenticatedCaller | None, user_id: int | None) -> bool:
    """Whether the viewer sees a user without opt-outs: an admin, and the user.

    Users see themselves so only when they have any opt-out: otherwise their answers are shared.
    """
    return viewer is not None and (
        viewer.sees_everything or (viewer.has_opt_outs and viewer.user_id == user_id)
    )


def owns(caller: AuthenticatedCaller, tournament: Tournament) -> bool:
    """Whether the tournament is the caller's or the caller is an admin: deletion and directors are theirs."""
    return caller.is_admin or caller.user_id == tournament.details["organizer_id"]


def is_organizer(caller: AuthenticatedCaller, tournament: Tournament) -> bool:
    """Whether the caller runs the tournament: its organizer, a director, or an admin."""
    return owns(caller, tournament) or any(
        each.is_director and each.user_id == caller.user_id for each in tournament.scorekeepers
    )


def may_manage(caller: AuthenticatedCaller, tournament: Tournament) -> bool:
    """Whether the caller may act as the organizer, and the token allows it."""
    return is_organizer(caller, tournament) and caller.may("manage")


def may_score(caller: AuthenticatedCaller, tournament: Tournament) -> bool:
    """Whether the caller may record results: organizer, admin, a device, or a scorekeeper.

    Scorekeepers with an account need the setting; the organizer has given each device its own link.
    """
    if is_organizer(caller, tournament):
        return True
    if caller.device is not None:
        return caller.device.is_scorekeeper and _is_valid_in(caller.device, tournament)
    user_ids = [scorekeeper.user_id for scorekeeper in tournament.scorekeepers]
    return caller.user_id in user_ids and tournament.settings.scorekeeping == "user"


def may_see_replies(caller: AuthenticatedCaller, tournament: Tournament, ability: str) -> bool:
    """Whether the caller may see now what was answered to a write that asks for this ability.

    Who has no part in the tournament any more sees nothing; that it is over makes no difference.
    """
    if is_organizer(caller, tournament):
        return True
    if ability in ("manage", "admin"):
        return False
    if caller.device is not None:
        return caller.device.tournament_id == tournament.tournament_id
    keeps_score = any(each.user_id == caller.user_id for each in tournament.scorekeepers)
    return keeps_score or bool(claimed_player_ids(caller, tournament))


def _is_valid_in(device: Device, tournament: Tournament) -> bool:
    """Whether the device belongs to the tournament, which is not completed (it may be reopened)."""
    return device.tournament_id == tournament.tournament_id and tournament.status != "completed"


def claimed_player_ids(caller: AuthenticatedCaller, tournament: Tournament) -> frozenset[int]:
    """Ids of the entrants that the caller has claimed."""
    return frozenset(
        entrant.player_id for entrant in tournament.entrants if entrant.user_id == caller.user_id
    )


def plays_in(caller: AuthenticatedCaller, tournament: Tournament, game: Game) -> bool:
    """Whether the caller is one of the players of a game."""
    return not claimed_player_ids(caller, tournament).isdisjoint(game.player_ids)


def may_report(caller: AuthenticatedCaller, tournament: Tournament, game: Game) -> bool:
    """Whether the caller may report the game's result: its players, their codes, the code of the game."""
    device = caller.device
    if device is None:
        return plays_in(caller, tournament, game)
    is_code_of_game = device.player_id in game.player_ids or device.game_id == game.game_id
    return is_code_of_game and _is_valid_in(device, tournament)


def reporting_player_id(caller: AuthenticatedCaller, tournament: Tournament, game: Game) -> int | None:
    """The player who reports a result; None for the code of a game, whose holder is unknown."""
    if caller.device is not None:
        return caller.device.player_id
    claimed = claimed_player_ids(caller, tournament)
    return next((player_id for player_id in game.player_ids if player_id in claimed), None)


# Rows of an organizer's book: their owners, the fields of a body, references that prevent deletion.
#
# Nothing here speaks SQL; the transaction is the caller's.


class StillInUse(Conflict):
    """A row cannot be deleted while a tournament refers to it."""

    sentence = "{model} {id} is used by {tournaments} and cannot be deleted. {instead}"

    def __init__(self, kind: OwnedKind, row_id: int, *, tournaments: str, instead: str) -> None:
        subject, facts = _subject(kind, row_id)
        template = f"{subject} is used by {{tournaments}} and cannot be deleted. {{instead}}"
        super().__init__(template, tournaments=tournaments, instead=instead, **facts)


def owned_id_in_path(call: Write[Any], kind: OwnedKind, *, is_exclusive: bool = False) -> int:
    """The id in the path, if its row belongs to the caller or the caller is an admin.

    Locks the row. Raises NotFound and NotAllowed.
    """
    row_id = call.ids[kind.path_name]
    owner_id = book.lock_owner(call.db, kind, row_id, is_exclusive=is_exclusive)
    if owner_id != call.user_id and not call.caller.is_admin:
        raise NotAllowed
    return row_id


def sent_values(body: Body, *without: str) -> dict[str, Any]:
    """The fields that were sent, by the names of their columns."""
    return {
        name: value
        for name, value in msgspec.structs.asdict(body).items()
        if value is not UNSET and name not in without
    }


def refuse_used(call: Write[Any], kind: OwnedKind, row_id: int, instead: str) -> None:
    """Raises StillInUse when a tournament refers to the row. `instead` is a sentence: the alternative."""
    tournament_ids = merging.tournaments_using(call.db, kind.key, row_id)
    if tournament_ids:
        noun = "tournament" if len(tournament_ids) == 1 else "tournaments"
        listed = ", ".join(str(tournament_id) for tournament_id in tournament_ids)
        raise StillInUse(kind, row_id, tournaments=f"{noun} {listed}", instead=instead)


def removable_id_in_path(call: Write[Any], kind: OwnedKind, instead: str) -> int:
    """The id in the path, of a row to delete. Raises as `owned_id_in_path` and `refuse_used`."""
    row_id = owned_id_in_path(call, kind, is_exclusive=True)
    refuse_used(call, kind, row_id, instead)
    return row_id


def require_owned_ids(
    call: Write[Any], kind: OwnedKind, field: str, ids: Collection[int], owner_id: int
) -> None:
    """Raises Invalid for an id in a body whose row does not exist or has another owner."""
    owners = book.owners_by_id(call.db, kind, set(ids))
    for row_id in ids:
        if row_id not in owners:
            raise Invalid({field: [f"There is no {kind.model.lower()} {row_id}."]})
        if owners[row_id] != owner_id:
            subject, facts = _subject(kind, row_id)
            sentence = f"{subject} belongs to another organizer. Add one of your own."
            raise Invalid({field: [Sentence(sentence, **facts)]})


def _subject(kind: OwnedKind, row_id: int) -> tuple[str, dict[str, int]]:
    """The row as the subject of a sentence: a slot where pages put a name, or its id."""
    word = kind.model.lower()
    if word in REFERENCE_KINDS:
        return f"{{{word}}}", {word: row_id}
    return f"{kind.model} {row_id}", {}
