"""Rounds drawn, changed, completed and deleted; ties, notes, rulings, the timer and calls."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from random import Random
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType
from sqlalchemy import Connection, insert

from silverball.kit.errors import Invalid, Sentence
from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import PreparationOutdated
from silverball.kit.http.fields import Id
from silverball.rules.commands import clocks, roster
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import single_player as single_player_commands
from silverball.rules.commands import tiebreaks as tiebreak_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.mechanics import results, rounds
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Tournament
from silverball.service.core import access, commands, loaded
from silverball.service.core.calls import Write
from silverball.service.core.commands import Decision, Draw, DryRun
from silverball.service.core.enact import JournalEntries
from silverball.service.games.reads import games
from silverball.service.games.reads.games import TournamentGamesQuery
from silverball.service.rounds import reads
from silverball.service.rounds.bodies import (
    RESUME,
    START_OVER,
    WAIT,
    ZERO,
    ExtraTime,
    MoreTime,
    NewNote,
    NewRound,
    RoundMinutes,
    RoundPatch,
    Ruling,
)
from silverball.service.standings.reads import standings
from silverball.service.tournaments.reads import series_facts
from silverball.service.venues import reads as venues_reads
from silverball.store.revisions.stamps import Revision
from silverball.store.tables import game_note
from silverball.store.tournament import forecasts, journal
from silverball_wire.games import Game
from silverball_wire.rounds import DrawnRound, GameNote, Round
from silverball_wire.standings import Standing

TOURNAMENT, ROUND = "tournament_id", "round_id"


def prepare_round(call: Write[NewRound]) -> Draw:
    """Read what the draw of the next round needs; returns the draw."""
    before = commands.load_snapshot(call)
    informed = series_facts.with_series_facts(call.db, commands.as_drawn(call, before.tournament))
    return lambda: DryRun(before.revision, call.now, _round_decision(call, before.tournament, informed))


def _round_decision(call: Write[NewRound], tournament: Tournament, informed: Tournament) -> Decision:
    draw = tournament_commands.next_draw_name(tournament)
    changes = tournament_commands.request_redraw(tournament, draw) if call.body.redraw else []
    current = apply_changes(tournament, changes)
    informed = series_facts.with_facts_of(informed, current)
    decision = commands.decide_by_draw(
        current, draw, lambda dice: tournament_commands.open_round(informed, dice, call.now)
    )
    return Decision([*changes, *decision.changes], decision.dice_seed, commands.draw_notes(informed))


def open_round(call: Write[NewRound]) -> DrawnRound:
    """Open the next round with its games; a dry run stores nothing."""
    tournament_id = call.ids[TOURNAMENT]
    if call.body.dry_run:
        dry_run: DryRun = call.preparation
        current = loaded.load_for_change(call.transaction, tournament_id)
        if current.revision != dry_run.revision:
            raise PreparationOutdated
        preview = _preview(current.tournament, dry_run)
        forecasts.count_preview(call.db, tournament_id, preview.draw)
        return preview.drawn
    newest = commands.commit_dry_run(call, _preview_notes(call)).newest_round
    assert newest is not None
    query = TournamentGamesQuery(round=str(newest.round_id))
    return DrawnRound(
        data=reads.find_round(call.db, tournament_id, newest.round_id),
        games=games.games_in_tournament(call.db, tournament_id, query),
    )


class RoundPreview(Struct, frozen=True):
    """A round that was drawn and not opened."""

    drawn: DrawnRound
    # The name of the draw, under which looks at it are counted.
    draw: str
    revision: Revision


def preview_round(
    call: Write[NewRound], read: Callable[[], AbstractContextManager[Connection]]
) -> RoundPreview:
    """The answer to a dry run, made by reading only: whoever sends it counts the look."""
    with read() as db:
        snapshot_call = call.within(db, None, call.now)
        current, draw = commands.load_snapshot(snapshot_call), prepare_round(snapshot_call)
    return _preview(current.tournament, draw())


def _preview(current: Tournament, dry_run: DryRun) -> RoundPreview:
    drawn = reads.drawn_round(apply_changes(current, dry_run.decision.changes))
    return RoundPreview(drawn, tournament_commands.next_draw_name(current), dry_run.revision)


def _preview_notes(call: Write[NewRound]) -> JournalEntries:
    """The journal entry that says how often the draw was looked at before; none when it never was."""
    tournament_id = call.ids[TOURNAMENT]
    current = loaded.load_for_change(call.transaction, tournament_id).tournament
    looks = forecasts.take_count(call.db, tournament_id, tournament_commands.next_draw_name(current))
    return [(journal.DRAW_PREVIEWED, {"times": looks})] if looks else ()


def change_round(call: Write[RoundPatch]) -> Round:
    """Change the arena and the target of a round; omitted fields stay."""
    round_id, body = call.ids[ROUND], call.body

    def rule(tournament: Tournament) -> Any:
        round_ = rounds.find_round(tournament, round_id)
        return single_player_commands.set_round(
            tournament,
            round_id,
            arena_id=round_.arena_id if isinstance(body.arena_id, UnsetType) else body.arena_id,
            score=round_.score if isinstance(body.score, UnsetType) else body.score,
            now=call.now,
        )

    commands.run_command(call, rule)
    return _current_round(call)


def complete_round(call: Write[Body]) -> Round:
    """Complete a round whose games all have results."""
    commands.run_command(
        call, lambda tournament: tournament_commands.complete_round(tournament, call.ids[ROUND], call.now)
    )
    return _current_round(call)


def delete_round(call: Write[Body]) -> Round:
    """Delete the newest round; returns its last state."""
    rounds.find_round(commands.load_tournament(call), call.ids[ROUND])
    deleted = _current_round(call)
    commands.run_command(
        call, lambda tournament: tournament_commands.delete_round(tournament, call.ids[ROUND])
    )
    return deleted


def _current_round(call: Write[Any]) -> Round:
    return reads.find_round(call.db, call.ids[TOURNAMENT], call.ids[ROUND])


TIEBREAKS_TOURNAMENT = "tournament_id"
PlayerIds = Annotated[tuple[Id, ...], Meta(min_length=1, max_length=1000)]


class TiebreakRequest(Body, frozen=True, kw_only=True):
    """A game of tied players, an order by hand or by lot, or the withdrawal of such an order."""

    player_ids: PlayerIds | UnsetType = UNSET
    """Ids of the tied players who play a tiebreak game."""
    order: PlayerIds | UnsetType = UNSET
    """Ids of the tied players in the order that the organizer decides, best first."""
    draw: PlayerIds | UnsetType = UNSET
    """Ids of the tied players whose order is drawn on purpose, in place of a game."""
    forget: PlayerIds | UnsetType = UNSET
    """Ids of tied players whose order by hand is withdrawn."""

    def __post_init__(self) -> None:
        fields = (self.player_ids, self.order, self.draw, self.forget)
        if sum(field is not UNSET for field in fields) != 1:
            sentence = "Send playerIds for a game, an order by hand, a draw, or whom to forget."
            raise Invalid({"playerIds": [sentence]})


def break_tie(call: Write[TiebreakRequest]) -> tuple[Game, ...] | tuple[Standing, ...]:
    """Break the tie; returns the tiebreak games (none where holes decide) or the new standings."""
    tournament_id, body = call.ids[TIEBREAKS_TOURNAMENT], call.body
    before = {game.game_id for game in commands.load_tournament(call).games}
    if not isinstance(body.player_ids, UnsetType):
        ids = body.player_ids
        after = commands.run_command(
            call, lambda tournament: tiebreak_commands.open_tiebreak(tournament, ids, call.now)
        )
        new_ids = [game.game_id for game in after.games if game.game_id not in before]
        return games.selected_games(call.db, tournament_id, new_ids)
    if not isinstance(body.order, UnsetType):
        order = body.order
        commands.run_command(call, lambda tournament: tiebreak_commands.set_manual_order(tournament, order))
    elif not isinstance(body.draw, UnsetType):
        drawn = body.draw
        commands.run_command(call, lambda tournament: _draw_order(tournament, drawn))
    elif not isinstance(body.forget, UnsetType):
        forgotten = body.forget
        commands.run_command(
            call, lambda tournament: tiebreak_commands.clear_manual_order(tournament, forgotten)
        )
    # The transaction's own state, which the commit leaves in memory with its ranking.
    return standings.standings_of(loaded.load_for_change(call.transaction, tournament_id))


def _draw_order(tournament: Tournament, player_ids: tuple[int, ...]) -> Decision:
    return commands.decide_by_draw(
        tournament,
        tiebreak_commands.next_draw_name(tournament),
        lambda dice: tiebreak_commands.draw_order(tournament, player_ids, dice),
    )


# Notes on games, and rulings on games whose machine is out of order; a ruling stays as a note.


RULINGS_TOURNAMENT, GAME = "tournament_id", "game_id"
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
        return _with_note(decided, game_id, body.kind, "")

    leaves_tournament = body.leaves == "tournament"
    commands.run_command(call, rule, is_allowed=access.may_manage if leaves_tournament else access.may_score)
    note_id = _store_note(call, body.kind, body.text, player_id)
    return reads.find_note(call.db, call.ids[RULINGS_TOURNAMENT], note_id)


def _consequence(call: Write[NewNote], tournament: Tournament, player_id: int | None) -> Decision:
    """The changes that follow from a zero or a disqualification; none from other notes."""
    game_id, body = call.ids[GAME], call.body
    if player_id is None or (body.kind != ZERO and body.leaves is UNSET):
        return Decision(())
    if body.leaves == "tournament":
        return commands.decide_by_draw(
            tournament, "roster", lambda dice: roster.disqualify(tournament, player_id, dice, call.now)
        )
    return commands.decide_by_draw(
        tournament,
        f"result of game {game_id}",
        lambda dice: roster.lose_game(tournament, game_id, player_id, dice, call.now),
    )


def rule_on_game(call: Write[Ruling]) -> Game:
    """Rule what becomes of a game whose machine is out of order; the ruling stays as a note."""
    game_id, ruling = call.ids[GAME], call.body.ruling
    decided: list[tuple[Tournament, Sequence[Change]]] = []

    def rule(tournament: Tournament) -> Decision:
        results.find_game(tournament, game_id)
        decision = _decide(call, tournament)
        decided[:] = [(tournament, decision.changes)]
        if not decision.changes:
            return decision
        return _with_note(decision, game_id, MALFUNCTION, ruling)

    commands.run_command(call, rule)
    (before, changes), *_ = decided
    if changes:
        _store_note(call, MALFUNCTION, _ruling_text(call, before, apply_changes(before, changes)), None)
    return games.find_game(call.db, call.ids[RULINGS_TOURNAMENT], game_id)


def _decide(call: Write[Ruling], tournament: Tournament) -> Decision:
    game_id, body = call.ids[GAME], call.body
    if body.ruling == WAIT:
        return Decision(tiebreak_commands.wait(tournament, game_id, call.now))
    if body.ruling == RESUME:
        return Decision(tiebreak_commands.resume(tournament, game_id, call.now))
    if body.ruling == START_OVER and isinstance(body.arena_id, int):
        # Nothing is drawn for a machine that was chosen.
        dice = tournament_commands.dice_for(tournament, "")[0]
        return Decision(tiebreak_commands.start_over(tournament, game_id, body.arena_id, dice, call.now))
    if body.ruling == START_OVER:
        arena_id = results.find_game(tournament, game_id).arena_id
        draw = f"arena of game {game_id} after {arena_id}"
        return commands.decide_by_draw(
            tournament,
            draw,
            lambda dice: tiebreak_commands.start_over(tournament, game_id, None, dice, call.now),
        )
    return commands.decide_by_draw(
        tournament, f"result of game {game_id}", lambda dice: _settle(call, tournament, dice)
    )


def _settle(call: Write[Ruling], tournament: Tournament, dice: Random) -> list[Change]:
    outcome = call.body.outcome(call.ids[GAME], call.actor_id)
    game_commands.find_open_game(tournament, outcome.game_id)
    return tournament_commands.record_result(tournament, outcome, dice, call.now)


def _with_note(decision: Decision, game_id: int, kind: str, ruling: str) -> Decision:
    """The decision with a note on the game, beside what its draw took from the room."""
    note = journal.GAME_NOTED, {"game": game_id, "kind": kind, "ruling": ruling}
    return Decision(decision.changes, decision.dice_seed, [*decision.notes, note])


def _store_note(call: Write[Any], kind: str, text: str, player_id: int | None) -> int:
    """Store what a note says beside its line of the journal, which was just appended; returns its id."""
    tournament_id = call.ids[RULINGS_TOURNAMENT]
    values = {
        "tournament_id": tournament_id,
        "game_id": call.ids[GAME],
        "action_id": journal.newest_game_note(call.db, tournament_id),
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
        for arena in venues_reads.selected_lineup_arenas(call.db, call.ids[RULINGS_TOURNAMENT], known)
    }
    first, last = (named.get(arena_id or 0, "the machine") for arena_id in arena_ids)
    return {
        WAIT: f"{first} is out of order: the game waits, and its clock stands still.",
        RESUME: f"The game on {first} goes on, and so does its clock.",
        START_OVER: f"{first} is out of order: the game starts over on {last}.",
    }.get(call.body.ruling, f"{first} is out of order: the game is settled by the order at that time.")


def set_round_timer(call: Write[RoundMinutes]) -> Tournament:
    """Set the minutes of every round, or switch the timer off."""
    return commands.run_command(
        call, lambda tournament: clocks.set_round_timer(tournament, call.body.minutes, call.now)
    )


def extend_round(call: Write[MoreTime]) -> Tournament:
    """Give the open round more time, or less."""
    return commands.run_command(
        call, lambda tournament: clocks.extend_round(tournament, call.body.minutes, call.now)
    )


def give_extra_time(call: Write[ExtraTime]) -> Tournament:
    """Give one game more time."""
    return commands.run_command(
        call,
        lambda tournament: clocks.give_extra_time(
            tournament, call.ids["game_id"], call.body.minutes, call.now
        ),
    )


def call_players(call: Write[Body]) -> Tournament:
    """Call the players of a game to their machine."""
    return commands.run_command(
        call,
        lambda tournament: clocks.call_players(tournament, call.ids["game_id"], call.now),
        is_allowed=access.may_score,
    )
