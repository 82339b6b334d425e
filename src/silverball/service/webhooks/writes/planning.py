"""Plan deliveries from announcements, in the order of the announcements."""

from datetime import datetime
from random import Random
from typing import Any

import msgspec
from sqlalchemy import Connection, insert, select, update

from silverball.service.webhooks import message_text, signing
from silverball.service.webhooks.message_text import ChatState
from silverball.service.webhooks.reads import due
from silverball.store import announcements
from silverball.store.announcements import Announcement
from silverball.store.tables import webhook, webhook_delivery

# Announcements planned for one webhook in one transaction.
ANNOUNCEMENTS_AT_ONCE = 200
GAP = "gap"
WITHDRAWN = "Earlier events were withdrawn, because the channel started again."
_W, _D = webhook.c, webhook_delivery.c
DeliveryRow = dict[str, Any]


def plan_next_webhook(db: Connection, dice: Random, now: datetime) -> bool:
    """Plan the next webhook that is behind. Returns whether there was one."""
    hook = db.execute(due.webhooks_behind().with_for_update(of=webhook, skip_locked=True)).one_or_none()
    if hook is None:
        return False
    planned: list[DeliveryRow] = []
    seq = hook.seq
    if hook.epoch != hook.own_epoch:
        _withdraw_waiting(db, hook.webhook_id)
        planned.append(_gap_row(hook, WITHDRAWN))
        seq = 0
    if seq < hook.own_low:
        planned.append(_gap_row(hook, _trimmed_sentence(seq + 1, hook.own_low)))
        seq = hook.own_low
    announcements_found = announcements.load_since(
        db, hook.tournament_id, hook.own_epoch, seq, ANNOUNCEMENTS_AT_ONCE
    )
    state = ChatState(**hook.told)
    sent: dict[str, str] = {}
    for announcement in announcements_found:
        deliveries, state = _plan_announcement(db, hook, announcement, state, sent)
        planned += deliveries
    common = {"webhook_id": hook.webhook_id, "created_at": now}
    rows = [
        {**_BLANK_ROW, **delivery, **common, "message_id": signing.new_message_id(dice)}
        for delivery in planned
    ]
    if rows:
        due_at = [now if delivery["status"] == "waiting" else None for delivery in rows]
        db.execute(
            insert(webhook_delivery),
            [{**delivery, "due_at": at} for delivery, at in zip(rows, due_at, strict=True)],
        )
    newest = announcements_found[-1].seq if announcements_found else seq
    own = update(webhook).where(_W.webhook_id == hook.webhook_id)
    db.execute(own.values(epoch=hook.own_epoch, seq=newest, told=msgspec.structs.asdict(state)))
    return True


_BLANK_ROW: DeliveryRow = {
    "epoch": None,
    "seq": None,
    "about": None,
    "said": None,
    "tries": 0,
    "reason": None,
}


def _plan_announcement(
    db: Connection, hook: Any, announcement: Announcement, state: ChatState, sent: dict[str, str]
) -> tuple[list[DeliveryRow], ChatState]:
    """The delivery of an announcement, if this webhook wants it, and the chat's new state."""
    row = {
        "event": announcement.name,
        "epoch": announcement.epoch,
        "seq": announcement.seq,
        "status": "waiting",
    }
    is_wanted = not hook.events or announcement.name in hook.events
    if hook.form == "events":
        return ([row] if is_wanted else []), state
    if announcement.name not in message_text.TOLD_EVENTS:
        return [], state
    news, state = message_text.find_news(announcement.name, msgspec.json.decode(announcement.data), state)
    if news is None or not is_wanted or _was_sent_before(db, hook.webhook_id, news, sent):
        return [], state
    sent[news.subject] = news.content
    return [{**row, "about": news.subject, "said": news.content}], state


def _was_sent_before(
    db: Connection, webhook_id: int, news: message_text.NewsItem, sent: dict[str, str]
) -> bool:
    """Whether the last delivery about this game had the same result. All other news is always new."""
    if not news.subject.startswith("game "):
        return False
    if news.subject in sent:
        return sent[news.subject] == news.content
    rows = select(_D.said).where(_D.webhook_id == webhook_id, _D.about == news.subject)
    last = db.execute(rows.order_by(_D.webhook_delivery_id.desc()).limit(1)).scalar_one_or_none()
    return last == news.content


def _gap_row(hook: Any, reason: str) -> DeliveryRow:
    return {"event": GAP, "epoch": hook.own_epoch, "status": "missed", "reason": reason}


def _trimmed_sentence(first: int, last: int) -> str:
    return f"The events {first} to {last} are no longer stored. Read the tournament instead."


def _withdraw_waiting(db: Connection, webhook_id: int) -> None:
    """Withdraw the waiting deliveries of announcements; a test stays."""
    waiting = (_D.webhook_id == webhook_id, _D.status == "waiting", _D.seq.is_not(None))
    rows = update(webhook_delivery).where(*waiting)
    db.execute(rows.values(status="withdrawn", due_at=None, reason=WITHDRAWN))
