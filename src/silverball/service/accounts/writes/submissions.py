"""Erase a person from submitted results. The results stay."""

from typing import Any

import msgspec
from sqlalchemy import Connection, Text, select, type_coerce, update

from silverball.store.tables import submission_document, submission_player

_PLAYER, _DOCUMENT = submission_player.c, submission_document.c


def erase_from_submissions(db: Connection, user_id: int) -> None:
    """Erase the user from all submissions and their documents."""
    mine = select(_PLAYER.rating_submission_id, _PLAYER.place).where(_PLAYER.user_id == user_id)
    for submission_id, place in db.execute(mine).all():
        own = (_PLAYER.rating_submission_id == submission_id, _PLAYER.place == place)
        values: dict[str, Any] = {
            "name": f"Player {place + 1}",
            "ifpa_id": None,
            "user_id": None,
            "candidates": [],
        }
        # A settled player is not asked about again.
        db.execute(update(submission_player).where(*own).values(**values, settled=True))
        _rewrite_document(db, submission_id, place)
    # In other submissions the user is only a candidate for a name.
    naming = type_coerce(_PLAYER.candidates, Text).contains(str(user_id))
    matching = select(_PLAYER.rating_submission_id, _PLAYER.place, _PLAYER.candidates).where(naming)
    for submission_id, place, candidates in db.execute(matching).all():
        remaining = [candidate for candidate in candidates if candidate.get("user_id") != user_id]
        own = (_PLAYER.rating_submission_id == submission_id, _PLAYER.place == place)
        db.execute(update(submission_player).where(*own).values(candidates=remaining))


def _rewrite_document(db: Connection, submission_id: int, place: int) -> None:
    """Replace the player at this place of the stored document by a pseudonym."""
    is_document = _DOCUMENT.rating_submission_id == submission_id
    body = db.execute(select(_DOCUMENT.body).where(is_document)).scalar_one_or_none()
    if body is None:
        return
    document: Any = msgspec.json.decode(body)
    known = document["players"][place]
    document["players"][place] = {"id": known["id"], "name": f"Player {place + 1}"}
    text = msgspec.json.encode(document).decode()
    db.execute(update(submission_document).where(is_document).values(body=text))
