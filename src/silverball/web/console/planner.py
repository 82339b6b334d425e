"""The page that plans a night, and the projected end of a running one on its console."""

from zoneinfo import ZoneInfo

from starlette.responses import Response

from silverball.kit.errors import Invalid
from silverball.kit.http.query import QueryParser
from silverball.rules.wppr.value import value_of_rated
from silverball.service.planning.reads import plans, projections
from silverball.service.planning.reads.plans import PlanQuery
from silverball.web import error_pages
from silverball.web.page_request import PageRequest, page
from silverball.web.tournament_night import TournamentNight
from silverball_wire.plans import Plan, PlanOption, PlanWorth

FIELDS = ("players", "machines", "start", "closes")
HOUR_MINUTES = 60
_PARSER = QueryParser(PlanQuery)


@page("GET", "/run/plan")
def plan_page(request: PageRequest) -> Response:
    """Show the form, with the plan that its fields ask for."""
    sent = {name: request.query.get(name, "").strip() for name in FIELDS}
    planned: Plan | None = None
    fault, status = "", 200
    if any(sent.values()):
        try:
            query = _PARSER.parse([(name, value) for name, value in sent.items() if value]).query
            with request.site.store.read() as db:
                planned = plans.plan(db, query, request.account.user_id, request.site.now())
        except Invalid as refusal:
            fault, status = error_pages.refusal_text(refusal), 422
    return request.render(
        "plan.html",
        status,
        sent=sent,
        planned=planned,
        fault=fault,
        length=length_text,
        clock=clock_text,
        by_worth=labels_by_worth,
        base_value=f"{value_of_rated(planned.players):.2f}" if planned else "",
        groups=_by_format(planned),
    )


def ending_context(request: PageRequest, night: TournamentNight) -> dict[str, str] | None:
    """The projected end of a running tournament in words; None for whoever does not organize it."""
    if night.tournament.status != "started" or not night.is_organizer or night.is_over:
        return None
    with request.site.store.read() as db:
        ending = projections.projected_end(db, night.tournament, night.format, night.now)
    if ending.note is not None or ending.expected is None or ending.line is None:
        return {"note": ending.note or ""}
    zone = ZoneInfo(night.tournament.details["timezone"])
    nights = f"your club's last {ending.nights} nights of this format"
    source = nights if ending.nights else "the published defaults"
    return {
        "note": "",
        "expected": f"{ending.expected.astimezone(zone):%H:%M}",
        "line": f"{ending.line.astimezone(zone):%H:%M}",
        "source": f"Lengths of games: {source}. Players count as equals.",
    }


def _by_format(planned: Plan | None) -> dict[str, list[PlanOption]]:
    groups: dict[str, list[PlanOption]] = {}
    for option in planned.options if planned else ():
        groups.setdefault(option.title, []).append(option)
    return groups


def labels_by_worth(options: list[PlanOption]) -> dict[PlanWorth, list[str]]:
    """The choices of a format in words, by what they are worth; without those that cannot be played."""
    labels: dict[PlanWorth, list[str]] = {}
    for option in options:
        if option.worth is not None:
            labels.setdefault(option.worth, []).append(option.label)
    return labels


def length_text(minutes: float) -> str:
    """Minutes in words: `3 h 05`, `45 min`."""
    hours, left = divmod(int(minutes), HOUR_MINUTES)
    return f"{hours} h {left:02}" if hours else f"{left} min"


def clock_text(moment: str | None) -> str:
    """The day and time of an end; empty without one."""
    return "" if moment is None else moment[:16].replace("T", " ")
