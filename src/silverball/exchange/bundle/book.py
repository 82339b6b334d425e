"""The rows of a checked bundle's users, and of all that its organizer owns."""

from collections.abc import Iterator
from typing import Any

import msgspec

from silverball.exchange.bundle.checks import tuple_or_empty
from silverball.exchange.bundle.rows import optional_moment, scorekeepers
from silverball.service.moving.writes import BundleContents
from silverball_wire import base
from silverball_wire.arenas import Arena, Location
from silverball_wire.base import UnsetType
from silverball_wire.bundle import Bundle
from silverball_wire.parts import OccasionListItem
from silverball_wire.players import Player
from silverball_wire.series import Series
from silverball_wire.users import User

Row = dict[str, Any]


def build_book(bundle: Bundle) -> BundleContents:
    """The rows of all that the bundle contains or names beside its tournament."""
    tournament = bundle.tournament
    named = _user_names(bundle)
    users = {user.user_id: _user_row(user) for user in _contained_users(bundle) if user.user_id in named}
    series = _find_series(bundle)
    banks = tuple_or_empty(bundle.banks) or tuple_or_empty(tournament.banks)
    event = _value_or_none(tournament.event)
    is_series_named = tournament.series_id is not None and series is None
    return BundleContents(
        organizer_id=tournament.organizer_id,
        users=list(users.values()),
        locations=[_stored_fields(location) for location in _locations(bundle)],
        series=[] if series is None else [_series_row(series)],
        arenas=[_fields_without(arena, "tournament_arena") for arena in _arenas(bundle)],
        players=[_fields_without(player, "tournament_player") for player in _players(bundle)],
        banks=[_fields_without(bank, "arena_ids") for bank in banks],
        bank_arenas=[
            {"bank_id": bank.bank_id, "place": place, "arena_id": arena_id}
            for bank in banks
            for place, arena_id in enumerate(bank.arena_ids)
        ],
        occasions=[] if event is None else [_occasion_row(event)],
        users_named={user_id: name for user_id, name in named.items() if user_id not in users},
        series_named=[tournament.series_id] if is_series_named and tournament.series_id else [],
    )


def _players(bundle: Bundle) -> tuple[Player, ...]:
    """The players of the tournament, and those that its sign-up list and its journal name besides."""
    others = (*tuple_or_empty(bundle.sign_up_players), *tuple_or_empty(bundle.former_players))
    return (*tuple_or_empty(bundle.tournament.players), *others)


def _arenas(bundle: Bundle) -> tuple[Arena, ...]:
    """The arenas of the tournament, and those that its journal names besides."""
    return (*tuple_or_empty(bundle.tournament.arenas), *tuple_or_empty(bundle.former_arenas))


def _find_series(bundle: Bundle) -> Series | None:
    series: Series | None = _value_or_none(bundle.series) or _value_or_none(bundle.tournament.series)
    return series


def _contained_users(bundle: Bundle) -> Iterator[User]:
    """The users in the bundle; the organizer comes last, so that a later entry never replaces theirs."""
    yield from scorekeepers(bundle)
    series = _find_series(bundle)
    contained = [] if series is None else [_value_or_none(series.organizer)]
    for user in (*contained, _value_or_none(bundle.tournament.organizer)):
        if user is not None:
            yield user


def _user_names(bundle: Bundle) -> dict[int, str]:
    """Every user id in the bundle, with the name that a placeholder user gets."""
    named: dict[int, str] = {}
    for player in _players(bundle):
        if player.claimed_by is not None:
            named[player.claimed_by] = player.name
    for user_id in _user_ids(bundle):
        if user_id is not None:
            named.setdefault(user_id, f"User {user_id}")
    return named


def _user_ids(bundle: Bundle) -> Iterator[int | None]:
    tournament = bundle.tournament
    yield tournament.organizer_id
    owned: list[Any] = [*_players(bundle), *_arenas(bundle), *_locations(bundle)]
    owned += [*tuple_or_empty(bundle.banks), *tuple_or_empty(tournament.banks)]
    owned += [part for part in (_find_series(bundle), _value_or_none(tournament.event)) if part is not None]
    yield from (item.organizer_id for item in owned)
    yield from (user.user_id for user in scorekeepers(bundle))
    yield from (line.actor_id for line in tuple_or_empty(bundle.journal))
    if not isinstance(bundle.engine, UnsetType):
        yield from (note.user_id for note in tuple_or_empty(bundle.engine.notes))
    for game in bundle.games:
        yield game.scorekeeper_id
    for card in tuple_or_empty(bundle.cards):
        yield from (game.scorekeeper_id for game in card.single_player_games)
    yield from (game.scorekeeper_id for game in tuple_or_empty(bundle.single_player_games))


def _locations(bundle: Bundle) -> Iterator[Location]:
    event = _value_or_none(bundle.tournament.event)
    at_event = None if event is None else _value_or_none(event.location)
    at_tournament = _value_or_none(bundle.tournament.location)
    if at_tournament is not None:
        yield at_tournament
    if at_event is not None and (at_tournament is None or at_event.location_id != at_tournament.location_id):
        yield at_event


def _user_row(user: User) -> Row:
    return {**_stored_fields(user), "created_at": base.parse_moment(user.created_at)}


def _series_row(series: Series) -> Row:
    row = _fields_without(series, "organizer", "rsvp_configuration")
    return {
        **row,
        "playoffs_cutoffs": msgspec.to_builtins(series.playoffs_cutoffs),
        "rsvp_configuration": msgspec.to_builtins(_value_or_none(series.rsvp_configuration)),
    }


def _occasion_row(occasion: OccasionListItem) -> Row:
    row = _fields_without(occasion, "event_id", "is_favorite", "location")
    return {
        "occasion_id": occasion.event_id,
        **row,
        "start_utc": base.parse_moment(occasion.start_utc),
        "end_utc": optional_moment(occasion.end_utc),
        "registration_utc": optional_moment(occasion.registration_utc),
    }


def _stored_fields(shape: msgspec.Struct) -> Row:
    """The fields of a shape as stored values; the names are the same."""
    fields = msgspec.structs.asdict(shape)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


def _fields_without(shape: msgspec.Struct, *names: str) -> Row:
    return {name: value for name, value in _stored_fields(shape).items() if name not in names}


def _value_or_none(part: Any) -> Any:
    return None if isinstance(part, UnsetType) else part
