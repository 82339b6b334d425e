"""Users: accounts with a login, and their profiles."""

from typing import Any

from silverball.wire.base import UNSET, UnsetType, Wire
from silverball.wire.clubs import Club
from silverball.wire.federation import FederationRecord
from silverball.wire.ratings import Rating
from silverball.wire.values import Role


class User(Wire, frozen=True, kw_only=True):
    """A user profile. Source: interface 2.1 and 2.2, wire.yaml User."""

    user_id: int
    business_profile_id: int | None = None
    club_id: int | None = None
    name: str
    first_name: str | None = None
    last_name: str | None = None
    ifpa_id: int | None
    role: Role
    flag: str | None
    location: str | None
    pronouns: str | None
    initials: str | None
    ratings_opt_out: bool = False
    stats_opt_out: bool = False
    video_opt_out: bool = False
    profile_opt_out: bool = False
    history_opt_out: bool = False
    history_only_completed: bool = False
    avatar: str | None
    banner: str | None
    tournament_avatar: str | None
    created_at: str


class OwnProfile(User, frozen=True, kw_only=True):
    """The caller's profile, both bare and under `data`. Source: interface.md 2, row 1."""

    data: User


class Shortcut(Wire, frozen=True, kw_only=True):
    """A custom link. Source: interface.md 2, row 27."""

    shortcut_id: int
    slug: str


class UserCounts(Wire, frozen=True, kw_only=True):
    """Counts of a user's tournaments, played and organized. Source: interface 2.5."""

    tournament_organized_count: int
    series_organized_count: int
    tournament_play_count: int
    rating_period_count: int = 0


class UserBundle(Wire, frozen=True, kw_only=True):
    """A user with their rating, counts and club. Source: interface 2.2, samples/user.json."""

    user: User
    # Absent, not null, for a user without a rating: a client crashes on null (interface.md 2, row 2).
    rating: Rating | UnsetType = UNSET
    ifpa: FederationRecord | None
    shortcut: Shortcut | None
    plan: dict[str, Any] | None
    club: Club | None
    plan_features: dict[str, Any] | None
    user_counts: UserCounts | UnsetType = UNSET
