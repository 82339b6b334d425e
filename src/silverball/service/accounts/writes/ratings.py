"""Erase a person from the ratings. Their games stay rated, under a pseudonym that is not listed."""

from collections.abc import Mapping

from sqlalchemy import ColumnElement, Connection, or_, select, update

from silverball.store import names, rating_days
from silverball.store.tables import player, rating

_RATING = rating.c


def erase_from_ratings(db: Connection, user_id: int, players: Mapping[int, str], *, was_hidden: bool) -> None:
    """Erase the user and the names of their players from all ratings, while they are still linked.

    By then the account has its pseudonym and hides its rating.
    """
    rating_days.update_user(db, user_id, was_hidden=was_hidden)
    own = select(_RATING.rating_id).where(_RATING.user_id == user_id).scalar_subquery()
    # Ratings merged into the user's rating stay as references, by number or by name.
    theirs = or_(_RATING.user_id == user_id, _RATING.merged_into == own)
    _rename_ratings(db, theirs, f"Player {user_id}", organizer_id=None, name_key=None)
    rows = select(player.c.player_id, player.c.organizer_id).where(player.c.player_id.in_(players))
    for player_id, organizer_id in db.execute(rows).all():
        # The next run finds players without an account by their name, which is the pseudonym now.
        known = (_RATING.organizer_id == organizer_id) & (
            _RATING.name_key == names.name_key(players[player_id])
        )
        pseudonym = f"Player {player_id}"
        _rename_ratings(db, known, pseudonym, name_key=names.name_key(pseudonym))
    rating_days.mark_players(db, players)


def _rename_ratings(db: Connection, condition: ColumnElement[bool], name: str, **more: object) -> None:
    values = {"name": name, "name_folded": names.fold(name), "ifpa_id": None, **more}
    db.execute(update(rating).where(condition).values(**values))
