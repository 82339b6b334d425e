"""The sign-up list of a bundle, checked and as rows."""

from typing import Any

import msgspec
from msgspec import UnsetType

from silverball.exchange.bundle.checks import BundleCheck, distinct_ids, require_moment, tuple_or_empty
from silverball.exchange.bundle.faults import BrokenBundle
from silverball.rules.model.sign_ups import SignUpTerms
from silverball_wire import times
from silverball_wire.bundle import Bundle
from silverball_wire.bundle_facts import EngineFacts, SignUpFacts

PATH = "$.engine.signUps"


def check_sign_ups(check: BundleCheck, facts: EngineFacts) -> None:
    """Check people, places, times and money of the list. Raises BrokenBundle at the first fault."""
    entries = tuple_or_empty(facts.sign_ups)
    others = tuple_or_empty(check.bundle.sign_up_players)
    beside = distinct_ids("$.signUpPlayers", others, "player_id")
    for n, player_id in enumerate(player.player_id for player in others):
        if player_id in check.player_ids:
            raise BrokenBundle(f"$.signUpPlayers[{n}]", "They are in the tournament already.")
    distinct_ids(PATH, entries, "player_id")
    waiting = [entry.waiting_place for entry in entries if entry.waiting_place is not None]
    if len(waiting) != len(set(waiting)):
        raise BrokenBundle(PATH, "Two people have the same waitingPlace.")
    for n, entry in enumerate(entries):
        _check_entry(f"{PATH}[{n}]", entry, check.player_ids, beside)
    terms = facts.sign_up_terms
    if not isinstance(terms, UnsetType):
        require_moment("$.engine.signUpTerms.lateFrom", terms.late_from)
        if min(terms.fee, terms.late_fee, terms.code_number) < 0:
            raise BrokenBundle("$.engine.signUpTerms", "No money is below 0.")


def _check_entry(path: str, entry: SignUpFacts, entered: Any, beside: Any) -> None:
    if entry.player_id not in entered and entry.player_id not in beside:
        raise BrokenBundle(path, f"There is no player {entry.player_id} in the bundle.")
    if entry.waiting_place is not None and entry.player_id in entered:
        raise BrokenBundle(path, "Who is in the tournament does not wait.")
    require_moment(f"{path}.signedUpAt", entry.signed_up_at)
    require_moment(f"{path}.checkedInAt", entry.checked_in_at)
    if entry.payment is not None:
        require_moment(f"{path}.payment.paidAt", entry.payment.paid_at)
        if entry.payment.cents <= 0:
            raise BrokenBundle(f"{path}.payment.cents", "A payment is above 0.")


def sign_up_rows(bundle: Bundle) -> list[dict[str, Any]]:
    """The rows of the list."""
    facts = bundle.engine
    entries = () if isinstance(facts, UnsetType) else tuple_or_empty(facts.sign_ups)
    return [_row(bundle.tournament.tournament_id, entry) for entry in entries]


def _row(tournament_id: int, entry: SignUpFacts) -> dict[str, Any]:
    payment = entry.payment
    return {
        "tournament_id": tournament_id,
        "player_id": entry.player_id,
        "waiting_place": entry.waiting_place,
        "signed_up_at": _moment_or_none(entry.signed_up_at),
        "is_late": entry.is_late,
        "checked_in_at": _moment_or_none(entry.checked_in_at),
        "paid_cents": None if payment is None else payment.cents,
        "paid_how": None if payment is None else payment.how,
        "paid_to": None if payment is None else payment.user_id,
        "paid_at": None if payment is None else times.parse_moment(payment.paid_at),
    }


def stored_terms(bundle: Bundle) -> dict[str, Any] | None:
    """The fees and the number of the code, as they are stored; None without any."""
    facts = bundle.engine
    if isinstance(facts, UnsetType) or isinstance(facts.sign_up_terms, UnsetType):
        return None
    values = msgspec.structs.asdict(facts.sign_up_terms)
    values["late_from"] = _moment_or_none(values["late_from"])
    stored: dict[str, Any] = msgspec.to_builtins(SignUpTerms(**values))
    return stored


def _moment_or_none(text: str | None) -> Any:
    return None if text is None else times.parse_moment(text)
