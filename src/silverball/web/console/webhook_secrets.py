"""The secret of a webhook, shown once: its answer is stored nowhere, so it is no form of the console."""

from starlette.responses import Response

from silverball.kit.errors import NotAllowed
from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import TOURNAMENT
from silverball.kit.http.router import parse_path_id
from silverball.service.webhooks.writes import webhooks as writes
from silverball.service.webhooks.writes.webhooks import WEBHOOK
from silverball.web import site
from silverball.web.console import dispatch
from silverball.web.page_request import PageRequest, page, redirect

PATH = "/t/{tournament_id}/run/webhooks/{webhook_id}/secret"


@page("POST", PATH)
def replace_secret(visit: PageRequest) -> Response:
    ids = {name: parse_path_id(name, visit.ids[name]) for name in (TOURNAMENT, WEBHOOK)}
    back = f"/t/{ids[TOURNAMENT]}/run/webhooks"
    try:
        if not visit.caller.may("manage"):
            raise NotAllowed
        with visit.site.store.write(ids[TOURNAMENT], quiet=True) as transaction:
            call = dispatch.build_call(visit, ids, Body(), transaction=transaction)
            _, secret = writes.replace_secret(call, visit.site.dice)
    except NotAllowed:
        return site.message_page(
            403, "This page is the organizer's", "Only the organizer can see a new secret."
        )
    return visit.render("console/secret.html", 201, secret=secret, back=back)


@page("GET", PATH)
def secret_opened(visit: PageRequest) -> Response:
    """Reloading or bookmarking what a form answered is not an error."""
    return redirect(f"/t/{parse_path_id(TOURNAMENT, visit.ids[TOURNAMENT])}/run/webhooks")
