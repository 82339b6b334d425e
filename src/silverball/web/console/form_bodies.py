"""From the fields of a form to the body that the interface takes. Nothing is judged here.

What was left empty is left out; what is no number stays a text, so that the interface refuses it by name.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

from msgspec import Meta

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id, Name
from silverball.service.arenas.writes import OpdbId
from silverball.service.roster.bodies import AT_ONCE_MAX, Strikes
from silverball.web import forms
from silverball.web.console import settings_form
from silverball.web.forms import FormData

MINUTE_SECONDS = 60
# Before the name of a field: what it held when the form was shown.
INITIAL_PREFIX = "was-"
MACHINES_MAX = 100


class PlayersToAdd(Body, frozen=True, kw_only=True):
    """Players by name, one a line, and players who were picked from the book."""

    names: Annotated[tuple[Name, ...], Meta(max_length=AT_ONCE_MAX)] = ()
    player_ids: Annotated[tuple[Id, ...], Meta(max_length=AT_ONCE_MAX)] = ()
    # For who comes late to a knockout.
    strikes: Strikes | None = None

    def __post_init__(self) -> None:
        if not self.names and not self.player_ids:
            raise Invalid({"names": ["Enter a name on each line, or pick players from your book."]})


class MachinesToAdd(Body, frozen=True, kw_only=True):
    """New arenas for the book and the tournament: by name, and by id of the machine database."""

    names: Annotated[tuple[Name, ...], Meta(max_length=MACHINES_MAX)] = ()
    opdb_ids: Annotated[tuple[OpdbId, ...], Meta(max_length=MACHINES_MAX)] = ()

    def __post_init__(self) -> None:
        if not self.names and not self.opdb_ids:
            raise Invalid({"names": ["Enter a name on each line, or tick machines that were found."]})


def text_fields(form: FormData, *names: str) -> dict[str, str]:
    """The fields that hold text and are not empty."""
    return {name: form.value(name).strip() for name in names if form.value(name).strip()}


def number_fields(form: FormData, *names: str) -> dict[str, int | str]:
    """The fields that hold numbers and are not empty."""
    return {name: settings_form.parse_number(text) for name, text in text_fields(form, *names).items()}


def numbers(*names: str) -> Callable[[FormData], Mapping[str, Any]]:
    """A body of numbers, under the names of the fields."""
    return lambda form: number_fields(form, *names)


def flags(*names: str) -> Callable[[FormData], Mapping[str, Any]]:
    """A body of boxes that are ticked or not."""
    return lambda form: {name: bool(form.value(name)) for name in names}


def parse_numbers(given: Iterable[str]) -> list[int | str]:
    return [settings_form.parse_number(text) for text in given]


def numbers_by_player(form: FormData, prefix: str) -> dict[str, int | str]:
    """`score-12=500` as {"12": 500}."""
    return {
        player_id: settings_form.parse_number(text) for player_id, text in form.with_prefix(prefix).items()
    }


def name_only(form: FormData) -> Mapping[str, Any]:
    """A name, and nothing else."""
    return text_fields(form, "name")


# The whole tournament


def tournament_changes(form: FormData) -> Mapping[str, Any]:
    """Name, texts and settings that were changed in the form, which says what format it was made for.

    What stands as it was shown is left out: a page open since yesterday takes back nothing that it
    never showed.
    """
    given: dict[str, Any] = dict(text_fields(form, "name"))
    for name in ("description", "motdText"):
        if form.has(name):
            given[name] = form.value(name).strip() or None
    type_ = form.value("type")
    settings = settings_form.submitted_settings(type_, form) if type_ in settings_form.TITLES else {}
    settings = {key: value for key, value in settings.items() if not _is_setting_unchanged(form, key)}
    return {**{name: value for name, value in given.items() if not is_unchanged(form, name)}, **settings}


def _is_setting_unchanged(form: FormData, key: str) -> bool:
    """Whether a setting stands as it was shown; a table of points is told by several fields."""
    if key != settings_form.POINTS_MAP_KEY:
        return is_unchanged(form, settings_form.PREFIX + key)
    told = [
        settings_form.PREFIX + one
        for one in (*settings_form.POINTS_FIELDS, *settings_form.CUSTOM_POINTS_KEYS)
        if form.has(settings_form.PREFIX + one)
    ]
    return all(is_unchanged(form, one) for one in told)


def is_unchanged(form: FormData, name: str) -> bool:
    """Whether a field holds what it held when the form was shown."""
    was = INITIAL_PREFIX + name
    return form.has(was) and form.value(was).strip().splitlines() == form.value(name).strip().splitlines()


def playoffs(form: FormData) -> Mapping[str, Any]:
    """Who goes through: players by name, the first so many, or a band."""
    given: dict[str, Any] = {**text_fields(form, "type", "name")}
    picked = form.values("playerId")
    if picked:
        given["players"] = parse_numbers(picked)
    elif form.value("band").strip():
        given["band"] = settings_form.parse_number(form.value("band"))
    else:
        given.update(number_fields(form, "players"))
    return given


# Who and what takes part


def new_players(form: FormData) -> Mapping[str, Any]:
    """Lines of names, and ticked players."""
    return {
        "names": list(forms.nonempty_lines(form.value("names"))),
        "playerIds": parse_numbers(form.values("playerId")),
        **number_fields(form, "strikes"),
    }


def player(form: FormData) -> Mapping[str, Any]:
    """What is to be different about a player."""
    return {
        **text_fields(form, "status"),
        **number_fields(form, "seed"),
        **labels(form),
        **{
            name: parse_decimal(text)
            for name, text in text_fields(form, "pointsAdjustment", "scoreAdjustment").items()
        },
    }


def labels(form: FormData) -> dict[str, Any]:
    """Labels with commas between them, and their colour."""
    given: dict[str, Any] = {}
    if form.has("labels"):
        given["labels"] = [one.strip() for one in form.value("labels").split(",") if one.strip()]
    if form.has("labelColor"):
        given["labelColor"] = form.value("labelColor").strip().lower() or None
    return given


def parse_decimal(text: str) -> float | str:
    """Points as they are typed, with a point or a comma."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return text


def entries(form: FormData) -> Mapping[str, Any]:
    """Entries bought, given or taken back."""
    return {**text_fields(form, "type"), **number_fields(form, "quantity")}


def lineup(form: FormData) -> Mapping[str, Any]:
    """Ticked arenas."""
    picked = parse_numbers(form.values("arenaId"))
    if not picked:
        raise Invalid({"arenas": ["Tick at least one arena."]})
    return {"arenas": [{"arenaId": one} for one in picked]}


def machines(form: FormData) -> Mapping[str, Any]:
    """Lines of names, and ticked entries of the machine database."""
    return {"names": list(forms.nonempty_lines(form.value("names"))), "opdbIds": list(form.values("opdbId"))}


def arena(form: FormData) -> Mapping[str, Any]:
    """What is to be different about an arena."""
    switches = ("bestGameBlocked", "bestGameQueueClosed")
    return {
        **text_fields(form, "status"),
        **({"redraw": True} if form.value("redraw") else {}),
        **{name: form.value(name) == "1" for name in switches if form.has(name)},
        **number_fields(form, "amazingRaceSeed"),
    }


# Rounds and games


def hole(form: FormData) -> Mapping[str, Any]:
    """The arena and the target of a round; what is emptied is taken away."""
    wanted = {name: form.value(name).strip() for name in ("arenaId", "score") if form.has(name)}
    return {name: settings_form.parse_number(text) if text else None for name, text in wanted.items()}


def result(form: FormData) -> Mapping[str, Any]:
    """Places, a winner of two, scores, strikes or somebody who did not come: what the form has."""
    given: dict[str, Any] = {"wasOpen": form.value("seen") == "started"}
    if form.value("forfeit"):
        given["forfeit"] = settings_form.parse_number(form.value("forfeit"))
    elif form.has("striking"):
        given["strikes"] = parse_numbers(form.values("strike"))
    elif form.with_prefix("score-"):
        given["resultScores"] = numbers_by_player(form, "score-")
    else:
        given["resultPositions"] = _ordered_player_ids(form)
    return given


def finishing_order(form: FormData) -> Mapping[str, Any]:
    """A finishing order, and nothing else."""
    return {"resultPositions": _ordered_player_ids(form)}


def _ordered_player_ids(form: FormData) -> list[int | str]:
    """Player ids, first to last: by tap, or by the places that were chosen."""
    players = form.values("of")
    first = form.value("first")
    if first:
        return parse_numbers([first, *(one for one in players if one != first)])
    places = {one: place for one, place in form.with_prefix("place-").items() if place.isdigit()}
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
    return parse_numbers(sorted(places, key=lambda one: int(places[one] or 0)))


def game(form: FormData) -> Mapping[str, Any]:
    """Another arena, another player or another order for an open game."""
    given: dict[str, Any] = {}
    if form.value("withPlayerId"):
        given["swap"] = number_fields(form, "playerId", "withPlayerId")
    if form.has("arenaId"):
        given["arenaId"] = (
            settings_form.parse_number(form.value("arenaId")) if form.value("arenaId") else None
        )
    if form.with_prefix("place-"):
        given["playerIds"] = _ordered_player_ids(form)
    return given


def new_game(form: FormData) -> Mapping[str, Any]:
    """Chosen players, and an arena if there is one."""
    return {"playerIds": parse_numbers(form.values("playerId")), **number_fields(form, "arenaId")}


def tie(form: FormData) -> Mapping[str, Any]:
    """A tiebreak game, an order by hand, or an order given up."""
    way = form.value("way")
    players = parse_numbers(form.values("of"))
    if way == "order":
        return {"order": _ordered_player_ids(form)}
    return {"forget": players} if way == "forget" else {"playerIds": parse_numbers(form.values("playerId"))}


def more_time(form: FormData) -> Mapping[str, Any]:
    """Minutes of the form, as seconds."""
    minutes = settings_form.parse_number(form.value("minutes"))
    return {"seconds": minutes * MINUTE_SECONDS if isinstance(minutes, int) else minutes}


# Playing alone


def single_player_result(form: FormData) -> Mapping[str, Any]:
    """What somebody scored."""
    given: dict[str, Any] = number_fields(form, "score", "strokes")
    rolls = form.value("rolls").replace(",", " ").split()
    return {**given, "rolls": parse_numbers(rolls)} if rolls else given


def new_single_player_game(form: FormData) -> Mapping[str, Any]:
    """What a player scored, and where."""
    return {**number_fields(form, "playerId", "arenaId", "roundId"), **single_player_result(form)}
