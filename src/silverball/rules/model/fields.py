"""The fields of a tournament and of its parts: how each is stored, published, carried away and announced.

Tables, snapshots, answers, bodies, bundles, exports of an account and bulk files are made from this. The
Structs of the rules and of the wire stay written classes; tests hold them equal to it.
"""

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct

from silverball.kit.values import Source, convert
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

    kind: Literal["always", "absent_when_empty", "include"]
    flag: str = ""


# As null where its column is.
ALWAYS = Presence("always")
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
    # What people call it, where its name is not what they say.
    words: str = ""
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
    def in_words(self) -> str:
        return self.words or self.name.replace("_", " ")

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


def looked_up(name: str) -> PartField:
    """An attribute that is made from other columns or rows, and that no shape shows."""
    return PartField(name, None, shown_as=None, bundle="no", announced="no")


def detail(name: str, kind: Kind | None, **facts: Any) -> PartField:
    """A fact without a rule."""
    return PartField(name, kind, place="detail", **facts)


def nullable(name: str, kind: Kind | None, **facts: Any) -> PartField:
    """A fact without a rule that is null at first, and is among the details then too."""
    return detail(name, kind, null=True, blank=None, **facts)


# In the order of the columns.
TOURNAMENT = (
    PartField("tournament_id", "key", bulk="Id of the tournament."),
    detail("name", "text", entered="as_sent", announced="to_linked", bulk="Name of the tournament."),
    PartField("status", "text"),
    PartField("type", "text", words="format", bulk="Format, such as `group_matchplay`."),
    nullable("description", "text", entered="as_sent"),
    detail(
        "start_utc",
        "moment",
        words="start",
        entered="checked",
        bulk="Start. The tournament is in the files of its month.",
    ),
    detail("start_local", "text", words="start", entered="checked"),
    nullable("end_utc", "moment", words="end", entered="checked"),
    nullable("end_local", "text", words="end", entered="checked"),
    PartField("completed_at", "moment", null=True, bulk="Time at which the tournament was completed."),
    PartField("created_at", "moment", place="row"),
    PartField("updated_at", "moment", place="row"),
    detail(
        "timezone",
        "text",
        words="time zone",
        blank="UTC",
        entered="checked",
        is_inherited=True,
        bulk="Time zone of the place, such as `Europe/Berlin`.",
    ),
    detail(
        "organizer_id",
        "reference",
        words="organizer",
        refers_to="user.user_id",
        bulk="User id of the organizer.",
    ),
    nullable(
        "location_id",
        "reference",
        words="location",
        refers_to="location.location_id",
        entered="as_sent",
        is_inherited=True,
        bulk="Id of the location; empty without one.",
    ),
    nullable(
        "series_id",
        "reference",
        words="series",
        refers_to="series.series_id",
        entered="as_sent",
        bulk="Id of the series; empty outside of series.",
    ),
    detail(
        "test",
        "flag",
        words="test tournament",
        blank=False,
        entered="as_sent",
        announced="to_linked",
        is_inherited=True,
    ),
    nullable("link", "text"),
    nullable("linked_tournament_id", "integer", words="linked tournament"),
    nullable("estimated_tgp", "json", words="estimated worth"),
    PartField("points_map", "json", null=True, words="points of each place"),
    PartField("tiebreaker_points_map", "json", null=True, words="points of tiebreaks", entered="checked"),
    nullable("points_map_custom", "json", words="points of your own", entered="as_sent"),
    detail("primary_config_settings", "json", words="settings that are shown first", blank=[]),
    nullable("prize_pool", "json"),
    nullable("motd_text", "text", words="message to everybody", entered="as_sent"),
    nullable("motd_color", "text", words="colour of the message", entered="as_sent"),
    nullable("motd_expiration", "text", words="end of the message", entered="as_sent"),
    detail("managers", "json", blank=[]),
    # Wire key -> value, only the keys that the format has: its Struct says which.
    PartField("settings", "json", shown_as=None),
    nullable(
        "rsvp_configuration",
        "json",
        words="registration",
        entered="checked",
        presence=include("include_rsvp_configuration"),
    ),
    nullable(
        "entry_configuration",
        "json",
        words="prices of entries",
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
        # It holds the seed of all draws.
        audience="secret",
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
    # Drawn anew by every transaction that raises the revision: see `store/revisions/stamps.py`.
    row_only("stamp", "stamp", audience="organizer"),
    # The feed channel: its epoch, its newest announcement, and the number up to which it is trimmed.
    row_only("epoch", "text", audience="organizer"),
    row_only("seq", "integer", audience="organizer"),
    row_only("seq_low", "integer", audience="organizer"),
    # Whether it counts in the women's ranking; null for no.
    detail(
        "womens",
        "flag",
        words="women's ranking",
        null=True,
        presence=ABSENT_WHEN_EMPTY,
        entered="as_sent",
        is_inherited=True,
    ),
    # What is played later moves no rating period and is not rated: see `rules/mechanics/plays.py`.
    PartField("rated_until", "moment", null=True, presence=ABSENT_WHEN_EMPTY),
    # The first completion, and what had results when the tournament was last reopened.
    PartField(
        "reopening", "json", null=True, shown_as=None, audience="organizer", bundle="facts", announced="no"
    ),
    # Rows of other tables.
    detail(
        "links",
        None,
        words="linked tournaments",
        blank=[],
        shown_as="linked_tournaments",
        entered="checked",
        presence=include("include_linked_tournaments"),
    ),
    detail(
        "shortcut",
        None,
        words="short address",
        blank=None,
        entered="as_sent",
        presence=include("include_shortcut"),
    ),
    detail(
        "event_id",
        None,
        words="occasion",
        blank=None,
        entered="as_sent",
        shown_as="event",
        presence=include("include_event"),
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


def blank_details(known: Mapping[str, Any]) -> dict[str, Any]:
    """The details of a tournament of which only these are known, in the order in which journals have them."""
    return {
        field.name: known[field.name] if field.name in known else copy(field.blank)
        for field in DETAILS
        if field.name in known or field.blank is not NOTHING
    }


def published_sources(
    part_fields: Iterable[PartField], converters: Mapping[str, Callable[[Any], Any]], *, prefix: str = ""
) -> dict[str, Source]:
    """Attribute of the published shape -> the column with its value, and the function that converts it.

    `converters` are by name of a field or by kind; `prefix` is that of the columns in the row.
    """
    return {
        str(field.published): (
            prefix + field.stored_in,
            converters.get(field.name)
            or converters.get(str(field.kind))
            or (_value_or_unset if field.presence == ABSENT_WHEN_EMPTY else None),
        )
        for field in shown_columns(part_fields)
    }


def shown_columns(part_fields: Iterable[PartField]) -> tuple[PartField, ...]:
    """The fields that every answer with the part reads from its row."""
    return tuple(
        field
        for field in part_fields
        if field.kind is not None and field.published is not None and field.presence.kind != "include"
    )


def _value_or_unset(value: Any) -> Any:
    return UNSET if value is None or value is False else value


def carried_sources(
    part_fields: Iterable[PartField], converters: Mapping[str, Callable[[Any], Any]]
) -> dict[str, Source]:
    """Column -> the attribute of the published shape that a bundle carries it in, and its conversion."""
    return {
        field.stored_in: (
            field.published,
            converters.get(field.name)
            or converters.get(str(field.kind))
            or (_value_or_null if field.presence == ABSENT_WHEN_EMPTY else None),
        )
        for field in part_fields
        if field.kind is not None and field.published is not None and field.bundle == "shape"
    }


def _value_or_null(value: Any) -> Any:
    return None if value is UNSET or value is False else value


def facts_without_value(part_fields: Iterable[PartField]) -> dict[str, None]:
    """The columns that only the engine's facts of a bundle fill, empty."""
    return {field.stored_in: None for field in part_fields if field.bundle == "facts" and field.null}


def _id_of_tournament() -> PartField:
    return PartField(
        "tournament_id",
        "reference",
        refers_to="tournament.tournament_id",
        cascades=True,
        place="row",
        announced="no",
    )


def _fact(name: str, kind: Kind, **facts: Any) -> PartField:
    """A field that no shape shows, and that bundles carry as a fact of the engine."""
    return PartField(name, kind, shown_as=None, bundle="facts", **facts)


ENTRANT = (
    PartField(
        "tournament_id",
        "part_key",
        refers_to="tournament.tournament_id",
        place="row",
        shown_as=None,
        announced="no",
    ),
    PartField("player_id", "part_key", refers_to="player.player_id", shown_as=None),
    # Order in which entrants were added, from 0.
    _fact("place", "integer"),
    PartField("is_active", "text", column="status", form=ACTIVE_WORD, shown_as="status"),
    # The `seed` of the interface; the engine's own order is seed_rank (1 is best).
    PartField("seed_value", "integer", column="seed", null=True, shown_as="seed"),
    _fact("seed_rank", "integer", null=True),
    PartField("points_adjustment", "points"),
    PartField("score_adjustment", "points", presence=ABSENT_WHEN_EMPTY),
    # Completed rounds at the last hand adjustment; byes credited on entry; hand-made order of ties.
    _fact("adjusted_after", "integer", null=True),
    _fact("byes_credited", "integer", null=True, form=COUNT_OR_NULL),
    _fact("tie_group", "integer", null=True),
    _fact("tie_place", "integer", null=True),
    _fact("is_tie_drawn", "flag", column="tie_drawn", null=True, form=UNSET_OR_TRUE),
    PartField("subscription", "text", null=True, place="row"),
    PartField("labels", "json", form=LIST),
    PartField("label_color", "text", null=True),
    # Rounds that the player still sits out; 0 while they sit out the newest one.
    PartField("away_rounds", "integer", null=True, form=UNSET_OR_NULL, presence=ABSENT_WHEN_EMPTY),
    looked_up("user_id"),
    looked_up("entries_bought"),
)
ROUND = (
    PartField("round_id", "key"),
    _id_of_tournament(),
    PartField("arena_id", "reference", null=True, refers_to="arena.arena_id"),
    # A target score or the current bar, by format.
    PartField("score", "integer", null=True),
    PartField("round_index", "integer", shown_as="index"),
    PartField("name", "text"),
    PartField("status", "text"),
    PartField("duration_seconds", "integer", null=True, place="row", shown_as="duration"),
    PartField("created_at", "moment"),
    PartField("completed_at", "moment", null=True),
    PartField("size", "integer", null=True),
    PartField("description", "text", null=True, place="row"),
)
GAME = (
    PartField("game_id", "key", bulk="Id of the game."),
    _id_of_tournament(),
    # Null when the game was played outside a round; the interface shows 0 then.
    PartField("round_id", "reference", null=True, refers_to="round.round_id", cascades=True),
    PartField("arena_id", "reference", null=True, refers_to="arena.arena_id"),
    PartField("bank_id", "reference", null=True, refers_to="bank.bank_id"),
    PartField("challenge_id", "integer", null=True, place="row"),
    PartField("game_index", "integer", null=True, shown_as="index"),
    PartField(
        "set_number", "integer", shown_as="set", bulk="Number of the set that the game belongs to, from 0."
    ),
    PartField("status", "text"),
    PartField("started_at", "moment", null=True, bulk="Start of the game."),
    PartField(
        "duration_seconds",
        "integer",
        null=True,
        place="row",
        shown_as="duration",
        bulk="Length of the game in seconds.",
    ),
    PartField(
        "is_bye", "flag", column="bye", shown_as="bye", bulk="Whether it is a bye: a round without opponent."
    ),
    PartField(
        "advantage_id", "integer", column="player_id_advantage", null=True, shown_as="player_id_advantage"
    ),
    PartField("scorekeeper_id", "reference", null=True, refers_to="user.user_id"),
    PartField("scorbit_id", "text", null=True, place="row"),
    PartField("scorbit_log", "text", null=True, place="row"),
    PartField("scorbit_verified", "flag", place="row"),
    PartField("has_mismatch", "flag", column="result_count_mismatch", shown_as="result_count_mismatch"),
    # The real order where `result_position` does not show it; forfeits.
    _fact("finishing_order", "json", null=True, form=LIST_OR_NULL),
    _fact("forfeited_by", "integer", null=True),
    _fact("gave_up", "json", null=True, form=LIST_OR_NULL),
    PartField(
        "is_tiebreak",
        "flag",
        null=True,
        form=FLAG_OR_NULL,
        shown_as="tiebreak",
        presence=ABSENT_WHEN_EMPTY,
        bulk="Whether it was played to break a tie.",
    ),
    # The single games of a match, in playing order; null without any. They have a shape of their own.
    PartField("legs", "json", null=True, form=LEGS, shown_as=None),
    # Since when the clock stands still, because the machine is out of order.
    PartField("waiting_since", "moment", null=True, form=UNSET_OR_NULL, presence=ABSENT_WHEN_EMPTY),
    # The number of a match in its bracket, which no result changes.
    PartField("match_number", "integer", null=True, form=UNSET_OR_NULL, presence=ABSENT_WHEN_EMPTY),
    looked_up("completed_at"),
    # Rows of the seats.
    PartField("player_ids", None),
    PartField("result_positions", None),
    PartField("result_points", None),
    PartField("result_scores", None),
    shown_only("user_ids"),
    shown_only("arena", ABSENT_WHEN_EMPTY),
    shown_only("suggestions", ABSENT_WHEN_EMPTY),
)
SINGLE_PLAYER_GAME = (
    PartField("single_player_game_id", "key", bulk="Id of the single player game."),
    _id_of_tournament(),
    PartField(
        "round_id",
        "reference",
        null=True,
        refers_to="round.round_id",
        cascades=True,
        presence=ABSENT_WHEN_EMPTY,
    ),
    PartField(
        "card_id",
        "reference",
        null=True,
        refers_to="card.card_id",
        cascades=True,
        presence=ABSENT_WHEN_EMPTY,
        bulk="Id of the card; empty outside of cards.",
    ),
    PartField("arena_id", "reference", null=True, refers_to="arena.arena_id"),
    PartField("player_id", "reference", refers_to="player.player_id", bulk="Id of the player."),
    PartField("scorekeeper_id", "reference", null=True, refers_to="user.user_id"),
    PartField("status", "text"),
    PartField("points", "points", null=True, bulk="Points that the game is worth; strokes in pingolf."),
    PartField("score", "integer", null=True, bulk="Score on the machine, where it was recorded."),
    PartField(
        "is_best",
        "flag",
        column="best_game",
        shown_as="best_game",
        bulk="Whether the game counts as one of the player's best.",
    ),
    PartField("is_voided", "flag", column="voided", shown_as="voided"),
    PartField("game_index", "integer", null=True, shown_as="index"),
    PartField(
        "duration_seconds", "integer", null=True, shown_as="duration", bulk="Length of the game in seconds."
    ),
    PartField("created_at", "moment", bulk="Time at which the game was added."),
    PartField("updated_at", "moment"),
    PartField("scorbit_id", "text", null=True, place="row"),
    PartField("scorbit_log", "text", null=True, place="row"),
    _fact("rolls", "json", null=True, form=LIST_OR_NULL),
    _fact("is_advanced", "flag", null=True, form=FLAG_OR_NULL),
    _fact("started_at", "moment", null=True),
    PartField("scorbit_verified", "flag", place="row"),
)
CARD = (
    PartField("card_id", "key"),
    _id_of_tournament(),
    PartField("player_id", "reference", refers_to="player.player_id"),
    PartField("status", "text"),
    PartField("is_best", "flag", column="best_game", shown_as="best_game"),
    PartField("is_voided", "flag", column="voided", shown_as="voided"),
    PartField("created_at", "moment"),
    PartField("updated_at", "moment"),
    # Rows of the single player games on it.
    shown_only("single_player_games"),
    shown_only("single_player_game_ids"),
    shown_only("arena_ids"),
    shown_only("points_list"),
)
QUEUE_PLACE = (
    PartField("queue_id", "key"),
    _id_of_tournament(),
    PartField("arena_id", "reference", null=True, refers_to="arena.arena_id"),
    PartField("round_id", "reference", null=True, refers_to="round.round_id", cascades=True),
    PartField("player_id", "reference", refers_to="player.player_id"),
    PartField("queue_index", "integer", null=True, shown_as="index"),
    PartField("created_at", "moment", null=True),
    PartField("completed_at", "moment", null=True),
    looked_up("is_done"),
)
