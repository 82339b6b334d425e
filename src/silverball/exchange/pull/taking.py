"""A pull: each tournament of a source is imported in a transaction of its own, and verified.

What is stored is complete, so a pull that is stopped anywhere goes on by being started again: tournaments
that have not changed since, by `updatedAt` and here, are not read a second time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from random import Random
from typing import Any, Literal

import msgspec
from msgspec import Struct

from silverball.exchange.bundle import file as bundle_file
from silverball.exchange.bundle.file import ImportedBundle
from silverball.exchange.pull import reading
from silverball.exchange.pull.reading import Keeper, ListedTournament, PulledTournament, Wanted
from silverball.exchange.pull.source import PullSource, ThingMissing
from silverball.kit.errors import Refusal
from silverball.kit.values import replace
from silverball.rules.format import ResultUnit
from silverball.rules.registry import FORMATS
from silverball.service.journal.reads import verification
from silverball.service.moving import reads as moving_reads
from silverball.service.moving.reads import SharedName
from silverball.store.database.engine import Store
from silverball.store.people import audit
from silverball.store.tournament import imports
from silverball_wire import base

Outcome = Literal["new", "replaced", "unchanged", "refused"]
# No service publishes these of any tournament.
NEVER_PUBLISHED = (
    "the journal, its draws and undo",
    "accounts, claims that wait, and what people hide",
    "ties decided by hand, and forfeits",
    "purchases",
)
ROLLS = "rolls of pin bowling"
LEGS = "the single games of matches"


class PullOptions(Struct, frozen=True):
    """The choices of a pull: its tournaments, and how they are taken."""

    wanted: Wanted
    # Account of the source -> account here, whose own things these become.
    accounts: Mapping[int, int]
    # Whether all is read again, also what has not changed.
    is_full: bool = False
    is_dry_run: bool = False
    # The account that gets everything; None where each organizer of the source stays apart.
    keeper: Keeper | None = None
    # Of those that have not changed: whether a late correction moves `updatedAt` is known of few services.
    sample_share: float = 0.05


class TournamentReport(Struct, frozen=True):
    """The outcome for a tournament of the source."""

    remote_id: int
    name: str
    outcome: Outcome
    # Its id here; None when it was refused.
    tournament_id: int | None = None
    # Whether it was read again although the source says that it has not changed.
    is_sample: bool = False
    # Why it was refused.
    reason: str | None = None
    # Where our count differs from what the source sent.
    differences: tuple[str, ...] = ()
    # Fields that the source sent and nobody here knows.
    unknown_fields: tuple[str, ...] = ()
    not_published: tuple[str, ...] = ()


class _DryRunEnded(Exception):
    """Ends the transaction of a dry run, so that nothing is stored."""


class Pull(Struct):
    """A pull from one source into one database."""

    store: Store
    source: PullSource
    options: PullOptions
    now: Callable[[], datetime]
    dice: Random
    # The account of the token at the source, for a keeper; None without one.
    remote_user: int | None = None

    @property
    def map_name(self) -> str:
        """The name of the source in the table of ids."""
        keeper = self.options.keeper
        return self.source.name if keeper is None else keeper.map_name(self.source.name)

    def tournaments(self) -> list[ListedTournament]:
        """The tournaments to take. Raises SourceFault, or NotFound for an account that is not here."""
        self._map_accounts()
        wanted = self.options.wanted
        if not (wanted.owners or wanted.series or wanted.tournaments):
            owners = [reading.own_user_id(self.source)]
            wanted = Wanted(owners=owners, since=wanted.since)
        return reading.wanted_tournaments(self.source, wanted)

    def reports(self, tournaments: list[ListedTournament]) -> Iterator[TournamentReport]:
        """Take one tournament after the other. Raises SourceFault when the source cannot be read on."""
        return map(self.report, tournaments)

    def report(self, listed: ListedTournament) -> TournamentReport:
        """Take one tournament, unless it is here already. Raises SourceFault."""
        unchanged = self._unchanged(listed)
        if unchanged is None:
            return self._take(listed)
        if self.dice.random() < self.options.sample_share:
            return replace(self._take(listed), is_sample=True)
        return unchanged

    def _map_accounts(self) -> None:
        accounts = self.options.accounts
        if not accounts:
            return
        with self.store.write() as transaction:
            moving_reads.require_accounts(transaction.connection, accounts.values())
            if not self.options.is_dry_run:
                imports.remember_ids(transaction.connection, self.source.name, {"userId": dict(accounts)})

    def _unchanged(self, listed: ListedTournament) -> TournamentReport | None:
        """The report of a tournament that is here as the source has it; None when it has to be read."""
        if self.options.is_full or listed.updated_at is None:
            return None
        try:
            updated_at = base.parse_moment(listed.updated_at)
        except (ValueError, OverflowError):
            return None
        with self.store.read() as db:
            known = moving_reads.known_tournament(db, self.map_name, listed.tournament_id)
        if known is None or known.updated_at.replace(microsecond=0) != updated_at.replace(microsecond=0):
            return None
        return TournamentReport(listed.tournament_id, known.name, "unchanged", known.tournament_id)

    def _take(self, listed: ListedTournament) -> TournamentReport:
        """Read, import and verify a tournament. Raises SourceFault."""
        try:
            read = reading.read_tournament(self.source, listed.tournament_id, self._prepare)
            imported = self._import(read)
        except (Refusal, ThingMissing) as error:
            # One tournament that does not fit must not keep the others away.
            reason = error.message if isinstance(error, Refusal) else str(error)
            return TournamentReport(listed.tournament_id, listed.name, "refused", reason=reason)
        tournament = read.file.bundle.tournament
        return TournamentReport(
            listed.tournament_id,
            tournament.name,
            imported.outcome,
            imported.tournament_id,
            differences=() if self.options.is_dry_run else self._differences(imported.tournament_id),
            unknown_fields=read.unknown_fields,
            not_published=_not_published(tournament.type, has_legs=read.has_legs),
        )

    def _prepare(self, raw: Any) -> None:
        if self.options.keeper is not None:
            self.options.keeper.give_all(raw, self.remote_user)

    def _import(self, read: PulledTournament) -> ImportedBundle:
        """Import the tournament; a dry run stores nothing. Raises Refusal."""
        now, keeper = self.now(), self.options.keeper
        imported: ImportedBundle | None = None
        try:
            with self.store.write() as transaction:
                db = transaction.connection
                if keeper is not None:
                    keeper.remember_account(db, self.source.name)
                imported = bundle_file.import_bundle(
                    transaction,
                    read.file,
                    new_ids=keeper is not None and not keeper.keeps_ids,
                    source=self.map_name,
                    now=now,
                    dice=self.dice,
                )
                if keeper is not None and imported.outcome != "unchanged":
                    keeper.require_room(db)
                if self.options.is_dry_run:
                    raise _DryRunEnded
                if imported.outcome != "unchanged":
                    audit.record(
                        db,
                        "tournament-restored",
                        at=now,
                        user_id=None if keeper is None else keeper.user_id,
                        source=audit.COMMAND_LINE if keeper is None else "",
                        detail=str(imported.tournament_id),
                    )
        except _DryRunEnded:
            pass
        assert imported is not None
        return imported

    def _differences(self, tournament_id: int) -> tuple[str, ...]:
        with self.store.read() as db:
            return tuple(verification.verify_tournament(db, tournament_id).faults)


def _not_published(type_: str, *, has_legs: bool) -> tuple[str, ...]:
    form = FORMATS[type_]
    legs = [] if has_legs else [LEGS]
    rolls = [ROLLS] if form.result_unit is ResultUnit.ROLLS else []
    return (*NEVER_PUBLISHED, *legs, *rolls)


# The report of a pull as sentences, on the command line and on a page.


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
