"""Resolution of moved ids. Source: ratings C.3."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.rules.opdb import ResolvedId, resolve_id

Moves = dict[str, str | None]
IDS = [f"G{letter}" for letter in "ABCDEFGH"]
MOVES = st.dictionaries(st.sampled_from(IDS), st.none() | st.sampled_from(IDS))
KNOWN = st.frozensets(st.sampled_from(IDS))

CHAIN: Moves = {"GA": "GB", "GB": "GC"}


@pytest.mark.parametrize(
    ("moves", "known", "outcome"),
    [
        # The id has not moved.
        ({}, {"GA"}, ResolvedId("GA")),
        ({"GX": "GY"}, set(), ResolvedId("GA")),
        # A chain is followed to its end, also without a database.
        (CHAIN, {"GC"}, ResolvedId("GC")),
        (CHAIN, set(), ResolvedId("GC")),
        # The database may still have replaced ids.
        (CHAIN, {"GA", "GB", "GC"}, ResolvedId("GC")),
        # The changelog may be ahead of the database.
        (CHAIN, {"GB"}, ResolvedId("GB")),
        (CHAIN, {"GA"}, ResolvedId("GA")),
        # A chain to an unknown id leaves the id as it is.
        (CHAIN, {"GX"}, ResolvedId("GA", is_unknown=True)),
        # Deleted, at once or in the end.
        ({"GA": None}, {"GA"}, ResolvedId(None)),
        ({**CHAIN, "GC": None}, {"GB"}, ResolvedId(None)),
        # Circles, also of a single id.
        ({"GA": "GA"}, {"GA"}, ResolvedId("GA")),
        ({"GA": "GB", "GB": "GA"}, {"GA", "GB"}, ResolvedId("GA")),
        ({"GA": "GB", "GB": "GA"}, {"GB"}, ResolvedId("GB")),
        ({"GA": "GB", "GB": "GC", "GC": "GB"}, {"GC"}, ResolvedId("GC")),
        ({"GA": "GB", "GB": "GA"}, set(), ResolvedId("GA", is_unknown=True)),
        # Ids are case-sensitive.
        ({"Ga": "GB"}, {"GA", "GB"}, ResolvedId("GA")),
    ],
)
def test_an_id_leads_where_the_list_of_changes_says(
    moves: Moves, known: set[str], outcome: ResolvedId
) -> None:
    assert resolve_id("GA", moves, known) == outcome


@given(st.sampled_from(IDS), MOVES, KNOWN)
def test_following_twice_is_following_once(opdb_id: str, moves: Moves, known: frozenset[str]) -> None:
    there = resolve_id(opdb_id, moves, known)
    if there.opdb_id is not None and not there.is_unknown:
        assert resolve_id(there.opdb_id, moves, known) == there


@given(st.sampled_from(IDS), MOVES, KNOWN)
def test_a_known_id_that_is_not_deleted_never_becomes_unknown(
    opdb_id: str, moves: Moves, known: frozenset[str]
) -> None:
    there = resolve_id(opdb_id, moves, known).opdb_id
    if opdb_id in known and there is not None:
        assert there in known
