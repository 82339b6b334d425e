"""The rows of Now: what is open, and what a page shows already, which keeps its place when it is done."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from silverball.kit.errors import Refusal
from silverball.rules.commands import single_player as single_player_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.format import PlayKind
from silverball.rules.model.tournament import Game, Round, SinglePlayerGame
from silverball.web.page_request import PageRequest
from silverball.web.tournament_night import TournamentNight

# The rows that a page shows, in their order: `game-12,play-7`.
KEPT = "keep"
KEPT_MAX = 300
_GAME_ROW = re.compile(r"game-(\d{1,18})", re.ASCII)
_ATTEMPT_ROW = re.compile(r"play-(\d{1,18})", re.ASCII)
UNDO, CHANGE = "undo", "change"


def load_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """The games and single player games to show, and what takes back the result of each."""
    return {
        "shown_games": _shown_games(request, night),
        "news": _news(request, night),
        "attempt_rows": lambda round_id, waiting: _rows_of_round(request, night, round_id, waiting),
        "may_undo": lambda game: _way_back(request, night, game),
        "may_undo_attempt": lambda attempt: _attempt_way_back(request, night, attempt),
    }


def round_of_kept(request: PageRequest, night: TournamentNight) -> Round | None:
    """The round whose single player games a page shows."""
    kept = _kept_ids(request, _ATTEMPT_ROW)
    shown = next((each for each in night.tournament.single_player_games if _key(each) in kept), None)
    return night.tournament.round_by_id.get(shown.round_id or 0) if shown else None


def _key(attempt: SinglePlayerGame) -> int:
    return attempt.single_player_game_id


def _kept_ids(request: PageRequest, pattern: re.Pattern[str]) -> list[int]:
    texts = request.query.get(KEPT, "").split(",")[:KEPT_MAX]
    return [int(found[1]) for found in map(pattern.fullmatch, texts) if found]


def _shown_games(request: PageRequest, night: TournamentNight) -> list[Game]:
    """The games of the rows that the page shows, then the other open ones."""
    by_id = {game.game_id: game for game in night.tournament.games if not game.is_bye}
    kept = [by_id[game_id] for game_id in _kept_ids(request, _GAME_ROW) if game_id in by_id]
    new = [game for game in night.open_games if game not in kept]
    reported = {suggestion.game_id for suggestion in night.tournament.suggestions}
    if request.query.get("show") == "reported" and any(game.game_id in reported for game in night.open_games):
        new = [game for game in new if game.game_id in reported]
    return kept + new


def _news(request: PageRequest, night: TournamentNight) -> str:
    """Say what a page has whose rows are others: a new round, that all is played, or how much is open."""
    kept = _kept_ids(request, _GAME_ROW)
    if night.open_round is not None and night.opens_rounds and night.open_games:
        is_shown = any(game.game_id in kept for game in night.open_games)
        return "Changed" if is_shown else f"{night.open_round.name} is open"
    if night.kind is PlayKind.GAMES and not night.open_games:
        return "All results are in"
    return f"Open {len(night.open_games)}" if night.kind is PlayKind.GAMES else "Changed"


def _rows_of_round(
    request: PageRequest, night: TournamentNight, round_id: int | None, waiting: Sequence[SinglePlayerGame]
) -> list[SinglePlayerGame]:
    """The single player games of a round that the page shows, then the others that wait."""
    by_id = {_key(attempt): attempt for attempt in night.tournament.single_player_games}
    kept = [by_id[key] for key in _kept_ids(request, _ATTEMPT_ROW) if key in by_id]
    kept = [attempt for attempt in kept if attempt.round_id == round_id]
    return kept + [attempt for attempt in waiting if attempt not in kept]


def _way_back(request: PageRequest, night: TournamentNight, game: Game) -> str:
    """Whether the result can be undone in its row, or only be changed; empty for neither."""
    is_own = game.scorekeeper_id == (request.caller.user_id or None)
    return _way(
        night,
        is_own=is_own,
        clear=lambda: tournament_commands.clear_result(night.tournament, game.game_id),
    )


def _attempt_way_back(request: PageRequest, night: TournamentNight, attempt: SinglePlayerGame) -> str:
    is_own = attempt.scorekeeper_id == (request.caller.user_id or None)
    return _way(
        night,
        is_own=is_own,
        clear=lambda: single_player_commands.delete_attempt(night.tournament, _key(attempt), night.now),
    )


def _way(night: TournamentNight, *, is_own: bool, clear: Callable[[], Any]) -> str:
    change = CHANGE if night.is_organizer and night.tournament.status == "started" else ""
    if not is_own:
        return change
    try:
        clear()
    except Refusal:
        return change
    return UNDO
