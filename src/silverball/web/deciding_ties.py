"""Ties that decide something, as pages show them: `Tied for 8th: Ed, Flo, Gus`."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from silverball.rules.commands import tiebreaks
from silverball.rules.commands.tiebreaks import DecidingTie, Reason
from silverball.rules.format import never_over
from silverball.rules.model.settings_protocols import HasDuration, has, tiebreaker_of
from silverball.rules.model.tournament import Tournament
from silverball.rules.ranking import head_to_head
from silverball.rules.ranking import points as ranking_points
from silverball.web.tournament_night import TournamentNight

# A select element with every place for each of more players is too large for a phone.
ORDER_MAX = 16
# Longer lists of names end with their number.
NAMES_MAX = 12
REASONS = {
    "first": "It decides who wins.",
    "cut": "It decides who reaches the playoffs.",
    "prize": "It decides who wins how much; left alone, they divide the prizes.",
    "round": "It decides who goes on.",
}
# Why who beat whom does not tell them apart, where that is the tiebreaker.
UNDECIDED = {
    "not met": "; not all of them have met",
    "even": "; each beat the other as often",
    "circle": "; they beat each other in a circle",
}


class TieOnPage(Struct, frozen=True, kw_only=True):
    """A tie with its title and what depends on it."""

    player_ids: tuple[int, ...]
    title: str
    reason: str
    # What depends on their order: "first", "cut", "prize" or "round".
    decides: Reason


def load_context(night: TournamentNight) -> dict[str, Any]:
    """The data for templates of ties: those that decide, players drawn by lot, limits of the forms."""
    return {
        "deciding": ties_on_page(night) if night.is_organizer else [],
        "drawn_by_lot": {entrant.player_id for entrant in night.tournament.entrants if entrant.is_tie_drawn},
        "order_max": ORDER_MAX,
        "tiebreak_max": tiebreaks.most_players(night.tournament),
    }


def ties_on_page(night: TournamentNight) -> list[TieOnPage]:
    """The ties that decide something, best place first, once nothing is left to play for now."""
    if not _awaits_decision(night):
        return []
    decided = tiebreaks.deciding_ties(night.tournament)
    return [_tie_on_page(night, tie) for tie in decided if _is_shown(night, tie)]


def _awaits_decision(night: TournamentNight) -> bool:
    """Whether a tie may be the next thing to settle.

    The night is over, a round of an open end is played, or a format ends when it is closed, and nobody plays
    or waits.
    """
    tournament = night.tournament
    if tournament.status != "started" or tournament.open_games or tournament.started_attempts:
        return False
    if night.is_over:
        return True
    if night.format.is_over is never_over:
        return not tournament.waiting_spots
    if night.format.tied_groups is not None:
        return bool(tournament.rounds)
    has_open_end = has(tournament.settings, HasDuration) and not tournament.settings.duration
    return has_open_end and any(game.status == "completed" for game in tournament.games)


def _is_shown(night: TournamentNight, tie: DecidingTie) -> bool:
    # In an open night those without a result are tied until they play.
    if night.format.is_over is never_over and not set(tie.player_ids) <= _players_with_results(night):
        return False
    # Shares that nobody published are not told by the ties that they make.
    plan = night.tournament.prizes
    return tie.reason != "prize" or night.is_organizer or (plan is not None and plan.is_published)


def _players_with_results(night: TournamentNight) -> set[int]:
    games, attempts = night.tournament.games, night.tournament.single_player_games
    in_games = {each for game in games if game.status == "completed" for each in game.player_ids}
    alone = {
        attempt.player_id for attempt in attempts if attempt.status == "completed" and not attempt.is_voided
    }
    return in_games | alone


def _tie_on_page(night: TournamentNight, tie: DecidingTie) -> TieOnPage:
    listed = listed_names(night, tie.player_ids)
    return TieOnPage(
        player_ids=tie.player_ids,
        title=f"Tied for {ordinal(tie.position)}: {listed}{_why_undecided(night.tournament, tie)}",
        reason=REASONS[tie.reason],
        decides=tie.reason,
    )


def listed_names(night: TournamentNight, player_ids: Sequence[int]) -> str:
    """The names in a line, the last of many as their number."""
    names = [night.player_name(player_id) for player_id in player_ids]
    more = len(names) - NAMES_MAX
    return ", ".join(names[:NAMES_MAX]) + (f" and {more} more" if more > 0 else "")


def _why_undecided(tournament: Tournament, tie: DecidingTie) -> str:
    if tiebreaker_of(tournament.settings) != "head_to_head":
        return ""
    why = head_to_head.why_undecided(tie.player_ids, ranking_points.games_that_count(tournament))
    return "" if why is None else UNDECIDED[why]


def ordinal(place: int) -> str:
    """A place as people say it: 1st, 2nd, 11th."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{'th' if place % 100 in (11, 12, 13) else ending}"
