"""Operations of `client.tournaments`: from start to end."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, Unpack

from msgspec import UNSET, UnsetType

from silverball_client.bodies import EntrySales, NewFinal, Registration, TournamentLink
from silverball_client.calling import Alternatives, M, Request, Resource, chosen, operation
from silverball_client.options import FormatSettings, SettingsAndParts, TournamentParts
from silverball_wire.finals import Finals
from silverball_wire.games import Game
from silverball_wire.prizes import PrizeMoney
from silverball_wire.singleplayer import SinglePlayerGame
from silverball_wire.standings import SentResults, Standing
from silverball_wire.tournaments import PairsApart, Tournament


class TournamentChanges(Resource[M]):
    """Operations of `client.tournaments`: from start to end."""

    @operation
    def advance_in_amazing_race(
        self, tournament_id: int, player_id: int, *, idempotency_key: str | None = None
    ) -> Request[SinglePlayerGame]:
        """Advance a player of an amazing race who is above the bar, without an exact score.

        `POST /api/tournaments/{tournamentId}/amazing-race/{playerId}/advance`. Needs a token with the ability
        `score`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "amazing-race", player_id, "advance"),
            SinglePlayerGame,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def break_tie(
        self,
        tournament_id: int,
        *,
        player_ids: Sequence[int] | UnsetType = UNSET,
        order: Sequence[int] | UnsetType = UNSET,
        draw: Sequence[int] | UnsetType = UNSET,
        forget: Sequence[int] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[tuple[Game, ...] | tuple[Standing, ...]]:
        """Open a tiebreak of `playerIds`; or set, `draw` or `forget` an `order`, and answer the standings.

        `POST /api/tournaments/{tournamentId}/tiebreaks`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "tiebreaks"),
            Alternatives((tuple[Standing, ...], tuple[Game, ...])),
            in_data=True,
            body={"playerIds": player_ids, "order": order, "draw": draw, "forget": forget},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def complete(
        self,
        tournament_id: int,
        *,
        open_round: Literal["keep", "drop"] | UnsetType = UNSET,
        idempotency_key: str | None = None,
        **options: Unpack[TournamentParts],
    ) -> Request[Tournament]:
        """Complete a tournament; unfinished games are removed, and on request the round that is open.

        `POST /api/tournaments/{tournamentId}/complete`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "complete"),
            Tournament,
            in_data=True,
            query=chosen(options, TournamentParts, TournamentParts),
            body={"openRound": open_round},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def create(
        self,
        *,
        name: str,
        type: str,
        description: str | UnsetType | None = UNSET,
        start_utc: datetime | str | UnsetType = UNSET,
        start_local: str | UnsetType = UNSET,
        end_utc: datetime | str | UnsetType | None = UNSET,
        end_local: str | UnsetType | None = UNSET,
        timezone: str | UnsetType = UNSET,
        location_id: int | UnsetType | None = UNSET,
        series_id: int | UnsetType | None = UNSET,
        event_id: int | UnsetType | None = UNSET,
        test: bool | UnsetType = UNSET,
        womens: bool | UnsetType = UNSET,
        points_map_custom: Mapping[str, Any] | UnsetType | None = UNSET,
        tiebreaker_points_map: Sequence[Sequence[str]] | UnsetType | None = UNSET,
        links: Sequence[TournamentLink] | UnsetType = UNSET,
        rsvp_configuration: Registration | UnsetType | None = UNSET,
        entry_configuration: EntrySales | UnsetType | None = UNSET,
        shortcut: str | UnsetType | None = UNSET,
        motd_text: str | UnsetType | None = UNSET,
        motd_color: str | UnsetType | None = UNSET,
        motd_expiration: str | UnsetType | None = UNSET,
        finals: Sequence[NewFinal] | UnsetType = UNSET,
        idempotency_key: str | None = None,
        **options: Unpack[SettingsAndParts],
    ) -> Request[Tournament]:
        """Create a tournament with the settings of its format; omitted fields get their defaults.

        `POST /api/tournaments`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments",),
            Tournament,
            in_data=True,
            query=chosen(options, TournamentParts, SettingsAndParts),
            body={
                "description": description,
                "startUtc": start_utc,
                "startLocal": start_local,
                "endUtc": end_utc,
                "endLocal": end_local,
                "timezone": timezone,
                "locationId": location_id,
                "seriesId": series_id,
                "eventId": event_id,
                "test": test,
                "womens": womens,
                "pointsMapCustom": points_map_custom,
                "tiebreakerPointsMap": tiebreaker_points_map,
                "links": links,
                "rsvpConfiguration": rsvp_configuration,
                "entryConfiguration": entry_configuration,
                "shortcut": shortcut,
                "motdText": motd_text,
                "motdColor": motd_color,
                "motdExpiration": motd_expiration,
                "name": name,
                "type": type,
                "finals": finals,
            }
            | chosen(options, FormatSettings, SettingsAndParts),
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def create_playoffs(
        self,
        tournament_id: int,
        *,
        type: str | UnsetType = UNSET,
        players: int | Sequence[int] | UnsetType = UNSET,
        band: int | UnsetType = UNSET,
        half: Literal[True] | UnsetType = UNSET,
        within: Decimal | float | UnsetType = UNSET,
        final: int | UnsetType = UNSET,
        name: str | UnsetType = UNSET,
        settings: Mapping[str, Any] | UnsetType = UNSET,
        idempotency_key: str | None = None,
        **options: Unpack[TournamentParts],
    ) -> Request[Tournament]:
        """Create a tournament for the best of this one, seeded by place and linked.

        `POST /api/tournaments/{tournamentId}/playoffs`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "playoffs"),
            Tournament,
            in_data=True,
            query=chosen(options, TournamentParts, TournamentParts),
            body={
                "type": type,
                "players": players,
                "band": band,
                "half": half,
                "within": within,
                "final": final,
                "name": name,
                "settings": settings,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def delete(
        self, tournament_id: int, *, idempotency_key: str | None = None, **options: Unpack[TournamentParts]
    ) -> Request[Tournament]:
        """Delete a planned tournament; answers its last state.

        `DELETE /api/tournaments/{tournamentId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "DELETE",
            ("tournaments", tournament_id),
            Tournament,
            in_data=True,
            query=chosen(options, TournamentParts, TournamentParts),
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def finals_follow(
        self,
        tournament_id: int,
        *,
        next_in_line: bool | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Finals]:
        """Let a final without results take over what its source gives now, start taken back.

        `POST /api/tournaments/{tournamentId}/finals/follow`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "finals", "follow"),
            Finals,
            in_data=True,
            body={"nextInLine": next_in_line},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def mark_prize_paid(
        self, tournament_id: int, player_id: int, *, paid: bool, idempotency_key: str | None = None
    ) -> Request[PrizeMoney]:
        """Tick that a player was given their prize, or take the tick back.

        `PUT /api/tournaments/{tournamentId}/prizes/players/{playerId}`. Needs a token with the ability
        `manage`.
        """
        return Request(
            "PUT",
            ("tournaments", tournament_id, "prizes", "players", player_id),
            PrizeMoney,
            in_data=True,
            body={"paid": paid},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def mark_results_sent(
        self,
        tournament_id: int,
        *,
        sent: bool,
        players: Sequence[int] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[SentResults]:
        """Note that the results of an event were sent to the federation, or take the note back.

        `PUT /api/tournaments/{tournamentId}/federation-results/sent`. Needs a token with the ability
        `manage`.
        """
        return Request(
            "PUT",
            ("tournaments", tournament_id, "federation-results", "sent"),
            SentResults,
            in_data=True,
            body={"sent": sent, "players": players},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def reopen(
        self, tournament_id: int, *, idempotency_key: str | None = None, **options: Unpack[TournamentParts]
    ) -> Request[Tournament]:
        """Reopen a completed tournament.

        `POST /api/tournaments/{tournamentId}/reopen`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "reopen"),
            Tournament,
            in_data=True,
            query=chosen(options, TournamentParts, TournamentParts),
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def set_finals(
        self, tournament_id: int, *, steps: Sequence[NewFinal], idempotency_key: str | None = None
    ) -> Request[Finals]:
        """Set the finals that a tournament leads to.

        `PUT /api/tournaments/{tournamentId}/finals`. Needs a token with the ability `manage`.
        """
        return Request(
            "PUT",
            ("tournaments", tournament_id, "finals"),
            Finals,
            in_data=True,
            body={"steps": steps},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def set_pairs_apart(
        self, tournament_id: int, *, pairs: Sequence[Sequence[int]], idempotency_key: str | None = None
    ) -> Request[PairsApart]:
        """Set the pairs of players whom draws keep apart.

        `PUT /api/tournaments/{tournamentId}/pairs-apart`. Needs a token with the ability `manage`.
        """
        return Request(
            "PUT",
            ("tournaments", tournament_id, "pairs-apart"),
            PairsApart,
            in_data=True,
            body={"pairs": pairs},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def set_prizes(
        self,
        tournament_id: int,
        *,
        entry_fee: int | UnsetType = UNSET,
        players_paid: int | None | UnsetType = UNSET,
        from_payments: bool | UnsetType = UNSET,
        extras: int | UnsetType = UNSET,
        federation_fee: int | UnsetType = UNSET,
        house_share: int | UnsetType = UNSET,
        shares: Sequence[int] | UnsetType = UNSET,
        places: int | None | UnsetType = UNSET,
        rounding: int | UnsetType = UNSET,
        currency: str | None | UnsetType = UNSET,
        published: bool | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[PrizeMoney]:
        """Set the prize money of a tournament and its shares, or replace them.

        `PUT /api/tournaments/{tournamentId}/prizes`. Needs a token with the ability `manage`.
        """
        return Request(
            "PUT",
            ("tournaments", tournament_id, "prizes"),
            PrizeMoney,
            in_data=True,
            body={
                "entryFee": entry_fee,
                "playersPaid": players_paid,
                "fromPayments": from_payments,
                "extras": extras,
                "federationFee": federation_fee,
                "houseShare": house_share,
                "shares": shares,
                "places": places,
                "rounding": rounding,
                "currency": currency,
                "published": published,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def start(
        self, tournament_id: int, *, idempotency_key: str | None = None, **options: Unpack[TournamentParts]
    ) -> Request[Tournament]:
        """Start a tournament: freeze the seeds, and draw the schedule if it is a full one.

        `POST /api/tournaments/{tournamentId}/start`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "start"),
            Tournament,
            in_data=True,
            query=chosen(options, TournamentParts, TournamentParts),
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def undo(
        self,
        tournament_id: int,
        *,
        action: int,
        idempotency_key: str | None = None,
        **options: Unpack[TournamentParts],
    ) -> Request[Tournament]:
        """Undo the newest action with everything that followed from it.

        `POST /api/tournaments/{tournamentId}/undo`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "undo"),
            Tournament,
            in_data=True,
            query=chosen(options, TournamentParts, TournamentParts),
            body={"action": action},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def update(
        self,
        tournament_id: int,
        *,
        description: str | UnsetType | None = UNSET,
        start_utc: datetime | str | UnsetType = UNSET,
        start_local: str | UnsetType = UNSET,
        end_utc: datetime | str | UnsetType | None = UNSET,
        end_local: str | UnsetType | None = UNSET,
        timezone: str | UnsetType = UNSET,
        location_id: int | UnsetType | None = UNSET,
        series_id: int | UnsetType | None = UNSET,
        event_id: int | UnsetType | None = UNSET,
        test: bool | UnsetType = UNSET,
        womens: bool | UnsetType = UNSET,
        points_map_custom: Mapping[str, Any] | UnsetType | None = UNSET,
        tiebreaker_points_map: Sequence[Sequence[str]] | UnsetType | None = UNSET,
        links: Sequence[TournamentLink] | UnsetType = UNSET,
        rsvp_configuration: Registration | UnsetType | None = UNSET,
        entry_configuration: EntrySales | UnsetType | None = UNSET,
        shortcut: str | UnsetType | None = UNSET,
        motd_text: str | UnsetType | None = UNSET,
        motd_color: str | UnsetType | None = UNSET,
        motd_expiration: str | UnsetType | None = UNSET,
        name: str | UnsetType = UNSET,
        idempotency_key: str | None = None,
        **options: Unpack[SettingsAndParts],
    ) -> Request[Tournament]:
        """Change settings, texts, times or ties; some are fixed after the start.

        `PATCH /api/tournaments/{tournamentId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "PATCH",
            ("tournaments", tournament_id),
            Tournament,
            in_data=True,
            query=chosen(options, TournamentParts, SettingsAndParts),
            body={
                "description": description,
                "startUtc": start_utc,
                "startLocal": start_local,
                "endUtc": end_utc,
                "endLocal": end_local,
                "timezone": timezone,
                "locationId": location_id,
                "seriesId": series_id,
                "eventId": event_id,
                "test": test,
                "womens": womens,
                "pointsMapCustom": points_map_custom,
                "tiebreakerPointsMap": tiebreaker_points_map,
                "links": links,
                "rsvpConfiguration": rsvp_configuration,
                "entryConfiguration": entry_configuration,
                "shortcut": shortcut,
                "motdText": motd_text,
                "motdColor": motd_color,
                "motdExpiration": motd_expiration,
                "name": name,
            }
            | chosen(options, FormatSettings, SettingsAndParts),
            is_write=True,
            idempotency_key=idempotency_key,
        )
