"""Rated people with the numbers that count for them. Source: ratings, section A.5."""

from silverball.kit.values import replace
from silverball.rules.ratings.events import RatedPerson
from silverball.store.confirmed_numbers import ConfirmedNumbers


def with_confirmed_number(person: RatedPerson, confirmed: ConfirmedNumbers) -> RatedPerson:
    """The person with the number that is confirmed for their account, and no other one.

    Without an account, the person with a confirmed number is the account that it is confirmed for. The
    name in the book then finds nothing: whoever typed the number must not join ratings by it.
    """
    if person.user_id is not None:
        return replace(person, ifpa_id=confirmed.number_by_user.get(person.user_id))
    holder = None if person.ifpa_id is None else confirmed.user_by_number.get(person.ifpa_id)
    if holder is None:
        return person
    name = confirmed.name_by_user[holder]
    return replace(person, name=name, user_id=holder, organizer_id=None, name_key=None)
