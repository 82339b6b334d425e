"""The fields of a tournament and of its parts: how each is stored, published, carried away and announced.

Tables, snapshots, answers, bodies, bundles, exports of an account and bulk files are made from this. The
Structs of the rules and of the wire stay written classes; tests hold them equal to it.
"""

from collections.abc import Callable
from copy import copy
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct

from silverball.kit.conversions import convert
from silverball.rules.model.tournament import Leg

# The type of a column; None for what is derived, or stored in rows of another table.
Kind = Literal["key", "part_key", "reference", "text", "integer", "flag", "json", "moment", "points", "stamp"]
# Who may see a value: everybody, who runs the tournament, its organizer, the person whom it is about, or
# nobody outside of the program.
Audience = Literal["public", "staff", "organizer", "person", "secret"]
# Where a field of a tournament is in the snapshot: an attribute, a detail (a fact without a rule), or
# nowhere.
Place = Literal["attribute", "detail", "row"]


class Presence(Struct, frozen=True):
    """When the published shape has a field."""

    kind: Literal["always", "null_when_empty", "absent_when_empty", "include"]
    flag: str = ""


ALWAYS = Presence("always")
NULL_WHEN_EMPTY = Presence("null_when_empty")
ABSENT_WHEN_EMPTY = Presence("absent_when_empty")


def include(flag: str) -> Presence:
    """In answers to requests with this flag only."""
    return Presence("include", flag)


class StoredForm(Struct, frozen=True):
    """How a value is written in its column; None where it is written as it is."""

    read: Callable[[Any], Any] | None = None
    write: Callable[[Any], Any] | None = None


AS_IT_IS = StoredForm()
ACTIVE_WORD = StoredForm(
    lambda word: word == "active", lambda is_active: "active" if is_active else "inactive"
)
LIST = StoredForm(tuple, list)
LIST_OR_NULL = StoredForm(lambda items: tuple(items or ()), lambda items: list(items) or None)
FLAG_OR_NULL = StoredForm(bool)
COUNT_OR_NULL = StoredForm(lambda count: count or 0)
UNSET_OR_NULL = StoredForm(
    lambda value: UNSET if value is None else value, lambda value: None if value is UNSET else value
)
UNSET_OR_TRUE = StoredForm(lambda flag: True if flag else UNSET, lambda flag: True if flag else None)
LEGS = StoredForm(
    lambda legs: () if legs is None else convert(legs, tuple[Leg, ...]),
    lambda legs: msgspec.to_builtins(legs) if legs else None,
)
# A field that bodies do not set, and one that starts without a value.
NOTHING = UNSET


class PartField(Struct, frozen=True):
    """A field of a part. Its name is the attribute, and the key in the journal, which never changes."""

    name: str
    kind: Kind | None
    # The column where its name is another; whether it may be null; the key that it refers to.
    column: str = ""
    null: bool = False
    refers_to: str = ""
    cascades: bool = False
    form: StoredForm = AS_IT_IS
    place: Place = "attribute"
    # The attribute of the published shape where its name is another; None for what no shape shows.
    shown_as: str | None = ""
    presence: Presence = ALWAYS
    audience: Audience = "public"
    # A bundle carries it in the published shape, as a fact of the engine, or not at all.
    bundle: Literal["shape", "facts", "no"] = "shape"
    # The sentence of its column in the bulk files; empty for what they do not have.
    bulk: str = ""
    # Whether its change is announced on the tournament's channel, and to tournaments that link to it too.
    announced: Literal["here", "to_linked", "no"] = "here"
    # Of a detail: its first value; a null detail without one is left out, as in journals from before it.
    blank: Any = NOTHING
    # How bodies set a detail: as it is sent, after a check of its own, or not at all. A body that is not
    # written with this field takes this type.
    entered: Literal["as_sent", "checked", "no"] = "no"
    entered_type: Any = None
    # Whether playoffs begin with the value of their qualifying.
    is_inherited: bool = False

    @property
    def stored_in(self) -> str:
        """The name of the column."""
        return self.column or self.name

    @property
    def published(self) -> str | None:
        """The attribute of the published shape; None for what no shape shows."""
        return self.name if self.shown_as == "" else self.shown_as

    @property
    def is_left_out(self) -> bool:
        """Whether the details do not have it when it is null."""
        return self.null and self.blank is NOTHING


def row_only(name: str, kind: Kind, **facts: Any) -> PartField:
    """A column of which the rules know nothing, and which no shape shows."""
    return PartField(
        name, kind, **{"place": "row", "shown_as": None, "bundle": "no", "announced": "no", **facts}
    )


def shown_only(name: str, presence: Presence = ALWAYS) -> PartField:
    """A field of the published shape that is made from rows of other tables."""
    return PartField(name, None, place="row", presence=presence, announced="no")


def detail(name: str, kind: Kind | None, **facts: Any) -> PartField:
    """A fact without a rule."""
    return PartField(name, kind, place="detail", **facts)


_TOURNAMENT_ID = row_only(
    "tournament_id",
    "reference",
    refers_to="tournament.tournament_id",
    cascades=True,
    shown_as="",
    bundle="shape",
)
# In the order of the columns.
TOURNAMENT = (
    PartField("tournament_id", "key", bulk="Id of the tournament."),
    detail("name", "text", entered="as_sent", announced="to_linked", bulk="Name of the tournament."),
    PartField("status", "text"),
    PartField("type", "text", bulk="Format, such as `group_matchplay`."),
    detail("description", "text", null=True, blank=None, entered="as_sent"),
    detail(
        "start_utc",
        "moment",
        entered="checked",
        bulk="Start. The tournament is in the files of its month.",
    ),
    detail("start_local", "text", entered="checked"),
    detail("end_utc", "moment", null=True, blank=None, entered="checked"),
    detail("end_local", "text", null=True, blank=None, entered="checked"),
    PartField("completed_at", "moment", null=True, bulk="Time at which the tournament was completed."),
    PartField("created_at", "moment", place="row"),
    PartField("updated_at", "moment", place="row"),
    detail(
        "timezone",
        "text",
        blank="UTC",
        entered="checked",
        is_inherited=True,
        bulk="Time zone of the place, such as `Europe/Berlin`.",
    ),
    detail("organizer_id", "reference", refers_to="user.user_id", bulk="User id of the organizer."),
    detail(
        "location_id",
        "reference",
        null=True,
        blank=None,
        refers_to="location.location_id",
        entered="as_sent",
        is_inherited=True,
        bulk="Id of the location; empty without one.",
    ),
    detail(
        "series_id",
        "reference",
        null=True,
        blank=None,
        refers_to="series.series_id",
        entered="as_sent",
        bulk="Id of the series; empty outside of series.",
    ),
    detail("test", "flag", blank=False, entered="as_sent", announced="to_linked", is_inherited=True),
    detail("link", "text", null=True, blank=None),
    detail("linked_tournament_id", "integer", null=True, blank=None),
    detail("estimated_tgp", "json", null=True, blank=None),
    PartField("points_map", "json", null=True),
    PartField("tiebreaker_points_map", "json", null=True, entered="checked"),
    detail("points_map_custom", "json", null=True, blank=None, entered="as_sent"),
    detail("primary_config_settings", "json", blank=[]),
    detail("prize_pool", "json", null=True, blank=None),
    detail("motd_text", "text", null=True, blank=None, entered="as_sent"),
    detail("motd_color", "text", null=True, blank=None, entered="as_sent"),
    detail("motd_expiration", "text", null=True, blank=None, entered="as_sent"),
    detail("managers", "json", blank=[]),
    # Wire key -> value, only the keys that the format has: its Struct says which.
    PartField("settings", "json", shown_as=None),
    detail(
        "rsvp_configuration",
        "json",
        null=True,
        blank=None,
        entered="checked",
        presence=include("include_rsvp_configuration"),
    ),
    detail(
        "entry_configuration",
        "json",
        null=True,
        blank=None,
        entered="checked",
        presence=include("include_entry_configuration"),
    ),
    # The engine's own state, which no answer shows: see EngineState.
    PartField(
        "state",
        "json",
        column="engine",
        null=True,
        shown_as=None,
        audience="organizer",
        bundle="facts",
        announced="no",
    ),
    # The prize money and the payouts: see PrizePlan; only organizers see it whole.
    PartField(
        "prizes", "json", null=True, shown_as=None, audience="organizer", bundle="facts", announced="no"
    ),
    # Fees of the sign-up list, and how often its code was replaced: see SignUpTerms.
    PartField(
        "sign_up_terms", "json", null=True, shown_as=None, audience="staff", bundle="facts", announced="no"
    ),
    # Raised by every change that an answer below this tournament shows.
    row_only("revision", "integer", audience="organizer"),
    # Drawn anew by every transaction that raises the revision: see `store/stamps.py`.
    row_only("stamp", "stamp", audience="organizer"),
    # The feed channel: its epoch, its newest announcement, and the number up to which it is trimmed.
    row_only("epoch", "text", audience="organizer"),
    row_only("seq", "integer", audience="organizer"),
    row_only("seq_low", "integer", audience="organizer"),
    # Whether it counts in the women's ranking; null for no.
    detail(
        "womens",
        "flag",
        null=True,
        presence=ABSENT_WHEN_EMPTY,
        entered="as_sent",
        is_inherited=True,
    ),
    # Rows of other tables.
    detail(
        "links",
        None,
        blank=[],
        shown_as="linked_tournaments",
        entered="checked",
        presence=include("include_linked_tournaments"),
    ),
    detail("shortcut", None, blank=None, entered="as_sent", presence=include("include_shortcut")),
    detail(
        "event_id", None, blank=None, entered="as_sent", shown_as="event", presence=include("include_event")
    ),
    shown_only("organizer"),
    # In lists too.
    shown_only("location", include("include_location")),
    shown_only("series", include("include_series")),
    shown_only("players", include("include_players")),
    shown_only("arenas", include("include_arenas")),
    shown_only("banks", include("include_banks")),
    shown_only("scorekeepers", include("include_scorekeepers")),
    shown_only("directors", include("include_directors")),
)
DETAILS = tuple(field for field in TOURNAMENT if field.place == "detail")
# The details that are columns, the others being rows of other tables.
STORED_DETAILS = tuple(field for field in DETAILS if field.kind is not None)
DETAILS_TO_LINKED = tuple(field.name for field in DETAILS if field.announced == "to_linked")
DETAILS_INHERITED = tuple(field.name for field in DETAILS if field.is_inherited)
DETAILS_AS_SENT = tuple(field for field in DETAILS if field.entered == "as_sent")


def blank_details() -> dict[str, Any]:
    """The details of a tournament of which nothing is known."""
    return {field.name: copy(field.blank) for field in DETAILS if field.blank is not NOTHING}
