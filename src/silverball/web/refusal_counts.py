"""Refusals of pages in the audit log."""

from silverball.store.people import audit
from silverball.store.people.audit import SecurityEvent
from silverball.web.page_request import PageRequest


def count_refusal(request: PageRequest, event: SecurityEvent, user_id: int | None = None) -> None:
    """Count a refusal in a transaction of its own; of those without a check, the first in a minute."""
    site, now = request.site, request.site.now()
    is_cheap = event == "too-many-sign-ins"
    if is_cheap and not site.refusals.passes(request.client_address, now):
        return
    with site.store.write(quiet=True) as transaction:
        audit.count(transaction.connection, event, at=now, source=request.client_address, user_id=user_id)
