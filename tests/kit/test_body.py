"""Bodies: every fault is reported by the path that the client wrote, and no input crashes the parser."""

import json
from contextlib import suppress
from decimal import Decimal
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, UnsetType

from silverball.kit.errors import Invalid
from silverball.kit.http.body import VALUES_MAX, Body, BodyIsForm, BodyParser, MalformedBody


class Companion(Body, frozen=True, kw_only=True):
    player_id: Annotated[int, Meta(ge=1, le=10)]
    note: Annotated[str, Meta(max_length=3)] | None = None


class Entry(Body, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=5)]
    results: Annotated[tuple[Annotated[int, Meta(ge=1)], ...], Meta(max_length=4)] = ()
    note: str | UnsetType | None = UNSET
    guests: tuple[Companion, ...] = ()
    scores: Annotated[dict[Annotated[int, Meta(ge=1)], int], Meta(max_length=3)] | UnsetType = UNSET
    kind: Literal["loud", "silent"] = "loud"
    mixed: int | str | None = None
    is_open: bool = False
    points: Decimal | None = None

    def __post_init__(self) -> None:
        if self.kind == "silent" and self.is_open:
            raise Invalid({"isOpen": ["A silent entry cannot be open."]})


PARSER = BodyParser(Entry)


def read_faults(content: bytes) -> dict[str, list[str]]:
    with pytest.raises(Invalid) as refusal:
        PARSER.parse(content)
    return refusal.value.errors


class Pair(Body, frozen=True, kw_only=True):
    first: int | UnsetType = UNSET
    second: int | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.first is UNSET) == (self.second is UNSET):
            raise Invalid({"first": ["Send first or second."]})


class Pairs(Body, frozen=True, kw_only=True):
    pairs: Annotated[tuple[Pair, ...], Meta(min_length=1, max_length=9)] | UnsetType = UNSET
    deep: tuple[tuple[Companion, ...], ...] = ()


def test_all_faults_of_nested_lists_are_named_at_once() -> None:
    guests = [{"playerId": 0, "note": "long"}, {}, {"playerId": 3}, 7, {"playerId": 1, "seat": 2}]
    content = json.dumps({"guests": guests, "results": [1, 0, "x"], "scores": {"0": 1, "2": "y", "3": 4}})
    assert read_faults(content.encode()) == {
        "name": ["The name field is required."],
        "guests.0.playerId": ["The guests.0.player id field must be at least 1."],
        "guests.0.note": ["The guests.0.note field must not be greater than 3 characters."],
        "guests.1.playerId": ["The guests.1.player id field is required."],
        "guests.3": ["The guests.3 field must be an object."],
        "guests.4.seat": ["The guests.4.seat field is prohibited."],
        "results.1": ["The results.1 field must be at least 1."],
        "results.2": ["The results.2 field must be an integer."],
        "scores.0": ["The scores.0 field must be at least 1."],
        "scores.2": ["The scores.2 field must be an integer."],
    }


def test_what_fields_of_nested_objects_say_of_each_other_is_named_by_its_place() -> None:
    with pytest.raises(Invalid) as refusal:
        BodyParser(Pairs).parse(
            b'{"pairs":[{"first":1},{},{"first":1,"second":2},{"first":"x"}],"deep":[[{"playerId":99}]]}'
        )
    assert refusal.value.errors == {
        "pairs.1.first": ["Send first or second."],
        "pairs.2.first": ["Send first or second."],
        "pairs.3.first": ["The pairs.3.first field must be an integer."],
        "deep.0.0.playerId": ["The deep.0.0.player id field must not be greater than 10."],
    }


def test_a_valid_body_is_parsed_and_absent_is_not_null() -> None:
    values = {"name": " Ada ", "results": [3, 1], "scores": {"7": 10}, "points": 1.5, "mixed": ""}
    entry = PARSER.parse(json.dumps(values).encode())
    assert (entry.name, entry.results, entry.scores, entry.points) == ("Ada", (3, 1), {7: 10}, Decimal("1.5"))
    assert (entry.note, entry.mixed) == (UNSET, None)
    assert PARSER.parse(b'{"name":"Ada","note":null}').note is None


def test_an_empty_body_is_valid_where_nothing_is_required() -> None:
    for content in (b"", b" ", b"{}", b"null"):
        assert BodyParser(Body).parse(content) == Body()


@pytest.mark.parametrize(
    ("content", "path", "sentence"),
    [
        ("", "name", "The name field is required."),
        ("{}", "name", "The name field is required."),
        ('{"name":" "}', "name", "The name field is required."),
        ('{"name":null}', "name", "The name field is required."),
        ('{"name":3}', "name", "The name field must be a string."),
        ('{"name":"abcdef"}', "name", "The name field must not be greater than 5 characters."),
        ('{"name":"a","x":1}', "x", "The x field is prohibited."),
        ('{"name":"a","isOpen":1}', "isOpen", "The is open field must be true or false."),
        ('{"name":"a","results":7}', "results", "The results field must be an array."),
        ('{"name":"a","results":[1,2,3,"x"]}', "results.3", "The results.3 field must be an integer."),
        ('{"name":"a","results":[1.0]}', "results.0", "The results.0 field must be an integer."),
        ('{"name":"a","results":[0]}', "results.0", "The results.0 field must be at least 1."),
        (
            '{"name":"a","results":[1,2,3,4,5]}',
            "results",
            "The results field must not have more than 4 items.",
        ),
        (
            '{"name":"a","guests":[{"playerId":1},{"playerId":11}]}',
            "guests.1.playerId",
            "The guests.1.player id field must not be greater than 10.",
        ),
        ('{"name":"a","guests":[{}]}', "guests.0.playerId", "The guests.0.player id field is required."),
        (
            '{"name":"a","guests":[{"playerId":1,"x":2}]}',
            "guests.0.x",
            "The guests.0.x field is prohibited.",
        ),
        ('{"name":"a","guests":[[]]}', "guests.0", "The guests.0 field must be an object."),
        ('{"name":"a","scores":{"1":5,"2":"x"}}', "scores.2", "The scores.2 field must be an integer."),
        ('{"name":"a","scores":{"0":5}}', "scores.0", "The scores.0 field must be at least 1."),
        ('{"name":"a","scores":{"x":5}}', "scores.x", "The scores.x field must be an integer."),
        (
            '{"name":"a","scores":{"1":1,"2":1,"3":1,"4":1}}',
            "scores",
            "The scores field must not have more than 3 items.",
        ),
        ('{"name":"a","kind":"odd"}', "kind", "The selected kind is invalid."),
        ('{"name":"a","mixed":[]}', "mixed", "The mixed field must be an integer or a string."),
        ('{"name":"a","points":"x"}', "points", "The points field must be a number."),
        ('{"name":"a\\u0000b"}', "name", "The name field is not a text that can be stored."),
        ('{"name":"\\ud800"}', "name", "The name field is not a text that can be stored."),
        ('{"name":"a","note":"\\udc00\\ud800"}', "note", "The note field is not a text that can be stored."),
        ('{"name":"a","kind":"silent","isOpen":true}', "isOpen", "A silent entry cannot be open."),
        ("[]", "body", "The body must be an object."),
        ("7", "body", "The body must be an object."),
        ('{"name":"a","mixed":1e999}', "body", "The body has a number that is out of range."),
    ],
)
def test_a_fault_is_reported_by_its_path(content: str, path: str, sentence: str) -> None:
    assert read_faults(content.encode()) == {path: [sentence]}


def test_all_faulty_fields_are_reported_at_once_up_to_a_limit() -> None:
    faults = read_faults(b'{"name":3,"results":"x","other":1}')
    assert set(faults) == {"name", "results", "other"}
    many = json.dumps({"name": "a", **{f"x{n}": n for n in range(500)}})
    assert len(read_faults(many.encode())) == 20


@pytest.mark.parametrize("points", ["NaN", "Infinity", "1e999999", "0.001", str(10**10)])
def test_points_that_cannot_be_stored_are_refused(points: str) -> None:
    assert set(read_faults(json.dumps({"name": "a", "points": points}).encode())) == {"points"}


@pytest.mark.parametrize("number", [2**63, -(2**63), 10**22])
def test_an_integer_beyond_64_bits_is_refused(number: int) -> None:
    assert set(read_faults(json.dumps({"name": "a", "mixed": number}).encode())) == {"mixed"}


@pytest.mark.parametrize(
    ("content", "place", "cause"),
    [
        (b"{", "line 1, column 2", "it ends before it is complete"),
        (b"a=b&c=d", "line 1, column 1", "'a' is not allowed here"),
        (b'{\n  "name": "Ada",\n  "results": x\n}', "line 3, column 14", "'x' is not allowed here"),
        (b'{"name": "Ada",}', "line 1, column 16", "trailing comma in object"),
        ('{"é": "ü" "name": 1}'.encode(), "line 1, column 11", "expected ',' or '}'"),
        (b"{'name': 1}", "line 1, column 2", "object keys must be strings"),
        (b'{"name":"\xff"}', "line 1, column 10", "this is no text in UTF-8"),
        (b"\xff", "line 1, column 1", "this is no text in UTF-8"),
        (b'{"name":NaN,"x":"\\ud800"}', "line 1, column 9", "'N' is not allowed here"),
        (b"\x00", "line 1, column 1", "'\\x00' is not allowed here"),
    ],
)
def test_a_body_that_is_not_json_is_refused_with_the_place_and_the_cause(
    content: bytes, place: str, cause: str
) -> None:
    with pytest.raises(MalformedBody) as refusal:
        PARSER.parse(content)
    assert refusal.value.message == f"The body is not JSON: {place}: {cause}."


@pytest.mark.parametrize(
    "content_type", [b"application/x-www-form-urlencoded", b"Multipart/Form-Data; boundary=x"]
)
def test_a_form_is_refused_as_one_where_json_is_wanted(content_type: bytes) -> None:
    with pytest.raises(BodyIsForm):
        PARSER.parse(b"name=Ada", content_type)


def test_json_that_a_client_calls_a_form_is_read() -> None:
    assert PARSER.parse(b'{"name":"Ada"}', b"application/x-www-form-urlencoded").name == "Ada"


def test_too_deep_and_too_large_bodies_are_refused() -> None:
    assert set(read_faults(b'{"a":' * 300 + b"1" + b"}" * 300)) == {"body"}
    assert set(read_faults(b"[" * 300_000)) == {"body"}
    assert set(read_faults(b'{"results":[' + b"1," * VALUES_MAX + b"1]}")) == {"body"}


JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.sampled_from([info.encode_name for info in msgspec.structs.fields(Entry)])


@given(st.dictionaries(FIELDS | st.text(max_size=5), JSON_VALUES, max_size=6) | JSON_VALUES)
def test_any_json_is_parsed_or_refused_and_a_refusal_can_be_encoded(value: Any) -> None:
    try:
        PARSER.parse(json.dumps(value).encode())
    except Invalid as refusal:
        msgspec.json.encode(refusal.errors)


@given(st.binary(max_size=60))
def test_any_bytes_are_parsed_or_refused(content: bytes) -> None:
    with suppress(Invalid, MalformedBody):
        PARSER.parse(content)
