"""Operations of `client.users`."""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from silverball_client.calling import M, Request, Resource, operation
from silverball_wire.ratings import AccountNumber
from silverball_wire.users import OwnProfile, Suspension, User, UserBundle


class UsersResource(Resource[M]):
    """Operations of `client.users`."""

    @operation
    def confirm_number(
        self, user_id: int, *, ifpa_id: int, idempotency_key: str | None = None
    ) -> Request[AccountNumber]:
        """Confirm a number of this account: only then its rating is theirs.

        `PUT /api/users/{userId}/federation-number`. Needs a token with the ability `admin`.
        """
        return Request(
            "PUT",
            ("users", user_id, "federation-number"),
            AccountNumber,
            in_data=True,
            body={"ifpaId": ifpa_id},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def get(
        self, user_id: int, *, include_ifpa: bool = False, include_counts: bool = False
    ) -> Request[UserBundle]:
        """A user's profile with rating, federation record, club and counts.

        `GET /api/users/{userId}`.
        """
        return Request(
            "GET",
            ("users", user_id),
            UserBundle,
            query={"includeIfpa": include_ifpa, "includeCounts": include_counts},
        )

    @operation
    def profile(self) -> Request[OwnProfile]:
        """The caller's profile.

        `GET /api/users/profile`.
        """
        return Request(
            "GET",
            ("users", "profile"),
            OwnProfile,
        )

    @operation
    def resolve(self, *, users: Sequence[int]) -> Request[tuple[User, ...]]:
        """Users by their ids.

        `GET /api/users/resolve-unknown`.
        """
        return Request(
            "GET",
            ("users", "resolve-unknown"),
            tuple[User, ...],
            in_data=True,
            query={"users": users},
        )

    @operation
    def suspend(self, user_id: int, *, idempotency_key: str | None = None) -> Request[Suspension]:
        """Suspend an account: its tokens, sign-ins, devices and webhooks are refused at once.

        `PUT /api/users/{userId}/suspension`. Needs a token with the ability `admin`.
        """
        return Request(
            "PUT",
            ("users", user_id, "suspension"),
            Suspension,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def unsuspend(self, user_id: int, *, idempotency_key: str | None = None) -> Request[Suspension]:
        """End the suspension of an account. Its webhooks stay switched off.

        `DELETE /api/users/{userId}/suspension`. Needs a token with the ability `admin`.
        """
        return Request(
            "DELETE",
            ("users", user_id, "suspension"),
            Suspension,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def update_profile(
        self,
        *,
        name: str | UnsetType = UNSET,
        initials: str | UnsetType | None = UNSET,
        pronouns: str | UnsetType | None = UNSET,
        flag: str | UnsetType | None = UNSET,
        location: str | UnsetType | None = UNSET,
        ifpa_id: int | UnsetType | None = UNSET,
        ratings_opt_out: bool | UnsetType = UNSET,
        stats_opt_out: bool | UnsetType = UNSET,
        video_opt_out: bool | UnsetType = UNSET,
        profile_opt_out: bool | UnsetType = UNSET,
        history_opt_out: bool | UnsetType = UNSET,
        history_only_completed: bool | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[OwnProfile]:
        """Change the caller's profile.

        `PATCH /api/users/profile`. Needs a token with the ability `score`.
        """
        return Request(
            "PATCH",
            ("users", "profile"),
            OwnProfile,
            body={
                "name": name,
                "initials": initials,
                "pronouns": pronouns,
                "flag": flag,
                "location": location,
                "ifpaId": ifpa_id,
                "ratingsOptOut": ratings_opt_out,
                "statsOptOut": stats_opt_out,
                "videoOptOut": video_opt_out,
                "profileOptOut": profile_opt_out,
                "historyOptOut": history_opt_out,
                "historyOnlyCompleted": history_only_completed,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def withdraw_number(self, user_id: int, *, idempotency_key: str | None = None) -> Request[AccountNumber]:
        """Withdraw the confirmed number of this account.

        `DELETE /api/users/{userId}/federation-number`. Needs a token with the ability `admin`.
        """
        return Request(
            "DELETE",
            ("users", user_id, "federation-number"),
            AccountNumber,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )
