"""The generated modules of the published shapes and the typed client are those of the program now."""

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
from silverball.store.database.engine import Store
from silverball_client import Client
from silverball_client.calling import Operation, PagedOperation

ROUTE = re.compile(r"`(GET|POST|PUT|PATCH|DELETE) /api(/\S*)`")
# The stream of events is followed, not answered: `client.follow`.
BY_HAND = {"GET /tournaments/{}/stream"}


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


def test_the_shapes_have_the_words_and_settings_of_the_rules() -> None:
    outdated = generator.outdated_files(generator.shapes_of_rules(), generator.SHAPES)
    assert outdated == [], "run: make generated"


def test_the_client_is_up_to_date() -> None:
    outdated = generator.outdated_files(generator.client_of_interface(), generator.CLIENT)
    assert outdated == [], "run: make generated"
    assert generator.METHODS.read_text(encoding="utf-8") == generator.methods_page(), "run: make generated"


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


def imported_by(package: str) -> set[str]:
    """The packages that the modules of a package import, but for those that come with Python."""
    imported = set()
    for path in (generator.SOURCE / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").partition(".")[0])
    return imported - sys.stdlib_module_names


def test_the_client_needs_httpx2_and_msgspec_only_and_the_shapes_msgspec_alone() -> None:
    # httpcore2 is a part of httpx2.
    assert imported_by("silverball_client") == {
        "httpcore2",
        "httpx2",
        "msgspec",
        "silverball_client",
        "silverball_wire",
    }
    assert imported_by("silverball_wire") == {"msgspec", "silverball_wire"}


def test_no_file_of_the_client_is_long() -> None:
    long = {
        path.name: count
        for path in generator.SOURCE.rglob("*.py")
        if (count := path.read_text(encoding="utf-8").count("\n")) > 500
    }
    assert long == {}
