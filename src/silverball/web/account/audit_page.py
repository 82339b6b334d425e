"""The audit log as a page for administrators."""

from starlette.responses import Response

from silverball.service.audit import reads
from silverball.service.pages import ROWS_DEEP_MAX
from silverball.web.page_request import PageRequest, not_found_page, page

PAGES_MAX = ROWS_DEEP_MAX // reads.PER_PAGE


@page("GET", "/account/audit")
def audit_log(request: PageRequest) -> Response:
    if not request.caller.is_admin:
        return not_found_page()
    text = request.query.get("page", "1")
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 3 else 1
    query = reads.AuditQuery(page=min(max(number, 1), PAGES_MAX))
    with request.site.store.read() as db:
        listed = reads.audit_page(db, query, request.caller)
    pages = min(PAGES_MAX, -(-listed.total // reads.PER_PAGE))
    return request.render("account/audit.html", entries=listed.rows, number=query.page, pages=pages)
