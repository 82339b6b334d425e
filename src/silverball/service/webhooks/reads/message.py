"""The body of a delivery, built from the stored announcement when the message is sent.

The body is not stored with the delivery. When people hide themselves, their older announcements are
withdrawn, and retried messages cannot reveal them either.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Connection, func, select

from silverball.service.standings import reads as standings
from silverball.service.webhooks import message_text
from silverball.service.webhooks.message_text import NewsItem, SentenceFacts
from silverball.store import announcements, generations, tables
from silverball.store.announcements import Announcement
from silverball_wire import times
from silverball_wire.webhooks import WebhookMessage, WebhookText

TEST = "test"
TEST_SENTENCE = "This is a test: messages arrive here."
PLAYERS_NAMED_MAX = 200
_D = tables.webhook_delivery.c


def can_be_sent(db: Connection, tournament_id: int, delivery: Any) -> bool:
    """Whether the announcement of a delivery is still stored."""
    return (
        delivery.event == TEST
        or find_announcement(db, tournament_id, delivery.epoch, delivery.seq) is not None
    )


def find_announcement(
    db: Connection, tournament_id: int, epoch: str | None, seq: int | None
) -> Announcement | None:
    """The announcement; None when it was withdrawn or trimmed."""
    if epoch is None or seq is None:
        return None
    # As stored, or as the list of deliveries shows it.
    epoch = generations.own_epoch(epoch)
    head = announcements.channel_head(db, tournament_id)
    if head is None or head.epoch != epoch:
        return None
    announcements_found = announcements.load_since(db, tournament_id, epoch, seq - 1, 1)
    return announcements_found[0] if announcements_found and announcements_found[0].seq == seq else None


def message_body(db: Connection, hook: Any, delivery: Any, base_url: str) -> bytes | None:
    """The body to send; None when the announcement is no longer stored."""
    if delivery.event == TEST:
        return _test_body(db, hook, delivery.created_at)
    announcement = find_announcement(db, hook.tournament_id, delivery.epoch, delivery.seq)
    if announcement is None:
        return None
    if hook.form == "events":
        return _event_body(announcement, generations.current_generation(db))
    if delivery.about is None:
        return None
    news = NewsItem(delivery.about, delivery.said)
    data = msgspec.json.decode(announcement.data)
    sentence = message_text.render_sentence(
        announcement.name, data, news, _sentence_facts(db, hook, delivery, data, base_url)
    )
    return _text_body(sentence)


def _event_body(announcement: Announcement, generation: str) -> bytes:
    message = WebhookMessage(
        type=announcement.name,
        timestamp=times.iso(announcement.at),
        data=msgspec.json.decode(announcement.data),
        tournament_id=announcement.tournament_id,
        epoch=generations.public_epoch(announcement.epoch, generation),
        seq=announcement.seq,
    )
    return msgspec.json.encode(message)


def _test_body(db: Connection, hook: Any, at: datetime) -> bytes:
    name = _tournament_name(db, hook.tournament_id)
    if hook.form == "text":
        return _text_body(f"{message_text.plain_text(name)} \u00b7 {TEST_SENTENCE}")
    message = WebhookMessage(
        type=TEST,
        timestamp=times.iso(at),
        data={"message": TEST_SENTENCE},
        tournament_id=hook.tournament_id,
        epoch=None,
        seq=None,
    )
    return msgspec.json.encode(message)


def _text_body(text: str) -> bytes:
    return msgspec.json.encode(WebhookText(text=text, content=text, allowed_mentions={"parse": ()}))


def _tournament_name(db: Connection, tournament_id: int) -> str:
    own = tables.tournament.c
    return str(db.execute(select(own.name).where(own.tournament_id == tournament_id)).scalar_one())


def _sentence_facts(
    db: Connection, hook: Any, delivery: Any, data: dict[str, Any], base_url: str
) -> SentenceFacts:
    tournament_id, about = hook.tournament_id, delivery.about
    is_over = about == "status" and delivery.said.endswith("completed")
    places = _first_places(db, tournament_id) if is_over else []
    named_ids = [player_id for _, player_id in places] or data.get("playerIds", ())
    entrants = tables.entrant.c.tournament_id == tournament_id
    return SentenceFacts(
        tournament=_tournament_name(db, tournament_id),
        players=_player_names(db, named_ids),
        places=places,
        player_count=_row_count(db, entrants) if about == "status" else 0,
        game_count=_game_count(db, data["roundId"]) if about.startswith("round ") else 0,
        is_corrected=_is_correction(db, delivery),
        url=f"{base_url}/t/{tournament_id}" if base_url else "",
    )


def _player_names(db: Connection, player_ids: Sequence[int]) -> dict[int, str]:
    player = tables.player.c
    rows = select(player.player_id, player.name).where(player.player_id.in_(player_ids))
    return {row.player_id: row.name for row in db.execute(rows)}


def _first_places(db: Connection, tournament_id: int) -> list[tuple[int, int]]:
    own = tables.tournament.c.tournament_id == tournament_id
    places = standings.places_where(db, own).get(tournament_id, {})
    first = [
        (place.position, player_id)
        for player_id, place in places.items()
        if place.position <= message_text.PLACES_MAX
    ]
    return first[:PLAYERS_NAMED_MAX]


def _row_count(db: Connection, *wanted: Any) -> int:
    return int(db.execute(select(func.count()).where(*wanted)).scalar_one())


def _game_count(db: Connection, round_id: int) -> int:
    game = tables.game.c
    return _row_count(db, game.round_id == round_id, ~game.bye)


def _is_correction(db: Connection, delivery: Any) -> bool:
    """Whether an earlier delivery reported another result of the same game."""
    earlier = select(_D.said).where(
        _D.webhook_id == delivery.webhook_id,
        _D.about == delivery.about,
        _D.webhook_delivery_id < delivery.webhook_delivery_id,
    )
    earlier_content = db.execute(
        earlier.order_by(_D.webhook_delivery_id.desc()).limit(1)
    ).scalar_one_or_none()
    return earlier_content is not None and delivery.about.startswith("game ")
