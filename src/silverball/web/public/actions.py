"""Actions without an account: report a result with a printed code, create the first account."""

from silverball.kit.errors import NotAllowed, Refusal
from silverball.kit.values import replace
from silverball.service.games import bodies as game_bodies
from silverball.service.suggestions import writes as suggestions
from silverball.service.users import writes as users
from silverball.web import form_actions, form_values
from silverball.web.error_pages import needs_new_key, status_for
from silverball.web.form_actions import FormAction
from silverball.web.forms import FormState
from silverball.web.page_request import PageRequest
from silverball.web.public.report_page import CODE_WRONG, ReportPage

CODE_FORBIDDEN = "This code does not report the result of that game."
# The form of a page that was opened with a printed code.
REPORT_RESULT = FormAction(
    write=suggestions.suggest_result,
    ability="score",
    id_fields=("game_id",),
    body=game_bodies.ReportedResult,
    build_body=form_values.finishing_order,
)


def submit_report(request: PageRequest, report: ReportPage) -> ReportPage | None:
    """Report the result of the form. None when it is done; otherwise the page to show."""
    form = FormState(request.field("form"), request.form)
    if report.code_device is None or not report.is_open:
        status = 410 if report.status == 200 else report.status
        return replace(report, status=status, sentence=report.sentence or CODE_WRONG, form_state=form)
    try:
        with_device = replace(request, device=report.code_device)
        form_actions.run_action(with_device, REPORT_RESULT, report.night.id)
    except Refusal as refusal:
        fault = CODE_FORBIDDEN if isinstance(refusal, NotAllowed) else report.night.refusal_text(refusal)
        form = replace(form, fault=fault, needs_new_key=needs_new_key(refusal))
        return replace(report, status=status_for(refusal), form_state=form)
    return None


def create_first_admin(request: PageRequest, password_hash: str) -> int:
    """Create the admin of a new server; returns the user id. Raises Invalid and Conflict."""
    with request.site.store.write() as transaction:
        return users.create_first_admin(
            transaction.connection,
            code=request.field("code"),
            name=request.field("name"),
            email=request.field("email"),
            password_hash=password_hash,
            now=request.site.now(),
            source=request.client_address,
        )
