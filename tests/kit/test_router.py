"""Ids and words in paths."""

from types import ModuleType

import pytest

from silverball.app import answer_request, build_api
from silverball.kit.http.endpoints import Access, Call, Request, get
from silverball.kit.http.query import Query
from silverball.settings import Settings
from silverball.store.database.engine import Store
from silverball_wire.base import Wire

DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"


class PathParts(Wire, frozen=True, kw_only=True):
    """The ids and words that a handler receives."""

    ids: dict[str, int]
    words: dict[str, str]


@get("/api/nights/{night_id}/days/{day}", access=Access.ANYONE, words={"day": DAY})
def day_of_night(call: Call[Query]) -> PathParts:
    """One day of a night."""
    return PathParts(ids=call.ids, words=call.words)


def send_get(store: Store, path: str) -> tuple[int, bytes]:
    module = ModuleType("nights")
    vars(module)["day_of_night"] = day_of_night
    api = build_api(store, Settings(), modules=[module])
    response = answer_request(api, Request(method="GET", path=path))
    return response.status, response.body


def test_a_word_is_passed_as_text_and_an_id_as_a_number(store: Store) -> None:
    status, body = send_get(store, "/api/nights/7/days/2026-03-05")
    assert (status, body) == (200, b'{"ids":{"night_id":7},"words":{"day":"2026-03-05"}}')


@pytest.mark.parametrize(
    "word", ["2026-3-5", "2026-03-05\n", "x2026-03-05", "202\u0666-03-05", "\x00", "2026-03-05-" + "0" * 200]
)
def test_a_word_that_does_not_match_its_pattern_is_not_found(store: Store, word: str) -> None:
    status, body = send_get(store, f"/api/nights/7/days/{word}")
    assert status == 404
    assert b"Models\\\\Day]" in body


def test_an_id_beside_a_word_must_still_be_an_id(store: Store) -> None:
    assert send_get(store, "/api/nights/seven/days/2026-03-05")[0] == 404
