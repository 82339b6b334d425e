"""The way that works where something is refused: a page of the console, with what was entered."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct

from silverball.kit.errors import Invalid, Refusal
from silverball.service.single_player import writes as single_player_writes
from silverball.web import forms
from silverball.web.console import form_bodies
from silverball.web.forms import FormData, Way, parse_number
from silverball.web.tournament_night import TournamentNight

REOPEN = ("standings", "Reopen the tournament")
OPEN_GAMES = ("", "Go to the open games")
RESULT = ("game", "Enter the result")
SINGLE_GAMES = ("game", "Go to the single games")
CLEAR = ("game", "Clear the result")
NO_SHOW = ("game", "Enter a no-show")
QUEUE = ("", "Go to the queue")
GONE = ("gone", "Choose who gives up or leaves")
SETTINGS = ("settings", "Change the settings")
MACHINES = ("arenas", "Go to the machines")
PLAYERS = ("players", "Add players")
WRONG_RESULT = ("results", "Correct a result")
# Code -> the page that its sentence speaks of, and the words of the button that goes there.
WAYS: Mapping[str, tuple[str, str]] = {
    "adjustments-not-allowed": WRONG_RESULT,
    "advancing-place-tied": ("standings", "Play a tiebreak"),
    "all-rounds-played": ("standings", "Finish the tournament"),
    "another-player-is-up": QUEUE,
    "another-player-is-up-on-arena": QUEUE,
    "arena-blocked": MACHINES,
    "arena-busy-elsewhere": ("game", "Choose another machine"),
    "arena-in-use": ("arenas", "Take it out of order"),
    "arena-inactive": MACHINES,
    "arena-is-played": ("attempt", "Enter its score"),
    "arena-out-of-service": MACHINES,
    "arenas-not-used": SETTINGS,
    "attempt-is-voided": ("attempt", "Count it again"),
    "attempt-not-begun": ("attempt", "Delete it"),
    "attempts-made-by-format": OPEN_GAMES,
    "away-in-race": QUEUE,
    "away-needs-rounds": ("player", "Drop them"),
    "bank-is-played": RESULT,
    "bar-follows-from-scores": WRONG_RESULT,
    "card-is-full": OPEN_GAMES,
    "check-in-is-over": ("players", "Drop players"),
    "clock-has-stopped": ("", "Go to the clock"),
    "completed-tournament-changed": REOPEN,
    "counted-by-legs": SINGLE_GAMES,
    "counted-without-legs": CLEAR,
    "device-for-completed-tournament": REOPEN,
    "drawn-game-not-deletable": ("", "Go to the round"),
    "entries-closed": REOPEN,
    "entries-used-up": ("player", "Add an entry"),
    "entry-already-paid": ("door", "Go to check-in"),
    "fixed-after-start": ("", "Undo the start"),
    "frenzy-not-running": ("", "Go to Now"),
    "game-has-result": CLEAR,
    "game-in-progress": OPEN_GAMES,
    "game-is-full": ("players", "Choose a smaller group"),
    "game-not-drawn": ("game", "Delete the game"),
    "game-without-arena": ("game", "Choose a machine"),
    "group-has-result": CLEAR,
    "groups-are-fixed": GONE,
    "last-places-only": NO_SHOW,
    "leg-already-recorded": SINGLE_GAMES,
    "legs-behind-decision": SINGLE_GAMES,
    "no-arena-to-play-on": ("arenas", "Add machines"),
    "no-other-arena-free": ("arenas", "Add machines"),
    "no-round-runs-out": ("", "Set the timer"),
    "no-tier-map": SETTINGS,
    "nobody-can-be-removed": GONE,
    "nobody-checked-in": ("door", "Go to check-in"),
    "not-on-list": PLAYERS,
    "not-the-newest-round": ("", "Go to the newest round"),
    "nothing-open-there": WRONG_RESULT,
    "nothing-to-correct": RESULT,
    "nothing-to-play": WRONG_RESULT,
    "odd-schedule": SETTINGS,
    "player-already-in-queue": QUEUE,
    "player-below-bar": ("player", "Adjust their points"),
    "player-fills-other-card": ("results", "Go to the other card"),
    "player-has-games": ("player", "Drop them"),
    "player-has-open-hole": OPEN_GAMES,
    "player-in-open-game": RESULT,
    "player-inactive": ("player", "Bring them back"),
    "player-is-playing": ("attempt", "Enter its score"),
    "player-left-race": ("journal", "Go to the history"),
    "player-must-play-round": ("player", "Drop them"),
    "player-not-playing": ("player", "Bring them back"),
    "player-out-of-race": ("journal", "Go to the history"),
    "players-follow-from-results": NO_SHOW,
    "prizes-are-paid": ("prizes", "Take payments back"),
    "prizes-not-final": ("standings", "Finish the tournament"),
    "queue-closed": MACHINES,
    "queue-too-large": SETTINGS,
    "queue-decides-games": SETTINGS,
    "queues-exclude-suggestions": SETTINGS,
    "queues-not-used": SETTINGS,
    "round-completes-itself": OPEN_GAMES,
    "round-has-open-games": OPEN_GAMES,
    "round-lacks-games": ("", "Open the next round"),
    "round-without-arena": ("", "Choose a machine"),
    "rounds-not-deletable": WRONG_RESULT,
    "settings-of-completed-tournament": REOPEN,
    "suggestion-incomplete": RESULT,
    "tied-at-bye": ("standings", "Settle the tie"),
    "tied-at-cutoff": ("standings", "Settle the tie"),
    "tiebreak-is-open": ("game", "Go to the tiebreak"),
    "tiers-not-possible": SETTINGS,
    "too-few-players": PLAYERS,
    "too-few-players-left": PLAYERS,
    "too-many-devices": ("settings", "Go to the devices"),
    "too-many-in-tournament": ("players", "Go to the players"),
    "too-many-suggestions": ("game", "Decide on the reports"),
    "too-many-webhooks": ("webhooks", "Go to the notifications"),
    "tournament-is-completed": REOPEN,
    "tournament-not-reopened": REOPEN,
    "tournament-not-running": ("", "Go to Now"),
    "tournament-not-started": ("", "Start the tournament"),
    "voiding-not-allowed": ("attempt", "Delete the result"),
    "webhook-switched-off": ("webhooks", "Go to the notifications"),
}
# Codes that lead to the correction of the game with the result that was entered.
CORRECTIONS = frozenset(
    {
        "arena-taken-meanwhile",
        "attempt-already-recorded",
        "player-plays-elsewhere",
        "result-already-recorded",
        "round-is-over",
    }
)
CORRECT = "Correct the result"


class PageOf(Struct, frozen=True):
    """A page about one part: the field and the fact with its id, and the page where neither has it."""

    field: str
    fact: str
    otherwise: str


PAGES_OF = {
    "game": PageOf("game_id", "game", ""),
    "attempt": PageOf(single_player_writes.SINGLE_PLAYER_GAME, "attempt", "results"),
    "player": PageOf("player_id", "player", "players"),
}
# Pages that scorekeepers open too.
FOR_EVERYBODY = frozenset({"", "game", "attempt", "results", "standings"})


def find_way(refusal: Refusal, night: TournamentNight, form: FormData) -> Way | None:
    """The button to the page where it can be done; None where there is none, or not for this person."""
    if refusal.code in CORRECTIONS:
        return _correction(night, form) if night.is_organizer else None
    view, words = WAYS.get(refusal.code, ("", ""))
    if not words or not (night.is_organizer or view in FOR_EVERYBODY):
        return None
    query = ""
    if page := PAGES_OF.get(view):
        part_id = refusal.facts.get(page.fact) or form.value(page.field)
        query = f"?{view}={part_id}" if str(part_id).isdigit() else ""
        view = view if query else page.otherwise
    return Way(path=f"{'/' if view else ''}{view}{query}", words=words)


def _correction(night: TournamentNight, form: FormData) -> Way | None:
    """The page of the correction with the result of the form."""
    attempt_id = form.value(single_player_writes.SINGLE_PLAYER_GAME)
    if attempt_id.isdigit():
        fields = {"attempt": attempt_id, **forms.text_fields(form, *form_bodies.RESULT_FIELDS)}
    else:
        game = next(
            (each for each in night.tournament.games if str(each.game_id) == form.value("game_id")), None
        )
        if game is None:
            return None
        fields = {"game": str(game.game_id)}
        if order := _entered_order(form, game.player_ids):
            fields["order"] = form_bodies.SEPARATOR.join(map(str, order))
    return Way(path=f"/correct?{urlencode(fields)}", words=CORRECT, is_instead=True)


def _entered_order(form: FormData, player_ids: tuple[int, ...]) -> list[Any]:
    """The finishing order of a form, also from scores or a no-show; empty where it says none."""
    gone = [player_id for player_id in player_ids if str(player_id) == form.value("forfeit")]
    if gone:
        others = [player_id for player_id in player_ids if player_id not in gone]
        return [*others, *gone] if len(others) == 1 else []
    scores = {player: parse_number(text) for player, text in form.with_prefix("score-").items()}
    numbers = [score for score in scores.values() if isinstance(score, int)]
    if len(numbers) == len(player_ids) == len(set(numbers)):
        return sorted(scores, key=lambda player: -int(scores[player]))
    try:
        order = forms.ordered_player_ids(form)
    except Invalid:
        return []
    return order if len(order) == len(player_ids) else []
