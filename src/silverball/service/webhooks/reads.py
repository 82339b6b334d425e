"""Webhooks and deliveries as the organizer sees them."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select

from silverball.kit.errors import NotAllowed, NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.core.calls import PageRows, refuse_deep_pagination
from silverball.service.standings.reads import standings
from silverball.service.users import reads as users_reads
from silverball.service.webhooks import message_text
from silverball.service.webhooks.message_text import NewsItem, SentenceFacts
from silverball.store import tables
from silverball.store.people import encryption
from silverball.store.revisions import stamps
from silverball.store.tables import tournament, webhook, webhook_delivery
from silverball.store.tournament import announcements
from silverball.store.tournament.announcements import Announcement
from silverball_wire import base
from silverball_wire.webhooks import DeliveryStatus, Webhook, WebhookDelivery, WebhookMessage, WebhookText

PER_PAGE = 50
WEBHOOKS_MAX = 10
_WEBHOOK, _WEBHOOK_DELIVERY = webhook.c, webhook_delivery.c
_DELIVERY_COLUMNS = (
    _WEBHOOK_DELIVERY.webhook_delivery_id,
    _WEBHOOK_DELIVERY.webhook_id,
    _WEBHOOK_DELIVERY.message_id,
    _WEBHOOK_DELIVERY.event,
    _WEBHOOK_DELIVERY.epoch,
    _WEBHOOK_DELIVERY.seq,
    _WEBHOOK_DELIVERY.status,
    _WEBHOOK_DELIVERY.tries,
    _WEBHOOK_DELIVERY.due_at,
    _WEBHOOK_DELIVERY.tried_at,
    _WEBHOOK_DELIVERY.response_status,
    _WEBHOOK_DELIVERY.reason,
    _WEBHOOK_DELIVERY.created_at,
)


class DeliveryQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET .../deliveries."""

    status: DeliveryStatus | None = None
    """Only deliveries in this state."""
    page: PageNumber = 1


def require_manager(db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None) -> None:
    """Raise NotFound, or NotAllowed for all but organizer, directors and admins.

    Even reading needs the ability to manage: the address of a chat is a secret.
    """
    users_reads.require_director(db, tournament_id, viewer)
    if viewer is None or not viewer.may("manage"):
        raise NotAllowed


def tournament_webhooks(db: Connection, tournament_id: int) -> tuple[Webhook, ...]:
    """The webhooks of the tournament, oldest first."""
    rows = (
        _webhook_rows()
        .where(_WEBHOOK.tournament_id == tournament_id)
        .order_by(_WEBHOOK.webhook_id)
        .limit(WEBHOOKS_MAX)
    )
    return tuple(_webhook_item(row) for row in db.execute(rows))


def find_webhook(db: Connection, tournament_id: int, webhook_id: int) -> Webhook:
    """A webhook of this tournament. Raises NotFound."""
    rows = _webhook_rows().where(_WEBHOOK.tournament_id == tournament_id, _WEBHOOK.webhook_id == webhook_id)
    row = db.execute(rows).one_or_none()
    if row is None:
        raise NotFound("Webhook", webhook_id)
    return _webhook_item(row)


def deliveries_page(db: Connection, webhook_id: int, query: DeliveryQuery) -> PageRows[WebhookDelivery]:
    """One page of the deliveries of a webhook, newest first."""
    refuse_deep_pagination(query.page, PER_PAGE)
    wanted = [_WEBHOOK_DELIVERY.webhook_id == webhook_id]
    if query.status is not None:
        wanted.append(_WEBHOOK_DELIVERY.status == query.status)
    total = db.execute(select(func.count()).select_from(webhook_delivery).where(*wanted)).scalar_one()
    rows = select(*_DELIVERY_COLUMNS).where(*wanted).order_by(_WEBHOOK_DELIVERY.webhook_delivery_id.desc())
    some = rows.limit(PER_PAGE).offset(PER_PAGE * (query.page - 1))
    generation = stamps.current_generation(db)
    return PageRows([_delivery_item(row, generation) for row in db.execute(some)], total)


def find_delivery(db: Connection, webhook_id: int, delivery_id: int) -> WebhookDelivery:
    """A delivery of this webhook. Raises NotFound."""
    rows = select(*_DELIVERY_COLUMNS).where(
        _WEBHOOK_DELIVERY.webhook_id == webhook_id, _WEBHOOK_DELIVERY.webhook_delivery_id == delivery_id
    )
    row = db.execute(rows).one_or_none()
    if row is None:
        raise NotFound("WebhookDelivery", delivery_id)
    return _delivery_item(row, stamps.current_generation(db))


def newest_deliveries(db: Connection, tournament_id: int, limit: int) -> dict[int, list[WebhookDelivery]]:
    """Webhook id -> its newest deliveries, newest first, at most `limit` of each."""
    place = func.row_number().over(
        partition_by=_WEBHOOK_DELIVERY.webhook_id, order_by=_WEBHOOK_DELIVERY.webhook_delivery_id.desc()
    )
    own = select(_WEBHOOK.webhook_id).where(_WEBHOOK.tournament_id == tournament_id)
    ranked = select(_WEBHOOK_DELIVERY.webhook_delivery_id.label("id"), place.label("place"))
    candidates = ranked.where(_WEBHOOK_DELIVERY.webhook_id.in_(own)).subquery()
    newest = select(candidates.c.id).where(candidates.c.place <= limit)
    rows = select(*_DELIVERY_COLUMNS).where(_WEBHOOK_DELIVERY.webhook_delivery_id.in_(newest))
    generation = stamps.current_generation(db)
    listed: defaultdict[int, list[WebhookDelivery]] = defaultdict(list)
    for row in db.execute(rows.order_by(_WEBHOOK_DELIVERY.webhook_delivery_id.desc())):
        listed[row.webhook_id].append(_delivery_item(row, generation))
    return listed


def _webhook_rows() -> Select[Any]:
    waits = select(func.count()).select_from(webhook_delivery)
    waits = waits.where(
        _WEBHOOK_DELIVERY.webhook_id == _WEBHOOK.webhook_id, _WEBHOOK_DELIVERY.status == "waiting"
    )
    return select(webhook, waits.scalar_subquery().label("waiting_count"))


def _webhook_item(row: Any) -> Webhook:
    return Webhook(
        webhook_id=row.webhook_id,
        tournament_id=row.tournament_id,
        name=row.name,
        url=row.url,
        form=row.form,
        events=tuple(row.events),
        is_active=row.is_active,
        stopped_reason=row.stopped_reason,
        failing_since=base.iso_or_none(row.failing_since),
        waiting_count=row.waiting_count,
        created_at=base.iso(row.created_at),
        updated_at=base.iso(row.updated_at),
    )


def _delivery_item(row: Any, generation: str) -> WebhookDelivery:
    return WebhookDelivery(
        webhook_delivery_id=row.webhook_delivery_id,
        webhook_id=row.webhook_id,
        message_id=row.message_id,
        event=row.event,
        epoch=None if row.epoch is None else stamps.public_epoch(row.epoch, generation),
        seq=row.seq,
        status=row.status,
        tries=row.tries,
        due_at=base.iso_or_none(row.due_at),
        tried_at=base.iso_or_none(row.tried_at),
        response_status=row.response_status,
        reason=row.reason,
        created_at=base.iso(row.created_at),
    )


# The body of a delivery, built from the stored announcement when the message is sent.
#
# The body is not stored with the delivery. When people hide themselves, their older announcements are
# withdrawn, and retried messages cannot reveal them either.


TEST = "test"
TEST_SENTENCE = "This is a test: messages arrive here."
PLAYERS_NAMED_MAX = 200
_MESSAGE_DELIVERY = tables.webhook_delivery.c


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
    epoch = stamps.own_epoch(epoch)
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
        return _event_body(announcement, stamps.current_generation(db))
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
        timestamp=base.iso(announcement.at),
        data=msgspec.json.decode(announcement.data),
        tournament_id=announcement.tournament_id,
        epoch=stamps.public_epoch(announcement.epoch, generation),
        seq=announcement.seq,
    )
    return msgspec.json.encode(message)


def _test_body(db: Connection, hook: Any, at: datetime) -> bytes:
    name = _tournament_name(db, hook.tournament_id)
    if hook.form == "text":
        return _text_body(f"{message_text.plain_text(name)} \u00b7 {TEST_SENTENCE}")
    message = WebhookMessage(
        type=TEST,
        timestamp=base.iso(at),
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
    earlier = select(_MESSAGE_DELIVERY.said).where(
        _MESSAGE_DELIVERY.webhook_id == delivery.webhook_id,
        _MESSAGE_DELIVERY.about == delivery.about,
        _MESSAGE_DELIVERY.webhook_delivery_id < delivery.webhook_delivery_id,
    )
    earlier_content = db.execute(
        earlier.order_by(_MESSAGE_DELIVERY.webhook_delivery_id.desc()).limit(1)
    ).scalar_one_or_none()
    return earlier_content is not None and delivery.about.startswith("game ")


_TOURNAMENT = tournament.c


def webhooks_behind() -> Select[Any]:
    """The oldest active webhook with announcements that are not planned yet."""
    rows = select(
        webhook,
        _TOURNAMENT.epoch.label("own_epoch"),
        _TOURNAMENT.seq.label("own_seq"),
        _TOURNAMENT.seq_low.label("own_low"),
    )
    rows = rows.join(tournament, _TOURNAMENT.tournament_id == _WEBHOOK.tournament_id)
    is_behind = or_(_WEBHOOK.epoch != _TOURNAMENT.epoch, _WEBHOOK.seq < _TOURNAMENT.seq)
    return rows.where(_WEBHOOK.is_active, is_behind).order_by(_WEBHOOK.webhook_id).limit(1)


def webhooks_ready(db: Connection, now: datetime, *, slow: bool) -> Select[Any]:
    """The webhook with a message to send now whose last turn was longest ago.

    Slow or failing webhooks have a queue of their own (`slow`), so they wait only for each other.
    """
    is_free = or_(_WEBHOOK.busy_until.is_(None), _WEBHOOK.busy_until < now)
    is_rested = or_(_WEBHOOK.rest_until.is_(None), _WEBHOOK.rest_until <= now)
    has_message = (
        select(_WEBHOOK_DELIVERY.webhook_delivery_id)
        .where(_WEBHOOK_DELIVERY.webhook_id == _WEBHOOK.webhook_id, is_due(now))
        .exists()
    )
    rows = select(webhook).where(
        _WEBHOOK.is_active, _WEBHOOK.is_slow == slow, is_free, is_rested, has_message
    )
    # Without the key for their secrets, messages wait: for the key, or for a node that has it.
    rows = rows.where(encryption.is_readable(db, _WEBHOOK.secret))
    return rows.order_by(_WEBHOOK.tried_at, _WEBHOOK.webhook_id).limit(1)


def is_due(now: datetime) -> ColumnElement[bool]:
    """Whether a delivery is due to be sent now."""
    return and_(_WEBHOOK_DELIVERY.status == "waiting", _WEBHOOK_DELIVERY.due_at <= now)


def is_any_webhook_behind(db: Connection) -> bool:
    """Whether a webhook has announcements that are not planned yet."""
    rows = webhooks_behind().with_only_columns(_WEBHOOK.webhook_id, maintain_column_froms=True)
    return db.execute(rows).first() is not None


def is_any_message_ready(db: Connection, now: datetime, *, slow: bool) -> bool:
    """Whether a message is due to be sent."""
    rows = webhooks_ready(db, now, slow=slow).with_only_columns(_WEBHOOK.webhook_id)
    return db.execute(rows).first() is not None


def backlog(db: Connection, now: datetime) -> tuple[int, float]:
    """The number of messages that are due, and for how many seconds the first of them has been."""
    due = webhook_delivery.c
    rows = select(func.count(), func.min(due.due_at)).where(
        due.webhook_id.in_(select(webhook.c.webhook_id).where(webhook.c.is_active)), is_due(now)
    )
    number, oldest = db.execute(rows).one()
    return int(number), max(0.0, (now - oldest).total_seconds()) if oldest else 0.0
