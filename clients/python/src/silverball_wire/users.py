"""Users: accounts with a login, and their profiles."""

from typing import Any

from silverball_wire.base import UNSET, Instant, UnsetType, Wire
from silverball_wire.federation import FederationRecord
from silverball_wire.players import Club
from silverball_wire.ratings import Rating
from silverball_wire.values import Role


class User(Wire, frozen=True, kw_only=True):
    """A user profile. Source: interface 2.1 and 2.2, wire.yaml User."""

    user_id: int
    business_profile_id: int | None = None
    """Id of a business profile, as imported; null otherwise."""
    club_id: int | None = None
    name: str
    """Name of the person."""
    first_name: str | None = None
    """First name, as imported; null otherwise."""
    last_name: str | None = None
    """Last name, as imported; null otherwise."""
    ifpa_id: int | None
    role: Role
    """`organizer` for those who can organize, `player` for others."""
    flag: str | None
    location: str | None
    """Place that the person named; null when unknown or hidden."""
    pronouns: str | None
    initials: str | None
    ratings_opt_out: bool = False
    stats_opt_out: bool = False
    video_opt_out: bool = False
    profile_opt_out: bool = False
    history_opt_out: bool = False
    history_only_completed: bool = False
    avatar: str | None
    """Address of a picture of the person; null in this version."""
    banner: str | None
    """Address of a banner picture; null in this version."""
    tournament_avatar: str | None
    """Address of a picture for tournaments; null in this version."""
    created_at: Instant
    """When the account was created."""


class OwnProfile(User, frozen=True, kw_only=True):
    """The caller's profile, both bare and under `data`. Source: interface.md 2, row 1."""

    data: User
    """The same profile once more, for clients that look here."""


class Shortcut(Wire, frozen=True, kw_only=True):
    """A custom link. Source: interface.md 2, row 27."""

    shortcut_id: int
    slug: str
    """Word of the custom link."""


class Suspension(Wire, frozen=True, kw_only=True):
    """Whether an account is suspended."""

    user_id: int
    suspended_at: Instant | None
    """When it was suspended; null when it is not."""


class UserCounts(Wire, frozen=True, kw_only=True):
    """Counts of a user's tournaments, played and organized. Source: interface 2.5."""

    tournament_organized_count: int
    """Number of tournaments organized."""
    series_organized_count: int
    """Number of series organized."""
    tournament_play_count: int
    """Number of tournaments played."""
    rating_period_count: int = 0
    """Number of rating periods played."""


class UserBundle(Wire, frozen=True, kw_only=True):
    """A user with their rating, counts and club. Source: interface 2.2, samples/user.json."""

    user: User
    """The profile."""
    rating: Rating | UnsetType = UNSET
    """The rating; absent, not null, without one."""
    ifpa: FederationRecord | None
    """The federation's record, with `includeIfpa`; null otherwise."""
    shortcut: Shortcut | None
    """The custom link of the person; null in this version."""
    plan: dict[str, Any] | None
    """Plan of the account; null in this version."""
    club: Club | None
    """The club of the person; null without one."""
    plan_features: dict[str, Any] | None
    """Features of the plan; null in this version."""
    user_counts: UserCounts | UnsetType = UNSET
    """Counts of tournaments; only with `includeCounts`."""
