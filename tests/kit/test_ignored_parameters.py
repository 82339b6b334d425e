"""What a GET ignores is named in X-Ignored-Parameters. Source: interface.md 2, rows 6 and 15."""

from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from silverball.kit.errors import Invalid
from silverball.kit.http.asgi import CORS
from silverball.kit.http.fields import IGNORED_WHEN_A_WORD, IGNORED_WHEN_INVALID, checked_by
from silverball.kit.http.query import IGNORED_HEADER, Query, QueryParser, parse_query


class ReelQuery(Query, frozen=True, kw_only=True):
    reel_ids: Annotated[tuple[int, ...], Meta(max_length=3)] = ()
    status: Annotated[Literal["spinning", "stopped"], IGNORED_WHEN_INVALID] | None = None
    limit: Annotated[int, Meta(ge=1, le=9), IGNORED_WHEN_INVALID] | None = None
    name: Annotated[str, checked_by(str.isalpha), IGNORED_WHEN_INVALID] | None = None
    kind: Literal["big", "small"] | None = None
    owner: Annotated[int, Meta(ge=1), IGNORED_WHEN_A_WORD] | None = None


PARSER = QueryParser(ReelQuery)

CASES = (
    ("", ""),
    ("status=spinning&limit=9&name=ada&kind=big&reelIds=1,2", ""),
    ("reelIds[]=1&reelIds[]=2", ""),
    ("status=active", "status"),
    ("status[]=spinning", "status[]"),
    ("limit=0", "limit"),
    ("limit=10&status=Stopped&name=4", "limit, status, name"),
    ("foo=1&status=stopped&bar=2&foo=3", "foo, bar"),
    # A word is no id; whoever sends digits means one.
    ("owner=null", "owner"),
    ("owner=undefined&limit=9", "owner"),
    ("owner=NaN", "owner"),
    ("owner=7", ""),
    # Names are those that were sent, in whatever letters.
    ("reel_ids=1&Status=stopped", "reel_ids, Status"),
    # An empty parameter counts as absent.
    ("foo=&bar", ""),
    ("a%2Cb=1&x%0D%0Ay=2&%C3%BC=3&a+b=4", "a%2Cb, x%0D%0Ay, %C3%BC, a%20b"),
)


@pytest.mark.parametrize(("query", "named"), CASES)
def test_the_header_names_what_was_ignored_in_the_order_sent(query: str, named: str) -> None:
    headers = PARSER.parse(parse_query(query.encode())).headers
    assert headers == (((IGNORED_HEADER, named.encode()),) if named else ())


def test_an_ignored_value_counts_as_absent() -> None:
    parsed = PARSER.parse(parse_query(b"status=active&limit=99&name=4&owner=null"))
    assert parsed.query == ReelQuery()


@pytest.mark.parametrize(
    ("query", "field"),
    [("limit=many", "limit"), ("kind=huge", "kind"), ("reelIds=x", "reelIds")]
    + [(f"owner={text}", "owner") for text in ("0", "-1", "1,2", "7x", "1.5")]
    + [("owner[]=null", "owner")],
)
def test_text_in_place_of_a_number_and_other_bad_values_are_refused(query: str, field: str) -> None:
    with pytest.raises(Invalid) as refusal:
        PARSER.parse(parse_query(f"foo=1&{query}".encode()))
    assert list(refusal.value.errors) == [field]


def test_a_flood_of_names_is_cut() -> None:
    query = "&".join(f"{'x' * 500}{number}=1" for number in range(150))
    ((_, named),) = PARSER.parse(parse_query(query.encode())).headers
    assert len(named) <= 20 * 62


@given(st.lists(st.text(max_size=80), max_size=30))
def test_any_names_make_a_header_that_can_be_sent(names: list[str]) -> None:
    pairs = [(name, "1") for name in names]
    for _, value in PARSER.parse([pair for pair in pairs if pair[0] not in _known()]).headers:
        assert all(0x20 <= letter < 0x7F for letter in value)
        assert len(value) < 10_000


def _known() -> set[str]:
    return {name for field in PARSER.fields for name in field.accepted_names}


def test_browsers_may_read_the_header() -> None:
    exposed = dict(CORS)[b"access-control-expose-headers"].split(b", ")
    assert b"X-Ignored-Parameters" in exposed
