"""The published shapes against the field facts of the observed service (golden/wire.yaml)."""

from typing import Any

import msgspec
import pytest
import yaml
from msgspec import inspect

from golden.shapes import FOLDER
from silverball.wire import (
    arenas,
    bestgame,
    cards,
    clubs,
    errors,
    federation,
    frenzy,
    games,
    locations,
    machines,
    maxmatchplay,
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
    stats,
    summaries,
    tips,
    tournaments,
    users,
    values,
)

FACTS: dict[str, Any] = yaml.safe_load((FOLDER / "wire.yaml").read_text())["schemas"]

STRUCTS: dict[str, Any] = {
    "Error": errors.ErrorBody,
    "ValidationError": errors.ValidationErrorBody,
    "PaginationLinks": pages.PaginationLinks,
    "PaginationMeta": pages.PaginationMeta,
    "SimplePaginationLinks": pages.PaginationLinks,
    "SimplePaginationMeta": pages.SimplePaginationMeta,
    "Tournament": tournaments.Tournament,
    "PlayoffCutoff": tournaments.PlayoffCutoff,
    "PrizePool": tournaments.PrizePool,
    "LinkedTournament": tournaments.LinkedTournament,
    "Event": occasions.Occasion,
    "Club": clubs.Club,
    "SeriesBase": series.Series,
    "Series": series.Series,
    "SeriesListItem": series.SeriesListItem,
    "RsvpConfiguration": tournaments.RsvpConfiguration,
    "Location": locations.Location,
    "Round": rounds.Round,
    "GameSummary": games.GameSummary,
    "Game": games.Game,
    "Suggestion": games.Suggestion,
    "Card": cards.Card,
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
    "ArenaSummaryRow": summaries.ArenaSummary,
    "PlayerArenaSummaryRow": summaries.PlayerArenaSummary,
    "MatchSummaryRow": summaries.MatchSummary,
    "OpdbEntryBundle": machines.OpdbEntryBundle,
    "PinTipsBundle": tips.PinTipsBundle,
    "MatchplayStats": stats.MatchplayStats,
    "RoundStatsRow": stats.RoundStats,
    "ArenaStatsRow": stats.ArenaStats,
    "PlayerStats": stats.PlayerStats,
    "BestGameStats": stats.BestGameStats,
    "QueueEntry": queues.QueueEntry,
    "FrenzyState": frenzy.FrenzyState,
    "MaxMatchplayPlayer": maxmatchplay.MaxMatchplayPlayer,
    "MaxMatchplayState": maxmatchplay.MaxMatchplayState,
    "BestGameSummaryRow": bestgame.BestGameSummaryRow,
    "BestGameDetails": bestgame.BestGameDetails,
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
    "TournamentType": values.TOURNAMENT_TYPES,
}
# A row of counts has a key for each id: a map, not a Struct (stats.CountRow).
MAPS = {"PlayerCountRow"}

# Where a shape is meant to differ from the facts, and why.
WHOLE_SCORES = "a score is a 64-bit integer"
COMPLETED_SERIES = "a finished series is completed (formats 21)"
RATED_ELSEWHERE = "null when the rating came from a file and nothing was played here since (ratings.md E)"
COUNTS = ("gameCount", "winCount", "lossCount", "resultCount")
DIFFERENCES: dict[str, str] = {
    **{
        f"{name}.{count}": RATED_ELSEWHERE
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
# What a shape has beyond the facts, and why.
ONE_STRUCT = "one Struct with and without the part, which is absent where the facts have none"
OUR_NAMES = "the observed name is not public (formats 14)"
ROW_9 = "a client needs it (interface.md 2, row 9)"
EXTRAS: dict[str, str] = {
    "Error.code": "a stable code beside the sentence",
    "ValidationError.code": "a stable code beside the sentence",
    "RatingComparison.globalRatingPercentiles": "an older profile field (ratings.md A.6)",
    "RatingPeriod.status": "says whether it is rated, waits or was corrected (ratings.md A.7)",
    "Arena.tournamentArena": ONE_STRUCT,
    "Player.tournamentPlayer": ONE_STRUCT,
    "SeriesBase.organizer": ONE_STRUCT,
    "SeriesBase.rsvpConfiguration": ONE_STRUCT,
    "SeriesListItem.organizer": ONE_STRUCT,
    "SeriesListItem.rsvpConfiguration": ONE_STRUCT,
    "SimplePaginationMeta.last_page": ROW_9,
    "SimplePaginationMeta.total": ROW_9,
    "Tournament.ladderType": OUR_NAMES,
    "Tournament.paceIncrement": OUR_NAMES,
    "Tournament.paceInitialRounds": OUR_NAMES,
    "Tournament.paceInitialTarget": OUR_NAMES,
    "TournamentPlayerPivot.scoreAdjustment": "kept apart from strikes (formats 13.5)",
}


def resolve(fact: dict[str, Any]) -> dict[str, Any]:
    """The fact itself, or the schema it names."""
    named: dict[str, Any] = FACTS[fact["$ref"]] if "$ref" in fact else fact
    return named


def properties_of(fact: dict[str, Any]) -> dict[str, Any]:
    """The properties of an object schema, parents first."""
    fact = resolve(fact)
    found: dict[str, Any] = {}
    for parent in fact.get("allOf", ()):
        found |= properties_of(parent)
    found |= fact.get("properties", {})
    return found


def kinds_of_fact(fact: dict[str, Any]) -> set[str]:
    """The JSON kinds that the fact allows; a number may be an integer."""
    fact = resolve(fact)
    if "oneOf" in fact:
        return set().union(*(kinds_of_fact(one) for one in fact["oneOf"]))
    listed = fact.get("type", "object")
    return {listed} if isinstance(listed, str) else set(listed)


def union_members(kind: inspect.Type) -> list[inspect.Type]:
    return (
        [one for each in kind.types for one in union_members(each)]
        if isinstance(kind, inspect.UnionType)
        else [kind]
    )


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
    found = {kind_of_member(one) for one in union_members(kind)}
    return found - {"integer"} if "number" in found else found


def fields_of(struct: type) -> dict[str, inspect.Field]:
    kind = inspect.type_info(struct)
    assert isinstance(kind, inspect.StructType)
    return {field.encode_name: field for field in kind.fields}


def words_of_fact(fact: dict[str, Any]) -> set[str]:
    return {word for word in resolve(fact).get("enum", ()) if word is not None}


def words_of_type(kind: inspect.Type) -> set[str]:
    found: set[str] = set()
    for one in union_members(kind):
        if isinstance(one, inspect.LiteralType):
            found |= {str(word) for word in one.values}
    return found


def member_of(kind: inspect.Type, wanted: type) -> Any:
    return next((one for one in union_members(kind) if isinstance(one, wanted)), None)


def compare(fact: dict[str, Any], kind: inspect.Type, place: str) -> dict[str, str]:
    """Where the type differs from the fact: place -> what is wrong."""
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
    """Where the Struct differs from the object schema, and what it has beyond."""
    found: dict[str, str] = {}
    fields, facts = fields_of(struct), properties_of(fact)
    for name, one in facts.items():
        if name not in fields:
            found[f"{place}.{name}"] = "missing"
        elif "$ref" not in one:
            found |= compare(one, fields[name].type, f"{place}.{name}")
        else:
            found |= compare_reference(one["$ref"], fields[name].type, f"{place}.{name}")
    return found | {f"{place}.{name}": "extra" for name in fields.keys() - facts.keys()}


def compare_reference(name: str, kind: inspect.Type, place: str) -> dict[str, str]:
    """A named schema is compared once, under its own name; here only the name must fit."""
    struct = member_of(kind, inspect.StructType)
    if name in STRUCTS and (struct is None or not issubclass(struct.cls, STRUCTS[name])):
        return {place: f"is not {name}"}
    return compare({"$ref": name}, kind, place) if name in WORDS else {}


def all_differences() -> dict[str, str]:
    found: dict[str, str] = {}
    for name, struct in STRUCTS.items():
        found |= compare_object(FACTS[name], struct, name)
    return found


def test_every_schema_has_a_shape() -> None:
    assert FACTS.keys() == STRUCTS.keys() | WORDS.keys() | MAPS


@pytest.mark.parametrize("name", WORDS)
def test_closed_sets_hold_the_observed_words(name: str) -> None:
    assert set(WORDS[name]) == set(FACTS[name]["enum"])


def test_shapes_differ_from_the_facts_only_where_a_reason_is_given() -> None:
    found = {place: what for place, what in all_differences().items() if what != "extra"}
    assert {place: what for place, what in found.items() if place not in DIFFERENCES} == {}
    assert DIFFERENCES.keys() == found.keys()


def test_shapes_go_beyond_the_facts_only_where_a_reason_is_given() -> None:
    found = {place for place, what in all_differences().items() if what == "extra"}
    assert EXTRAS.keys() == found


def test_a_tournament_carries_every_setting_and_only_scorekeeping_is_always_there() -> None:
    assert set(tournaments.FormatSettings.__struct_defaults__) == {msgspec.UNSET}
    settings, tournament = fields_of(tournaments.FormatSettings), fields_of(tournaments.Tournament)
    assert len(settings) == len(tournaments.SETTING_FIELDS) == 49
    assert settings.keys() <= tournament.keys()
    assert {name for name in settings if tournament[name].required} == {"scorekeeping"}
