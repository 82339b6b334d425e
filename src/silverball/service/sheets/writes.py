"""Store a list of players: in the book, and in a tournament, as one action."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import UnsetType
from sqlalchemy import insert, update

from silverball.kit.errors import Conflict, Invalid
from silverball.kit.http.endpoints import TOURNAMENT
from silverball.kit.values import convert, replace
from silverball.rules.model.tournament import Tournament
from silverball.service.core import commands, feed_events
from silverball.service.core.calls import Write
from silverball.service.roster.bodies import NewEntrants, NewLineupArenas
from silverball.service.sheets import reads, sources
from silverball.service.sheets.bodies import DecidedMachine, DecidedRow, MachinesToImport, PlayersToImport
from silverball.service.sheets.reads import ImportTarget
from silverball.service.sheets.sources import ListedMachine
from silverball.store import tables
from silverball.store.counts import quotas
from silverball.store.people import book, book_actions, person_numbers, rating_days
from silverball.store.revisions import revisions
from silverball.store.tournament import chain
from silverball_wire.imports import ImportRow, MachineRow, MachinesImport, PlayersImport
from silverball_wire.players import Player

# Lets people enter the tournament of the call: the door of another slice, which the route hands in.
AddEntrants = Callable[[Write[NewEntrants]], tuple[Player, ...]]
AddArenas = Callable[[Write[NewLineupArenas]], object]
UNDECIDED = "Decide this row first: {question}"


class ImportChanged(Conflict):
    """The rows would be matched with others by now."""

    sentence = (
        "What you looked at has changed since: somebody in the book or the tournament, or a row of the list."
        " Nothing was stored. Look at it again."
    )

    def __init__(self, preview: PlayersImport | MachinesImport) -> None:
        super().__init__()
        self.preview = preview
        self.more = {"preview": preview}


def import_players(call: Write[PlayersToImport], add_entrants: AddEntrants) -> PlayersImport:
    """Look at a list, or store decided rows. Raises Invalid, NotAllowed, NotFound and ImportChanged."""
    body, call = call.body, _in_tournament(call)
    if body.stores and not call.is_preparation:
        return _store(call, add_entrants)
    target = import_target(call)
    if not isinstance(body.rows, UnsetType):
        planned = reads.look_at_people(call.db, [row.person for row in body.rows], target)
        return _with_decisions(planned, body.rows)
    return reads.look_at_list(call.db, sources.read_list(body.source), target)


def import_machines(call: Write[MachinesToImport], add_arenas: AddArenas) -> MachinesImport:
    """Look at a list of machines, or store decided rows. Raises as `import_players` does."""
    body, call = call.body, _in_tournament(call)
    tournament = commands.load_tournament(call) if TOURNAMENT in call.ids else None
    target = import_target(call, tournament)
    lineup = [] if tournament is None else [arena.arena_id for arena in tournament.lineup]
    if isinstance(body.rows, UnsetType):
        source = replace(body.source, is_of_machines=True)
        return reads.look_at_machine_list(call.db, sources.read_list(source), target, lineup)
    listed = [ListedMachine(line=row.line, name=row.name or "", opdb_id=row.opdb_id) for row in body.rows]
    planned = reads.look_at_machines(call.db, listed, target, lineup)
    rows = [_decided_machine(row, given) for row, given in zip(planned.rows, body.rows, strict=True)]
    if not body.stores or call.is_preparation:
        return replace(planned, rows=tuple(rows))
    if planned.plan != body.plan:
        raise ImportChanged(replace(planned, rows=tuple(rows)))
    return _store_machines(call, rows, lineup, add_arenas)


def _decided_machine(row: MachineRow, given: DecidedMachine) -> MachineRow:
    if given.decision is None or (given.decision == "arena" and row.arena_id is None):
        return row
    arena_id = row.arena_id if given.decision == "arena" else None
    return replace(row, decision=given.decision, arena_id=arena_id)


def _store_machines(
    call: Write[MachinesToImport], rows: Sequence[MachineRow], lineup: Sequence[int], add_arenas: AddArenas
) -> MachinesImport:
    faults: dict[str, list[str]] = {}
    for place, row in enumerate(rows):
        if row.decision != "leaveOut" and row.fault is not None:
            faults[f"rows.{place}.name"] = [row.fault]
        elif row.decision is None:
            faults[f"rows.{place}.decision"] = [UNDECIDED.format(question=row.question)]
    if faults:
        raise Invalid(faults)
    target = import_target(call)
    stored = []
    for row in rows:
        arena_id = row.arena_id
        if row.decision == "new":
            values = {"name": row.name, "opdb_id": row.opdb_id, "status": "active", "labels": ()}
            arena_id = book.add(call.db, book.ARENA, target.organizer_id, values)
        stored.append(replace(row, arena_id=arena_id, question=None))
    ids = [row.arena_id for row in stored if row.arena_id is not None and row.arena_id not in lineup]
    if TOURNAMENT in call.ids and ids:
        arenas = [{"arenaId": arena_id} for arena_id in ids]
        add_arenas(call.with_body(convert({"arenas": arenas}, NewLineupArenas)))
    added = [row.arena_id for row in stored if row.decision == "new" and row.arena_id is not None]
    known = book_actions.digests(call.db, book.ARENA, added)
    parts = {"arenas": [{"arena_id": arena_id, "digest": known[arena_id]} for arena_id in added]}
    return MachinesImport(
        stored=True,
        plan=None,
        tournament_id=target.tournament_id,
        book_action_id=_record(call, target, book_actions.ARENAS_IMPORTED, parts),
        rows=tuple(stored),
        new_arenas=sum(row.decision == "new" for row in rows),
    )


def _record(call: Write[Any], target: ImportTarget, kind: str, parts: dict[str, Any]) -> int | None:
    """Store what undoes a list that filled the book alone; in a tournament, that is its journal."""
    if target.tournament_id is not None or not any(parts.values()):
        return None
    return book_actions.record(call.db, target.organizer_id, kind, parts, call.now)


def _in_tournament(call: Write[Any]) -> Write[Any]:
    """The call with the tournament that its body names, whose lock it takes."""
    tournament_id = call.body.tournament_id
    if isinstance(tournament_id, UnsetType):
        return call
    if TOURNAMENT not in call.ids and not call.is_preparation and call.body.stores:
        revisions.lock_tournaments(call.db, [tournament_id])
    return replace(call, ids={**call.ids, TOURNAMENT: tournament_id})


def import_target(call: Write[Any], tournament: Tournament | None = None) -> ImportTarget:
    """The book and the tournament that the call fills. Raises NotFound and NotAllowed."""
    if TOURNAMENT not in call.ids:
        return ImportTarget(organizer_id=call.user_id, players_max=call.settings.players_per_account)
    tournament = tournament or commands.load_tournament(call)
    return ImportTarget(
        organizer_id=tournament.details["organizer_id"],
        players_max=call.settings.players_per_account,
        tournament_id=call.ids[TOURNAMENT],
        present=frozenset(tournament.entrant_by_id),
    )


def _with_decisions(planned: PlayersImport, decided: Sequence[DecidedRow]) -> PlayersImport:
    """The look with what was decided, where it can still be so."""
    rows = tuple(_decided(row, given) or row for row, given in zip(planned.rows, decided, strict=True))
    return replace(planned, rows=rows, new_players=sum(row.decision == "new" for row in rows))


def _decided(row: ImportRow, given: DecidedRow) -> ImportRow | None:
    """The row as it was decided; None for a decision that is no choice of it."""
    if given.decision is None:
        return row
    # A number that somebody has is never given to another player.
    may_be_new = row.name is not None and (row.ifpa_id is None or row.decision == "new")
    if given.decision == "leaveOut" or (given.decision == "new" and may_be_new):
        return replace(row, decision=given.decision, player_id=None, same_as=None)
    wanted = (given.decision, given.player_id, given.same_as)
    offered = [(choice.decision, choice.player_id, choice.same_as) for choice in row.choices]
    if wanted not in [*offered, (row.decision, row.player_id, row.same_as)]:
        return None
    return replace(row, decision=given.decision, player_id=given.player_id, same_as=given.same_as)


def _store(call: Write[PlayersToImport], add_entrants: AddEntrants) -> PlayersImport:
    given = call.body.rows
    assert not isinstance(given, UnsetType)
    tournament = commands.load_tournament(call) if TOURNAMENT in call.ids else None
    target = import_target(call, tournament)
    person_numbers.lock_numbers(call.db, target.organizer_id)
    planned = reads.look_at_people(call.db, [row.person for row in given], target)
    if planned.plan != call.body.plan:
        raise ImportChanged(_with_decisions(planned, given))
    _refuse_open_rows(planned, given)
    rows = _with_decisions(planned, given).rows
    known = _store_numbers(call, rows)
    if tournament is None:
        new_ids = iter(
            _insert_players(call, target.organizer_id, [row for row in rows if row.decision == "new"])
        )
    else:
        new_ids = iter(_enter(call, rows, target.present, add_entrants))
    ids: dict[int, int] = {}
    for row in rows:
        if row.decision == "new":
            ids[row.row] = next(new_ids)
        elif row.decision == "player" and row.player_id is not None:
            ids[row.row] = row.player_id
    stored = tuple(
        replace(row, player_id=_person_of(row, rows, ids), question=None, choices=()) for row in rows
    )
    if known:
        feed_events.announce_players(call.transaction, list(known))
        rating_days.mark_players(call.db, list(known))
    added = [ids[row.row] for row in rows if row.decision == "new"]
    digests = book_actions.digests(call.db, book.PLAYER, added)
    parts = {
        "players": [{"player_id": player_id, "digest": digests[player_id]} for player_id in added],
        "numbers": [
            {"player_id": player_id, "digest": book_actions.digest(number)}
            for player_id, number in known.items()
        ],
    }
    return PlayersImport(
        stored=True,
        plan=None,
        tournament_id=target.tournament_id,
        book_action_id=_record(call, target, book_actions.PLAYERS_IMPORTED, parts),
        rows=stored,
        new_players=sum(row.decision == "new" for row in rows),
    )


def _person_of(row: ImportRow, rows: Sequence[ImportRow], ids: dict[int, int]) -> int | None:
    """The player that a row became; None for a row that was left out."""
    while row.decision == "same" and row.same_as is not None:
        # An earlier one, so this ends.
        row = rows[row.same_as - 1]
    return ids.get(row.row)


def _refuse_open_rows(planned: PlayersImport, given: Sequence[DecidedRow]) -> None:
    """Raise Invalid for rows that cannot be stored, and for questions without an answer."""
    faults: dict[str, list[str]] = {}
    for place, (row, decided) in enumerate(zip(planned.rows, given, strict=True)):
        if decided.decision == "leaveOut":
            continue
        if row.fault is not None:
            faults[f"rows.{place}.name"] = [row.fault]
        elif decided.decision is None and row.decision is None:
            faults[f"rows.{place}.decision"] = [UNDECIDED.format(question=row.question)]
        elif _decided(row, decided) is None:
            faults[f"rows.{place}.decision"] = ["This is no choice of the row. Look at the list again."]
    if faults:
        raise Invalid(faults)


def _store_numbers(call: Write[Any], rows: Sequence[ImportRow]) -> dict[int, int]:
    """Give players of the book the numbers that the list has for them; returns who has got which."""
    wanted = {
        row.player_id: row.ifpa_id
        for row in rows
        if row.decision == "player" and row.player_id is not None and row.ifpa_id is not None
    }
    known = person_numbers.numbers_of(call.db, wanted)
    player = tables.player.c
    for player_id, number in wanted.items():
        if player_id not in known:
            call.db.execute(update(tables.player).where(player.player_id == player_id).values(ifpa_id=number))
    return {player_id: number for player_id, number in sorted(wanted.items()) if player_id not in known}


def _insert_players(call: Write[Any], organizer_id: int, rows: Sequence[ImportRow]) -> list[int]:
    quotas.require_room_for_players(call.db, organizer_id, call.settings.players_per_account, len(rows))
    if not rows:
        return []
    player = tables.player
    values = [
        chain.with_name_digest(
            {
                "organizer_id": organizer_id,
                "name": row.name,
                "ifpa_id": row.ifpa_id,
                "status": "active",
                "labels": [],
            }
        )
        for row in rows
    ]
    inserted = insert(player).returning(player.c.player_id, sort_by_parameter_order=True)
    return list(call.db.execute(inserted, values).scalars())


def _enter(
    call: Write[Any], rows: Sequence[ImportRow], present: frozenset[int], add_entrants: AddEntrants
) -> list[int]:
    """Let the people enter the tournament; returns the ids of the new ones, in their order."""
    entrants: list[dict[str, Any]] = []
    entered = set(present)
    new_places = []
    for row in rows:
        seed = {} if row.seed is None else {"seed": row.seed}
        if row.decision == "new":
            number = {} if row.ifpa_id is None else {"ifpaId": row.ifpa_id}
            new_places.append(len(entrants))
            entrants.append({"name": row.name, **number, **seed})
        elif row.decision == "player" and row.player_id not in entered:
            entered.add(row.player_id or 0)
            entrants.append({"playerId": row.player_id, **seed})
    if not entrants:
        return []
    added = add_entrants(call.with_body(convert({"players": entrants}, NewEntrants)))
    return [added[place].player_id for place in new_places]
