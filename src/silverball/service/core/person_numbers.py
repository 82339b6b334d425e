"""One number, one person: what an organizer's door makes of a federation number."""

from collections.abc import Mapping

from sqlalchemy import Connection

from silverball.kit.errors import Conflict
from silverball.store.people import near_names, person_numbers


class NumberOfSomebodyElse(Conflict):
    sentence = (
        "Federation number {number} is that of {player} in the book, whose name is not near to {name}."
        " Check the number, or send numberWins for the player who has it."
    )


class NumberNotUnique(Conflict):
    sentence = (
        "The book has federation number {number} twice: {players}. Merge them if they are one person, or"
        " name the player by playerId."
    )


class PlayerEnteredAlready(Conflict):
    sentence = "{player} is in the tournament already, under the same federation number."


TAKEN_BY_ANOTHER = (
    "Federation number {number} is that of {player} in the book. Merge the two if they are one person."
)


def player_of_number(
    found: Mapping[int, Mapping[int, str]], number: int, name: str | None, *, number_wins: bool
) -> int | None:
    """Id of the player whose number this is among those found; None when it is nobody's.

    Raises NumberNotUnique, and NumberOfSomebodyElse for a name that is not near, unless the number wins.
    """
    players = found.get(number, {})
    if len(players) > 1:
        raise NumberNotUnique(number=number, players=tuple(players))
    for player_id, known_name in players.items():
        if name is not None and not number_wins and not near_names.are_near(name, known_name):
            raise NumberOfSomebodyElse(number=number, player=player_id, name=name)
        return player_id
    return None


def refuse_taken_number(db: Connection, organizer_id: int, number: int, *, except_id: int) -> None:
    """Raise NumberOfSomebodyElse for a number that another player of the book has."""
    person_numbers.lock_numbers(db, organizer_id)
    for player_id in person_numbers.holders(db, organizer_id, [number]).get(number, {}):
        if player_id != except_id:
            raise NumberOfSomebodyElse(TAKEN_BY_ANOTHER, number=number, player=player_id)
