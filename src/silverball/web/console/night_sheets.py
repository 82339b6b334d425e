"""The sheets for what goes wrong in a night: players late, away or gone, and machines out of order."""

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Struct

from silverball.kit.errors import Invalid
from silverball.rules.commands import absences
from silverball.rules.format import Rounds
from silverball.rules.model.settings import LateEntrySettings
from silverball.rules.model.tournament import Entrant, Game
from silverball.service.rulings import reads as rulings
from silverball.service.tournaments.journal_text import away_text
from silverball.web import form_values
from silverball.web.forms import FormData
from silverball.web.page_request import PageRequest
from silverball.web.tournament_night import TournamentNight

NOTE_KINDS = {
    "malfunction": "Malfunction",
    "warning": "Warning",
    "yellow": "Yellow card",
    "red": "Red card",
    "disqualified": "Disqualified",
    "zero": "Zero score, last in the game",
    "slow": "Slow play",
    "other": "Other",
}
OPEN_GAME_WORDS = {
    absences.STAYS_IN: "They finish it",
    absences.LAST_PLACE: "They are last in it",
    absences.GOES_ON: "It goes on with one fewer",
}
AWAY_ROUNDS_OFFERED = (1, 2, 3)


class LateSheet(Struct, frozen=True, kw_only=True):
    """The groups that a late player may join, the points they begin with, and who may be or is away."""

    can_join: bool
    can_leave: bool
    # Open groups of three, which a late player may join at once.
    groups: list[Game]
    points: Any
    points_seated: Any
    away: list[Entrant]
    has_setting: bool


def late_context(night: TournamentNight) -> Mapping[str, Any]:
    """The sheet for late players; none where nobody can be late."""
    return {
        "late": _late_sheet(night),
        "open_game_words": OPEN_GAME_WORDS,
        "away_offered": AWAY_ROUNDS_OFFERED,
        "away_text": away_text,
    }


def _late_sheet(night: TournamentNight) -> LateSheet | None:
    tournament, form = night.tournament, night.format
    if tournament.status != "started" or not form.can_open_rounds:
        return None
    return LateSheet(
        can_join=form.late_entry != "never",
        can_leave=form.can_leave and bool(night.active_entrants),
        groups=[game for game in night.open_games if _has_a_seat(night, game)],
        points=absences.late_points(tournament, is_seated=False),
        points_seated=absences.late_points(tournament, is_seated=True),
        away=[entrant for entrant in night.roster if entrant.away_rounds is not UNSET],
        has_setting=isinstance(tournament.settings, LateEntrySettings),
    )


def _has_a_seat(night: TournamentNight, game: Game) -> bool:
    """Whether it is a group of three of a drawn round, which has room for one more."""
    if night.format.rounds is not Rounds.OPENED or game.is_tiebreak or night.open_round is None:
        return False
    size = len(game.player_ids)
    return size == night.format.players_per_game - 1 > 1 and game.round_id == night.open_round.round_id


def leaving_context(night: TournamentNight, player_id: int | None) -> Mapping[str, Any]:
    """The open games of a player who goes, and the rounds that they may be away for."""
    games = [game for game in night.open_games if player_id in game.player_ids and not game.is_tiebreak]
    can_be_away = night.tournament.status == "started" and night.format.can_open_rounds
    return {
        "own_games": games,
        "open_game_words": OPEN_GAME_WORDS,
        "away_offered": AWAY_ROUNDS_OFFERED if can_be_away and night.format.can_leave else (),
        "away_text": away_text,
    }


def broken_context(night: TournamentNight) -> Mapping[str, Any]:
    """The open games on machines out of order, and the machines with queues among them."""
    playable = {arena.arena_id for arena in night.active_arenas}
    games = [game for game in night.open_games if game.arena_id is not None]
    # What waits for another tournament in the room is called by itself.
    called = {*night.room.awaited_players, *night.room.awaited_arenas}
    lines = [arena for arena in night.lineup if night.queue_for(arena_id=arena.arena_id)]
    return {
        "stranded": [
            game
            for game in games
            if game.arena_id not in playable
            or (game.waiting_since is not UNSET and game.game_id not in called)
        ],
        "stranded_queues": [arena for arena in lines if not arena.is_active],
    }


def notes_context(request: PageRequest, night: TournamentNight, game: Game) -> Mapping[str, Any]:
    """The notes on a game and earlier cards of its players, for those who keep scores."""
    with request.site.store.read() as db:
        return {
            "game_notes": rulings.notes_of_games(db, night.id, [game.game_id]),
            "earlier_cards": rulings.earlier_cards(db, night.tournament, game.player_ids, night.now),
            "note_kinds": NOTE_KINDS,
        }


# Bodies of the interface from the forms of these sheets


def ruling(form: FormData) -> Mapping[str, Any]:
    """A ruling, with the order of now where the game is settled."""
    body: dict[str, Any] = {"ruling": form.value("ruling")}
    if body["ruling"] == "settle":
        body["resultPositions"] = form_values.ordered_player_ids(form)
    return body


def note(form: FormData) -> Mapping[str, Any]:
    """A note on a game."""
    text = form.value("text").strip()
    if not text:
        raise Invalid({"text": ["Write the note first."]})
    is_leaving = form.value("kind") == "disqualified" and form.value("leaves")
    leaves = {"leaves": form.value("leaves")} if is_leaving else {}
    return {
        "kind": form.value("kind"),
        "text": text,
        **form_values.number_fields(form, "playerId"),
        **leaves,
    }
