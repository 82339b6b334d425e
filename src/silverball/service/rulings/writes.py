"""Notes on games, and rulings on games whose machine is out of order; a ruling stays as a note."""

from collections.abc import Sequence
from random import Random
from typing import Any

from msgspec import UNSET, UnsetType
from sqlalchemy import insert

from silverball.kit.errors import Invalid, Sentence
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import penalties, rulings
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.mechanics import results
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Tournament
from silverball.service import access
from silverball.service.arenas import reads as arenas
from silverball.service.calls import Write
from silverball.service.core import commands
from silverball.service.core.commands import Decision
from silverball.service.games.reads import games
from silverball.service.rulings import reads
from silverball.service.rulings.bodies import RESUME, START_OVER, WAIT, ZERO, NewNote, Ruling
from silverball.store import journal
from silverball.store.tables import game_note
from silverball_wire.games import Game
from silverball_wire.notes import GameNote

TOURNAMENT, GAME = "tournament_id", "game_id"
MALFUNCTION = "malfunction"


def add_note(call: Write[NewNote]) -> GameNote:
    """Write a note on a game, for directors and scorekeepers."""
    game_id, body = call.ids[GAME], call.body
    player_id = None if isinstance(body.player_id, UnsetType) else body.player_id

    def rule(tournament: Tournament) -> Decision:
        game = results.find_game(tournament, game_id)
        if player_id is not None and player_id not in game.player_ids:
            sentence = Sentence("{player} is not in {game}.", player=player_id, game=game_id)
            raise Invalid({"playerId": [sentence]})
        decided = _consequence(call, tournament, player_id)
        return Decision(decided.changes, decided.dice_seed, (_journal_note(game_id, body.kind, ""),))

    leaves_tournament = body.leaves == "tournament"
    commands.run_command(call, rule, is_allowed=access.may_manage if leaves_tournament else access.may_score)
    note_id = _store_note(call, body.kind, body.text, player_id)
    return reads.find_note(call.db, call.ids[TOURNAMENT], note_id)


def _consequence(call: Write[NewNote], tournament: Tournament, player_id: int | None) -> Decision:
    """The changes that follow from a zero or a disqualification; none from other notes."""
    game_id, body = call.ids[GAME], call.body
    if player_id is None or (body.kind != ZERO and body.leaves is UNSET):
        return Decision(())
    if body.leaves == "tournament":
        return commands.decide_by_draw(
            tournament, "roster", lambda dice: penalties.disqualify(tournament, player_id, dice, call.now)
        )
    return commands.decide_by_draw(
        tournament,
        f"result of game {game_id}",
        lambda dice: penalties.lose_game(tournament, game_id, player_id, dice, call.now),
    )


def rule_on_game(call: Write[Ruling]) -> Game:
    """Rule what becomes of a game whose machine is out of order; the ruling stays as a note."""
    game_id, ruling = call.ids[GAME], call.body.ruling
    decided: list[tuple[Tournament, Sequence[Change]]] = []

    def rule(tournament: Tournament) -> Decision:
        results.find_game(tournament, game_id)
        decision = _decide(call, tournament)
        decided[:] = [(tournament, decision.changes)]
        notes = (_journal_note(game_id, MALFUNCTION, ruling),) if decision.changes else ()
        return Decision(decision.changes, decision.dice_seed, notes)

    commands.run_command(call, rule)
    (before, changes), *_ = decided
    if changes:
        _store_note(call, MALFUNCTION, _ruling_text(call, before, apply_changes(before, changes)), None)
    return games.find_game(call.db, call.ids[TOURNAMENT], game_id)


def _decide(call: Write[Ruling], tournament: Tournament) -> Decision:
    game_id, body = call.ids[GAME], call.body
    if body.ruling == WAIT:
        return Decision(rulings.wait(tournament, game_id, call.now))
    if body.ruling == RESUME:
        return Decision(rulings.resume(tournament, game_id, call.now))
    if body.ruling == START_OVER and isinstance(body.arena_id, int):
        # Nothing is drawn for a machine that was chosen.
        dice = tournament_commands.dice_for(tournament, "")[0]
        return Decision(rulings.start_over(tournament, game_id, body.arena_id, dice, call.now))
    if body.ruling == START_OVER:
        arena_id = results.find_game(tournament, game_id).arena_id
        draw = f"arena of game {game_id} after {arena_id}"
        return commands.decide_by_draw(
            tournament, draw, lambda dice: rulings.start_over(tournament, game_id, None, dice, call.now)
        )
    return commands.decide_by_draw(
        tournament, f"result of game {game_id}", lambda dice: _settle(call, tournament, dice)
    )


def _settle(call: Write[Ruling], tournament: Tournament, dice: Random) -> list[Change]:
    outcome = call.body.outcome(call.ids[GAME], call.actor_id)
    game_commands.find_open_game(tournament, outcome.game_id)
    return tournament_commands.record_result(tournament, outcome, dice, call.now)


def _journal_note(game_id: int, kind: str, ruling: str) -> tuple[str, dict[str, Any]]:
    return journal.GAME_NOTED, {"game": game_id, "kind": kind, "ruling": ruling}


def _store_note(call: Write[Any], kind: str, text: str, player_id: int | None) -> int:
    """Store what a note says beside its line of the journal, which was just appended; returns its id."""
    end = call.transaction.loaded[call.ids[TOURNAMENT]].journal_end
    assert end is not None
    values = {
        "tournament_id": call.ids[TOURNAMENT],
        "game_id": call.ids[GAME],
        "action_id": end.action_id,
        "player_id": player_id,
        "kind": kind,
        "text": text,
    }
    return int(call.db.execute(insert(game_note).values(values).returning(game_note.c.note_id)).scalar_one())


def _ruling_text(call: Write[Ruling], before: Tournament, after: Tournament) -> str:
    """The ruling in words: `Godzilla is out of order: the game starts over on Iron Maiden.`"""
    game_id = call.ids[GAME]
    arena_ids = [results.find_game(each, game_id).arena_id for each in (before, after)]
    known = [arena_id for arena_id in arena_ids if arena_id is not None]
    named = {
        arena.arena_id: arena.name
        for arena in arenas.selected_lineup_arenas(call.db, call.ids[TOURNAMENT], known)
    }
    first, last = (named.get(arena_id or 0, "the machine") for arena_id in arena_ids)
    return {
        WAIT: f"{first} is out of order: the game waits, and its clock stands still.",
        RESUME: f"The game on {first} goes on, and so does its clock.",
        START_OVER: f"{first} is out of order: the game starts over on {last}.",
    }.get(call.body.ruling, f"{first} is out of order: the game is settled by the order at that time.")
