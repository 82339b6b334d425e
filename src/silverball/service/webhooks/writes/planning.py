"""From announcements to deliveries: what a webhook is to be told, in the order in which it happened."""

from dataclasses import asdict
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

# Announcements that one webhook looks at in one transaction.
ANNOUNCEMENTS_AT_ONCE = 200
GAP = "gap"
WITHDRAWN = "What was announced before was withdrawn: the channel has begun anew."
_W, _D = webhook.c, webhook_delivery.c
DeliveryRow = dict[str, Any]


def plan_next_webhook(db: Connection, dice: Random, now: datetime) -> bool:
    """Let the webhook that is furthest behind look at what was announced. Returns whether one did."""
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
    found = announcements.load_since(db, hook.tournament_id, hook.own_epoch, seq, ANNOUNCEMENTS_AT_ONCE)
    told = ChatState(**hook.told)
    said: dict[str, str] = {}
    for one in found:
        row, told = _plan_announcement(db, hook, one, told, said)
        planned += row
    common = {"webhook_id": hook.webhook_id, "created_at": now}
    rows = [{**_BLANK_ROW, **one, **common, "message_id": signing.new_message_id(dice)} for one in planned]
    if rows:
        due_at = [now if one["status"] == "waiting" else None for one in rows]
        db.execute(
            insert(webhook_delivery), [{**one, "due_at": at} for one, at in zip(rows, due_at, strict=True)]
        )
    newest = found[-1].seq if found else seq
    own = update(webhook).where(_W.webhook_id == hook.webhook_id)
    db.execute(own.values(epoch=hook.own_epoch, seq=newest, told=asdict(told)))
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
    db: Connection, hook: Any, one: Announcement, told: ChatState, said: dict[str, str]
) -> tuple[list[DeliveryRow], ChatState]:
    """The delivery of an announcement, if it is one for this webhook, and what has been told then."""
    row = {"event": one.name, "epoch": one.epoch, "seq": one.seq, "status": "waiting"}
    is_wanted = not hook.events or one.name in hook.events
    if hook.form == "events":
        return ([row] if is_wanted else []), told
    if one.name not in message_text.TOLD_EVENTS:
        return [], told
    news, told = message_text.find_news(one.name, msgspec.json.decode(one.data), told)
    if news is None or not is_wanted or _was_sent_before(db, hook.webhook_id, news, said):
        return [], told
    said[news.subject] = news.content
    return [{**row, "about": news.subject, "said": news.content}], told


def _was_sent_before(
    db: Connection, webhook_id: int, news: message_text.NewsItem, said: dict[str, str]
) -> bool:
    """Whether a game was told with the very same result last; everything else is new by itself."""
    if not news.subject.startswith("game "):
        return False
    if news.subject in said:
        return said[news.subject] == news.content
    rows = select(_D.said).where(_D.webhook_id == webhook_id, _D.about == news.subject)
    last = db.execute(rows.order_by(_D.webhook_delivery_id.desc()).limit(1)).scalar_one_or_none()
    return last == news.content


def _gap_row(hook: Any, reason: str) -> DeliveryRow:
    return {"event": GAP, "epoch": hook.own_epoch, "status": "missed", "reason": reason}


def _trimmed_sentence(first: int, last: int) -> str:
    return f"The events {first} to {last} are kept no longer. Read the tournament instead."


def _withdraw_waiting(db: Connection, webhook_id: int) -> None:
    """Nothing that was announced before is delivered any more; a test is."""
    waiting = (_D.webhook_id == webhook_id, _D.status == "waiting", _D.seq.is_not(None))
    rows = update(webhook_delivery).where(*waiting)
    db.execute(rows.values(status="withdrawn", due_at=None, reason=WITHDRAWN))
