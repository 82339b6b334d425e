"""From the fields of a form to the body that the interface takes. Nothing is judged here.

What was left empty is left out; what is no number stays a text, so that the interface refuses it by name.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

from msgspec import Meta

from silverball.kit.body import Body
from silverball.kit.errors import Invalid
from silverball.kit.fields import Id, Name
from silverball.service.arenas.writes import OpdbId
from silverball.service.roster.bodies import AT_ONCE_MAX, Strikes
from silverball.web import forms
from silverball.web.console import setup
from silverball.web.forms import Form

MINUTE_SECONDS = 60
# Before the name of a field: what it held when the form was shown.
WAS = "was-"
MACHINES_MAX = 100


class Pasted(Body, frozen=True, kw_only=True):
    """Players by name, one a line, and players who were picked from the book."""

    names: Annotated[tuple[Name, ...], Meta(max_length=AT_ONCE_MAX)] = ()
    player_ids: Annotated[tuple[Id, ...], Meta(max_length=AT_ONCE_MAX)] = ()
    # For who comes late to a knockout.
    strikes: Strikes | None = None

    def __post_init__(self) -> None:
        if not self.names and not self.player_ids:
            raise Invalid({"names": ["Enter a name on each line, or pick players from your book."]})


class NewMachines(Body, frozen=True, kw_only=True):
    """New arenas for the book and the tournament: by name, and by id of the machine database."""

    names: Annotated[tuple[Name, ...], Meta(max_length=MACHINES_MAX)] = ()
    opdb_ids: Annotated[tuple[OpdbId, ...], Meta(max_length=MACHINES_MAX)] = ()

    def __post_init__(self) -> None:
        if not self.names and not self.opdb_ids:
            raise Invalid({"names": ["Enter a name on each line, or tick machines that were found."]})


def texts(form: Form, *names: str) -> dict[str, str]:
    """The fields that hold text and are not empty."""
    return {name: form.one(name).strip() for name in names if form.one(name).strip()}


def whole(form: Form, *names: str) -> dict[str, int | str]:
    """The fields that hold numbers and are not empty."""
    return {name: setup.number(text) for name, text in texts(form, *names).items()}


def numbers(*names: str) -> Callable[[Form], Mapping[str, Any]]:
    """A body of numbers, under the names of the fields."""
    return lambda form: whole(form, *names)


def flags(*names: str) -> Callable[[Form], Mapping[str, Any]]:
    """A body of boxes that are ticked or not."""
    return lambda form: {name: bool(form.one(name)) for name in names}


def numbered(given: Iterable[str]) -> list[int | str]:
    return [setup.number(text) for text in given]


def by_player(form: Form, prefix: str) -> dict[str, int | str]:
    """`score-12=500` as {"12": 500}."""
    return {player_id: setup.number(text) for player_id, text in form.starting(prefix).items()}


def named(form: Form) -> Mapping[str, Any]:
    """A name, and nothing else."""
    return texts(form, "name")


# The whole tournament


def changes(form: Form) -> Mapping[str, Any]:
    """Name, texts and settings that were changed in the form, which says what format it was made for.

    What stands as it was shown is left out: a page open since yesterday takes back nothing that it
    never showed.
    """
    given: dict[str, Any] = dict(texts(form, "name"))
    for name in ("description", "motdText"):
        if form.has(name):
            given[name] = form.one(name).strip() or None
    type_ = form.one("type")
    settings = setup.settings_in(type_, form) if type_ in setup.TITLES else {}
    settings = {key: value for key, value in settings.items() if not _is_shown(form, key)}
    return {**{name: value for name, value in given.items() if not stands(form, name)}, **settings}


def _is_shown(form: Form, key: str) -> bool:
    """Whether a setting stands as it was shown; a table of points is told by several fields."""
    if key != setup.POINTS_MAP:
        return stands(form, setup.PREFIX + key)
    told = [setup.PREFIX + one for one in (*setup.POINTS, *setup.SCORINGS) if form.has(setup.PREFIX + one)]
    return all(stands(form, one) for one in told)


def stands(form: Form, name: str) -> bool:
    """Whether a field holds what it held when the form was shown."""
    was = WAS + name
    return form.has(was) and form.one(was).strip().splitlines() == form.one(name).strip().splitlines()


def playoffs(form: Form) -> Mapping[str, Any]:
    """Who goes through: players by name, the first so many, or a band."""
    given: dict[str, Any] = {**texts(form, "type", "name")}
    picked = form.all("playerId")
    if picked:
        given["players"] = numbered(picked)
    elif form.one("band").strip():
        given["band"] = setup.number(form.one("band"))
    else:
        given.update(whole(form, "players"))
    return given


# Who and what takes part


def people(form: Form) -> Mapping[str, Any]:
    """Lines of names, and ticked players."""
    return {
        "names": list(forms.lines(form.one("names"))),
        "playerIds": numbered(form.all("playerId")),
        **whole(form, "strikes"),
    }


def player(form: Form) -> Mapping[str, Any]:
    """What is to be different about a player."""
    return {
        **texts(form, "status"),
        **whole(form, "seed"),
        **labels(form),
        **{name: decimal(text) for name, text in texts(form, "pointsAdjustment", "scoreAdjustment").items()},
    }


def labels(form: Form) -> dict[str, Any]:
    """Labels with commas between them, and their colour."""
    given: dict[str, Any] = {}
    if form.has("labels"):
        given["labels"] = [one.strip() for one in form.one("labels").split(",") if one.strip()]
    if form.has("labelColor"):
        given["labelColor"] = form.one("labelColor").strip().lower() or None
    return given


def decimal(text: str) -> float | str:
    """Points as they are typed, with a point or a comma."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return text


def entries(form: Form) -> Mapping[str, Any]:
    """Entries bought, given or taken back."""
    return {**texts(form, "type"), **whole(form, "quantity")}


def lineup(form: Form) -> Mapping[str, Any]:
    """Ticked arenas."""
    picked = numbered(form.all("arenaId"))
    if not picked:
        raise Invalid({"arenas": ["Tick at least one arena."]})
    return {"arenas": [{"arenaId": one} for one in picked]}


def machines(form: Form) -> Mapping[str, Any]:
    """Lines of names, and ticked entries of the machine database."""
    return {"names": list(forms.lines(form.one("names"))), "opdbIds": list(form.all("opdbId"))}


def arena(form: Form) -> Mapping[str, Any]:
    """What is to be different about an arena."""
    switches = ("bestGameBlocked", "bestGameQueueClosed")
    return {
        **texts(form, "status"),
        **({"redraw": True} if form.one("redraw") else {}),
        **{name: form.one(name) == "1" for name in switches if form.has(name)},
        **whole(form, "amazingRaceSeed"),
    }


# Rounds and games


def hole(form: Form) -> Mapping[str, Any]:
    """The arena and the target of a round; what is emptied is taken away."""
    wanted = {name: form.one(name).strip() for name in ("arenaId", "score") if form.has(name)}
    return {name: setup.number(text) if text else None for name, text in wanted.items()}


def result(form: Form) -> Mapping[str, Any]:
    """Places, a winner of two, scores, strikes or somebody who did not come: what the form has."""
    given: dict[str, Any] = {"wasOpen": form.one("seen") == "started"}
    if form.one("forfeit"):
        given["forfeit"] = setup.number(form.one("forfeit"))
    elif form.has("striking"):
        given["strikes"] = numbered(form.all("strike"))
    elif form.starting("score-"):
        given["resultScores"] = by_player(form, "score-")
    else:
        given["resultPositions"] = _order(form)
    return given


def order(form: Form) -> Mapping[str, Any]:
    """A finishing order, and nothing else."""
    return {"resultPositions": _order(form)}


def _order(form: Form) -> list[int | str]:
    """Player ids, first to last: by tap, or by the places that were chosen."""
    players = form.all("of")
    first = form.one("first")
    if first:
        return numbered([first, *(one for one in players if one != first)])
    places = {one: place for one, place in form.starting("place-").items() if place.isdigit()}
    if not places:
        raise Invalid({"resultPositions": ["Choose a place for each player."]})
    left = [one for one in players if one not in places]
    if len(left) == 1 and places:
        # Who is left has the place that is left.
        places[left[0]] = str(len(players))
        wanted = {str(place) for place in range(1, len(players) + 1)}
        missing = wanted - {place for one, place in places.items() if one != left[0]}
        places[left[0]] = missing.pop() if len(missing) == 1 else ""
    if len(set(places.values())) < len(places):
        raise Invalid({"resultPositions": ["Two players have the same place. Give each a place of its own."]})
    return numbered(sorted(places, key=lambda one: int(places[one] or 0)))


def game(form: Form) -> Mapping[str, Any]:
    """Another arena, another player or another order for an open game."""
    given: dict[str, Any] = {}
    if form.one("withPlayerId"):
        given["swap"] = whole(form, "playerId", "withPlayerId")
    if form.has("arenaId"):
        given["arenaId"] = setup.number(form.one("arenaId")) if form.one("arenaId") else None
    if form.starting("place-"):
        given["playerIds"] = _order(form)
    return given


def new_game(form: Form) -> Mapping[str, Any]:
    """Chosen players, and an arena if there is one."""
    return {"playerIds": numbered(form.all("playerId")), **whole(form, "arenaId")}


def tie(form: Form) -> Mapping[str, Any]:
    """A tiebreak game, an order by hand, or an order given up."""
    way = form.one("way")
    players = numbered(form.all("of"))
    if way == "order":
        return {"order": _order(form)}
    return {"forget": players} if way == "forget" else {"playerIds": numbered(form.all("playerId"))}


def more_time(form: Form) -> Mapping[str, Any]:
    """Minutes of the form, as seconds."""
    minutes = setup.number(form.one("minutes"))
    return {"seconds": minutes * MINUTE_SECONDS if isinstance(minutes, int) else minutes}


# Playing alone


def attempt(form: Form) -> Mapping[str, Any]:
    """What somebody scored."""
    given: dict[str, Any] = whole(form, "score", "strokes")
    rolls = form.one("rolls").replace(",", " ").split()
    return {**given, "rolls": numbered(rolls)} if rolls else given


def score(form: Form) -> Mapping[str, Any]:
    """What a player scored, and where."""
    return {**whole(form, "playerId", "arenaId", "roundId"), **attempt(form)}
