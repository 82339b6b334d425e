"""The published shapes against the field facts of the observed service (golden/wire.yaml)."""

from typing import Any

import msgspec
import pytest
import yaml
from msgspec import inspect

from golden.shapes import FOLDER
from silverball_wire import (
    arenas,
    federation,
    games,
    machines,
    occasions,
    pages,
    periods,
    players,
    queues,
    ratings,
    rounds,
    series,
    singleplayer,
    standings,
    tournaments,
    users,
    values,
)
from silverball_wire.generated import words

FACTS: dict[str, Any] = yaml.safe_load((FOLDER / "wire.yaml").read_text())["schemas"]

STRUCTS: dict[str, Any] = {
    "Error": pages.ErrorBody,
    "ValidationError": pages.ValidationErrorBody,
    "PaginationLinks": pages.PaginationLinks,
    "PaginationMeta": pages.PaginationMeta,
    "SimplePaginationLinks": pages.PaginationLinks,
    "SimplePaginationMeta": pages.SimplePaginationMeta,
    "Tournament": tournaments.Tournament,
    "PlayoffCutoff": tournaments.PlayoffCutoff,
    "PrizePool": tournaments.PrizePool,
    "LinkedTournament": tournaments.LinkedTournament,
    "Event": occasions.Occasion,
    "Club": players.Club,
    "SeriesBase": series.Series,
    "Series": series.Series,
    "SeriesListItem": series.SeriesListItem,
    "RsvpConfiguration": tournaments.RsvpConfiguration,
    "Location": arenas.Location,
    "Round": rounds.Round,
    "GameSummary": games.GameSummary,
    "Game": games.Game,
    "Suggestion": games.Suggestion,
    "Card": singleplayer.Card,
    "SinglePlayerGame": singleplayer.SinglePlayerGame,
    "StandingsRow": standings.Standing,
    "User": users.User,
    "Player": players.Player,
    "TournamentPlayerEntry": players.Player,
    "TournamentPlayerPivot": players.EntrantPart,
    "Arena": arenas.Arena,
    "TournamentArenaEntry": arenas.Arena,
    "TournamentArenaPivot": arenas.LineupArenaPart,
    "UserProfileBundle": users.UserBundle,
    "UserCounts": users.UserCounts,
    "Rating": ratings.Rating,
    "RatingHistoryPoint": ratings.RatingHistoryPoint,
    "RatingBundle": ratings.RatingBundle,
    "IfpaRatingHistoryPoint": ratings.RatingRevision,
    "RatingComparison": ratings.RatingComparison,
    "RatingPeriod": periods.RatingPeriod,
    "ArenaSummaryRow": standings.ArenaSummary,
    "PlayerArenaSummaryRow": standings.PlayerArenaSummary,
    "MatchSummaryRow": standings.MatchSummary,
    "OpdbEntryBundle": machines.OpdbEntryBundle,
    "PinTipsBundle": machines.PinTipsBundle,
    "MatchplayStats": standings.MatchplayStats,
    "RoundStatsRow": standings.RoundStats,
    "ArenaStatsRow": standings.ArenaStats,
    "PlayerStats": standings.PlayerStats,
    "BestGameStats": standings.BestGameStats,
    "QueueEntry": queues.QueueEntry,
    "FrenzyState": queues.FrenzyState,
    "MaxMatchplayPlayer": rounds.MaxMatchplayPlayer,
    "MaxMatchplayState": rounds.MaxMatchplayState,
    "BestGameSummaryRow": queues.BestGameSummaryRow,
    "BestGameDetails": queues.BestGameDetails,
    "Aggregate": series.Aggregate,
    "SeriesStats": series.SeriesStats,
    "SeriesStanding": series.SeriesStanding,
    "WpprEstimate": federation.WpprEstimate,
}
WORDS: dict[str, tuple[str, ...]] = {
    "TournamentStatus": values.TOURNAMENT_STATUSES,
    "GameStatus": values.GAME_STATUSES,
    "SinglePlayerGameStatus": values.ATTEMPT_STATUSES,
    "ActiveStatus": values.STATUSES,
    "SearchType": values.SEARCH_TYPES,
    "TournamentType": words.TOURNAMENT_TYPES,
}
# A row of counts has a key for each id: it is a map, not a Struct (stats.CountRow).
MAPS = {"PlayerCountRow"}

# Intended differences from the facts, with the reason.
WHOLE_SCORES = "a score is a 64-bit integer"
COMPLETED_SERIES = "a finished series is completed (formats 21)"
IMPORTED_RATING = "null for an imported rating until a game is rated here (ratings.md E)"
COUNTS = ("gameCount", "winCount", "lossCount", "resultCount")
DIFFERENCES: dict[str, str] = {
    **{
        f"{name}.{count}": IMPORTED_RATING
        for name in ("Rating", "IfpaRatingHistoryPoint")
        for count in COUNTS
    },
    "Game.resultScores[]": WHOLE_SCORES,
    "SinglePlayerGame.score": WHOLE_SCORES,
    "Series.status": COMPLETED_SERIES,
    "SeriesBase.status": COMPLETED_SERIES,
    "SeriesListItem.status": COMPLETED_SERIES,
    "SeriesStanding.pointsAdjusted": "an empty array when nothing is removed (formats 21)",
    "SimplePaginationLinks.last": "one Struct for both; null in the simple one (interface.md 2, row 9)",
    "SimplePaginationMeta.per_page": "a number when no limit was given (interface.md 2, row 10)",
    "Tournament.bestGameScoring": "one curve more (formats 15)",
    "UserProfileBundle.rating": "left out, never null (interface.md 2, row 2)",
}
# Fields beyond the facts, with the reason.
ONE_STRUCT = "one Struct for both cases; the part is absent where the facts have none"
OUR_NAMES = "the observed name is not public (formats 14)"
CLIENTS_NEED_IT = "a client needs it (interface.md 2, row 9)"
EXTRAS: dict[str, str] = {
    "Error.code": "programs decide by it, not by the sentence (style.md, errors)",
    "ValidationError.code": "programs decide by it, not by the sentence (style.md, errors)",
    "RatingComparison.globalRatingPercentiles": "an older profile field (ratings.md A.6)",
    "RatingPeriod.status": "says whether it is rated, waits or was corrected (ratings.md A.7)",
    "Arena.tournamentArena": ONE_STRUCT,
    "Player.tournamentPlayer": ONE_STRUCT,
    "SeriesBase.organizer": ONE_STRUCT,
    "SeriesBase.rsvpConfiguration": ONE_STRUCT,
    "SeriesListItem.organizer": ONE_STRUCT,
    "SeriesListItem.rsvpConfiguration": ONE_STRUCT,
    "SimplePaginationMeta.last_page": CLIENTS_NEED_IT,
    "SimplePaginationMeta.total": CLIENTS_NEED_IT,
    "Tournament.directors": "ours: who runs it with its organizer (interface.md 3)",
    "Tournament.ratedUntil": "ours: what is played later is not rated (ratings.md A.3)",
    "Tournament.womens": "ours: it counts in the women's ranking (pages.md 2)",
    "WpprEstimate.womens": "ours: which of its two values counts (pages.md 2)",
    "StandingsRow.drawnByLot": "ours: what was drawn says so (pages.md 2)",
    "Tournament.forecast": "ours: switches the forecast on (interface.md 1)",
    "Tournament.amazingRaceByes": "ours: best seeds who wait in a race (formats 26)",
    "Tournament.amazingRaceByeRounds": "ours: rounds of a race in which they wait (formats 26)",
    "Tournament.latePoints": "ours: what late players get for missed rounds (formats 20)",
    "Tournament.ladderType": OUR_NAMES,
    "Tournament.paceIncrement": OUR_NAMES,
    "Tournament.paceInitialRounds": OUR_NAMES,
    "Tournament.paceInitialTarget": OUR_NAMES,
    "Game.waitingSince": "ours: the clock of a game stands while its machine is out of order",
    "GameSummary.waitingSince": "ours: as in Game",
    "Game.matchNumber": "ours: the number that players read, beside the heap's index (formats 26)",
    "GameSummary.matchNumber": "ours: as in Game",
    "Game.tiebreak": "ours: points of a tiebreak game count for nothing else (interface.md 4)",
    "GameSummary.tiebreak": "ours: as in Game",
    "TournamentPlayerPivot.awayRounds": "ours: rounds that the player still sits out (formats 20)",
    "TournamentPlayerPivot.scoreAdjustment": "kept apart from strikes (formats 13.5)",
}


def resolve(fact: dict[str, Any]) -> dict[str, Any]:
    """The schema that the fact refers to, or the fact itself."""
    schema: dict[str, Any] = FACTS[fact["$ref"]] if "$ref" in fact else fact
    return schema


def properties_of(fact: dict[str, Any]) -> dict[str, Any]:
    """The properties of an object schema, parents first."""
    fact = resolve(fact)
    properties: dict[str, Any] = {}
    for parent in fact.get("allOf", ()):
        properties |= properties_of(parent)
    properties |= fact.get("properties", {})
    return properties


def kinds_of_fact(fact: dict[str, Any]) -> set[str]:
    """The JSON kinds that the fact allows; a number may be an integer."""
    fact = resolve(fact)
    if "oneOf" in fact:
        return set().union(*(kinds_of_fact(alternative) for alternative in fact["oneOf"]))
    listed = fact.get("type", "object")
    return {listed} if isinstance(listed, str) else set(listed)


def union_members(kind: inspect.Type) -> list[inspect.Type]:
    """The members of a union, without their metadata; other types are their only member."""
    if isinstance(kind, inspect.UnionType):
        return [member for part in kind.types for member in union_members(part)]
    return [kind.type if isinstance(kind, inspect.Metadata) else kind]


def kind_of_member(kind: inspect.Type) -> str:
    """The JSON kind of one member of a type."""
    names: dict[type, str] = {
        inspect.IntType: "integer",
        inspect.FloatType: "number",
        inspect.StrType: "string",
        inspect.LiteralType: "string",
        inspect.BoolType: "boolean",
        inspect.NoneType: "null",
        inspect.VarTupleType: "array",
        inspect.TupleType: "array",
        inspect.DictType: "object",
        inspect.StructType: "object",
    }
    return names[type(kind)]


def kinds_of_type(kind: inspect.Type) -> set[str]:
    """The JSON kinds that the type allows; an integer beside a number is a number."""
    kinds = {kind_of_member(member) for member in union_members(kind)}
    return kinds - {"integer"} if "number" in kinds else kinds


def fields_of(struct: type) -> dict[str, inspect.Field]:
    """The fields of a Struct by their names on the wire."""
    kind = inspect.type_info(struct)
    assert isinstance(kind, inspect.StructType)
    return {field.encode_name: field for field in kind.fields}


def words_of_fact(fact: dict[str, Any]) -> set[str]:
    """The words that the fact allows; empty when it allows any text."""
    return {word for word in resolve(fact).get("enum", ()) if word is not None}


def words_of_type(kind: inspect.Type) -> set[str]:
    """The words that the type allows; empty when it allows any text."""
    words: set[str] = set()
    for part in kind.types if isinstance(kind, inspect.UnionType) else (kind,):
        if isinstance(part, inspect.Metadata):
            words |= set((part.extra_json_schema or {}).get("enum", ()))
        elif isinstance(part, inspect.LiteralType):
            words |= {str(word) for word in part.values}
    return words


def member_of(kind: inspect.Type, wanted: type) -> Any:
    """The member of this class; None when the type has none."""
    return next((member for member in union_members(kind) if isinstance(member, wanted)), None)


def compare(fact: dict[str, Any], kind: inspect.Type, place: str) -> dict[str, str]:
    """The differences of the type from the fact: place -> difference."""
    if kinds_of_fact(fact) != kinds_of_type(kind):
        return {place: f"{sorted(kinds_of_fact(fact))} is {sorted(kinds_of_type(kind))}"}
    if words_of_fact(fact) != words_of_type(kind):
        return {place: f"words differ: {sorted(words_of_fact(fact) ^ words_of_type(kind))}"}
    fact = resolve(fact)
    items, array = fact.get("items"), member_of(kind, inspect.VarTupleType)
    if items is not None and array is not None and "$ref" not in items:
        return compare(items, array.item_type, f"{place}[]")
    struct = member_of(kind, inspect.StructType)
    if "properties" in fact and struct is not None:
        return compare_object(fact, struct.cls, place)
    return {}


def compare_object(fact: dict[str, Any], struct: type, place: str) -> dict[str, str]:
    """The differences of the Struct from the object schema, fields of its own included."""
    differences: dict[str, str] = {}
    fields, facts = fields_of(struct), properties_of(fact)
    for name, field_fact in facts.items():
        if name not in fields:
            differences[f"{place}.{name}"] = "missing"
        elif "$ref" not in field_fact:
            differences |= compare(field_fact, fields[name].type, f"{place}.{name}")
        else:
            differences |= compare_reference(field_fact["$ref"], fields[name].type, f"{place}.{name}")
    return differences | {f"{place}.{name}": "extra" for name in fields.keys() - facts.keys()}


def compare_reference(name: str, kind: inspect.Type, place: str) -> dict[str, str]:
    """The difference in the referenced name; a named schema is compared once, under its own name."""
    struct = member_of(kind, inspect.StructType)
    if name in STRUCTS and (struct is None or not issubclass(struct.cls, STRUCTS[name])):
        return {place: f"is not {name}"}
    return compare({"$ref": name}, kind, place) if name in WORDS else {}


def all_differences() -> dict[str, str]:
    """The differences of every Struct from its schema: place -> difference."""
    differences: dict[str, str] = {}
    for name, struct in STRUCTS.items():
        differences |= compare_object(FACTS[name], struct, name)
    return differences


def test_every_schema_has_a_shape() -> None:
    assert FACTS.keys() == STRUCTS.keys() | WORDS.keys() | MAPS


@pytest.mark.parametrize("name", WORDS)
def test_closed_sets_hold_the_observed_words(name: str) -> None:
    assert set(WORDS[name]) == set(FACTS[name]["enum"])


def test_shapes_differ_from_the_facts_only_where_a_reason_is_given() -> None:
    differences = {
        place: difference for place, difference in all_differences().items() if difference != "extra"
    }
    unexplained = {place: difference for place, difference in differences.items() if place not in DIFFERENCES}
    assert unexplained == {}
    assert DIFFERENCES.keys() == differences.keys()


def test_shapes_go_beyond_the_facts_only_where_a_reason_is_given() -> None:
    extras = {place for place, difference in all_differences().items() if difference == "extra"}
    assert EXTRAS.keys() == extras


def test_a_tournament_has_a_field_for_every_setting_and_requires_only_scorekeeping() -> None:
    assert set(tournaments.FormatSettings.__struct_defaults__) == {msgspec.UNSET}
    settings, tournament = fields_of(tournaments.FormatSettings), fields_of(tournaments.Tournament)
    assert len(settings) == len(tournaments.SETTING_FIELDS) == 53
    assert settings.keys() <= tournament.keys()
    assert {name for name in settings if tournament[name].required} == {"scorekeeping"}
