"""What a form of the book can ask for: the same writes that the interface calls."""

from collections.abc import Callable, Mapping
from typing import Any

from silverball.kit.http.body import Body
from silverball.service.arenas import writes as arenas
from silverball.service.calls import Write
from silverball.service.locations import writes as locations
from silverball.service.players import writes as players
from silverball.service.series import writes as series
from silverball.store import book
from silverball.store.book import OwnedKind as Stored
from silverball.web.book import kinds
from silverball.web.book.kinds import BookSection
from silverball.web.console import form_bodies
from silverball.web.console.actions import FormAction
from silverball.web.forms import FormData

WriteFunction = Callable[[Write[Any]], int]


def _remover(require: Callable[[Write[Any]], int], stored: Stored) -> Callable[[Write[Any]], None]:
    return lambda call: book.remove(call.db, stored, require(call))


def _actions_for(
    kind: BookSection,
    stored: Stored,
    *,
    add: WriteFunction,
    change: WriteFunction,
    require: WriteFunction,
    new: type[Body],
    changed: type[Body],
) -> dict[str, FormAction]:
    """The actions of one section: add, change, remove."""
    to = f"/home/{kind.name}"
    return {
        f"{kind.name}-new": FormAction(
            write=add,
            body=new,
            build_body=kinds.body_builder(kind, is_new=True),
            redirect_to=lambda made: f"{to}/{made}?said=added",
        ),
        f"{kind.name}-change": FormAction(
            write=change,
            body=changed,
            build_body=kinds.body_builder(kind, is_new=False),
            id_fields=(kind.id_field,),
            redirect_to=lambda made: f"{to}/{made}?said=saved",
        ),
        f"{kind.name}-out": FormAction(
            write=_remover(require, stored),
            id_fields=(kind.id_field,),
            redirect_to=lambda _made: f"{to}?said=gone",
        ),
    }


def _claimant_body(form: FormData) -> Mapping[str, Any]:
    return form_bodies.number_fields(form, "userId")


def _reject_claim(call: Write[Any]) -> int:
    return players.give_up_claim(call, call.body.user_id)


_CLAIM_ACTIONS = {
    "claim-approve": FormAction(
        write=players.approve_claim,
        body=players.ClaimApproval,
        build_body=_claimant_body,
        id_fields=("player_id",),
        redirect_to=lambda _made: "/home/players?said=approved",
    ),
    "claim-out": FormAction(
        write=_reject_claim,
        body=players.ClaimApproval,
        build_body=_claimant_body,
        id_fields=("player_id",),
        redirect_to=lambda _made: "/home/players?said=refused",
    ),
    "merge": FormAction(
        write=players.merge_players,
        body=players.MergeTarget,
        build_body=form_bodies.numbers("playerId"),
        id_fields=("player_id",),
        redirect_to=lambda made: f"/home/players/{made}?said=merged",
    ),
}
# Everything that a form may name in its address: /home/do/{name}.
ACTIONS: Mapping[str, FormAction] = {
    **_actions_for(
        kinds.PLAYERS,
        book.PLAYER,
        add=players.add_player,
        change=players.change_player,
        require=players.require_removable,
        new=players.NewPlayer,
        changed=players.ChangedPlayer,
    ),
    **_actions_for(
        kinds.ARENAS,
        book.ARENA,
        add=arenas.add_arena,
        change=arenas.change_arena,
        require=arenas.require_removable,
        new=arenas.NewArena,
        changed=arenas.ChangedArena,
    ),
    **_actions_for(
        kinds.LOCATIONS,
        book.LOCATION,
        add=locations.add_location,
        change=locations.change_location,
        require=locations.require_removable,
        new=locations.NewLocation,
        changed=locations.ChangedLocation,
    ),
    **_actions_for(
        kinds.SERIES,
        book.SERIES,
        add=series.add_series,
        change=series.change_series,
        require=series.require_removable,
        new=series.NewSeries,
        changed=series.ChangedSeries,
    ),
    **_CLAIM_ACTIONS,
}
