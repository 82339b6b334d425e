"""A person in results that were sent in: the results stay, who he was does not."""

from typing import Any

import msgspec
from sqlalchemy import Connection, Text, select, type_coerce, update

from silverball.store.tables import submission_document, submission_player

_PLAYER, _DOCUMENT = submission_player.c, submission_document.c


def erase_from_submissions(db: Connection, user_id: int) -> None:
    """Take the user out of every submission that knows him, and out of its document."""
    mine = select(_PLAYER.rating_submission_id, _PLAYER.place).where(_PLAYER.user_id == user_id)
    for submission_id, place in db.execute(mine).all():
        own = (_PLAYER.rating_submission_id == submission_id, _PLAYER.place == place)
        values: dict[str, Any] = {
            "name": f"Player {place + 1}",
            "ifpa_id": None,
            "user_id": None,
            "candidates": [],
        }
        # Nobody is asked again who that was.
        db.execute(update(submission_player).where(*own).values(**values, settled=True))
        _rewrite_document(db, submission_id, place)
    # Elsewhere he is only one of those whom a name could mean.
    naming = type_coerce(_PLAYER.candidates, Text).contains(str(user_id))
    found = select(_PLAYER.rating_submission_id, _PLAYER.place, _PLAYER.candidates).where(naming)
    for submission_id, place, candidates in db.execute(found).all():
        left = [one for one in candidates if one.get("user_id") != user_id]
        own = (_PLAYER.rating_submission_id == submission_id, _PLAYER.place == place)
        db.execute(update(submission_player).where(*own).values(candidates=left))


def _rewrite_document(db: Connection, submission_id: int, place: int) -> None:
    """The kept document with a pseudonym in the place of this player."""
    here = _DOCUMENT.rating_submission_id == submission_id
    body = db.execute(select(_DOCUMENT.body).where(here)).scalar_one_or_none()
    if body is None:
        return
    document: Any = msgspec.json.decode(body)
    known = document["players"][place]
    document["players"][place] = {"id": known["id"], "name": f"Player {place + 1}"}
    text = msgspec.json.encode(document).decode()
    db.execute(update(submission_document).where(here).values(body=text))
