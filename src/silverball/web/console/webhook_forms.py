"""The page of webhooks: what it shows, and what its forms say."""

from collections.abc import Mapping
from typing import Any

from silverball.service.webhooks.reads import webhooks as reads
from silverball.web.console import form_bodies
from silverball.web.console.night import TournamentNight
from silverball.web.forms import FormData
from silverball.web.page_request import PageRequest

# Deliveries of each webhook; the interface has all of them.
DELIVERIES_SHOWN_MAX = 10
WEBHOOK_FORMS = (("text", "A chat: sentences"), ("events", "A program: events, signed"))
# What can be chosen here; the interface knows every event.
WEBHOOK_EVENTS = (
    ("TournamentUpdated", "Start, end, message to everybody"),
    ("RoundCreatedOrUpdated", "Rounds"),
    ("GameCreatedOrUpdated", "Results of games"),
)


def webhooks_context(visit: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """The webhooks, and what was sent to them last."""
    with visit.site.store.read() as db:
        return {
            "webhooks": reads.tournament_webhooks(db, night.id),
            "deliveries": reads.newest_deliveries(db, night.id, DELIVERIES_SHOWN_MAX),
            "webhooks_max": reads.WEBHOOKS_MAX,
            "webhook_forms": WEBHOOK_FORMS,
            "webhook_events": WEBHOOK_EVENTS,
        }


def new_webhook(form: FormData) -> Mapping[str, Any]:
    """The body of a new webhook."""
    return {**_common_fields(form), "events": list(form.values("events"))}


def webhook_changes(form: FormData) -> Mapping[str, Any]:
    """What is to be different about one; the button that switches it says how it is to be."""
    is_active = {"isActive": form.value("isActive") == "on"} if form.has("isActive") else {}
    return {**_common_fields(form), **is_active}


def _common_fields(form: FormData) -> dict[str, str]:
    # `form` is the field that says which form of the page it was.
    kind = {"form": form.value("kind")} if form.value("kind") else {}
    return {**form_bodies.text_fields(form, "url", "name"), **kind}
