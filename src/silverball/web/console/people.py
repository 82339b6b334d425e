"""The data of the pages Players and Machines: who and what is in, and who and what can be added."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET, Struct

from silverball.kit.errors import Invalid
from silverball.rules.commands import roster
from silverball.rules.format import Rounds
from silverball.rules.model import settings_protocols
from silverball.rules.model.settings import DrawnRoundSettings
from silverball.rules.model.settings_protocols import HasPairing
from silverball.rules.model.tournament import Entrant, Game, LineupArena
from silverball.service.journal.texts import NOTE_KINDS, away_text
from silverball.service.machines import reads as machine_reads
from silverball.service.money import reads as money_reads
from silverball.service.outlook.reads import federation
from silverball.service.outlook.reads.federation import FederationPlayer
from silverball.service.players import reads as player_reads
from silverball.service.rounds import reads as rounds_reads
from silverball.service.tournaments.reads import listing
from silverball.service.venues import reads as venues_reads
from silverball.store.database.engine import Db
from silverball.web import forms, letters
from silverball.web.console import door
from silverball.web.forms import FormData, parse_number
from silverball.web.page_request import PageRequest
from silverball.web.tournament_night import TournamentNight
from silverball_wire.tournaments import Tournament

# The sheets for what goes wrong in a night: players late, away or gone, and machines out of order.


OPEN_GAME_WORDS = {
    roster.STAYS_IN: "They finish it",
    roster.LAST_PLACE: "They are last in it",
    roster.GOES_ON: "It goes on with one fewer",
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
        points=roster.late_points(tournament, is_seated=False),
        points_seated=roster.late_points(tournament, is_seated=True),
        away=[entrant for entrant in night.roster if entrant.away_rounds is not UNSET],
        has_setting=isinstance(tournament.settings, DrawnRoundSettings),
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
    """The open games on machines out of order, and the machines with queues and with scores among them."""
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
        "broken_with_scores": _broken_with_scores(night),
    }


def _broken_with_scores(night: TournamentNight) -> list[tuple[LineupArena, int]]:
    """The machines out of order whose scores can leave with them, each with their number."""
    form = night.format
    if night.tournament.status != "started" or form.attempts is None or form.has_cards:
        return []
    played = Counter(attempt.arena_id for attempt in night.tournament.single_player_games)
    broken = [arena for arena in night.lineup if not arena.is_active and played[arena.arena_id]]
    return [(arena, played[arena.arena_id]) for arena in broken] if form.attempts.open else []


def apart_context(_request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """The pairs whom draws keep apart, and the players to choose from."""
    pairs = night.tournament.state.apart
    names = {entrant.player_id: night.player_name(entrant.player_id) for entrant in night.tournament.entrants}
    return {
        "can_keep_apart": settings_protocols.has(night.tournament.settings, HasPairing),
        "apart_pairs": pairs,
        "apart_text": " ".join(f"{first}-{second}" for first, second in pairs),
        "apart_choices": sorted(names, key=lambda player_id: names[player_id].casefold()),
    }


def notes_context(request: PageRequest, night: TournamentNight, game: Game) -> Mapping[str, Any]:
    """The notes on a game and earlier cards of its players, for those who keep scores."""
    with request.site.store.read() as db:
        return {
            "game_notes": rounds_reads.notes_of_games(db, night.id, [game.game_id]),
            "earlier_cards": rounds_reads.earlier_cards(db, night.tournament, game.player_ids, night.now),
            "note_kinds": NOTE_KINDS,
        }


# Bodies of the interface from the forms of these sheets


def pairs_apart(form: FormData) -> Mapping[str, Any]:
    """The pairs of the page, without the one that may meet again and with the one that is added."""
    pairs = [text for text in form.value("pairs").split() if text != form.value("taken")]
    listed = [[parse_number(number) for number in text.split("-")] for text in pairs]
    if form.has("playerId"):
        listed.append([parse_number(form.value(name)) for name in ("playerId", "withPlayerId")])
    return {"pairs": listed}


def ruling(form: FormData) -> Mapping[str, Any]:
    """A ruling, with the order of now where the game is settled."""
    body: dict[str, Any] = {"ruling": form.value("ruling")}
    if body["ruling"] == "settle":
        body["resultPositions"] = forms.ordered_player_ids(form)
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
        **forms.number_fields(form, "playerId"),
        **leaves,
    }


SEARCH_LETTERS_MAX = 100
FORMER_MAX = 50
# Fewer letters are in most names of the file.
FEDERATION_LETTERS_MIN = 2


def _roster_by_letter(night: TournamentNight) -> list[tuple[str, list[Entrant]]]:
    """The entrants under their first letters; who has left comes last, together."""
    active = [entrant for entrant in night.roster if entrant.is_active]
    gone = [entrant for entrant in night.roster if not entrant.is_active]
    grouped = letters.by_letter(active, lambda entrant: night.player_name(entrant.player_id))
    return [*grouped, ("Away", gone)] if gone else grouped


def players_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """Players of the book that a search or a former tournament offers, and of the federation's file."""
    words = request.query.get("q", "").replace("\x00", "").strip()[:SEARCH_LETTERS_MAX]
    former_id = request.query.get("former", "")
    organizer_id = night.tournament.details["organizer_id"]
    with request.site.store.read() as db:
        untaken = money_reads.untaken(db, night.tournament)
        former = [
            tournament
            for tournament in organizer_tournaments(db, request, organizer_id)
            if tournament.tournament_id != night.id
        ]
        offered: tuple[Any, ...] = ()
        in_federation: Sequence[FederationPlayer] = ()
        if words:
            offered = player_reads.search_players(db, organizer_id, words, request.caller)
            if len(words) >= FEDERATION_LETTERS_MIN:
                in_federation = federation.search_records(db, words, organizer_id)
        elif any(str(tournament.tournament_id) == former_id for tournament in former):
            entrants = player_reads.entrants(db, int(former_id), request.caller)
            offered = tuple(player for player in entrants if player.organizer_id == organizer_id)
    entered = night.tournament.entrant_by_id
    return {
        **late_context(night),
        "door": door.door_summary(night.tournament, untaken),
        "roster_letters": _roster_by_letter(night),
        "words": words,
        "former": former,
        "former_id": former_id,
        "offered": [player for player in offered if player.player_id not in entered],
        # Once some of them are in, who is left was left out on purpose.
        "are_ticked": former_id != "" and not any(player.player_id in entered for player in offered),
        "in_federation": in_federation,
        "was_searched": bool(words or former_id),
    }


def machines_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """Arenas of the organizer's book outside the tournament, and titles that a search finds."""
    words = request.query.get("machine", "").replace("\x00", "").strip()[:SEARCH_LETTERS_MAX]
    with request.site.store.read() as db:
        arenas = venues_reads.search_arenas(db, night.tournament.details["organizer_id"], words)
        machines = machine_reads.search_machines(db, words) if words else []
    in_lineup = {arena.arena_id for arena in night.tournament.lineup}
    return {
        "machine_words": words,
        "arenas_offered": [arena for arena in arenas if arena.arena_id not in in_lineup],
        "machines_found": machines,
    }


def arenas_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """Arenas, titles, and the organizer's banks inside and outside the tournament."""
    query = venues_reads.BankQuery(status="active")
    with request.site.store.read() as db:
        banks = venues_reads.banks_in_tournament(db, night.id)
        owned = venues_reads.banks_owned_by(db, night.tournament.details["organizer_id"], query).rows
    used_ids = {bank.bank_id for bank in banks}
    offered = [(bank.bank_id, bank.name) for bank in owned if bank.bank_id not in used_ids]
    return {
        **machines_context(request, night),
        **broken_context(night),
        "banks": banks,
        "banks_offered": offered,
    }


def organizer_tournaments(db: Db, request: PageRequest, organizer_id: int) -> Sequence[Tournament]:
    query = listing.TournamentQuery(owner=organizer_id, limit=FORMER_MAX)
    return listing.tournaments_page(db, query, request.caller).rows


# A round that was played from paper, typed back in one list: the players' numbers in finishing order.


LINE, PLAYERS, SEEN = "line-", "players-", "seen-"
# The numbers may be written apart: `3 1 2`.
BETWEEN = re.compile(r"[\s,.-]+")


def load_context(_request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """The open games that are recorded by an order, as the printed sheets list them."""
    is_single = settings_protocols.wins_needed(night.tournament.settings) == 1
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
