"""Joining, leaving and moving in queues. Rules: rules/singleplay.py and rules/frenzyplay.py."""

from collections.abc import Sequence

from silverball.kit.body import Body
from silverball.kit.errors import Invalid
from silverball.kit.fields import Id
from silverball.kit.http import Write
from silverball.rules import frenzyplay, singleplay
from silverball.rules.changes import Change
from silverball.rules.tournament import Tournament
from silverball.service import access, acting
from silverball.service.acting import Made

FRENZY = "frenzy"


class NewSpot(Body, frozen=True, kw_only=True):
    """Who is to wait, and for what arena; the queue of a frenzy is for any."""

    player_id: Id
    arena_id: Id | None = None


def join(call: Write[NewSpot]) -> int:
    """A player at the end of a queue; returns the id of the spot."""
    body = call.body

    def rule(tournament: Tournament) -> Made | Sequence[Change]:
        if tournament.type == FRENZY:
            draw = f"queue of player {body.player_id}"
            return acting.drawn(
                tournament,
                draw,
                lambda dice: frenzyplay.join_queue(tournament, body.player_id, dice, call.now),
            )
        if body.arena_id is None:
            raise Invalid({"arenaId": ["The arena id field is required."]})
        return singleplay.join_queue(tournament, body.player_id, body.arena_id, call.now)

    after = acting.act(call, rule, may=access.may_score)
    # What is new has the highest id.
    return max(one.queue_id for one in after.queue if one.player_id == body.player_id)


def leave(call: Write[Body]) -> None:
    """A spot given up."""
    queue_id = call.ids["queue_id"]

    def rule(tournament: Tournament) -> Sequence[Change]:
        if tournament.type == FRENZY:
            return frenzyplay.take_out(tournament, queue_id)
        return singleplay.leave_queue(tournament, queue_id)

    acting.act(call, rule, may=access.may_score)


def move(call: Write[Body]) -> int:
    """Who does not come goes behind the next one, in a frenzy to the end; returns the id of the spot."""
    queue_id = call.ids["queue_id"]

    def rule(tournament: Tournament) -> Sequence[Change]:
        if tournament.type == FRENZY:
            return frenzyplay.send_to_end(tournament, queue_id)
        return singleplay.move_in_queue(tournament, queue_id)

    acting.act(call, rule, may=access.may_score)
    return queue_id


def start(call: Write[Body]) -> int:
    """Who is up begins to play; returns the id of the single player game."""
    queue_id = call.ids["queue_id"]
    after = acting.act(
        call, lambda one: singleplay.start_from_queue(one, queue_id, call.now), may=access.may_score
    )
    player_id = next(one.player_id for one in after.queue if one.queue_id == queue_id)
    begun = [
        one.single_player_game_id
        for one in after.single_player_games
        if one.player_id == player_id and one.status == "started"
    ]
    return max(begun)
