"""Lists are read to their end, whatever paginator stands behind them."""

from typing import Any

import pytest

from typed_client.both_clients import KINDS, result
from typed_client.scripted_service import Answer, ScriptedService, json_answer

PATH = "/api/locations"
LOCATION = {"name": "The Drain", "organizerId": 1, "status": "active", "address": None}


def page(*ids: int, **parts: Any) -> Answer:
    return json_answer({"data": [{"locationId": number, **LOCATION} for number in ids], **parts})


def ids_of(kind: str, base_url: str, **query: Any) -> list[int]:
    locations = result(kind, base_url, lambda client: client.locations.list(**query))
    return [location.location_id for location in locations]


@pytest.mark.parametrize("kind", KINDS)
def test_a_next_link_without_a_query_keeps_the_filters(kind: str) -> None:
    further = {"links": {"first": None, "next": "/api/locations"}}
    with ScriptedService({PATH: [page(1, 2, **further), page(3, links={"next": None})]}) as service:
        assert ids_of(kind, service.base_url, status="active") == [1, 2, 3]
    assert [request.target for request in service.requests] == [
        "/api/locations?status=active&page=1",
        "/api/locations?status=active&page=2",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_reading_begins_at_the_page_that_was_asked_for(kind: str) -> None:
    script = {PATH: [page(51, links={"next": "x"}), page(76, links={"next": None})]}
    with ScriptedService(script) as service:
        assert ids_of(kind, service.base_url, page=3) == [51, 76]
    assert [request.target for request in service.requests] == [
        "/api/locations?page=3",
        "/api/locations?page=4",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_last_page_without_links_is_enough(kind: str) -> None:
    with ScriptedService({PATH: [page(1, meta={"last_page": 2}), page(2, meta={"last_page": 2})]}) as service:
        assert ids_of(kind, service.base_url) == [1, 2]


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_page_is_the_last(kind: str) -> None:
    endless = {"links": {"next": "http://elsewhere.invalid/api/locations?page=2"}}
    with ScriptedService({PATH: [page(1, **endless), page(**endless)]}) as service:
        assert ids_of(kind, service.base_url) == [1]
    assert len(service.requests) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_without_an_envelope_of_links_is_one_page(kind: str) -> None:
    with ScriptedService({PATH: [page(1, 2)]}) as service:
        assert ids_of(kind, service.base_url) == [1, 2]
    assert len(service.requests) == 1
