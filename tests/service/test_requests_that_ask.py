"""Requests that only read but take parameters in a body: a POST without a transaction, a GET with JSON.

The endpoints are small ones of this file, over a real database.
"""

import json
from collections.abc import Iterator
from types import ModuleType
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta
from sqlalchemy import select
from starlette.testclient import TestClient

import build
from silverball import app
from silverball.kit.errors import Invalid
from silverball.kit.http import body, openapi
from silverball.kit.http.body import MalformedBody
from silverball.kit.http.endpoints import Access, Call, Endpoint, get, read_post
from silverball.kit.http.query import Query, QueryParser, parse_query
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball_wire.base import Id, Wire
from silverball_wire.pages import ErrorBody, ValidationErrorBody


class BallQuery(Query, frozen=True, kw_only=True):
    ball_ids: Annotated[tuple[Id, ...], Meta(max_length=3)] = ()
    names: Annotated[tuple[Annotated[str, Meta(max_length=20)], ...], Meta(max_length=3)] = ()
    club_id: Id | None = None
    is_big: bool = False


class ParsedParameters(Wire, frozen=True, kw_only=True):
    """The parameters of a request, as parsed."""

    ball_ids: tuple[int, ...]
    names: tuple[str, ...]
    club_id: int | None
    is_big: bool


def _parsed_parameters(call: Call[BallQuery]) -> ParsedParameters:
    query = call.query
    with call.read() as db:
        db.execute(select(tables.world))
    return ParsedParameters(
        ball_ids=query.ball_ids, names=query.names, club_id=query.club_id, is_big=query.is_big
    )


@read_post("/api/balls/compare", query=BallQuery)
def compare(call: Call[BallQuery]) -> ParsedParameters:
    """Balls beside each other."""
    return _parsed_parameters(call)


@read_post("/api/balls/weigh", query=BallQuery, access=Access.OPENABLE)
def weigh(call: Call[BallQuery]) -> ParsedParameters:
    """Weights of balls."""
    return _parsed_parameters(call)


@get("/api/balls", query=BallQuery, accepts_body_parameters=True)
def list_balls(call: Call[BallQuery]) -> ParsedParameters:
    """All balls."""
    return _parsed_parameters(call)


@get("/api/discs", query=BallQuery)
def list_discs(call: Call[BallQuery]) -> ParsedParameters:
    """All discs."""
    return _parsed_parameters(call)


ENDPOINTS: tuple[Endpoint, ...] = (compare, weigh, list_balls, list_discs)
NOTHING: dict[str, Any] = {"ballIds": [], "names": [], "clubId": None, "isBig": False}


def _module() -> ModuleType:
    module = ModuleType("small")
    vars(module).update({endpoint.handler.__name__: endpoint for endpoint in ENDPOINTS})
    return module


MODULES = [_module()]


def do(store: Store, method: str, path: str, sent: Any = None, **options: Any) -> tuple[int, Any]:
    options.setdefault("by", build.caller(1))
    status, answered, _headers = build.do(store, method, path, sent, modules=MODULES, **options)
    return status, answered


@pytest.mark.parametrize("verb_and_path", ["POST /api/balls/compare", "GET /api/balls"])
@pytest.mark.parametrize(
    ("query", "sent", "parsed"),
    [
        ("", None, {}),
        ("?ballIds=1,2", None, {"ballIds": [1, 2]}),
        ("?ballIds=1&ballIds=2,3", None, {"ballIds": [1, 2, 3]}),
        ("?ballIds[]=1&ballIds[]=2", None, {"ballIds": [1, 2]}),
        ("", {"ballIds": [1, 2]}, {"ballIds": [1, 2]}),
        # As an existing client sends them.
        ("", {"ballIds": "5848"}, {"ballIds": [5848]}),
        ("", {"ballIds": ["1", 2]}, {"ballIds": [1, 2]}),
        ("", {"ballIds": []}, {}),
        ("?ballIds=1", {"ballIds": [2], "isBig": True}, {"ballIds": [1, 2], "isBig": True}),
        ("?names=Bo&names=Quill,%20Ada", None, {"names": ["Bo", "Quill, Ada"]}),
        ("", {"names": [" Bo ", "Quill, Ada", None]}, {"names": ["Bo", "Quill, Ada"]}),
        ("?clubId=4", {"clubId": 5}, {"clubId": 5}),
        ("", {"clubId": None, "isBig": "yes"}, {"isBig": True}),
        ("", {"isBig": False, "colour": "red"}, {}),
    ],
)
def test_parameters_may_be_in_the_query_or_in_a_json_object(
    store: Store, verb_and_path: str, query: str, sent: Any, parsed: dict[str, Any]
) -> None:
    verb, path = verb_and_path.split()
    assert do(store, verb, path + query, sent) == (200, NOTHING | parsed)


@pytest.mark.parametrize(
    ("sent", "field", "sentence"),
    [
        ({"clubId": 1.5}, "clubId", "The club id field must be an integer."),
        ({"clubId": True}, "clubId", "The club id field must be an integer."),
        ({"clubId": 0}, "clubId", "The club id field must be at least 1."),
        ({"clubId": [4, 5]}, "clubId", "The club id field must not be a list."),
        ({"clubId": {"id": 4}}, "clubId", "The club id field is invalid."),
        ({"ballIds": ["x"]}, "ballIds", "The ball ids field must be an integer."),
        ({"ballIds": [[1]]}, "ballIds", "The ball ids field is invalid."),
        ({"ballIds": [1, 2, 3, 4]}, "ballIds", "The ball ids field must not have more than 3 items."),
        ({"names": ["a" * 21]}, "names", "The names field must not be greater than 20 characters."),
        ({"clubId": 10**30}, "clubId", None),
        ([1], "body", "The body must be an object."),
    ],
)
def test_faults_are_listed_by_parameter(store: Store, sent: Any, field: str, sentence: str | None) -> None:
    status, answered = do(store, "POST", "/api/balls/compare", sent)
    assert (status, list(answered["errors"])) == (422, [field])
    assert sentence is None or answered["message"] == sentence


def test_a_body_that_is_not_json_is_refused_where_bodies_are_read(store: Store) -> None:
    sentence = "The body is not JSON: line 1, column 2: it ends before it is complete."
    refused = 400, {"message": sentence, "code": "malformed-body"}
    assert do(store, "POST", "/api/balls/compare", b"{") == refused
    assert do(store, "GET", "/api/balls", b"{") == refused
    assert do(store, "GET", "/api/discs", b"{") == (200, NOTHING)


def test_a_question_needs_any_token(store: Store) -> None:
    assert do(store, "POST", "/api/balls/compare", by=None)[0] == 401
    assert do(store, "POST", "/api/balls/compare", by=build.caller(1, ability="read"))[0] == 200


def test_a_question_ignores_idempotency_key_and_if_match_and_changes_nothing(store: Store) -> None:
    before = store.world_revision()
    for ball_id in (1, 2):
        sent = {"ballIds": [ball_id]}
        # A malformed key, used twice, and a revision that no tournament has.
        got = do(store, "POST", "/api/balls/compare", sent, key="a b", if_match='"7"')
        assert got == (200, NOTHING | {"ballIds": [ball_id]})
    assert store.world_revision() == before


@pytest.fixture
def site(store: Store) -> Iterator[TestClient]:
    settings = Settings(base_url=build.BASE_URL, public_read=True, rate_limit_per_minute=3)
    with TestClient(app.build(store, settings, modules=MODULES)) as opened:
        yield opened


def test_the_front_door_answers_and_counts_a_question(site: TestClient) -> None:
    remaining = []
    for club_id in (4, 5, 6):
        got = site.post("/api/balls/weigh", json={"clubId": club_id})
        assert (got.status_code, got.json()["clubId"]) == (200, club_id)
        remaining.append(got.headers["x-ratelimit-remaining"])
    assert remaining == ["2", "1", "0"]
    assert site.post("/api/balls/weigh", json={}).status_code == 429


def test_the_openapi_document_has_query_and_body_of_a_question() -> None:
    about = openapi.OpenApiInfo(
        title="Silverball",
        version="1",
        base_url=build.BASE_URL,
        public_read=False,
        error=ErrorBody,
        validation_error=ValidationErrorBody,
    )
    document = openapi.build_document(ENDPOINTS, about)
    operation = document["paths"]["/api/balls/compare"]["post"]
    refused = ("400", "401", "404", "413", "414", "415", "422", "429", "431", "503")
    assert set(operation["responses"]) == {"200", *refused}
    shared = document["components"]["parameters"]
    parameters = {
        parameter["name"]: parameter
        for parameter in (
            shared[given["$ref"].rpartition("/")[2]] if "$ref" in given else given
            for given in operation["parameters"]
        )
    }
    assert set(parameters) == {"ballIds", "names", "clubId", "isBig"}
    item = {"type": "string", "maxLength": 20}
    assert parameters["names"]["schema"] == {"type": "array", "items": item, "maxItems": 3}
    assert not operation["requestBody"]["required"]
    shape = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    assert set(document["components"]["schemas"][shape]["properties"]) == set(parameters)
    listed = document["paths"]["/api/balls"]["get"]
    assert "requestBody" not in listed
    assert "JSON object" in listed["description"]
    assert {"304", "400"} <= set(listed["responses"])
    assert "JSON object" not in document["paths"]["/api/discs"]["get"]["description"]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def _outcome(sent: bytes) -> object:
    try:
        return QueryParser(BallQuery).parse(body.parse_pairs(sent)).query
    except (Invalid, MalformedBody) as refusal:
        return refusal


@given(
    st.dictionaries(st.sampled_from(["ballIds", "names", "clubId", "isBig", "clubId[]"]) | st.text(), JSON)
)
def test_any_object_is_parsed_or_refused_field_by_field(sent: dict[str, Any]) -> None:
    outcome = _outcome(json.dumps(sent).encode())
    assert isinstance(outcome, BallQuery) or (isinstance(outcome, Invalid) and outcome.errors)


@given(st.binary(max_size=60))
def test_any_bytes_are_parsed_or_refused(sent: bytes) -> None:
    assert isinstance(_outcome(sent), BallQuery | Invalid | MalformedBody)


@given(
    st.lists(st.integers(1, 2**63 - 1), max_size=3),
    st.none() | st.integers(1, 2**63 - 1),
    st.booleans(),
)
def test_a_question_means_the_same_in_the_query_and_in_the_body(
    ball_ids: list[int], club_id: int | None, is_big: bool
) -> None:
    sent = {"ballIds": ball_ids, "clubId": club_id, "isBig": is_big}
    words = [f"ballIds={ball_id}" for ball_id in ball_ids] + [f"isBig={is_big}"]
    words += [] if club_id is None else [f"clubId={club_id}"]
    parser = QueryParser(BallQuery)
    in_query = parser.parse(parse_query("&".join(words).encode()))
    assert parser.parse(body.parse_pairs(json.dumps(sent).encode())) == in_query
