"""A round that was played from paper, typed back in one list: the players' numbers in finishing order."""

import re
from collections.abc import Mapping
from typing import Any

from silverball.kit.errors import Invalid
from silverball.rules.model import play_settings
from silverball.rules.model.tournament import Game
from silverball.web.form_values import parse_number
from silverball.web.forms import FormData
from silverball.web.page_request import PageRequest
from silverball.web.tournament_night import TournamentNight

LINE, PLAYERS, SEEN = "line-", "players-", "seen-"
# The numbers may be written apart: `3 1 2`.
BETWEEN = re.compile(r"[\s,.-]+")


def load_context(_request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """The open games that are recorded by an order, as the printed sheets list them."""
    is_single = play_settings.wins_needed(night.tournament.settings) == 1
    games = [game for game in night.open_games if is_single and _is_listed(game)]
    return {"paper_games": games}


def _is_listed(game: Game) -> bool:
    # A number has one digit.
    return not game.is_tiebreak and 1 < len(game.player_ids) < 10


def typed_round(form: FormData) -> Mapping[str, Any]:
    """The body with a result of each line that is not empty. Raises Invalid, by the number of the line."""
    results = []
    lines = [(name.removeprefix(LINE), text) for name, text in form.pairs if name.startswith(LINE)]
    for number, (game_id, text) in enumerate(lines, start=1):
        digits = BETWEEN.sub("", text)
        if digits:
            player_ids = [parse_number(part) for part in form.value(PLAYERS + game_id).split(",")]
            order = _finishing_order(digits, player_ids, number)
            seen = form.value(SEEN + game_id)
            results.append({"gameId": parse_number(game_id), "resultPositions": order, "seen": seen})
    if not results:
        raise Invalid({"lines": ["Type the order of at least one game."]})
    return {"results": results}


def _finishing_order(digits: str, player_ids: list[int | str], number: int) -> list[int | str]:
    """The players by their numbers; the last one may be left out."""
    places = [int(digit) - 1 if digit.isascii() and digit.isdecimal() else -1 for digit in digits]
    left = [place for place in range(len(player_ids)) if place not in places]
    is_complete = len(left) <= 1 and len(set(places)) == len(places) == len(player_ids) - len(left)
    if not is_complete or not all(0 <= place < len(player_ids) for place in places):
        count = len(player_ids)
        sentence = f"Line {number}: type each number from 1 to {count} once, the winner's first."
        raise Invalid({f"{LINE}{number}": [sentence]})
    return [player_ids[place] for place in (*places, *left)]
