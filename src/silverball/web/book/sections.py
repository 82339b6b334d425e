"""Sections of an organizer's book, as data: how each is read, and the fields of its form.

A form's fields become the body that the interface takes, so the interface alone decides what is valid.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from silverball.rules.scoring.curves import CURVES, CUSTOM
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.core.calls import PageRows
from silverball.service.players import reads as players
from silverball.service.series import reads as series_reads
from silverball.service.venues import reads as venues_reads
from silverball.store.database.engine import Db
from silverball.web import forms
from silverball.web.forms import FormData

# A custom curve is a table, which only the interface takes.
SCORINGS = {
    "points": "the points of each night",
    "pingolf": "the strokes of each night, fewest win",
    **{
        curve: f"points by place: {curve.removeprefix('bg_').replace('_', ' ')}"
        for curve in sorted(CURVES - {CUSTOM})
    },
}
# Ticked where the player who has the number is meant.
NUMBER_WINS = "numberWins"
STATUSES = {"active": "in use", "inactive": "not in use any more"}


class BookField(Struct, frozen=True, kw_only=True):
    """A field of a form, under its name in the interface."""

    name: str
    label: str
    kind: Literal["text", "number", "decimal", "choice", "flag", "labels"] = "text"
    hint: str = ""
    # Value -> label.
    choices: Mapping[str, str] = msgspec.field(default_factory=dict)
    default: str = ""


class BookSection(Struct, frozen=True, kw_only=True):
    """A section of the book: players, machines, locations or series."""

    name: str
    title: str
    singular: str
    hint: str
    id_field: str
    fields: tuple[BookField, ...]
    per_page: int
    load_page: Callable[[Db, AuthenticatedCaller, int], PageRows[Any]]
    load_item: Callable[[Db, int, AuthenticatedCaller], Any]
    # Finds items by part of a name; only in sections that grow long.
    search: Callable[[Db, AuthenticatedCaller, str], Sequence[Any]] | None = None


def _players_page(db: Db, caller: AuthenticatedCaller, number: int) -> PageRows[Any]:
    return players.owned_by(db, caller.user_id, players.PlayerQuery(page=number), caller)


def _arenas_page(db: Db, caller: AuthenticatedCaller, number: int) -> PageRows[Any]:
    return venues_reads.arenas_owned_by(db, caller.user_id, venues_reads.ArenaQuery(page=number))


def _locations_page(db: Db, caller: AuthenticatedCaller, number: int) -> PageRows[Any]:
    return venues_reads.locations_owned_by(db, caller.user_id, venues_reads.LocationQuery(page=number))


def _series_page(db: Db, caller: AuthenticatedCaller, number: int) -> PageRows[Any]:
    return series_reads.series_page(db, series_reads.SeriesQuery(owner=caller.user_id, page=number), caller)


STATUS = BookField(name="status", label="Status", kind="choice", choices=STATUSES, default="active")
NAME = BookField(name="name", label="Name")
LABELS = BookField(name="labels", label="Labels", kind="labels", hint="With commas between them.")

PLAYERS = BookSection(
    name="players",
    title="Players",
    singular="player",
    hint="Everybody who plays with you. Whoever has an account here can say which player they are.",
    id_field="player_id",
    fields=(NAME, BookField(name="ifpaId", label="Federation number", kind="number"), STATUS, LABELS),
    per_page=players.PER_PAGE,
    load_page=_players_page,
    load_item=players.find_player,
    search=lambda db, caller, words: players.search_players(db, caller.user_id, words, caller),
)
ARENAS = BookSection(
    name="arenas",
    title="Machines",
    singular="machine",
    hint="What you play on.",
    id_field="arena_id",
    fields=(
        NAME,
        BookField(name="opdbId", label="OPDB id", hint="So that statistics know which title it is."),
        BookField(
            name="categoryId",
            label="Class",
            kind="number",
            hint="A number from 1 to 5, for formats that hand out a machine of each class.",
        ),
        STATUS,
        LABELS,
    ),
    per_page=venues_reads.PER_PAGE,
    load_page=_arenas_page,
    load_item=lambda db, arena_id, _caller: venues_reads.find_arena(db, arena_id),
    search=lambda db, caller, words: venues_reads.search_arenas(db, caller.user_id, words),
)
LOCATIONS = BookSection(
    name="locations",
    title="Locations",
    singular="location",
    hint="Where you play; a calendar shows the address.",
    id_field="location_id",
    fields=(
        NAME,
        BookField(name="address", label="Address"),
        BookField(name="lat", label="Latitude", kind="decimal", hint="In degrees: 55.605."),
        BookField(name="lng", label="Longitude", kind="decimal", hint="In degrees: 13.0038."),
        STATUS,
    ),
    per_page=venues_reads.LOCATIONS_PER_PAGE,
    load_page=_locations_page,
    load_item=lambda db, location_id, _caller: venues_reads.find_location(db, location_id),
)
SERIES = BookSection(
    name="series",
    title="Series",
    singular="series",
    hint="Tournaments that are scored together.",
    id_field="series_id",
    fields=(
        NAME,
        BookField(name="scoring", label="Scoring", kind="choice", choices=SCORINGS, default="points"),
        BookField(
            name="removedResults",
            label="Results that do not count",
            kind="number",
            hint="2: the two worst nights of each player. -8: only the best eight count. 0: all count.",
            default="0",
        ),
        BookField(
            name="status",
            label="Status",
            kind="choice",
            choices={"active": "goes on", "completed": "is over", "inactive": "is put away"},
            default="active",
        ),
        BookField(name="test", label="Only a test", kind="flag"),
    ),
    per_page=series_reads.PER_PAGE,
    load_page=_series_page,
    load_item=series_reads.find_series,
)
SECTIONS: Mapping[str, BookSection] = {
    section.name: section for section in (PLAYERS, ARENAS, LOCATIONS, SERIES)
}


def body_builder(section: BookSection, *, is_new: bool) -> Callable[[FormData], Mapping[str, Any]]:
    """A function that builds the body of a section's form; a new item leaves empty fields out."""

    def build_body(form: FormData) -> Mapping[str, Any]:
        fields = [each for each in section.fields if form.has(each.name) or each.kind == "flag"]
        values = {each.name: _field_value(each, form) for each in fields}
        if is_new and form.value(NUMBER_WINS):
            values[NUMBER_WINS] = True
        return {name: value for name, value in values.items() if value is not None or not is_new}

    return build_body


def _field_value(book_field: BookField, form: FormData) -> Any:
    text = form.value(book_field.name).strip()
    if book_field.kind == "flag":
        return bool(text)
    if book_field.kind == "labels":
        return [label.strip() for label in text.split(",") if label.strip()]
    if not text:
        # An empty name is refused by the interface; every other field may be empty.
        return "" if book_field.name == NAME.name else None
    if book_field.kind == "decimal":
        return forms.parse_decimal(text)
    return forms.parse_number(text) if book_field.kind == "number" else text


def field_text(book_field: BookField, item: Mapping[str, Any]) -> str:
    """The item's value of a field, as the form shows it."""
    value = item.get(book_field.name)
    if book_field.kind == "flag":
        return "on" if value else ""
    if book_field.kind == "labels":
        return ", ".join(value or ())
    return "" if value is None else str(value)
