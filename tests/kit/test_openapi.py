"""The OpenAPI document describes what is served."""

import json
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
import pytest

from silverball import app
from silverball.kit.edge.shared_responses import OUTDATED_SECONDS_MAX
from silverball.kit.http import openapi
from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import (
    Access,
    Call,
    Endpoint,
    FileDownload,
    collect_endpoints,
    delete,
    get,
    post,
)
from silverball.kit.http.query import Query
from silverball.service.core.calls import Write
from silverball.settings import Settings
from silverball.slices import ROUTE_MODULES
from silverball_wire.base import Id, Wire
from silverball_wire.pages import Data, ErrorBody, ValidationErrorBody


class Ball(Wire, frozen=True, kw_only=True):
    """A ball."""

    size_mm: int


class Disc(Wire, frozen=True, kw_only=True):
    """A disc."""

    width_mm: int


class BallQuery(Query, frozen=True, kw_only=True):
    status: Literal["active", "inactive"] | None = None
    ball_ids: Annotated[tuple[Id, ...], msgspec.Meta(max_length=25)] = ()
    is_big: bool = False
    page: Annotated[int, msgspec.Meta(ge=1)] = 1
    name: Annotated[str, msgspec.Meta(max_length=50)]


@get("/api/tournaments/{tournament_id}/balls", query=BallQuery)
def list_balls(call: Call[BallQuery]) -> Data[Ball | Disc]:
    """The balls of a tournament."""
    raise NotImplementedError


@get("/api/balls/csv", access=Access.OPENABLE)
def balls_csv(call: Call[Query]) -> FileDownload:
    """All balls, for a spreadsheet."""
    raise NotImplementedError


class NewBall(Body, frozen=True, kw_only=True):
    size_mm: Annotated[int, msgspec.Meta(ge=1, le=100)]


@post("/api/balls", body=NewBall, ability="manage", status=201)
def add_ball(call: Write[NewBall]) -> Data[Ball]:
    """A new ball."""
    raise NotImplementedError


@delete("/api/tournaments/{tournament_id}/balls", ability="manage")
def remove_balls(call: Write[Body]) -> Data[Ball]:
    """No more balls."""
    raise NotImplementedError


def build_description(*endpoints: Endpoint, public_read: bool = False) -> dict[str, Any]:
    info = openapi.OpenApiInfo(
        title="Silverball",
        version="1",
        base_url="http://silverball.test",
        public_read=public_read,
        error=ErrorBody,
        validation_error=ValidationErrorBody,
    )
    return openapi.build_document(endpoints, info)


def parameters_of(document: dict[str, Any], path: str, method: str) -> list[dict[str, Any]]:
    """The parameters of an operation, with the shared ones in place."""
    return [
        document["components"]["parameters"][parameter["$ref"].rpartition("/")[2]]
        if "$ref" in parameter
        else parameter
        for parameter in document["paths"][path][method]["parameters"]
    ]


def test_parameters_are_described_as_the_parser_reads_them() -> None:
    parameters = parameters_of(build_description(list_balls), "/api/tournaments/{tournamentId}/balls", "get")
    schemas = {parameter["name"]: parameter["schema"] for parameter in parameters}
    assert schemas == {
        "tournamentId": {"type": "integer", "minimum": 1, "format": "int64"},
        "status": {"type": "string", "enum": ["active", "inactive"]},
        "ballIds": {"type": "string"},
        "isBig": {"type": "boolean"},
        "page": {"type": "integer", "minimum": 1, "format": "int64"},
        "name": {"type": "string", "maxLength": 50},
        "If-None-Match": {"type": "string"},
    }
    required = [parameter["name"] for parameter in parameters if parameter.get("required")]
    assert required == ["tournamentId", "name"]


@get("/api/days/{day}/balls/{ball_id}", words={"day": "[0-9]{8}"})
def ball_of_a_day(call: Call[Query]) -> Ball:
    """A ball on a day."""
    raise NotImplementedError


def test_a_word_in_a_path_is_described_by_its_pattern() -> None:
    document = build_description(ball_of_a_day)
    path = "/api/days/{day}/balls/{ballId}"
    operation = document["paths"][path]["get"]
    assert [parameter["schema"] for parameter in parameters_of(document, path, "get")][:2] == [
        {"type": "string", "pattern": "^(?:[0-9]{8})$", "maxLength": 100},
        {"type": "integer", "minimum": 1, "format": "int64"},
    ]
    assert "404" in operation["responses"]


def test_an_answer_of_two_shapes_is_described_as_a_union() -> None:
    document = build_description(list_balls)
    ok = document["paths"]["/api/tournaments/{tournamentId}/balls"]["get"]["responses"]["200"]
    alternatives = ok["content"]["application/json"]["schema"]["anyOf"]
    shapes = [schema["$ref"].rpartition("/")[2] for schema in alternatives]
    assert shapes == ["BallData", "DiscData"]
    assert set(shapes) <= set(document["components"]["schemas"])


def test_a_read_is_described_with_its_tag_and_the_age_that_an_outage_adds() -> None:
    document = build_description(list_balls, add_ball)
    read = document["paths"]["/api/tournaments/{tournamentId}/balls"]["get"]["responses"]
    unchanged = document["components"]["responses"][read["304"]["$ref"].rpartition("/")[2]]
    for headers in (read["200"]["headers"], unchanged["headers"]):
        assert {"ETag", "Age"} <= set(headers)
    assert document["components"]["headers"]["Age"]["schema"]["maximum"] == OUTDATED_SECONDS_MAX
    written = document["paths"]["/api/balls"]["post"]["responses"]["201"]["headers"]
    assert "Age" not in written


def test_only_possible_statuses_are_described() -> None:
    paths = build_description(list_balls, balls_csv, add_ball, remove_balls)["paths"]
    assert set(paths["/api/tournaments/{tournamentId}/balls"]["get"]["responses"]) == {
        *("200", "304", "400", "401", "403", "404", "413", "414", "422", "429", "431", "503")
    }
    assert set(paths["/api/balls/csv"]["get"]["responses"]) == {
        *("200", "304", "401", "413", "414", "422", "429", "431", "503")
    }
    refused = ("400", "401", "403", "404", "409", "413", "414", "415", "422", "429", "431", "503")
    assert set(paths["/api/balls"]["post"]["responses"]) == {"201", *refused}
    below = paths["/api/tournaments/{tournamentId}/balls"]["delete"]["responses"]
    assert set(below) == {"200", "412", *refused}


def test_the_body_of_a_writing_route_is_described_with_its_limits() -> None:
    document = build_description(add_ball, remove_balls)
    add = document["paths"]["/api/balls"]["post"]
    assert add["requestBody"]["required"]
    shape = add["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    described_shape = document["components"]["schemas"][shape]
    assert described_shape["properties"]["sizeMm"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 100,
        "format": "int32",
    }
    assert shape == "BallInput"
    assert described_shape["additionalProperties"] is False
    assert [parameter["name"] for parameter in parameters_of(document, "/api/balls", "post")] == [
        "Idempotency-Key"
    ]
    assert "`manage`" in add["description"]
    remove = document["paths"]["/api/tournaments/{tournamentId}/balls"]["delete"]
    parameters = parameters_of(document, "/api/tournaments/{tournamentId}/balls", "delete")
    assert [parameter["name"] for parameter in parameters] == ["tournamentId", "Idempotency-Key", "If-Match"]
    assert "requestBody" not in remove
    assert "X-Tournament-Revision" in remove["responses"]["200"]["headers"]


def test_a_route_that_takes_a_file_describes_the_form_with_it() -> None:
    document = build_description(*collect_endpoints(*ROUTE_MODULES))
    forms = {}
    for path, operations in document["paths"].items():
        for operation in operations.values():
            content = operation.get("requestBody", {}).get("content", {})
            if "multipart/form-data" in content:
                # Whoever takes the first kind takes JSON.
                assert list(content) == ["application/json", "multipart/form-data"]
                forms[path] = content["multipart/form-data"]["schema"]["$ref"].rpartition("/")[2]
    assert forms == {
        "/api/players/import": "PlayersToImportForm",
        "/api/arenas/import": "MachinesToImportForm",
    }
    form = document["components"]["schemas"]["PlayersToImportForm"]
    assert form["required"] == ["file"]
    shapes = form["properties"]
    assert set(shapes) == {"file", "encoding", "sheet", "columns", "nameOrder", "tournamentId"}
    assert shapes["file"]["contentMediaType"] == "application/octet-stream"
    assert "contentEncoding" not in shapes["file"]
    assert shapes["columns"]["contentMediaType"] == "application/json"
    assert shapes["columns"]["contentSchema"]["type"] == "array"


def test_a_file_is_described_as_csv() -> None:
    ok = build_description(balls_csv)["paths"]["/api/balls/csv"]["get"]["responses"]["200"]
    assert list(ok["content"]) == ["text/csv; charset=utf-8"]


@pytest.mark.parametrize("public_read", [False, True])
def test_routes_open_to_anyone_are_described_as_such(public_read: bool) -> None:
    operation = build_description(balls_csv, public_read=public_read)["paths"]["/api/balls/csv"]["get"]
    assert ({} in operation["security"]) is public_read
    assert ("401" in operation["responses"]) is not public_read


def test_every_route_is_described_once_and_every_reference_resolves() -> None:
    built = collect_endpoints(*ROUTE_MODULES)
    document = build_description(*built)
    assert set(document["paths"]) == {openapi.documented_path(endpoint) for endpoint in built}
    ids = [
        operation["operationId"]
        for operations in document["paths"].values()
        for operation in operations.values()
    ]
    assert len(ids) == len(set(ids))
    text = msgspec.json.encode(document).decode()
    for part in text.split('"#/components/schemas/')[1:]:
        assert part.partition('"')[0] in document["components"]["schemas"]


def schemas_in(node: Any) -> Iterator[dict[str, Any]]:
    """Every object of a document apart from samples of values."""
    if isinstance(node, list):
        for part in node:
            yield from schemas_in(part)
    elif isinstance(node, dict):
        yield node
        for key, value in node.items():
            if key not in ("example", "examples", "variables"):
                yield from schemas_in(value)


def published_documents() -> Iterator[dict[str, Any]]:
    yield build_description(*collect_endpoints(*ROUTE_MODULES))
    yield json.loads(app.asyncapi_document(Settings(base_url="http://silverball.test")))


def test_descriptions_are_written_so_that_every_generator_makes_working_code_of_them() -> None:
    for document in published_documents():
        names = document["components"]["schemas"]
        # In Go these are the names of the functions that make an `Arena`.
        assert [name for name in names if re.match("New[A-Z]", name)] == []
        for schema in schemas_in(document):
            assert not isinstance(schema.get("type"), str) or "default" not in schema
            kind = schema.get("type")
            if kind == "integer" or (isinstance(kind, list) and "integer" in kind):
                size = "int32" if schema.get("maximum", 2**63) < 2**31 else "int64"
                assert (schema["format"], schema.get("maximum") == 2**63 - 1) == (size, False), schema
            parts = schema.get("anyOf", [])
            if {"type": "null"} in parts:
                # An object that may be null, which no list of types can say.
                assert [list(part) for part in parts] == [["$ref"], ["type"]], schema


def test_a_default_is_in_the_sentence_of_its_field() -> None:
    document = build_description(*collect_endpoints(*ROUTE_MODULES))
    webhook = document["components"]["schemas"]["WebhookInput"]["properties"]
    assert webhook["form"]["description"].endswith('By default `"events"`.')
    assert document["components"]["parameters"]["Page"]["description"].endswith("By default `1`.")
