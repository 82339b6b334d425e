"""Playoffs: a new tournament of the best, seeded by place. Source: formats, section 4."""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from msgspec import UNSET, Struct

from silverball.kit.errors import Conflict, Invalid, Sentence
from silverball.kit.http.endpoints import PreparationOutdated
from silverball.kit.values import replace
from silverball.rules.commands import playoffs as playoff_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model import fields
from silverball.rules.model.changes import (
    ArenaAdded,
    Change,
    EntrantAdded,
    ScorekeeperAdded,
    TournamentEdited,
    tournament_changes,
)
from silverball.rules.model.settings_protocols import playoff_bands_of
from silverball.rules.model.tournament import Entrant, Tournament
from silverball.rules.ranking.standing import Standing
from silverball.rules.registry import FORMATS
from silverball.service.calls import Write
from silverball.service.core import commands, enact, loaded
from silverball.service.tournaments import configuration
from silverball.service.tournaments.bodies import NewPlayoffs
from silverball.service.tournaments.reads import belongings
from silverball.service.tournaments.writes import tournaments as writes
from silverball.store import account_quotas
from silverball.store.loaded import LoadedTournament
from silverball.store.stamps import Revision
from silverball.store.transaction import Transaction
from silverball_wire import times

NAME_CHARACTERS_MAX = 100


class PlayoffsBeforeStart(Conflict):
    sentence = "The tournament has not started, so no player has qualified yet."


class TiedAtCutoff(Conflict):
    sentence = (
        "Tied at the cutoff after place {place}: {players}. "
        "Play a tiebreak, put them in order by hand or draw, or name all qualifiers in players. "
        "Without a game the event counts 100 % at most."
    )


class TiedAtBye(Conflict):
    sentence = (
        "Tied across the bye line after seed {place}: {players}. Play a tiebreak, put them in order by hand, "
        "or draw. Without a game the event counts 100 % at most."
    )


class DrawnQualifiers(Struct, frozen=True):
    """The players of a playoff, best seed first, drawn from the standings of one revision."""

    revision: Revision
    player_ids: Sequence[int]
    title: str
    dice_seed: str


def prepare_playoffs(call: Write[NewPlayoffs]) -> Callable[[], DrawnQualifiers]:
    """Read the qualifying tournament; returns the ranking and the draw, which take long for many players."""
    before = commands.load_snapshot(call)
    if before.tournament.status == "planned":
        raise PlayoffsBeforeStart
    _require_room(call, before.tournament)
    return lambda: _draw_qualifiers(call.body, before)


def create_playoffs(call: Write[NewPlayoffs], dice: Random) -> Tournament:
    """Create a planned tournament for the best of the one in the path, linked in both directions.

    Takes the prepared draw, which raised Conflict when players are tied at the cutoff, which naming the
    players settles, or across the line of a bye. Raises PreparationOutdated when the tournament has changed.
    """
    before, drawn = commands.load_snapshot(call), call.preparation
    if before.revision != drawn.revision:
        raise PreparationOutdated
    qualifier = before.tournament
    _require_room(call, qualifier)
    planned = _planned_playoffs(call, qualifier, drawn.title, dice)
    context = commands.action_context(call)
    playoffs_tournament = enact.create_tournament(call.transaction, planned, context, dice)
    changes = _roster_changes(qualifier, drawn.player_ids)
    enact.enact(
        call.transaction, playoffs_tournament.tournament_id, changes, context, dice_seed=drawn.dice_seed
    )
    _link_tournaments(call.transaction, playoffs_tournament, qualifier.tournament_id, "qualifying", context)
    _link_tournaments(call.transaction, qualifier, playoffs_tournament.tournament_id, "playoff", context)
    return playoffs_tournament


def _require_room(call: Write[NewPlayoffs], qualifier: Tournament) -> None:
    organizer_id, limit = qualifier.details["organizer_id"], call.settings.tournaments_per_account
    account_quotas.require_room_for_tournament(call.db, organizer_id, limit)


def _draw_qualifiers(body: NewPlayoffs, before: LoadedTournament) -> DrawnQualifiers:
    qualifier = before.tournament
    rows, title = _qualifiers(body, qualifier)
    bye_lines = FORMATS[body.type].bye_lines(_playoff_settings(body), len(rows))
    _require_clear_line(rows, bye_lines, TiedAtBye)
    # Ties that decide neither are seeded by lot.
    draw, seed = tournament_commands.dice_for(qualifier, f"playoffs {len(qualifier.details['links'])}")
    return DrawnQualifiers(before.revision, playoff_commands.seed_players(rows, draw), title, seed)


def _qualifiers(body: NewPlayoffs, qualifier: Tournament) -> tuple[list[Standing], str]:
    """The standings of the players who advance, and the title of their tournament."""
    if (body.players is UNSET) == (body.band is UNSET):
        raise Invalid({"players": ["Send players or band: one of the two chooses the qualifiers."]})
    rows = playoff_commands.eligible_rows(
        tournament_commands.format_of(qualifier).rank(qualifier), qualifier.active_ids
    )
    if isinstance(body.players, tuple):
        return _named_qualifiers(rows, body.players), "playoffs"
    if body.players is UNSET:
        assert body.band is not UNSET
        first, last, title = _band_places(qualifier, body.band)
    else:
        first, last, title = 0, body.players, "playoffs"
    if last > len(rows):
        sentence = f"Only {len(rows)} active players are in the standings."
        raise Invalid({"players" if body.band is UNSET else "band": [sentence]})
    _require_clear_line(rows, (first, last), TiedAtCutoff)
    return rows[first:last], title


def _require_clear_line(
    rows: Sequence[Standing], lines: Sequence[int], refusal: type[TiedAtCutoff | TiedAtBye]
) -> None:
    """Refuse players who share a place across a line."""
    for line in lines:
        tied = playoff_commands.players_tied_across(rows, line)
        if tied:
            raise refusal(place=line, players=tied)


def _named_qualifiers(rows: Sequence[Standing], player_ids: Sequence[int]) -> list[Standing]:
    strangers = sorted(set(player_ids) - {row.player_id for row in rows})
    if strangers:
        raise Invalid({"players": [Sentence("Not active in the standings: {players}.", players=strangers)]})
    if len(set(player_ids)) != len(player_ids):
        raise Invalid({"players": ["Name every player once."]})
    return [row for row in rows if row.player_id in set(player_ids)]


def _band_places(qualifier: Tournament, index: int) -> tuple[int, int, str]:
    """The first place, the last place and the title of a band."""
    reached = 0
    for band in playoff_bands_of(qualifier.settings):
        if band.index == index:
            return reached, reached + band.value, band.text or "playoffs"
        reached += band.value
    raise Invalid({"band": [f"There is no band {index} in the playoffsCutoffs of this tournament."]})


def _planned_playoffs(
    call: Write[NewPlayoffs], qualifier: Tournament, title: str, dice: Random
) -> Tournament:
    settings = _playoff_settings(call.body)
    name = call.body.name
    if name is UNSET:
        name = f"{qualifier.details['name']}: {title}"[:NAME_CHARACTERS_MAX]
    before = writes.blank_details(qualifier.details["organizer_id"], call.now)
    details = {**before, **_inherited_details(qualifier), "name": name}
    details["start_local"] = times.local(call.now, details["timezone"])
    return writes.planned_tournament(call.body.type, settings, details, dice)


def _playoff_settings(body: NewPlayoffs) -> Any:
    settings_sent = {} if body.settings is UNSET else dict(body.settings)
    if "seeding" in FORMATS[body.type].settings.__struct_encode_fields__:
        settings_sent.setdefault("seeding", "manual")
    return configuration.build_settings(body.type, settings_sent, prefix="settings.")


def _inherited_details(qualifier: Tournament) -> Mapping[str, Any]:
    return {name: qualifier.details[name] for name in fields.DETAILS_INHERITED if name in qualifier.details}


def _roster_changes(qualifier: Tournament, player_ids: Sequence[int]) -> list[Change]:
    """Changes that add the players by seed, the active arenas, and the scorekeepers."""
    arenas = [arena for arena in qualifier.lineup if arena.is_active]
    changes: list[Change] = []
    for seed, player_id in enumerate(player_ids, start=1):
        qualified = qualifier.entrant_by_id[player_id]
        changes.append(
            EntrantAdded(
                Entrant(
                    player_id=player_id,
                    place=seed - 1,
                    seed_value=seed,
                    user_id=qualified.user_id,
                    labels=qualified.labels,
                    label_color=qualified.label_color,
                )
            )
        )
    changes += [
        ArenaAdded(replace(arena, place=place, is_blocked=False, is_queue_closed=False))
        for place, arena in enumerate(arenas)
    ]
    return [*changes, *(ScorekeeperAdded(scorekeeper) for scorekeeper in qualifier.scorekeepers)]


def _link_tournaments(
    transaction: Transaction, source: Tournament, target_id: int, link_type: str, context: enact.ActionContext
) -> None:
    db = transaction.connection
    tournament = loaded.load_tournament(db, source.tournament_id)
    new = {"linked_tournament_id": target_id, "link_type": link_type, "link_index": None}
    links = [*tournament.details["links"], *belongings.link_details(db, [new], tournament.tournament_id)]
    changes = tournament_changes(TournamentEdited, tournament, details={**tournament.details, "links": links})
    enact.enact(transaction, tournament.tournament_id, changes, context)
