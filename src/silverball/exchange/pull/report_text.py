"""The report of a pull as sentences, on the command line and on a page."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from silverball.exchange.pull.taking import TournamentReport
from silverball.service.bundles.reads.people import SharedName

# A tournament takes about this many requests, for the estimate of the time.
REQUESTS_OF_TOURNAMENT = 4.5
OUTCOMES = {
    "new": "taken",
    "replaced": "taken again, because it had changed",
    "unchanged": "here already",
    "refused": "not taken",
}
NOT_TAKEN = (
    "Not read: players, arenas and places that none of these tournaments has. Short links and printed codes"
    " go on leading to the source."
)
DRY_RUN = " Nothing was stored: this was a dry run."


def remarks(report: TournamentReport) -> Iterator[str]:
    """The sentences about one tournament that are not only that it was taken."""
    where = f"Tournament {report.remote_id} {report.name!r}"
    if report.reason is not None:
        yield f"{where} was not taken: {report.reason}"
    if report.is_sample and report.outcome == "replaced":
        yield f"{where} had changed without a new updatedAt: read everything again (--full)."
    if report.tournament_id not in (None, report.remote_id):
        yield f"{where} is tournament {report.tournament_id} here."
    for difference in report.differences:
        yield f"{where}: {difference}"
    if report.unknown_fields:
        yield f"{where} has fields that are not known here: {', '.join(report.unknown_fields)}."


def shared_name(same: SharedName) -> str:
    """The sentence about players of one name, which is no proof that they are one person."""
    ids = ", ".join(map(str, same.player_ids))
    return f"Players {ids} are all named {same.name!r}: merge them under Duplicates if they are one person."


def summary(reports: Sequence[TournamentReport], *, is_dry_run: bool) -> Iterator[str]:
    """The sentences about all tournaments together."""
    for part in sorted({part for report in reports for part in report.not_published}):
        yield f"Not published there: {part}."
    sample = sum(report.is_sample for report in reports)
    if sample:
        yield f"Read again as a sample, although unchanged by updatedAt: {sample}."
    yield f"{counts(reports)}.{DRY_RUN if is_dry_run else ''}"
    if reports:
        yield NOT_TAKEN


def counts(reports: Iterable[TournamentReport]) -> str:
    """How many have which outcome: "3 taken, 1 not taken"."""
    texts = [OUTCOMES[report.outcome] for report in reports]
    found = {text: texts.count(text) for text in OUTCOMES.values()}
    return ", ".join(f"{count} {text}" for text, count in found.items() if count) or "nothing to take"


def report_json(report: TournamentReport) -> dict[str, Any]:
    """The report for programs, with the names of its fields as on the wire."""
    return {_camel_name(name): value for name, value in msgspec.structs.asdict(report).items()}


def _camel_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
