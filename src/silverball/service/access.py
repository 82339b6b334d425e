"""Who is calling and what they may do: pure questions over a loaded caller."""

from collections.abc import Collection
from dataclasses import dataclass

from silverball.rules.model.tournament import Game, Tournament

ABILITIES = ("read", "score", "manage", "admin")
ROLES = ("player", "organizer", "admin")
# The most that a token of an account with this role may do.
HIGHEST_ABILITY = {"player": "score", "organizer": "manage", "admin": "admin"}
SHARED_VIEWER = "shared"
# The user id of a caller who has no account: nobody's.
NO_USER_ID = 0


@dataclass(frozen=True, kw_only=True)
class Device:
    """What speaks for no account, in one tournament: a scorekeeper's browser, or a printed code."""

    device_id: int
    tournament_id: int
    # Who answers for it.
    organizer_id: int
    # What a printed code reports for; a scorekeeper's browser has neither.
    player_id: int | None = None
    game_id: int | None = None

    @property
    def is_scorekeeper(self) -> bool:
        return self.player_id is None and self.game_id is None


@dataclass(frozen=True, kw_only=True)
class AuthenticatedCaller:
    """An account that signed a request, as loaded with its token or session; or a device."""

    user_id: int
    role: str
    # The highest ability of the token; each includes those before it in ABILITIES.
    ability: str
    # Whether the account has any opt-out set: then it sees itself as nobody else does.
    has_opt_outs: bool = False
    # The token whose last use is due to be written down; None when that happened within the minute.
    token_to_note: int | None = None
    # Set when it is no account that calls; `user_id` is NOBODY then.
    device: Device | None = None

    @property
    def is_admin(self) -> bool:
        """Acts as the site's admin: the account's role and the token's ability must both say so."""
        return self.role == "admin" and self.ability == "admin"

    @property
    def idempotency_owner_id(self) -> int:
        """The account among whose idempotency keys this caller's are kept."""
        return self.device.organizer_id if self.device else self.user_id

    def may(self, ability: str) -> bool:
        """Whether the token's ability includes this one."""
        return ABILITIES.index(self.ability) >= ABILITIES.index(ability)

    @property
    def viewer(self) -> str:
        """Callers with the same viewer class see the same answers."""
        if self.is_admin:
            return "admin"
        return f"user {self.user_id}" if self.has_opt_outs else SHARED_VIEWER


def device_caller(device: Device) -> AuthenticatedCaller:
    """A device as a caller: it can record and report, as far as its tournament allows."""
    return AuthenticatedCaller(user_id=NO_USER_ID, role="player", ability="score", device=device)


def abilities_for(role: str) -> tuple[str, ...]:
    """What a token of an account with this role may be given, lowest first."""
    return ABILITIES[: ABILITIES.index(HIGHEST_ABILITY[role]) + 1]


def highest_ability(role: str, abilities: Collection[str]) -> str:
    """The highest of a token's abilities, and never more than its user's role allows."""
    allowed = abilities_for(role)
    wanted = max((ABILITIES.index(one) for one in abilities), default=0)
    return allowed[min(wanted, len(allowed) - 1)]


def sees_hidden_details(viewer: AuthenticatedCaller | None, user_id: int | None) -> bool:
    """Whether a user's opt-outs do not apply: to the user himself and to an admin.

    To himself only when the caller is known to have any: else his answers are shared with others.
    """
    return viewer is not None and (viewer.is_admin or (viewer.has_opt_outs and viewer.user_id == user_id))


def is_organizer(caller: AuthenticatedCaller, tournament: Tournament) -> bool:
    """Whether the tournament is the caller's own, or the caller is an admin."""
    return caller.is_admin or caller.user_id == tournament.details["organizer_id"]


def may_manage(caller: AuthenticatedCaller, tournament: Tournament) -> bool:
    """Whether the caller may do what the organizer may, and with this token."""
    return is_organizer(caller, tournament) and caller.may("manage")


def may_score(caller: AuthenticatedCaller, tournament: Tournament) -> bool:
    """Whether the caller may record results: organizer, admin, or a scorekeeper where there are any."""
    if is_organizer(caller, tournament):
        return True
    if caller.device is not None:
        keeps = caller.device.is_scorekeeper and _is_valid_in(caller.device, tournament)
    else:
        keeps = any(one.user_id == caller.user_id for one in tournament.scorekeepers)
    return keeps and tournament.settings.scorekeeping == "user"


def _is_valid_in(device: Device, tournament: Tournament) -> bool:
    """Whether this is its tournament, and not completed: one that is reopened is open to it again."""
    return device.tournament_id == tournament.tournament_id and tournament.status != "completed"


def claimed_player_ids(caller: AuthenticatedCaller, tournament: Tournament) -> frozenset[int]:
    """Ids of the entrants that the caller has claimed."""
    return frozenset(one.player_id for one in tournament.entrants if one.user_id == caller.user_id)


def plays_in(caller: AuthenticatedCaller, tournament: Tournament, game: Game) -> bool:
    """Whether the caller is one of the players of a game."""
    return not claimed_player_ids(caller, tournament).isdisjoint(game.player_ids)


def may_report(caller: AuthenticatedCaller, tournament: Tournament, game: Game) -> bool:
    """Whether the caller may say how a game ended: its players, and codes of them or of the game."""
    device = caller.device
    if device is None:
        return plays_in(caller, tournament, game)
    is_its = device.player_id in game.player_ids or device.game_id == game.game_id
    return is_its and _is_valid_in(device, tournament)


def reporting_player_id(caller: AuthenticatedCaller, tournament: Tournament, game: Game) -> int | None:
    """The player who says how a game ended; None for the code of a game, which says not who holds it."""
    if caller.device is not None:
        return caller.device.player_id
    own = claimed_player_ids(caller, tournament)
    return next((one for one in game.player_ids if one in own), None)
