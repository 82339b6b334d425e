"""Matching the players of a document. Source: ratings, A.5 and A.8."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.service.submissions import document
from silverball.service.submissions.document import DocumentPlayer, KnownPeople, KnownPerson, ResolvedPlayer

ADA, BO, CY = KnownPerson(1, 101), KnownPerson(2, None), KnownPerson(None, 103)
TWIN, OTHER_TWIN = KnownPerson(4, 104), KnownPerson(5, 104)
KNOWN = KnownPeople(
    users={person.user_id: person for person in (ADA, BO, TWIN, OTHER_TWIN) if person.user_id is not None},
    by_ifpa={101: [ADA], 104: [TWIN, OTHER_TWIN]},
    by_name={"ada": [ADA], "bo": [BO], "cy": [CY], "di": [ADA, BO]},
)


def player(name: str, ifpa_id: int | None = None, user_id: int | None = None) -> DocumentPlayer:
    return DocumentPlayer(id=name, name=name, ifpa_id=ifpa_id, matchplay_user_id=user_id)


@pytest.mark.parametrize(
    ("player", "user_id", "ifpa_id", "candidates"),
    [
        # A number identifies a player under any name.
        (player("Bo", 101), 1, 101, None),
        (player("Stranger", 999), None, 999, None),
        # A number claimed by two accounts identifies neither account.
        (player("Twin", 104), None, 104, None),
        (player("Twin", 104, 5), 5, 104, None),
        # An account without a number may have this one; an account with another may not.
        (player("Bo", 999, 2), 2, 999, None),
        (player("Ada", 999, 1), None, 999, (KnownPerson(None, 999), ADA)),
        (player("Bo", None, 1), 1, 101, None),
        # A name is enough if only one person has it.
        (player("ÁDA"), 1, 101, None),
        (player("cy"), None, 103, None),
        (player("Cy", None, 77), None, 103, None),
        (player("Di"), None, None, (ADA, BO)),
        (player("Nobody"), None, None, ()),
    ],
)
def test_a_player_is_matched_by_number_account_or_a_unique_name(
    player: DocumentPlayer,
    user_id: int | None,
    ifpa_id: int | None,
    candidates: tuple[KnownPerson, ...] | None,
) -> None:
    settled = candidates is None
    expected = ResolvedPlayer(player.name, ifpa_id, user_id, settled=settled, candidates=candidates or ())
    assert document.resolve_players([player], KNOWN) == (expected,)


def test_namesakes_are_left_open() -> None:
    twice = document.resolve_players([player("Ada"), player("ada", None, 77)], KNOWN)
    assert [(player.settled, player.candidates) for player in twice] == [(False, (ADA,))] * 2
    by_number, by_name = document.resolve_players([player("X", 101), player("Ada")], KNOWN)
    assert (by_number.settled, by_name.settled) == (True, False)
    assert document.duplicate_faults([by_number, by_name]) == []


def test_two_players_with_the_number_and_the_account_of_one_person_are_a_fault() -> None:
    found = document.resolve_players([player("X", 101), player("Y", None, 1)], KNOWN)
    assert document.duplicate_faults(found) == ["players.1: This is the same person as players.0."]


PLAYERS = st.builds(
    player,
    st.sampled_from(["Ada", "Bo", "Cy", "Di", "Nobody"]),
    st.none() | st.sampled_from([101, 103, 104, 999]),
    st.none() | st.sampled_from([1, 2, 4, 5, 77]),
)


@given(st.lists(PLAYERS, max_size=6))
def test_two_settled_players_are_never_one_person_without_a_fault(listed: list[DocumentPlayer]) -> None:
    found = document.resolve_players(listed, KNOWN)
    assert [player.name for player in found] == [player.name for player in listed]
    assert all(player.user_id is None or player.settled for player in found)
    marks = [mark for player in found for mark in player.identifiers()]
    assert (len(set(marks)) < len(marks)) == bool(document.duplicate_faults(found))
