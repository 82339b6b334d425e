"""Bodies of requests about the players and arenas of a tournament."""

from decimal import Decimal
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Color, Id, Labels, Name

AT_ONCE_MAX = 1000
PAIRS_APART_MAX = 200
Seed = Annotated[int, Meta(ge=0, le=100_000)]
Strikes = Annotated[int, Meta(ge=0, le=100)]
Status = Literal["active", "inactive"]
AwayRounds = Annotated[int, Meta(ge=0, le=20)]
OpenGame = Literal["keep", "last", "fewer"]


def sent_fields(body: Body, names: dict[str, str]) -> dict[str, Any]:
    """The fields in the body, under the names that the rules use."""
    values = {field: getattr(body, name) for name, field in names.items()}
    return {field: value for field, value in values.items() if value is not UNSET}


class NewEntrant(Body, frozen=True, kw_only=True):
    """A player of the organizer's book by id, or a new player by name."""

    player_id: Id | UnsetType = UNSET
    """Id of a player of the book; or send `name` for a new one."""
    name: Name | UnsetType = UNSET
    """Name of a new player, who is added to the book; with `ifpaId`, the name beside the number."""
    ifpa_id: Id | UnsetType | None = UNSET
    """Federation number; a number that the book has is that player, and needs no name where the book or
    the federation's file has it. Null when it is not known."""
    number_wins: bool = False
    """The player who has the number is meant, whatever the name."""
    strikes: Strikes | UnsetType = UNSET
    """Strikes that a late player of a knockout begins with."""
    points_adjustment: Decimal | UnsetType = UNSET
    """Points that a late player begins with; a pace match play accepts nobody below its bar."""
    seed: Seed | UnsetType | None = UNSET
    labels: Labels | UnsetType = UNSET
    label_color: Color | UnsetType | None = UNSET
    game_id: Id | UnsetType = UNSET
    """Id of a game of the open round that a late player joins at once: a group with room, or a bye."""


class NewEntrants(NewEntrant, frozen=True, kw_only=True):
    """One player, or several in `players`."""

    players: Annotated[tuple[NewEntrant, ...], Meta(min_length=1, max_length=AT_ONCE_MAX)] | UnsetType = UNSET
    """Several players, in place of one."""

    @property
    def new_entrants(self) -> tuple[NewEntrant, ...]:
        return (self,) if isinstance(self.players, UnsetType) else self.players

    def __post_init__(self) -> None:
        fields = (getattr(self, name) for name in NewEntrant.__struct_fields__)
        is_one = any(value is not UNSET and value is not False for value in fields)
        if is_one and self.players is not UNSET:
            raise Invalid({"players": ["Send one player or a list of players, not both."]})
        for entrant in self.new_entrants:
            is_known = entrant.player_id is not UNSET
            is_named = entrant.name is not UNSET or (not is_known and isinstance(entrant.ifpa_id, int))
            if is_known == is_named:
                raise Invalid({"playerId": ["Name each player by playerId, by name or by ifpaId."]})
            if entrant.strikes is not UNSET and entrant.points_adjustment is not UNSET:
                raise Invalid({"pointsAdjustment": ["Send strikes or pointsAdjustment, not both."]})
            if entrant.player_id is not UNSET and entrant.ifpa_id is not UNSET:
                raise Invalid({"ifpaId": ["The playerId names the player already. Leave the ifpaId out."]})


class GivingUp(Body, frozen=True, kw_only=True):
    """The games that a player gives up."""

    what: Literal["games", "leaves", "did-not-come"] = "games"
    """`games` gives up the open games. `leaves` also gives up each later one. `did-not-come` takes the player
    out as if they had never entered, where nothing was played and the schedule allows it; else they leave."""


class EntrantPatch(Body, frozen=True, kw_only=True):
    """Changes to a player of the tournament."""

    seed: Seed | UnsetType | None = UNSET
    labels: Labels | UnsetType = UNSET
    label_color: Color | UnsetType | None = UNSET
    status: Status | UnsetType = UNSET
    """`inactive` drops the player, `active` takes them back."""
    points_adjustment: Decimal | UnsetType = UNSET
    """Points to give or, below 0, to take; strikes in a knockout."""
    score_adjustment: Decimal | UnsetType = UNSET
    away_rounds: AwayRounds | UnsetType = UNSET
    """Rounds that the player sits out, and is drawn again after; 0 takes them back now."""
    open_game: OpenGame | UnsetType = UNSET
    """With `awayRounds` or status `inactive`, what becomes of the player's open games: `last` gives them
    the last place, `fewer` lets the others go on without them (and counts the open round as the first one
    away), `keep` (the default) leaves them in."""

    def __post_init__(self) -> None:
        if self.away_rounds is not UNSET and self.status is not UNSET:
            raise Invalid({"awayRounds": ["Send awayRounds or status, not both."]})
        is_leaving = self.status == "inactive" or (self.away_rounds is not UNSET and self.away_rounds != 0)
        if self.open_game is not UNSET and not is_leaving:
            raise Invalid({"openGame": ["Send openGame with awayRounds, or with status inactive."]})

    @property
    def changed_fields(self) -> dict[str, Any]:
        """The changes in the form that `rules/commands/roster.py` takes."""
        names = {"seed": "seed", "labels": "labels", "label_color": "label_color"}
        adjusted = {"points_adjustment": "points", "score_adjustment": "score"}
        leaving = {"away_rounds": "away_rounds", "open_game": "open_game"}
        fields = sent_fields(self, {**names, **adjusted, **leaving})
        return fields if self.status is UNSET else {**fields, "is_active": self.status == "active"}


class ListedEntrantPatch(EntrantPatch, frozen=True, kw_only=True):
    """Changes to one player of a list."""

    player_id: Id


class EntrantsPatch(Body, frozen=True, kw_only=True):
    """Changes to several players."""

    players: Annotated[tuple[ListedEntrantPatch, ...], Meta(min_length=1, max_length=AT_ONCE_MAX)]
    """The changes, one for each player."""


ARENA_NAMES = {
    "labels": "labels",
    "label_color": "label_color",
    "preferred": "is_preferred",
    "amazing_race_seed": "amazing_race_seed",
    "best_game_blocked": "is_blocked",
    "best_game_queue_closed": "is_queue_closed",
}


class LineupArenaFields(Body, frozen=True, kw_only=True):
    """The properties of an arena in one tournament."""

    labels: Labels | UnsetType = UNSET
    label_color: Color | UnsetType | None = UNSET
    status: Status | UnsetType = UNSET
    """`inactive` takes the arena out of the draws."""
    preferred: bool | UnsetType = UNSET
    amazing_race_seed: Seed | UnsetType | None = UNSET
    best_game_blocked: bool | UnsetType = UNSET
    best_game_queue_closed: bool | UnsetType = UNSET

    @property
    def lineup_fields(self) -> dict[str, Any]:
        """The properties in the body, as fields of LineupArena."""
        fields = sent_fields(self, ARENA_NAMES)
        return fields if self.status is UNSET else {**fields, "is_active": self.status == "active"}


class NewLineupArena(LineupArenaFields, frozen=True, kw_only=True):
    """An arena of the organizer's book."""

    arena_id: Id


class NewLineupArenas(LineupArenaFields, frozen=True, kw_only=True):
    """One arena, or several in `arenas`."""

    arena_id: Id | UnsetType = UNSET
    """Id of the arena of the book to add; or send `arenas`."""
    arenas: Annotated[tuple[NewLineupArena, ...], Meta(min_length=1, max_length=AT_ONCE_MAX)] | UnsetType = (
        UNSET
    )
    """Several arenas, in place of one."""

    @property
    def new_arenas(self) -> list[tuple[int, dict[str, Any]]]:
        """Arena id and fields of each arena."""
        if not isinstance(self.arenas, UnsetType):
            return [(arena.arena_id, arena.lineup_fields) for arena in self.arenas]
        assert not isinstance(self.arena_id, UnsetType)
        return [(self.arena_id, self.lineup_fields)]

    def __post_init__(self) -> None:
        if (self.arena_id is UNSET) == (self.arenas is UNSET):
            raise Invalid({"arenaId": ["Send one arenaId, or a list of arenas."]})


class LineupArenaPatch(LineupArenaFields, frozen=True, kw_only=True):
    """Changes to an arena of the tournament."""

    redraw: bool = False
    """With status `inactive`: move the open games on this arena to other arenas."""
    dissolve_queue: bool = False
    """With status `inactive`: the players in its queue lose their places and read why; otherwise they
    wait."""
    remove_scores: bool = False
    """With status `inactive`, in a best game: its games are deleted and their entries free again, and its
    queue is dissolved; otherwise its scores count on."""

    def __post_init__(self) -> None:
        if self.remove_scores and self.status != "inactive":
            raise Invalid({"removeScores": ["Scores leave only with an arena that is set inactive."]})
        if self.redraw and self.status != "inactive":
            raise Invalid({"redraw": ["Games move only from an arena that is set inactive."]})
        if self.dissolve_queue and self.status != "inactive":
            raise Invalid(
                {"dissolveQueue": ["Only the queue of an arena that is set inactive is dissolved."]}
            )


class ChangedPairsApart(Body, frozen=True, kw_only=True):
    """The pairs that draws keep apart, in place of those before."""

    pairs: Annotated[tuple[tuple[Id, Id], ...], Meta(max_length=PAIRS_APART_MAX)]
    """Pairs of ids of players of the tournament; none lets everybody meet."""
