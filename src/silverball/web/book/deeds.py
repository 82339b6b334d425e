"""What a form of the book can ask for: the same writes that the interface calls."""

from collections.abc import Callable, Mapping
from typing import Any

from silverball.kit.http import Write
from silverball.service.arenas import writes as arenas
from silverball.service.locations import writes as locations
from silverball.service.players import writes as players
from silverball.service.series import writes as series
from silverball.store import book
from silverball.store.book import Kind as Stored
from silverball.web.book import kinds
from silverball.web.book.kinds import Kind
from silverball.web.console import asked
from silverball.web.console.deeds import Deed
from silverball.web.forms import Form


def _removed(require: Callable[[Write[Any]], int], stored: Stored) -> Callable[[Write[Any]], None]:
    return lambda call: book.remove(call.db, stored, require(call))


def _deeds_of(kind: Kind, slice_: Any, stored: Stored, new: Any, changed: Any) -> dict[str, Deed]:
    """New, different, gone."""
    to = f"/home/{kind.name}"
    return {
        f"{kind.name}-new": Deed(
            write=slice_.add,
            body=new,
            said=kinds.said(kind, is_new=True),
            to=lambda made: f"{to}/{made}?said=added",
        ),
        f"{kind.name}-change": Deed(
            write=slice_.change,
            body=changed,
            said=kinds.said(kind, is_new=False),
            ids=(kind.key,),
            to=lambda made: f"{to}/{made}?said=saved",
        ),
        f"{kind.name}-out": Deed(
            write=_removed(slice_.require_removable, stored),
            ids=(kind.key,),
            to=lambda _made: f"{to}?said=gone",
        ),
    }


def _claimant(form: Form) -> Mapping[str, Any]:
    return asked.whole(form, "userId")


def _turn_down(call: Write[Any]) -> int:
    return players.give_up_claim(call, call.body.user_id)


_CLAIMS = {
    "claim-approve": Deed(
        write=players.approve_claim,
        body=players.ApprovedClaim,
        said=_claimant,
        ids=("player_id",),
        to=lambda _made: "/home/players?said=approved",
    ),
    "claim-out": Deed(
        write=_turn_down,
        body=players.ApprovedClaim,
        said=_claimant,
        ids=("player_id",),
        to=lambda _made: "/home/players?said=refused",
    ),
    "merge": Deed(
        write=players.merge,
        body=players.Merged,
        said=asked.numbers("playerId"),
        ids=("player_id",),
        to=lambda made: f"/home/players/{made}?said=merged",
    ),
}
# Everything that a form may name in its address: /home/do/{name}.
DEEDS: Mapping[str, Deed] = {
    **_deeds_of(kinds.PLAYERS, players, book.PLAYER, players.NewPlayer, players.ChangedPlayer),
    **_deeds_of(kinds.ARENAS, arenas, book.ARENA, arenas.NewArena, arenas.ChangedArena),
    **_deeds_of(kinds.LOCATIONS, locations, book.LOCATION, locations.NewLocation, locations.ChangedLocation),
    **_deeds_of(kinds.SERIES, series, book.SERIES, series.NewSeries, series.ChangedSeries),
    **_CLAIMS,
}
