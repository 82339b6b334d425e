"""The audit log as a page for administrators, in words."""

from collections.abc import Mapping
from typing import get_args

from starlette.responses import Response

from silverball.service.audit import reads
from silverball.service.pages import ROWS_DEEP_MAX
from silverball.service.users import reads as users
from silverball.store.audit import SecurityEvent
from silverball.web.page_request import PageRequest, not_found_page, page

PAGES_MAX = ROWS_DEEP_MAX // reads.PER_PAGE
EVENT_WORDS: Mapping[SecurityEvent, str] = {
    "account-cleaned": "Spam of an account deleted",
    "account-erased": "Account deleted",
    "account-made": "Account made",
    "account-suspended": "Account suspended",
    "account-unsuspended": "Suspension lifted",
    "data-exported": "Own data downloaded",
    "encryption-key-changed": "Encryption key changed",
    "first-code-refused": "Code of the first account refused",
    "invitation-made": "Invitation made",
    "invitation-withdrawn": "Invitation withdrawn",
    "password-refused": "Password refused",
    "network-blocked": "Network blocked",
    "network-unblocked": "Network allowed again",
    "number-confirmed": "Federation number confirmed",
    "number-withdrawn": "Federation number withdrawn",
    "password-set": "Password set",
    "recovery-code-used": "Recovery code used",
    "recovery-link-made": "Link to a new password made",
    "recovery-mail-refused": "Mail with a link to a new password refused",
    "recovery-mailed": "Link to a new password mailed",
    "role-changed": "Role changed",
    "sign-in": "Signed in",
    "sign-in-code-refused": "Sign-in code refused",
    "sign-in-refused": "Sign-in refused",
    "sign-ins-ended": "Signed out elsewhere",
    "token-made": "Token made",
    "token-revoked": "Token revoked",
    "token-rotated": "Token replaced",
    "too-many-sign-ins": "Too many sign-ins",
    "tournament-restored": "Tournament restored",
    "two-step-off": "Two-step sign-in switched off",
    "two-step-on": "Two-step sign-in switched on",
}
EVENTS: Mapping[str, SecurityEvent] = {event: event for event in get_args(SecurityEvent)}


@page("GET", "/account/audit")
def audit_log(request: PageRequest) -> Response:
    if not request.caller.is_admin:
        return not_found_page()
    text = request.query.get("page", "1")
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 3 else 1
    event = EVENTS.get(request.query.get("event", ""))
    query = reads.AuditQuery(page=min(max(number, 1), PAGES_MAX), event=event)
    with request.site.store.read() as db:
        listed = reads.audit_page(db, query, request.caller)
        accounts = {entry.user_id for entry in listed.rows if entry.user_id is not None}
        names = {user.user_id: user.name for user in users.existing_users(db, list(accounts), request.caller)}
    return request.render(
        "account/audit.html",
        entries=listed.rows,
        words=EVENT_WORDS,
        names=names,
        event=event,
        chosen=f"event={event}&" if event else "",
        number=query.page,
        pages=min(PAGES_MAX, -(-listed.total // reads.PER_PAGE)),
    )
