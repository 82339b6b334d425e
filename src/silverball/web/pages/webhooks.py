"""The secret of a webhook, shown once: its answer is stored nowhere, so it is no form of the console."""

from starlette.responses import Response

from silverball.kit.body import Body
from silverball.kit.errors import NotAllowed
from silverball.kit.http import TOURNAMENT
from silverball.kit.routing import path_id
from silverball.service.webhooks import writes
from silverball.service.webhooks.writes import WEBHOOK
from silverball.web import site
from silverball.web.console import doing
from silverball.web.visit import Visit, page, see

PATH = "/t/{tournament_id}/run/webhooks/{webhook_id}/secret"


@page("POST", PATH)
def replace_secret(visit: Visit) -> Response:
    ids = {name: path_id(name, visit.ids[name]) for name in (TOURNAMENT, WEBHOOK)}
    back = f"/t/{ids[TOURNAMENT]}/run/webhooks"
    try:
        if not visit.caller.may("manage"):
            raise NotAllowed
        with visit.site.store.write(ids[TOURNAMENT], quiet=True) as db:
            call = doing.call_of(visit, ids, Body(), db)
            _, secret = writes.replace_secret(call, visit.site.dice)
    except NotAllowed:
        return site.message(403, "This page is the organizer's", "Only the organizer can see a new secret.")
    return visit.shown("console/secret.html", 201, secret=secret, back=back)


@page("GET", PATH)
def secret_opened(visit: Visit) -> Response:
    """Reloading or bookmarking what a form answered is not an error."""
    return see(f"/t/{path_id(TOURNAMENT, visit.ids[TOURNAMENT])}/run/webhooks")
