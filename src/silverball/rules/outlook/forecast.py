"""A forecast that is published again and again during a night: what is certain stays so, or is withdrawn.

A certain fact holds as long as nobody is adjusted, joins, returns or leaves, no result is corrected and no
setting changes. As long as that is so, a published fact is never dropped, even where it no longer follows
from the present state alone; otherwise it has to follow again, or it is withdrawn with the reason.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from silverball.rules.format import Format
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.outlook.certainty import Claim, Fact, Goal, certain_claims

Reason: TypeAlias = Literal["adjusted", "corrected", "joined", "left", "settings"]
# Settings on which no certain fact depends.
SETTINGS_IGNORED = frozenset({"forecast", "scorekeeping", "suggestions", "pairing"})
# Withdrawals that are listed, newest first.
WITHDRAWALS_MAX = 50


class Chance(Struct, frozen=True, kw_only=True):
    """The chances of a player, from 0 to 1."""

    player_id: int
    win: float
    # None without a cut.
    cut: float | None


class Withdrawal(Struct, frozen=True, kw_only=True):
    """A published fact that does not hold any more."""

    claim: Claim
    reason: Reason
    withdrawn_at: datetime


class Assumptions(Struct, frozen=True, kw_only=True):
    """The parts of a tournament that must stay as they are, for what is certain to stay so."""

    # Player id -> points, strikes and score by hand.
    adjustments: Mapping[int, str]
    # Player id -> whether they play on.
    players: Mapping[int, bool]
    # Each finished game, by kind and id -> its result.
    results: Mapping[str, str]
    settings: Mapping[str, Any]


class Forecast(Struct, frozen=True, kw_only=True):
    """The forecast of a running night, as it is stored."""

    # None in formats without chances.
    chances: Sequence[Chance] | None
    # The players whose rating was used.
    rated_ids: Sequence[int]
    nights_simulated: int
    claims: Sequence[Claim]
    withdrawals: Sequence[Withdrawal]
    assumptions: Assumptions


class CertainFacts(Struct, frozen=True, kw_only=True):
    """The facts that are certain now, and those that no longer are."""

    claims: Sequence[Claim]
    withdrawals: Sequence[Withdrawal]
    assumptions: Assumptions


def assumptions_of(tournament: Tournament) -> Assumptions:
    """The assumptions of all certain facts about the tournament as it stands."""
    settings = msgspec.to_builtins(tournament.settings)
    entrants = tournament.entrants
    return Assumptions(
        adjustments={
            each.player_id: f"{each.points_adjustment:.2f} {each.score_adjustment:.2f}" for each in entrants
        },
        players={each.player_id: each.is_active for each in entrants},
        results=_results(tournament),
        settings={key: value for key, value in settings.items() if key not in SETTINGS_IGNORED},
    )


def _results(tournament: Tournament) -> dict[str, str]:
    """The finished games of several players, and those of one player."""
    games = {
        f"game {game.game_id}": _result_text(game)
        for game in tournament.games
        if game.status == "completed" and not game.is_bye
    }
    attempts = {
        f"attempt {attempt.single_player_game_id}": (
            f"{attempt.points or 0:.2f} {attempt.score} {attempt.is_voided}"
        )
        for attempt in tournament.single_player_games
        if attempt.status == "completed"
    }
    return games | attempts


def _result_text(game: Game) -> str:
    points = " ".join("-" if each is None else f"{each:.2f}" for each in game.result_points)
    places = " ".join(str(each or 0) for each in game.finishing_order or game.result_positions)
    return f"{places}/{points}"


def broken_assumption(before: Assumptions, now: Assumptions) -> Reason | None:
    """Why facts that were certain before need not be so now; None when they still are."""
    if any(now.adjustments.get(each, was) != was for each, was in before.adjustments.items()):
        return "adjusted"
    if any(now.results.get(game_id) != was for game_id, was in before.results.items()):
        return "corrected"
    if any(plays and not before.players.get(each) for each, plays in now.players.items()):
        return "joined"
    if any(plays and not now.players.get(each) for each, plays in before.players.items()):
        return "left"
    return None if now.settings == before.settings else "settings"


def certain_facts(
    tournament: Tournament, form: Format, before: Forecast | None, now: datetime
) -> CertainFacts:
    """The certain facts of a tournament, after those that were published before."""
    assumptions = assumptions_of(tournament)
    claims = certain_claims(tournament, form)
    if before is None:
        return CertainFacts(claims=claims, withdrawals=(), assumptions=assumptions)
    reason = broken_assumption(before.assumptions, assumptions)
    withdrawals = list(before.withdrawals)
    if reason is None:
        claims = _with_earlier(claims, before.claims)
    else:
        gone = _claims_that_fell(tournament, before.claims, claims)
        fresh = [Withdrawal(claim=claim, reason=reason, withdrawn_at=now) for claim in gone]
        withdrawals = [*fresh, *withdrawals]
    held = set(claims)
    withdrawals = [each for each in withdrawals if each.claim not in held]
    shown = tuple(withdrawals[:WITHDRAWALS_MAX])
    return CertainFacts(claims=claims, withdrawals=shown, assumptions=assumptions)


def _with_earlier(claims: Sequence[Claim], earlier: Sequence[Claim]) -> list[Claim]:
    """All settled facts, and the places in games that settle the others."""
    settled = {_subject(claim): claim for claim in (*earlier, *claims) if claim.fact != "place"}
    open_claims = [claim for claim in claims if claim.fact == "place" and _subject(claim) not in settled]
    return sorted([*settled.values(), *open_claims], key=lambda claim: (claim.goal, claim.player_id))


def _subject(claim: Claim) -> tuple[int, Goal]:
    return claim.player_id, claim.goal


def _claims_that_fell(
    tournament: Tournament, earlier: Sequence[Claim], claims: Sequence[Claim]
) -> list[Claim]:
    """The earlier facts that are not among those of now, without places in games that are over."""
    open_games = {game.game_id for game in tournament.games if game.status == "started"}
    facts: dict[tuple[int, Goal], tuple[Fact, int | None]] = {
        _subject(claim): (claim.fact, claim.place) for claim in claims
    }
    return [
        claim
        for claim in earlier
        if (claim.fact != "place" or claim.game_id in open_games)
        and not _still_holds(claim, *facts.get(_subject(claim), (None, None)))
    ]


def _still_holds(claim: Claim, fact: Fact | None, place: int | None) -> bool:
    if claim.fact == "place":
        return fact == "clinched" or (fact == "place" and (place or 0) >= (claim.place or 0))
    return fact == claim.fact
