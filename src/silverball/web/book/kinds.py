"""What an organizer's book holds, as data: how each kind is read, and the fields of its form.

A form's fields become the body that the interface takes, so that both refuse the same with the same
sentence; nothing is judged here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from silverball.rules.scoring.curves import CURVES, CUSTOM
from silverball.service.access import Caller
from silverball.service.arenas import reads as arenas
from silverball.service.locations import reads as locations
from silverball.service.pages import Found
from silverball.service.players import reads as players
from silverball.service.series import reads as series
from silverball.store.engine import Db
from silverball.web.console import asked, setup
from silverball.web.forms import Form

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
class Field:
    """A field of a form, under the name that the interface has for it."""

    name: str
    label: str
    kind: Literal["text", "number", "decimal", "choice", "flag", "labels"] = "text"
    hint: str = ""
    # Value -> what it is called.
    choices: Mapping[str, str] = field(default_factory=dict)
    start: str = ""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of things in the book."""

    name: str
    title: str
    # One of them, in a sentence.
    one: str
    hint: str
    key: str
    fields: tuple[Field, ...]
    per_page: int
    page: Callable[[Db, Caller, int], Found[Any]]
    read: Callable[[Db, int, Caller], Any]
    # By part of a name; only where a book may be long.
    found: Callable[[Db, Caller, str], Sequence[Any]] | None = None


STATUS = Field(name="status", label="Status", kind="choice", choices=STATUSES, start="active")
NAME = Field(name="name", label="Name")
LABELS = Field(name="labels", label="Labels", kind="labels", hint="With commas between them.")

PLAYERS = Kind(
    name="players",
    title="Players",
    one="player",
    hint="Everybody who plays with you. Whoever has an account here can say which player he is.",
    key="player_id",
    fields=(NAME, Field(name="ifpaId", label="Federation number", kind="number"), STATUS, LABELS),
    per_page=players.PER_PAGE,
    page=lambda db, who, number: players.owned_by(db, who.user_id, players.PlayerQuery(page=number), who),
    read=players.one,
    found=lambda db, who, words: players.found(db, who.user_id, words, who),
)
ARENAS = Kind(
    name="arenas",
    title="Machines",
    one="machine",
    hint="What you play on.",
    key="arena_id",
    fields=(
        NAME,
        Field(name="opdbId", label="OPDB id", hint="So that statistics know which title it is."),
        Field(
            name="categoryId",
            label="Class",
            kind="number",
            hint="A number from 1 to 5, for formats that hand out a machine of each class.",
        ),
        STATUS,
        LABELS,
    ),
    per_page=arenas.PER_PAGE,
    page=lambda db, who, number: arenas.owned_by(db, who.user_id, arenas.ArenaQuery(page=number)),
    read=lambda db, thing_id, _who: arenas.one(db, thing_id),
    found=lambda db, who, words: arenas.found(db, who.user_id, words),
)
LOCATIONS = Kind(
    name="locations",
    title="Locations",
    one="location",
    hint="Where you play; a calendar shows the address.",
    key="location_id",
    fields=(
        NAME,
        Field(name="address", label="Address"),
        Field(name="lat", label="Latitude", kind="decimal", hint="In degrees: 55.605."),
        Field(name="lng", label="Longitude", kind="decimal", hint="In degrees: 13.0038."),
        STATUS,
    ),
    per_page=locations.PER_PAGE,
    page=lambda db, who, number: locations.owned_by(db, who.user_id, locations.LocationQuery(page=number)),
    read=lambda db, thing_id, _who: locations.one(db, thing_id),
)
SERIES = Kind(
    name="series",
    title="Series",
    one="series",
    hint="Tournaments that are scored together.",
    key="series_id",
    fields=(
        NAME,
        Field(
            name="scoring",
            label="Scoring",
            kind="choice",
            choices=SCORINGS,
            start="points",
        ),
        Field(
            name="removedResults",
            label="Results that do not count",
            kind="number",
            hint="2: the two worst nights of each player. -8: only the best eight count. 0: all count.",
            start="0",
        ),
        Field(
            name="status",
            label="Status",
            kind="choice",
            choices={"active": "goes on", "completed": "is over", "inactive": "is put away"},
            start="active",
        ),
        Field(name="test", label="Only a test", kind="flag"),
    ),
    per_page=series.PER_PAGE,
    page=lambda db, who, number: series.page(db, series.SeriesQuery(owner=who.user_id, page=number), who),
    read=series.one,
)
KINDS: Mapping[str, Kind] = {one.name: one for one in (PLAYERS, ARENAS, LOCATIONS, SERIES)}


def said(kind: Kind, *, is_new: bool) -> Callable[[Form], Mapping[str, Any]]:
    """How a form of this kind becomes a body; a new thing takes its defaults for what is empty."""

    def body(form: Form) -> Mapping[str, Any]:
        given = {
            one.name: _value(one, form) for one in kind.fields if form.has(one.name) or one.kind == "flag"
        }
        return {name: value for name, value in given.items() if value is not None or not is_new}

    return body


def _value(one: Field, form: Form) -> Any:
    text = form.one(one.name).strip()
    if one.kind == "flag":
        return bool(text)
    if one.kind == "labels":
        return [label.strip() for label in text.split(",") if label.strip()]
    if not text:
        # A name is asked for by name; of all else there may be none.
        return "" if one.name == NAME.name else None
    if one.kind == "decimal":
        return asked.decimal(text)
    return setup.number(text) if one.kind == "number" else text


def stands(one: Field, thing: Mapping[str, Any]) -> str:
    """What stands in the field of a thing, as text."""
    value = thing.get(one.name)
    if one.kind == "flag":
        return "on" if value else ""
    if one.kind == "labels":
        return ", ".join(value or ())
    return "" if value is None else str(value)
