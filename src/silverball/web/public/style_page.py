"""The page of all components in both themes, on a server that only its own machine can reach."""

from datetime import timedelta
from urllib.parse import urlsplit

from starlette.responses import Response

from silverball.web.forms import FormState
from silverball.web.page_request import PageRequest, not_found_page, page

SAMPLE_MINUTES = timedelta(minutes=12)
LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})


@page("GET", "/style", for_guests=True)
def style_page(request: PageRequest) -> Response:
    """Show each component once per theme; there is no such page on a site for others."""
    if urlsplit(request.site.settings.base_url).hostname not in LOOPBACK_HOSTS:
        return not_found_page()
    now = request.site.now()
    return request.render(
        "style.html",
        modules=("timer.js",),
        form_state=FormState(),
        base_path="/style",
        page_path="",
        opened_at=now - SAMPLE_MINUTES,
        ends_at=now + SAMPLE_MINUTES,
    )
