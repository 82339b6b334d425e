"""Actions of the book's forms: the writes that the interface calls, too."""

from collections.abc import Callable, Mapping
from typing import Any

from silverball.kit.http.body import Body
from silverball.service.arenas import writes as arenas
from silverball.service.calls import Write
from silverball.service.locations import writes as locations
from silverball.service.players import writes as players
from silverball.service.series import writes as series
from silverball.store import book
from silverball.store.book import OwnedKind
from silverball.web import form_values
from silverball.web.book import sections
from silverball.web.book.sections import BookSection
from silverball.web.form_actions import FormAction

WriteFunction = Callable[[Write[Any]], int]


def _section_actions(
    section: BookSection,
    kind: OwnedKind,
    *,
    add: WriteFunction,
    change: WriteFunction,
    require_removable: WriteFunction,
    new: type[Body],
    changed: type[Body],
) -> dict[str, FormAction]:
    """The actions of one section: add, change, remove."""
    path = f"/home/{section.name}"

    def remove(call: Write[Any]) -> None:
        book.remove(call.db, kind, require_removable(call))

    return {
        f"{section.name}-new": FormAction(
            write=add,
            body=new,
            build_body=sections.body_builder(section, is_new=True),
            redirect_to=lambda item_id: f"{path}/{item_id}?said=added",
        ),
        f"{section.name}-change": FormAction(
            write=change,
            body=changed,
            build_body=sections.body_builder(section, is_new=False),
            id_fields=(section.id_field,),
            redirect_to=lambda item_id: f"{path}/{item_id}?said=saved",
        ),
        f"{section.name}-out": FormAction(
            write=remove,
            id_fields=(section.id_field,),
            redirect_to=lambda _value: f"{path}?said=gone",
        ),
    }


def _reject_claim(call: Write[Any]) -> int:
    return players.give_up_claim(call, call.body.user_id)


_CLAIM_ACTIONS = {
    "claim-approve": FormAction(
        write=players.approve_claim,
        body=players.ClaimApproval,
        build_body=form_values.numbers("userId"),
        id_fields=("player_id",),
        redirect_to=lambda _value: "/home/players?said=approved",
    ),
    "claim-out": FormAction(
        write=_reject_claim,
        body=players.ClaimApproval,
        build_body=form_values.numbers("userId"),
        id_fields=("player_id",),
        redirect_to=lambda _value: "/home/players?said=refused",
    ),
    "merge": FormAction(
        write=players.merge_players,
        body=players.MergeTarget,
        build_body=form_values.numbers("playerId"),
        id_fields=("player_id",),
        redirect_to=lambda player_id: f"/home/players/{player_id}?said=merged",
    ),
}
# The forms of /home/do/{action}.
ACTIONS: Mapping[str, FormAction] = {
    **_section_actions(
        sections.PLAYERS,
        book.PLAYER,
        add=players.add_player,
        change=players.change_player,
        require_removable=players.require_removable,
        new=players.NewPlayer,
        changed=players.ChangedPlayer,
    ),
    **_section_actions(
        sections.ARENAS,
        book.ARENA,
        add=arenas.add_arena,
        change=arenas.change_arena,
        require_removable=arenas.require_removable,
        new=arenas.NewArena,
        changed=arenas.ChangedArena,
    ),
    **_section_actions(
        sections.LOCATIONS,
        book.LOCATION,
        add=locations.add_location,
        change=locations.change_location,
        require_removable=locations.require_removable,
        new=locations.NewLocation,
        changed=locations.ChangedLocation,
    ),
    **_section_actions(
        sections.SERIES,
        book.SERIES,
        add=series.add_series,
        change=series.change_series,
        require_removable=series.require_removable,
        new=series.NewSeries,
        changed=series.ChangedSeries,
    ),
    **_CLAIM_ACTIONS,
}
