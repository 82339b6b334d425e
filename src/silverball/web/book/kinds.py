"""What an organizer's book holds, as data: how each kind is read, and the fields of its form.

A form's fields become the body that the interface takes, so that both refuse the same with the same
sentence; nothing is judged here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from silverball.rules.scoring.curves import CURVES, CUSTOM
from silverball.service.access import AuthenticatedCaller
from silverball.service.arenas import reads as arenas
from silverball.service.locations import reads as locations
from silverball.service.pages import PageRows
from silverball.service.players import reads as players
from silverball.service.series.reads import series
from silverball.store.engine import Db
from silverball.web.console import form_bodies, settings_form
from silverball.web.forms import FormData

# A curve of one's own is a table, which only the interface takes.
SCORINGS = {
    "points": "the points of each night",
    "pingolf": "the strokes of each night, fewest win",
    **{
        one: f"points by place: {one.removeprefix('bg_').replace('_', ' ')}"
        for one in sorted(CURVES - {CUSTOM})
    },
}
STATUSES = {"active": "in use", "inactive": "not in use any more"}


@dataclass(frozen=True, kw_only=True)
class BookField:
    """A field of a form, under the name that the interface has for it."""

    name: str
    label: str
    kind: Literal["text", "number", "decimal", "choice", "flag", "labels"] = "text"
    hint: str = ""
    # Value -> what it is called.
    choices: Mapping[str, str] = field(default_factory=dict)
    default: str = ""


@dataclass(frozen=True, kw_only=True)
class BookSection:
    """One kind of things in the book."""

    name: str
    title: str
    # One of them, in a sentence.
    singular: str
    hint: str
    id_field: str
    fields: tuple[BookField, ...]
    per_page: int
    load_page: Callable[[Db, AuthenticatedCaller, int], PageRows[Any]]
    load_item: Callable[[Db, int, AuthenticatedCaller], Any]
    # By part of a name; only where a book may be long.
    search: Callable[[Db, AuthenticatedCaller, str], Sequence[Any]] | None = None


STATUS = BookField(name="status", label="Status", kind="choice", choices=STATUSES, default="active")
NAME = BookField(name="name", label="Name")
LABELS = BookField(name="labels", label="Labels", kind="labels", hint="With commas between them.")

PLAYERS = BookSection(
    name="players",
    title="Players",
    singular="player",
    hint="Everybody who plays with you. Whoever has an account here can say which player he is.",
    id_field="player_id",
    fields=(NAME, BookField(name="ifpaId", label="Federation number", kind="number"), STATUS, LABELS),
    per_page=players.PER_PAGE,
    load_page=lambda db, who, number: players.owned_by(
        db, who.user_id, players.PlayerQuery(page=number), who
    ),
    load_item=players.find_player,
    search=lambda db, who, words: players.search_players(db, who.user_id, words, who),
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
    per_page=arenas.PER_PAGE,
    load_page=lambda db, who, number: arenas.owned_by(db, who.user_id, arenas.ArenaQuery(page=number)),
    load_item=lambda db, thing_id, _who: arenas.find_arena(db, thing_id),
    search=lambda db, who, words: arenas.search_arenas(db, who.user_id, words),
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
    per_page=locations.PER_PAGE,
    load_page=lambda db, who, number: locations.owned_by(
        db, who.user_id, locations.LocationQuery(page=number)
    ),
    load_item=lambda db, thing_id, _who: locations.find_location(db, thing_id),
)
SERIES = BookSection(
    name="series",
    title="Series",
    singular="series",
    hint="Tournaments that are scored together.",
    id_field="series_id",
    fields=(
        NAME,
        BookField(
            name="scoring",
            label="Scoring",
            kind="choice",
            choices=SCORINGS,
            default="points",
        ),
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
    per_page=series.PER_PAGE,
    load_page=lambda db, who, number: series.series_page(
        db, series.SeriesQuery(owner=who.user_id, page=number), who
    ),
    load_item=series.find_series,
)
SECTIONS: Mapping[str, BookSection] = {one.name: one for one in (PLAYERS, ARENAS, LOCATIONS, SERIES)}


def body_builder(kind: BookSection, *, is_new: bool) -> Callable[[FormData], Mapping[str, Any]]:
    """How a form of this kind becomes a body; a new thing takes its defaults for what is empty."""

    def body(form: FormData) -> Mapping[str, Any]:
        given = {
            one.name: _field_value(one, form)
            for one in kind.fields
            if form.has(one.name) or one.kind == "flag"
        }
        return {name: value for name, value in given.items() if value is not None or not is_new}

    return body


def _field_value(one: BookField, form: FormData) -> Any:
    text = form.value(one.name).strip()
    if one.kind == "flag":
        return bool(text)
    if one.kind == "labels":
        return [label.strip() for label in text.split(",") if label.strip()]
    if not text:
        # A name is asked for by name; of all else there may be none.
        return "" if one.name == NAME.name else None
    if one.kind == "decimal":
        return form_bodies.parse_decimal(text)
    return settings_form.parse_number(text) if one.kind == "number" else text


def field_text(one: BookField, thing: Mapping[str, Any]) -> str:
    """What stands in the field of a thing, as text."""
    value = thing.get(one.name)
    if one.kind == "flag":
        return "on" if value else ""
    if one.kind == "labels":
        return ", ".join(value or ())
    return "" if value is None else str(value)
