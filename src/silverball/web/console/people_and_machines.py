"""The data of the pages Players and Machines: who and what is in, and who and what can be added."""

from collections.abc import Sequence
from typing import Any

from silverball.service.arenas import reads as arena_reads
from silverball.service.banks import reads as bank_reads
from silverball.service.federation.reads import records
from silverball.service.federation.reads.records import FederationPlayer
from silverball.service.machines import reads as machine_reads
from silverball.service.players import reads as player_reads
from silverball.service.tournaments.reads import listing
from silverball.store.engine import Db
from silverball.web.console import door, night_sheets
from silverball.web.page_request import PageRequest
from silverball.web.tournament_night import TournamentNight
from silverball_wire.tournaments import Tournament

SEARCH_LETTERS_MAX = 100
FORMER_MAX = 50
# Fewer letters are in most names of the file.
FEDERATION_LETTERS_MIN = 2


def players_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """Players of the book that a search or a former tournament offers, and of the federation's file."""
    words = request.query.get("q", "").replace("\x00", "").strip()[:SEARCH_LETTERS_MAX]
    former_id = request.query.get("former", "")
    organizer_id = night.tournament.details["organizer_id"]
    with request.site.store.read() as db:
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
                in_federation = records.search_records(db, words, organizer_id)
        elif any(str(tournament.tournament_id) == former_id for tournament in former):
            entrants = player_reads.entrants(db, int(former_id), request.caller)
            offered = tuple(player for player in entrants if player.organizer_id == organizer_id)
    entered = night.tournament.entrant_by_id
    return {
        **night_sheets.late_context(night),
        "door": door.door_summary(night.tournament),
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
        arenas = arena_reads.search_arenas(db, night.tournament.details["organizer_id"], words)
        machines = machine_reads.search_machines(db, words) if words else []
    in_lineup = {arena.arena_id for arena in night.tournament.lineup}
    return {
        "machine_words": words,
        "arenas_offered": [arena for arena in arenas if arena.arena_id not in in_lineup],
        "machines_found": machines,
    }


def arenas_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """Arenas, titles, and the organizer's banks inside and outside the tournament."""
    query = bank_reads.BankQuery(status="active")
    with request.site.store.read() as db:
        banks = bank_reads.banks_in_tournament(db, night.id)
        owned = bank_reads.owned_by(db, night.tournament.details["organizer_id"], query).rows
    used_ids = {bank.bank_id for bank in banks}
    offered = [(bank.bank_id, bank.name) for bank in owned if bank.bank_id not in used_ids]
    return {
        **machines_context(request, night),
        **night_sheets.broken_context(night),
        "banks": banks,
        "banks_offered": offered,
    }


def organizer_tournaments(db: Db, request: PageRequest, organizer_id: int) -> Sequence[Tournament]:
    query = listing.TournamentQuery(owner=organizer_id, limit=FORMER_MAX)
    return listing.tournaments_page(db, query, request.caller).rows
