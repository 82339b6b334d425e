"""The way through the console: its bar, the list of More, and the filters of the games."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from silverball.web.page_request import PageRequest
from silverball.web.tournament_night import TournamentNight

ContextLoader: TypeAlias = Callable[[PageRequest, TournamentNight], dict[str, Any]]
# Address, text, and whether it is the current page.
BarLink: TypeAlias = tuple[str, str, bool]
# Up to so many open games have their rows open, as there is room for them.
GAMES_OPEN_MAX = 2


class ConsoleView(Struct, frozen=True):
    """A page of the console: its title, its parts in order, what loads their data, and where it is found."""

    title: str
    parts: tuple[str, ...]
    load_context: ContextLoader
    for_organizer: bool = True
    # Whether the bar at the bottom has it; otherwise the list of More has.
    is_in_bar: bool = False
    # Whether neither has it.
    is_hidden: bool = False
    # A line about it in the list of More.
    about: str = ""


def links(
    views: Mapping[str, ConsoleView], name: str, night: TournamentNight, *, shows_reported: bool
) -> dict[str, Any]:
    """The links that a page of the console has, for its templates."""
    reported_ids = {suggestion.game_id for suggestion in night.tournament.suggestions}
    reported_ids &= {game.game_id for game in night.open_games}
    return {
        "bar": _bar_links(views, name, night),
        "more_links": _more_links(views, night),
        "game_chips": _game_chips(name, night, len(reported_ids), shows_reported=shows_reported),
        "reported_ids": reported_ids,
        "shows_reported": shows_reported and bool(reported_ids),
        "games_open_max": GAMES_OPEN_MAX,
    }


def _bar_links(views: Mapping[str, ConsoleView], name: str, night: TournamentNight) -> list[BarLink]:
    """The views of the bar; a scorekeeper's has the few that they may open."""
    if not night.is_organizer:
        shown = [key for key, view in views.items() if not view.for_organizer and not view.is_hidden]
    else:
        shown = [key for key, view in views.items() if view.is_in_bar]
    # The page of a game belongs to Now, the pages that More leads to belong to More.
    parents = {"game": "", "attempt": "", "draw": "", "correct": "", "player": "players"}
    current = name if name in shown else parents.get(name, "more")
    return [(_path(night, key), views[key].title, key == current) for key in shown]


def _more_links(views: Mapping[str, ConsoleView], night: TournamentNight) -> list[tuple[str, str, str]]:
    """Address, title and line of each view that the bar has no room for."""
    return [
        (_path(night, key), view.title, view.about)
        for key, view in views.items()
        if not (view.is_in_bar or view.is_hidden)
    ]


def _game_chips(name: str, night: TournamentNight, reported: int, *, shows_reported: bool) -> list[BarLink]:
    """Open, reported and done games with their numbers."""
    is_reported = shows_reported and reported > 0
    done = sum(game.status == "completed" and not game.is_bye for game in night.tournament.games)
    chips = [(_path(night, ""), f"Open {len(night.open_games)}", name == "" and not is_reported)]
    if reported:
        chips.append((f"{_path(night, '')}?show=reported", f"Reported {reported}", is_reported))
    if done:
        chips.append((_path(night, "results"), f"Done {done}", name == "results"))
    return chips


def _path(night: TournamentNight, key: str) -> str:
    return f"/t/{night.id}/run{'/' + key if key else ''}"
