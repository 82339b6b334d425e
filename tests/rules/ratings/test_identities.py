"""Identities of rated people. Source: ratings.md A.5."""

from hypothesis import given
from hypothesis import strategies as st

from rules.properties import quick
from silverball.rules.ratings.seats import IdentityRegister, RatedPerson, surviving_id

BO = RatedPerson("Bo Larkin", organizer_id=1, name_key="bo larkin")
CLAIMED = RatedPerson("Bo Larkin", user_id=5, organizer_id=1, name_key="bo larkin")
NUMBERED = RatedPerson("Bo Larkin", ifpa_id=77, organizer_id=1, name_key="bo larkin")
ELSEWHERE = RatedPerson("Bo", user_id=5, organizer_id=2, name_key="bo")


def test_a_stranger_is_given_an_id_and_keeps_it() -> None:
    register = IdentityRegister(next_id=7)
    assert [register.rating_id_for(BO), register.rating_id_for(BO)] == [7, 7]
    assert register.created_ids == {7}


def test_the_same_name_in_another_book_is_another_person() -> None:
    register = IdentityRegister()
    assert register.rating_id_for(BO) != register.rating_id_for(
        RatedPerson("Bo Larkin", organizer_id=2, name_key="bo larkin")
    )


def test_a_person_without_an_organizer_is_never_found_by_name() -> None:
    register = IdentityRegister()
    stranger = RatedPerson("Bo Larkin", ifpa_id=None)
    assert register.rating_id_for(BO) != register.rating_id_for(stranger)


def test_a_claimed_player_keeps_the_rating_they_had_by_name() -> None:
    register = IdentityRegister()
    before = register.rating_id_for(BO)
    assert register.rating_id_for(CLAIMED) == before
    assert register.by_id[before].user_id == 5
    assert register.merged == {}


def test_the_name_of_a_claimed_player_is_free_for_a_namesake() -> None:
    register = IdentityRegister()
    claimed = (register.rating_id_for(BO), register.rating_id_for(CLAIMED))[0]
    namesake = register.rating_id_for(BO)
    assert namesake != claimed
    assert register.by_id[namesake].user_id is None


def test_the_account_is_the_same_person_in_every_book() -> None:
    register = IdentityRegister()
    assert register.rating_id_for(CLAIMED) == register.rating_id_for(ELSEWHERE)


def test_the_lower_id_survives_when_two_ratings_are_one_person() -> None:
    register = IdentityRegister()
    by_name, by_account = register.rating_id_for(BO), register.rating_id_for(ELSEWHERE)
    assert register.rating_id_for(CLAIMED) == by_name < by_account
    assert register.merged == {by_account: by_name}
    assert register.by_id[by_name].user_id == 5
    assert register.rating_id_for(ELSEWHERE) == by_name


def test_a_number_that_an_organizer_wrote_down_joins_account_and_number() -> None:
    register = IdentityRegister()
    by_number = register.rating_id_for(
        RatedPerson("B. Larkin", ifpa_id=77, organizer_id=3, name_key="b. larkin")
    )
    by_account = register.rating_id_for(ELSEWHERE)
    both = RatedPerson("Bo", user_id=5, ifpa_id=77, organizer_id=2, name_key="bo")
    assert register.rating_id_for(both) == by_number
    assert register.merged == {by_account: by_number}
    assert (register.by_id[by_number].user_id, register.by_id[by_number].ifpa_id) == (5, 77)


def test_a_number_that_is_another_accounts_joins_nobody() -> None:
    register = IdentityRegister()
    theirs = register.rating_id_for(
        RatedPerson("Cy Dent", user_id=6, ifpa_id=77, organizer_id=1, name_key="cy dent")
    )
    mine = register.rating_id_for(RatedPerson("Bo", user_id=5, ifpa_id=77, organizer_id=2, name_key="bo"))
    assert mine != theirs
    assert register.by_id[mine].ifpa_id is None
    assert register.merged == {}


def test_two_numbers_of_one_account_are_not_made_one() -> None:
    register = IdentityRegister()
    first = register.rating_id_for(RatedPerson("Bo", user_id=5, ifpa_id=77, organizer_id=1, name_key="bo"))
    other = register.rating_id_for(RatedPerson("Bo", ifpa_id=78, organizer_id=2, name_key="bo"))
    assert (
        register.rating_id_for(RatedPerson("Bo", user_id=5, ifpa_id=78, organizer_id=3, name_key="bo"))
        == first
    )
    assert other != first
    assert register.merged == {}


people = st.builds(
    RatedPerson,
    name=st.sampled_from(["Ada", "Bo", "Cy"]),
    user_id=st.sampled_from([None, None, 1, 2, 3]),
    ifpa_id=st.sampled_from([None, None, 11, 12, 13]),
    organizer_id=st.sampled_from([1, 2]),
    name_key=st.sampled_from(["ada", "bo", "cy"]),
)


@quick
@given(st.lists(people, max_size=30))
def test_nobody_has_two_ratings_and_no_rating_is_lost(found: list[RatedPerson]) -> None:
    register = IdentityRegister()
    given_ids = [register.rating_id_for(identity) for identity in found]
    living = register.by_id
    for rating_id in given_ids:
        assert surviving_id(register.merged, rating_id) in living
        assert surviving_id(register.merged, rating_id) <= rating_id
    for index, name in ((register.by_user, "user_id"), (register.by_ifpa, "ifpa_id")):
        numbers = [
            getattr(identity, name) for identity in living.values() if getattr(identity, name) is not None
        ]
        assert sorted(numbers) == sorted(set(numbers))
        for number, rating_id in index.items():
            assert getattr(living[rating_id], name) == number
    for (organizer_id, key), rating_id in register.by_name.items():
        identity = living[rating_id]
        assert (identity.organizer_id, identity.name_key, identity.user_id, identity.ifpa_id) == (
            organizer_id,
            key,
            None,
            None,
        )


@quick
@given(st.lists(people, max_size=30))
def test_a_second_lookup_changes_nothing_for_people_with_accounts(found: list[RatedPerson]) -> None:
    register = IdentityRegister()
    for person in found:
        register.rating_id_for(person)
    for person in found:
        if person.user_id is not None:
            assert register.rating_id_for(person) == register.by_user[person.user_id]
