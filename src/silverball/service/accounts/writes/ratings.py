"""A person in the ratings: what he has played stays rated, under a pseudonym that no list shows."""

from collections.abc import Mapping

from sqlalchemy import ColumnElement, Connection, or_, select, update

from silverball.store import names, rating_days
from silverball.store.tables import player, rating

_RATING = rating.c


def erase_from_ratings(db: Connection, user_id: int, players: Mapping[int, str], *, was_hidden: bool) -> None:
    """Take the user and the names of his players out of every rating; call it while they are linked.

    The account has its pseudonym and hides its rating already.
    """
    rating_days.update_user(db, user_id, was_hidden=was_hidden)
    own = select(_RATING.rating_id).where(_RATING.user_id == user_id).scalar_subquery()
    # Ratings that turned out to be his stay behind as signposts, by number or by name.
    his = or_(_RATING.user_id == user_id, _RATING.merged_into == own)
    _rename_ratings(db, his, f"Player {user_id}", organizer_id=None, name_key=None)
    rows = select(player.c.player_id, player.c.organizer_id).where(player.c.player_id.in_(players))
    for player_id, organizer_id in db.execute(rows).all():
        # Whoever is known by name only is looked for by that name in the next run.
        known = (_RATING.organizer_id == organizer_id) & (
            _RATING.name_key == names.name_key(players[player_id])
        )
        pseudonym = f"Player {player_id}"
        _rename_ratings(db, known, pseudonym, name_key=names.name_key(pseudonym))
    rating_days.mark_players(db, players)


def _rename_ratings(db: Connection, whose: ColumnElement[bool], name: str, **more: object) -> None:
    values = {"name": name, "name_folded": names.fold(name), "ifpa_id": None, **more}
    db.execute(update(rating).where(whose).values(**values))
