"""Webhooks and deliveries as the organizer sees them."""

from collections import defaultdict
from typing import Any

from sqlalchemy import Connection, Select, func, select

from silverball.kit.errors import NotAllowed, NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.service.access import AuthenticatedCaller
from silverball.service.directors import reads as directors
from silverball.service.pages import PageRows, refuse_deep_pagination
from silverball.store import generations
from silverball.store.tables import webhook, webhook_delivery
from silverball_wire import times
from silverball_wire.webhooks import DeliveryStatus, Webhook, WebhookDelivery

PER_PAGE = 50
WEBHOOKS_MAX = 10
_W, _D = webhook.c, webhook_delivery.c
_DELIVERY_COLUMNS = (
    _D.webhook_delivery_id,
    _D.webhook_id,
    _D.message_id,
    _D.event,
    _D.epoch,
    _D.seq,
    _D.status,
    _D.tries,
    _D.due_at,
    _D.tried_at,
    _D.response_status,
    _D.reason,
    _D.created_at,
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
    directors.require_director(db, tournament_id, viewer)
    if viewer is None or not viewer.may("manage"):
        raise NotAllowed


def tournament_webhooks(db: Connection, tournament_id: int) -> tuple[Webhook, ...]:
    """The webhooks of the tournament, oldest first."""
    rows = (
        _webhook_rows().where(_W.tournament_id == tournament_id).order_by(_W.webhook_id).limit(WEBHOOKS_MAX)
    )
    return tuple(_webhook_item(row) for row in db.execute(rows))


def find_webhook(db: Connection, tournament_id: int, webhook_id: int) -> Webhook:
    """A webhook of this tournament. Raises NotFound."""
    rows = _webhook_rows().where(_W.tournament_id == tournament_id, _W.webhook_id == webhook_id)
    row = db.execute(rows).one_or_none()
    if row is None:
        raise NotFound("Webhook", webhook_id)
    return _webhook_item(row)


def deliveries_page(db: Connection, webhook_id: int, query: DeliveryQuery) -> PageRows[WebhookDelivery]:
    """One page of the deliveries of a webhook, newest first."""
    refuse_deep_pagination(query.page, PER_PAGE)
    wanted = [_D.webhook_id == webhook_id]
    if query.status is not None:
        wanted.append(_D.status == query.status)
    total = db.execute(select(func.count()).select_from(webhook_delivery).where(*wanted)).scalar_one()
    rows = select(*_DELIVERY_COLUMNS).where(*wanted).order_by(_D.webhook_delivery_id.desc())
    some = rows.limit(PER_PAGE).offset(PER_PAGE * (query.page - 1))
    generation = generations.current_generation(db)
    return PageRows([_delivery_item(row, generation) for row in db.execute(some)], total)


def find_delivery(db: Connection, webhook_id: int, delivery_id: int) -> WebhookDelivery:
    """A delivery of this webhook. Raises NotFound."""
    rows = select(*_DELIVERY_COLUMNS).where(
        _D.webhook_id == webhook_id, _D.webhook_delivery_id == delivery_id
    )
    row = db.execute(rows).one_or_none()
    if row is None:
        raise NotFound("WebhookDelivery", delivery_id)
    return _delivery_item(row, generations.current_generation(db))


def newest_deliveries(db: Connection, tournament_id: int, limit: int) -> dict[int, list[WebhookDelivery]]:
    """Webhook id -> its newest deliveries, newest first, at most `limit` of each."""
    place = func.row_number().over(partition_by=_D.webhook_id, order_by=_D.webhook_delivery_id.desc())
    own = select(_W.webhook_id).where(_W.tournament_id == tournament_id)
    ranked = select(_D.webhook_delivery_id.label("id"), place.label("place"))
    candidates = ranked.where(_D.webhook_id.in_(own)).subquery()
    newest = select(candidates.c.id).where(candidates.c.place <= limit)
    rows = select(*_DELIVERY_COLUMNS).where(_D.webhook_delivery_id.in_(newest))
    generation = generations.current_generation(db)
    listed: defaultdict[int, list[WebhookDelivery]] = defaultdict(list)
    for row in db.execute(rows.order_by(_D.webhook_delivery_id.desc())):
        listed[row.webhook_id].append(_delivery_item(row, generation))
    return listed


def _webhook_rows() -> Select[Any]:
    waits = select(func.count()).select_from(webhook_delivery)
    waits = waits.where(_D.webhook_id == _W.webhook_id, _D.status == "waiting")
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
        failing_since=times.iso_or_none(row.failing_since),
        waiting_count=row.waiting_count,
        created_at=times.iso(row.created_at),
        updated_at=times.iso(row.updated_at),
    )


def _delivery_item(row: Any, generation: str) -> WebhookDelivery:
    return WebhookDelivery(
        webhook_delivery_id=row.webhook_delivery_id,
        webhook_id=row.webhook_id,
        message_id=row.message_id,
        event=row.event,
        epoch=None if row.epoch is None else generations.public_epoch(row.epoch, generation),
        seq=row.seq,
        status=row.status,
        tries=row.tries,
        due_at=times.iso_or_none(row.due_at),
        tried_at=times.iso_or_none(row.tried_at),
        response_status=row.response_status,
        reason=row.reason,
        created_at=times.iso(row.created_at),
    )
