"""The finals of a series on its page in the book: who would go on, their ties, and the form for one."""

from collections.abc import Mapping, Sequence
from typing import Any

from silverball.kit.errors import Invalid
from silverball.rules.commands import finals
from silverball.rules.model.finals import FinalStep
from silverball.rules.registry import FORMATS
from silverball.service.finals import reads
from silverball.service.players import reads as player_reads
from silverball.store.database.engine import Db
from silverball.web.final_fields import HOW_MANY, USUAL, new_final
from silverball.web.forms import FormData, FormState, format_titles, number_fields, read_digits
from silverball.web.page_request import PageRequest

FORM = "series-final"
STEP_FIELDS = ("type", "how", "number", "nightsMin", "after")
USUAL_NUMBER = "8"
# The name of a tied player's field is this and their id.
PLACE = "place-"


def load_context(db: Db, request: PageRequest, series_id: int, form: FormState) -> dict[str, Any]:
    """The step in the address, or in the form that was refused, with who would go on by the table."""
    is_sent = form.is_for(FORM)
    asked = {name: form.value(FORM, name) if is_sent else request.query.get(name, "") for name in STEP_FIELDS}
    chosen = {"type": USUAL, "how": "players", "number": USUAL_NUMBER, "nightsMin": "0", "after": "0"}
    chosen |= {name: str(value) for name, value in asked.items() if value}
    context: dict[str, Any] = {
        "chosen": chosen,
        "formats": format_titles(),
        "how_many": HOW_MANY,
        "step": None,
        "step_fault": "",
    }
    if not is_sent and "type" not in request.query:
        return context
    steps = _steps(chosen)
    if steps is None:
        return context | {"step_fault": "Choose a format, and a number of players or of points."}
    rows = reads.rows_of_series(db, series_id, read_digits(chosen["nightsMin"]) or 0, request.caller)
    step, cut = reads.shown_step(0, steps, rows, None), finals.cut_of(rows, steps)
    tied = {*step.tied, *step.tied_at_bye}
    # Those between whom the order of the tied decides.
    near = [at for at, row in enumerate(rows) if cut.first <= at < cut.last or row.player_id in tied]
    return context | {
        "step": step,
        "player_names": _names(db, [row.player_id for row in rows], request),
        "tied": [row.player_id for row in rows if row.player_id in tied],
        "candidates": " ".join(f"{rows[at].player_id}:{rows[at].position}" for at in near),
        "skipped": cut.first - near[0] if near else 0,
    }


def _names(db: Db, player_ids: Sequence[int], request: PageRequest) -> dict[int, str]:
    known = player_reads.existing_players(db, player_ids, request.caller)
    return {player.player_id: player.name for player in known}


def _steps(chosen: Mapping[str, str]) -> tuple[FinalStep, ...] | None:
    """The steps up to the one that was chosen; None for what no step can be made of."""
    form = FormData(tuple((name, value) for name, value in chosen.items()))
    body = {"name": "final", **new_final(form)}
    before = read_digits(chosen["after"]) or 0
    try:
        step = FinalStep(**body)
        if step.type not in FORMATS or not isinstance(step.players, int | None):
            return None
        finals.check_step(step, "step")
    except (Invalid, TypeError, AttributeError):
        return None
    first = FinalStep(name="before", type=step.type, players=before)
    return (first, step) if before else (step,)


def new_series_final(form: FormData) -> Mapping[str, Any]:
    """The body that makes the final; where players are tied, with all who go on in the order entered."""
    body = {**number_fields(form, "nightsMin", "after"), **new_final(form)}
    if form.value("name").strip():
        body["name"] = form.value("name").strip()
    numbered = form.with_prefix(PLACE)
    if not numbered:
        return body
    tied = sum(name.startswith(PLACE) for name, _ in form.pairs)
    if sorted(numbered.values()) != sorted(str(at + 1) for at in range(tied)):
        raise Invalid({"players": ["Number all who are tied: 1 for the best, then 2, 3, ..."]})
    candidates = [pair.partition(":") for pair in form.value("candidates").split()]
    ordered = sorted(
        (int(position), int(numbered.get(player_id, 0)), int(player_id))
        for player_id, _, position in candidates
        if player_id.isdigit() and position.isdigit()
    )
    skipped, count = (read_digits(form.value(name)) or 0 for name in ("skipped", "count"))
    for name in ("half", "within"):
        body.pop(name, None)
    return {**body, "players": [player_id for _, _, player_id in ordered][skipped : skipped + count]}
