"""The generated modules of the typed client are those of the interface as it is now."""

import ast
import contextlib
import re
import sys
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from generator import __main__ as generator
from generator import names
from silverball import app
from silverball.kit.http.endpoints import collect_endpoints
from silverball.settings import Settings
from silverball.slices import ROUTE_MODULES
from silverball.store.engine import Store
from silverball_client import Client
from silverball_client.calling import Operation, PagedOperation
from silverball_client.shapes.base import Shape
from silverball_wire.base import Wire

ROUTE = re.compile(r"`(GET|POST|PUT|PATCH|DELETE) /api(/\S*)`")
# The stream of events is followed, not answered: `client.follow`.
BY_HAND = {"GET /tournaments/{}/stream"}
# All else that the client imports comes with Python; httpcore2 is a part of httpx2.
DEPENDENCIES = {"httpcore2", "httpx2", "msgspec", "silverball_client"}


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    settings = Settings(base_url="http://127.0.0.1:8000")
    with contextlib.closing(Store(f"sqlite:///{tmp_path_factory.mktemp('client') / 'empty.db'}")) as store:
        yield msgspec.json.decode(app.openapi_document(app.build_api(store, settings), settings))


def methods() -> dict[str, str]:
    """The route in the docstring of each method -> the method."""
    found = {}
    client = Client("http://127.0.0.1")
    for resource in vars(client).values():
        for kind in type(resource).__mro__:
            for name, value in vars(kind).items():
                if isinstance(value, Operation | PagedOperation):
                    route = ROUTE.search(value.describe.__doc__ or "")
                    assert route is not None, name
                    found[names.route_key(route[1], route[2])] = f"{type(resource).__name__}.{name}"
    return found


def test_the_client_is_up_to_date() -> None:
    assert generator.outdated_files(generator.sources()) == [], "run: make client"


def test_the_published_settings_are_those_of_the_formats() -> None:
    written = generator.SETTINGS_FILE.read_text(encoding="utf-8")
    assert written == generator.settings_module(), "run: make client"


def test_every_operation_of_the_description_has_a_method(document: dict[str, Any]) -> None:
    routes = {
        names.route_key(method.upper(), path.removeprefix("/api"))
        for path, operations in document["paths"].items()
        for method in operations
        if method in ("get", "post", "put", "patch", "delete")
    }
    assert set(methods()) == routes - BY_HAND


def test_a_name_that_reads_better_belongs_to_a_route() -> None:
    routes = {
        names.route_key(endpoint.method, endpoint.path.removeprefix("/api"))
        for endpoint in collect_endpoints(*ROUTE_MODULES)
    }
    assert set(names.NAMES) - routes == set()


def test_every_field_of_the_service_is_a_field_of_the_client() -> None:
    ours, theirs = subclasses(Wire), subclasses(Shape)
    assert set(theirs) - set(ours) == set()
    for name, struct in theirs.items():
        assert struct.__struct_encode_fields__ == ours[name].__struct_encode_fields__, name


def subclasses(base: type[msgspec.Struct]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind in base.__subclasses__():
        if kind.__module__.startswith("silverball"):
            found |= {kind.__name__: kind, **subclasses(kind)}
    return found


def test_the_client_needs_httpx2_and_msgspec_only() -> None:
    imported = set()
    for path in generator.PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").partition(".")[0])
    assert imported - sys.stdlib_module_names == DEPENDENCIES


def test_no_file_of_the_client_is_long() -> None:
    long = {
        path.name: count
        for path in generator.PACKAGE.rglob("*.py")
        if (count := path.read_text(encoding="utf-8").count("\n")) > 400
    }
    assert long == {}
