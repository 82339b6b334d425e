"""Users: accounts with a login, and their profiles."""

from typing import Any

from msgspec import UNSET, UnsetType

from silverball_client.shapes.base import Shape
from silverball_client.shapes.clubs import Club
from silverball_client.shapes.federation import FederationRecord
from silverball_client.shapes.ratings import Rating


class User(Shape, frozen=True, kw_only=True):
    """A user profile."""

    user_id: int
    business_profile_id: int | None = None
    club_id: int | None = None
    name: str
    first_name: str | None = None
    last_name: str | None = None
    ifpa_id: int | None
    role: str
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
    """The caller's profile, both bare and under `data`."""

    data: User


class Shortcut(Shape, frozen=True, kw_only=True):
    """A custom link."""

    shortcut_id: int
    slug: str


class Suspension(Shape, frozen=True, kw_only=True):
    """Whether an account is suspended."""

    user_id: int
    suspended_at: str | None


class UserCounts(Shape, frozen=True, kw_only=True):
    """Counts of a user's tournaments, played and organized."""

    tournament_organized_count: int
    series_organized_count: int
    tournament_play_count: int
    rating_period_count: int = 0


class UserBundle(Shape, frozen=True, kw_only=True):
    """A user with their rating, counts and club."""

    user: User
    rating: Rating | UnsetType = UNSET
    ifpa: FederationRecord | None
    shortcut: Shortcut | None
    plan: dict[str, Any] | None
    club: Club | None
    plan_features: dict[str, Any] | None
    user_counts: UserCounts | UnsetType = UNSET
