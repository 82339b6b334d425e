"""Objects inside the bodies of requests."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from silverball_wire.imports import ImportDecision
from silverball_wire.values import LinkType


class DecidedMachine(Struct, rename="camel", frozen=True, kw_only=True):
    """A machine of a look, with what was decided about it."""

    line: int | UnsetType = UNSET
    name: str | None | UnsetType = UNSET
    opdb_id: str | None | UnsetType = UNSET
    decision: Literal["new", "arena", "leaveOut"] | None | UnsetType = UNSET


class DecidedRow(Struct, rename="camel", frozen=True, kw_only=True):
    """A row of a look, with what was decided about it."""

    line: int | UnsetType = UNSET
    name: str | None | UnsetType = UNSET
    ifpa_id: int | None | UnsetType = UNSET
    seed: int | None | UnsetType = UNSET
    decision: ImportDecision | None | UnsetType = UNSET
    player_id: int | None | UnsetType = UNSET
    same_as: int | None | UnsetType = UNSET


class NewEntryBundle(Struct, rename="camel", frozen=True, kw_only=True):
    """Several entries at one price."""

    entries: int
    price: int | float


class EntrySales(Struct, rename="camel", frozen=True, kw_only=True):
    """The entries that players get free of charge, and the prices of more."""

    limited: bool | UnsetType = UNSET
    automatic_entries: int | UnsetType = UNSET
    price: int | float | None | UnsetType = UNSET
    currency: str | None | UnsetType = UNSET
    bundles: Sequence[NewEntryBundle] | UnsetType = UNSET


class ListedEntrantPatch(Struct, rename="camel", frozen=True, kw_only=True):
    """Changes to one player of a list."""

    seed: int | UnsetType | None = UNSET
    labels: Sequence[str] | UnsetType = UNSET
    label_color: str | UnsetType | None = UNSET
    status: Literal["active", "inactive"] | UnsetType = UNSET
    points_adjustment: Decimal | float | UnsetType = UNSET
    score_adjustment: Decimal | float | UnsetType = UNSET
    away_rounds: int | UnsetType = UNSET
    open_game: Literal["keep", "last", "fewer"] | UnsetType = UNSET
    player_id: int


class NewBand(Struct, rename="camel", frozen=True, kw_only=True):
    """A band of the standings that reaches a playoff."""

    index: int
    value: int
    cumulative: int
    text: str
    color: str | None | UnsetType = UNSET


class NewEntrant(Struct, rename="camel", frozen=True, kw_only=True):
    """A player of the organizer's book by id, or a new player by name."""

    player_id: int | UnsetType = UNSET
    name: str | UnsetType = UNSET
    ifpa_id: int | UnsetType | None = UNSET
    number_wins: bool | UnsetType = UNSET
    strikes: int | UnsetType = UNSET
    points_adjustment: Decimal | float | UnsetType = UNSET
    seed: int | UnsetType | None = UNSET
    labels: Sequence[str] | UnsetType = UNSET
    label_color: str | UnsetType | None = UNSET
    game_id: int | UnsetType = UNSET


class NewFinal(Struct, rename="camel", frozen=True, kw_only=True):
    """A step to a final: who goes on, and into what."""

    name: str
    type: str
    players: int | None | UnsetType = UNSET
    half: bool | UnsetType = UNSET
    within: Decimal | float | None | UnsetType = UNSET
    settings: Mapping[str, Any] | UnsetType = UNSET


class NewLineupArena(Struct, rename="camel", frozen=True, kw_only=True):
    """An arena of the organizer's book."""

    labels: Sequence[str] | UnsetType = UNSET
    label_color: str | UnsetType | None = UNSET
    status: Literal["active", "inactive"] | UnsetType = UNSET
    preferred: bool | UnsetType = UNSET
    amazing_race_seed: int | UnsetType | None = UNSET
    best_game_blocked: bool | UnsetType = UNSET
    best_game_queue_closed: bool | UnsetType = UNSET
    arena_id: int


class NewOccasionLink(Struct, rename="camel", frozen=True, kw_only=True):
    """A link on the page of an occasion."""

    label: str
    url: str
    is_registration: bool | UnsetType = UNSET
    embed: bool | UnsetType = UNSET


class NewOccasionTournament(Struct, rename="camel", frozen=True, kw_only=True):
    """A tournament of an occasion: one of this service, or the name of one on another site."""

    tournament_id: int | None | UnsetType = UNSET
    labels: Sequence[str] | UnsetType = UNSET
    label_color: str | None | UnsetType = UNSET
    player_limit: int | None | UnsetType = UNSET
    tgp: int | None | UnsetType = UNSET
    external_name: str | None | UnsetType = UNSET
    external_link: str | None | UnsetType = UNSET
    external_location: str | None | UnsetType = UNSET
    external_start_utc: datetime | str | None | UnsetType = UNSET
    external_end_utc: datetime | str | None | UnsetType = UNSET


class NewPayment(Struct, rename="camel", frozen=True, kw_only=True):
    """A payment at the door, and the way it was made."""

    cents: int
    how: str


class PlayerSwap(Struct, rename="camel", frozen=True, kw_only=True):
    """A player of the game and the player who takes the seat."""

    player_id: int
    with_player_id: int


class Registration(Struct, rename="camel", frozen=True, kw_only=True):
    """Registration of players: when it opens and closes, and what it asks for."""

    status: Literal["active", "inactive"] | UnsetType = UNSET
    type: str | UnsetType = UNSET
    self_checkin_status: str | UnsetType = UNSET
    has_self_checkin: bool | UnsetType = UNSET
    request_email: bool | UnsetType = UNSET
    request_phone: bool | UnsetType = UNSET
    player_limit: int | None | UnsetType = UNSET
    has_waitlist: bool | UnsetType = UNSET
    public_list: bool | UnsetType = UNSET
    show_description: bool | UnsetType = UNSET
    custom1: str | None | UnsetType = UNSET
    custom2: str | None | UnsetType = UNSET
    custom3: str | None | UnsetType = UNSET
    open_at_utc: datetime | str | None | UnsetType = UNSET
    close_at_utc: datetime | str | None | UnsetType = UNSET


class ResultCorrection(Struct, rename="camel", frozen=True, kw_only=True):
    """Why a result is corrected, and what becomes of players who are back in or out by it."""

    reason: str | None | UnsetType = UNSET
    missed_rounds: Mapping[int, Decimal | float] | UnsetType = UNSET
    take_out: Sequence[int] | UnsetType = UNSET


class SettledPlayer(Struct, rename="camel", frozen=True, kw_only=True):
    """A player's federation number, or null for a player without one."""

    index: int | UnsetType = UNSET
    name: str | UnsetType = UNSET
    ifpa_id: int | None


class ShownNumber(Struct, rename="camel", frozen=True, kw_only=True):
    """An account with a number, as the list showed them."""

    user_id: int
    ifpa_id: int


class TournamentLink(Struct, rename="camel", frozen=True, kw_only=True):
    """A link to a tournament that precedes or follows this one."""

    tournament_id: int
    link_type: LinkType
    link_index: int | None | UnsetType = UNSET
