"""Playoffs: a new tournament of the best, seeded by their places. Source: formats, section 4."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from msgspec import UNSET
from sqlalchemy import Connection, select

from silverball.kit.errors import Conflict, Invalid
from silverball.rules.commands import playoffs as playoff_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.changes import (
    ArenaAdded,
    Change,
    EntrantAdded,
    ScorekeeperAdded,
    TournamentEdited,
    tournament_changes,
)
from silverball.rules.model.tournament import Entrant, Tournament
from silverball.rules.ranking.standing import Standing
from silverball.rules.registry import FORMATS
from silverball.service.calls import Write
from silverball.service.core import commands, enact
from silverball.service.tournaments import configuration
from silverball.service.tournaments.bodies import NewPlayoffs
from silverball.service.tournaments.reads import belongings
from silverball.service.tournaments.writes import tournaments as writes
from silverball.store import tables
from silverball.store.transaction import Transaction
from silverball.wire import times

NAME_CHARACTERS_MAX = 100
# What a playoff has from the tournament that it follows.
INHERITED_DETAILS = ("location_id", "timezone", "test")


def create_playoffs(call: Write[NewPlayoffs], dice: Random) -> Tournament:
    """A planned tournament for the best of the one in the path, linked with it both ways.

    Raises Conflict when players are tied across the line; naming the players settles it.
    """
    qualifier = commands.load_tournament(call)
    if qualifier.status == "planned":
        raise Conflict("The tournament has not started: nobody has qualified yet.")
    rows, title = _qualifiers(call, qualifier)
    draw, seed = tournament_commands.dice_for(qualifier, f"playoffs {len(qualifier.details['links'])}")
    player_ids = playoff_commands.seed_players(rows, draw)
    new = _planned_playoffs(call, qualifier, title, dice)
    who = commands.action_context(call)
    made = enact.create_tournament(call.transaction, new, who, dice)
    changes = _roster_changes(qualifier, player_ids)
    enact.enact(call.transaction, made.tournament_id, changes, who, dice_seed=seed)
    _link_tournaments(call.transaction, made, qualifier.tournament_id, "qualifying", who)
    _link_tournaments(call.transaction, qualifier, made.tournament_id, "playoff", who)
    return made


def _qualifiers(call: Write[NewPlayoffs], qualifier: Tournament) -> tuple[list[Standing], str]:
    """The rows of those who go through, and what their tournament is called."""
    body = call.body
    if (body.players is UNSET) == (body.band is UNSET):
        raise Invalid({"players": ["Send players or band: one of the two says who goes through."]})
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
        sentence = f"There are only {len(rows)} players in the standings who have not left."
        raise Invalid({"players" if body.band is UNSET else "band": [sentence]})
    for line in (first, last):
        _refuse_tie(call.db, playoff_commands.players_tied_across(rows, line), line)
    return rows[first:last], title


def _named_qualifiers(rows: Sequence[Standing], player_ids: Sequence[int]) -> list[Standing]:
    strangers = sorted(set(player_ids) - {one.player_id for one in rows})
    if strangers or len(set(player_ids)) != len(player_ids):
        named = ", ".join(str(player_id) for player_id in strangers)
        sentence = f"Not in the standings, or gone: {named}." if strangers else "Name every player once."
        raise Invalid({"players": [sentence]})
    return [one for one in rows if one.player_id in set(player_ids)]


def _band_places(qualifier: Tournament, index: int) -> tuple[int, int, str]:
    """The places of a band, from first to last, and its title."""
    reached = 0
    for band in getattr(qualifier.settings, "playoffs_cutoffs", ()):
        if band.index == index:
            return reached, reached + band.value, band.text or "playoffs"
        reached += band.value
    raise Invalid({"band": [f"There is no band {index} in the playoffsCutoffs of this tournament."]})


def _refuse_tie(db: Connection, tied: Sequence[int], line: int) -> None:
    if tied:
        player = tables.player.c
        found = select(player.player_id, player.name).where(player.player_id.in_(tied))
        rows = db.execute(found.order_by(player.player_id))
        named = ", ".join(f"{row.name} ({row.player_id})" for row in rows)
        raise Conflict(
            f"Tied across the line after place {line}: {named}. "
            "Play a tiebreak, put them in order by hand, or name all players who go through in players."
        )


def _planned_playoffs(
    call: Write[NewPlayoffs], qualifier: Tournament, title: str, dice: Random
) -> Tournament:
    given = {} if call.body.settings is UNSET else dict(call.body.settings)
    form = FORMATS[call.body.type]
    if "seeding" in form.settings.__struct_encode_fields__:
        given.setdefault("seeding", "manual")
    settings = configuration.build_settings(call.body.type, given, prefix="settings.")
    name = call.body.name
    if name is UNSET:
        name = f"{qualifier.details['name']}: {title}"[:NAME_CHARACTERS_MAX]
    before = writes.blank_details(qualifier.details["organizer_id"], call.now)
    details = {**before, **_inherited_details(qualifier), "name": name}
    details["start_local"] = times.local(call.now, details["timezone"])
    return writes.planned_tournament(call.body.type, settings, details, dice)


def _inherited_details(qualifier: Tournament) -> Mapping[str, Any]:
    return {name: qualifier.details[name] for name in INHERITED_DETAILS}


def _roster_changes(qualifier: Tournament, player_ids: Sequence[int]) -> list[Change]:
    """The players by seed, the arenas that work, and who keeps scores."""
    arenas = [one for one in qualifier.lineup if one.is_active]
    changes: list[Change] = []
    for seed, player_id in enumerate(player_ids, start=1):
        was = qualifier.entrant_by_id[player_id]
        changes.append(
            EntrantAdded(
                Entrant(
                    player_id=player_id,
                    place=seed - 1,
                    seed_value=seed,
                    user_id=was.user_id,
                    labels=was.labels,
                    label_color=was.label_color,
                )
            )
        )
    changes += [
        ArenaAdded(replace(one, place=place, is_blocked=False, is_queue_closed=False))
        for place, one in enumerate(arenas)
    ]
    return [*changes, *(ScorekeeperAdded(one) for one in qualifier.scorekeepers)]


def _link_tournaments(
    transaction: Transaction, of: Tournament, to: int, link_type: str, who: enact.ActionContext
) -> None:
    db = transaction.connection
    tournament = enact.load_tournament(db, of.tournament_id)
    new = {"linked_tournament_id": to, "link_type": link_type, "link_index": None}
    links = [*tournament.details["links"], *belongings.link_details(db, [new], tournament.tournament_id)]
    changes = tournament_changes(TournamentEdited, tournament, details={**tournament.details, "links": links})
    enact.enact(transaction, tournament.tournament_id, changes, who)
