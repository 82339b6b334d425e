"""The page of webhooks: what it shows, and what its forms say."""

from collections.abc import Mapping
from typing import Any

from silverball.service.webhooks import reads
from silverball.web.console import asked
from silverball.web.console.night import Night
from silverball.web.forms import Form
from silverball.web.visit import Visit

# Deliveries of each webhook; the interface has all of them.
SHOWN_MAX = 10
FORMS = (("text", "A chat: sentences"), ("events", "A program: events, signed"))
# What can be chosen here; the interface knows every event.
EVENTS = (
    ("TournamentUpdated", "Start, end, message to everybody"),
    ("RoundCreatedOrUpdated", "Rounds"),
    ("GameCreatedOrUpdated", "Results of games"),
)


def facts(visit: Visit, night: Night) -> dict[str, Any]:
    """The webhooks, and what was sent to them last."""
    with visit.site.store.read() as db:
        return {
            "webhooks": reads.of_tournament(db, night.id),
            "deliveries": reads.newest(db, night.id, SHOWN_MAX),
            "webhooks_max": reads.WEBHOOKS_MAX,
            "webhook_forms": FORMS,
            "webhook_events": EVENTS,
        }


def new(form: Form) -> Mapping[str, Any]:
    """The body of a new webhook."""
    return {**_described(form), "events": list(form.all("events"))}


def changed(form: Form) -> Mapping[str, Any]:
    """What is to be different about one; the button that switches it says how it is to be."""
    is_active = {"isActive": form.one("isActive") == "on"} if form.has("isActive") else {}
    return {**_described(form), **is_active}


def _described(form: Form) -> dict[str, str]:
    # `form` is the field that says which form of the page it was.
    kind = {"form": form.one("kind")} if form.one("kind") else {}
    return {**asked.texts(form, "url", "name"), **kind}
