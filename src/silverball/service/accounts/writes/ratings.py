"""Erase a person from the ratings. Their games stay rated, under a pseudonym that is not listed."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, bindparam, or_, select, update

from silverball.store import names, rating_days
from silverball.store.statements import Statement
from silverball.store.tables import player, rating

_RATING = rating.c
_RENAME_BY_NAME = Statement(
    update(rating)
    .where(_RATING.organizer_id == bindparam("own_organizer"), _RATING.name_key == bindparam("own_key"))
    .values(
        name=bindparam("new_name"),
        name_folded=bindparam("new_folded"),
        name_key=bindparam("new_key"),
        ifpa_id=None,
    )
)


def erase_from_ratings(db: Connection, user_id: int, players: Mapping[int, str]) -> None:
    """Erase the user and the names of their players from all ratings, while they are still linked.

    By then the account has its pseudonym and hides its rating; the ranks of others follow with the remains.
    """
    rating_days.update_name(db, user_id)
    own = select(_RATING.rating_id).where(_RATING.user_id == user_id).scalar_subquery()
    # Ratings merged into the user's rating stay as references, by number or by name.
    theirs = or_(_RATING.user_id == user_id, _RATING.merged_into == own)
    pseudonym = f"Player {user_id}"
    shown = {"name": pseudonym, "name_folded": names.fold(pseudonym)}
    hidden = dict.fromkeys(("ifpa_id", "organizer_id", "name_key"))
    db.execute(update(rating).where(theirs).values(**shown, **hidden))
    owners = select(player.c.player_id, player.c.organizer_id).where(player.c.player_id.in_(players))
    renamed = [
        _renamed(player_id, owner_id, players[player_id]) for player_id, owner_id in db.execute(owners)
    ]
    _RENAME_BY_NAME.run_many(db, renamed)


def _renamed(player_id: int, organizer_id: int, name: str) -> dict[str, Any]:
    """The rating that is known by this name, and the pseudonym by which the next run finds the player."""
    pseudonym = f"Player {player_id}"
    return {
        "own_organizer": organizer_id,
        "own_key": names.name_key(name),
        "new_name": pseudonym,
        "new_folded": names.fold(pseudonym),
        "new_key": names.name_key(pseudonym),
    }
