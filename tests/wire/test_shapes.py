"""Shapes that no sample covers, and rules that hold for every shape."""

import importlib
import inspect
import json
import pkgutil
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
import pytest

import silverball_wire as wire
from golden.shapes import sample
from silverball_wire import resources
from silverball_wire.base import UNSET, decode_answer
from silverball_wire.occasions import Dashboard
from silverball_wire.pages import Page, SimplePage
from silverball_wire.players import Club
from silverball_wire.queues import ArenaQueues, QueueEntry
from silverball_wire.resources import SearchResult
from silverball_wire.series import Series, SeriesDetails, SeriesStanding
from silverball_wire.tournaments import Tournament
from silverball_wire.users import OwnProfile, User, UserBundle


def is_struct(member: object) -> bool:
    return inspect.isclass(member) and issubclass(member, msgspec.Struct) and member is not msgspec.Struct


def all_structs() -> dict[str, type[msgspec.Struct]]:
    """Every Struct of the wire package, by name."""
    structs: dict[str, type[msgspec.Struct]] = {}
    for module in pkgutil.iter_modules(wire.__path__, "silverball_wire."):
        structs |= dict(inspect.getmembers(importlib.import_module(module.name), is_struct))
    return structs


STRUCTS = all_structs()


def encode_and_decode(value: Any) -> Any:
    """A value as clients read it."""
    return json.loads(msgspec.json.encode(value))


@pytest.mark.parametrize("name", STRUCTS)
def test_every_shape_is_frozen_and_documented(name: str) -> None:
    struct = STRUCTS[name]
    assert struct.__struct_config__.frozen
    assert struct.__doc__
    # Building the decoder finds a wrong annotation before the first request does.
    msgspec.json.Decoder(struct)


def has_words(hint: Any) -> bool:
    return get_origin(hint) is Literal or (
        get_origin(hint) in (Union, UnionType) and any(map(has_words, get_args(hint)))
    )


@pytest.mark.parametrize("name", sorted(resources.shape_examples().keys() & STRUCTS.keys()))
def test_a_client_keeps_words_and_leaves_out_fields_of_a_newer_service(name: str) -> None:
    example, struct = resources.shape_examples()[name], STRUCTS[name]
    worded = {
        field.encode_name: "added-later" for field in msgspec.structs.fields(struct) if has_words(field.type)
    }
    newer = {**example, **worded, "fieldAddedLater": {"nested": [1]}}
    read = decode_answer(json.dumps(newer), struct)
    assert type(read) is struct
    before = encode_and_decode(msgspec.json.decode(json.dumps(example), type=struct))
    assert encode_and_decode(read) == {**before, **worded}


def test_a_word_of_a_newer_service_deep_in_an_answer_leaves_all_else_as_it_is() -> None:
    known = encode_and_decode(msgspec.json.decode(sample("tournaments-played"), type=SimplePage[Tournament]))
    newer = json.loads(json.dumps(known))
    newer["data"][0]["organizer"]["role"] = newer["data"][1]["status"] = "added-later"
    read = decode_answer(json.dumps(newer), SimplePage[Tournament])
    assert {type(tournament) for tournament in read.data} == {Tournament}
    assert encode_and_decode(read) == newer


def test_a_client_refuses_what_is_no_such_shape() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"Expected `int`, got `str` - at `\$\.clubId`"):
        decode_answer(b'{"clubId": "1"}', Club)


def test_every_shape_has_a_json_schema_under_a_name_of_its_own() -> None:
    _, components = msgspec.json.schema_components(
        [struct for struct in STRUCTS.values() if not getattr(struct, "__parameters__", ())]
        + [Page[Tournament], Page[User]],
        ref_template="#/components/schemas/{name}",
    )
    assert {"Tournament", "Standing", "Bundle", "Page_Tournament_"} <= components.keys()


def user() -> User:
    return msgspec.json.decode(sample("user"), type=UserBundle).user


def test_the_profile_of_the_caller_is_served_bare_and_under_data() -> None:
    fields = msgspec.structs.asdict(user())
    body = encode_and_decode(OwnProfile(**fields, data=user()))
    assert body.pop("data") == encode_and_decode(user())
    assert body == encode_and_decode(user())


def test_a_user_without_a_rating_has_no_key_for_it() -> None:
    bundle = msgspec.json.decode(sample("user"), type=UserBundle)
    body = encode_and_decode(msgspec.structs.replace(bundle, rating=UNSET, user_counts=UNSET))
    assert body.keys() == {"user", "ifpa", "shortcut", "plan", "club", "planFeatures"}


def test_queues_are_keyed_by_arena_and_an_empty_array_without_entries() -> None:
    entry = QueueEntry(
        queue_id=1,
        tournament_id=2,
        arena_id=3,
        round_id=None,
        player_id=4,
        index=0,
        created_at=None,
        completed_at=None,
    )
    body = encode_and_decode(ArenaQueues(data={3: (entry,)}))
    assert list(body["data"]) == ["3"]
    assert msgspec.convert(body, ArenaQueues, strict=False).data == {3: (entry,)}
    assert encode_and_decode(ArenaQueues(data=())) == {"data": []}


def series() -> Series:
    body: dict[str, Series] = msgspec.json.decode(sample("series"), type=dict[str, Series])
    return body["data"]


def test_the_details_of_a_series_show_maps_and_empty_maps_as_clients_expect() -> None:
    standing = SeriesStanding(
        player_id=5,
        position=1,
        points=97,
        points_adjusted=(),
        on_cutoff_bubble=None,
        cutoff_bubble_color=None,
        on_cutoff_bubble2=None,
        manual_tiebreaker_group=None,
    )
    details = SeriesDetails(
        **msgspec.structs.asdict(series()),
        tournament_ids=(7, 8),
        players=(),
        player_labels=(),
        standings=(standing,),
        tournament_points={7: {5: 97, 6: "35.00"}, 8: ()},
    )
    body = encode_and_decode(details)
    assert body["playerLabels"] == []
    assert body["standings"][0]["pointsAdjusted"] == []
    assert body["standings"][0]["onCutoffBubble2"] is None
    assert body["tournamentPoints"] == {"7": {"5": 97, "6": "35.00"}, "8": []}
    assert msgspec.json.decode(msgspec.json.encode(details), type=SeriesDetails) == details


def test_an_empty_dashboard_has_three_empty_lists() -> None:
    assert encode_and_decode(
        Dashboard(tournaments_playing=(), series_organizing=(), tournaments_organizing=())
    ) == {
        "tournamentsPlaying": [],
        "seriesOrganizing": [],
        "tournamentsOrganizing": [],
    }


def test_a_search_result_of_any_kind_is_encoded_as_itself() -> None:
    results: tuple[SearchResult, ...] = (user(),)
    assert encode_and_decode(results) == [encode_and_decode(user())]


def test_a_setting_that_a_format_does_not_have_is_absent() -> None:
    body = json.loads(sample("tournament-series-expansions"))
    tournament = msgspec.convert(body["data"], Tournament)
    assert tournament.knockout_strike_count is UNSET
    assert "knockoutStrikeCount" not in encode_and_decode(tournament)
    assert tournament.tiebreaker == "standard"


@pytest.mark.parametrize(("field", "wrong"), [("status", "open"), ("tournamentId", "1")])
def test_a_tournament_with_an_unknown_word_or_a_text_for_a_number_is_refused(field: str, wrong: str) -> None:
    body = json.loads(sample("tournament-series-expansions"))["data"] | {field: wrong}
    with pytest.raises(msgspec.ValidationError, match=field):
        msgspec.convert(body, Tournament)
