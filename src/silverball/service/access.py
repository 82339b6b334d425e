"""Callers and their permissions: pure functions over a loaded caller."""

from collections.abc import Collection

from msgspec import Struct

from silverball.rules.model.tournament import Game, Tournament

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
