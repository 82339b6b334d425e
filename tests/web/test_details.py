"""Details of a tournament besides its settings, changed in the console."""

from typing import Any

import pytest
from sqlalchemy import update

import build
from silverball.store import tables
from silverball.store.database.engine import Store
from web import page_forms
from web.director import Director

# The interface has the same writes, and its stories run on both databases.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
SETTINGS = "/settings"


def details(director: Director) -> Any:
    return director.tournament().details


def points(director: Director) -> list[list[str]]:
    """The points by place, as texts."""
    return [[str(value) for value in row] for row in director.tournament().points_map or ()]


def test_points_of_ones_own_are_set_where_the_scoring_is(director: Director) -> None:
    director.create("group_matchplay", scoring="custom", **{"3P": "6, 3, 0.5", "4P": "9 6 3 0"})
    assert director.setting("scoring") == "custom"
    assert points(director) == [
        ["9"],
        ["6", "0.5"],
        ["6", "3", "0.5"],
        ["9", "6", "3", "0"],
    ]
    form = director.forms(SETTINGS)["edit"]
    assert (form.value("set-3P"), form.value("set-4P")) == ("6 3 0.5", "9 6 3 0")
    director.send("edit", SETTINGS, set_4P="10 6 3 0")
    assert points(director)[3] == ["10", "6", "3", "0"]
    director.start()
    # The table is unchanged, so other settings can be changed after the start.
    director.send("edit", SETTINGS, set_duration=9)
    assert director.setting("duration") == 9
    assert director.refused("edit", SETTINGS, set_4P="1 1 1 1")[0] == 409


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"set_4P": "9 6 3"}, "A group of 4 needs 4 values in 4P."),
        ({"set_3P": ""}, "A group of 3 needs 3 values in 3P."),
        ({"set_3P": "six 3 0"}, "'six' is not a number."),
    ],
)
def test_a_faulty_table_of_points_is_refused_and_stays_in_the_form(
    director: Director, fields: dict[str, str], sentence: str
) -> None:
    director.create("group_matchplay")
    given = {"set_scoring": "custom", "set_3P": "6 3 0", "set_4P": "9 6 3 0", **fields}
    answer = director.post(director.forms(SETTINGS)["edit"], **given)
    assert answer.status_code == 422
    assert sentence in page_forms.alerts_on(answer.text)[0]
    form = page_forms.forms_on(answer.text)["edit"]
    assert [form.value(f"set-{key}") for key in ("3P", "4P")] == [given["set_3P"], given["set_4P"]]
    assert director.setting("scoring") != "custom"


def test_a_curve_of_ones_own_scores_a_best_game(director: Director) -> None:
    director.create("best_game", bestGameScoring="custom", curve="100 80 60")
    assert points(director) == [["100", "80", "60"]]


def test_location_series_and_time_are_chosen(store: Store, director: Director) -> None:
    place = build.row(store, tables.location, organizer_id=director.user_id, name="The Cellar")
    series = build.row(store, tables.series, organizer_id=director.user_id, name="Thursdays")
    build.row(store, tables.location, organizer_id=build.a_user(store), name="Somebody else's")
    director.create("matchplay")
    form = director.forms(SETTINGS)["where"]
    assert form.options["locationId"] == ["", str(place)]
    assert form.options["seriesId"] == ["", str(series)]
    told = {"startLocal": "2026-04-02 19:30", "timezone": "Europe/Stockholm"}
    director.send("where", SETTINGS, locationId=place, seriesId=series, **told)
    night = details(director)
    assert (night["location_id"], night["series_id"]) == (place, series)
    assert night["start_utc"].startswith("2026-04-02T17:30")
    status, sentence = director.refused("where", SETTINGS, timezone="Mars/Olympus")
    assert (status, sentence) == (422, "There is no such time zone. Send one like Europe/Stockholm.")
    # Changing the series leaves the time alone, even from an old page.
    director.send("where", SETTINGS, seriesId="")
    assert details(director)["series_id"] is None
    assert details(director)["timezone"] == "Europe/Stockholm"


def test_a_location_that_is_put_away_is_not_lost_by_saving(store: Store, director: Director) -> None:
    place = build.row(store, tables.location, organizer_id=director.user_id, name="The Cellar")
    director.create("matchplay")
    director.send("where", SETTINGS, locationId=place)
    with store.write() as transaction:
        transaction.connection.execute(update(tables.location).values(status="inactive"))
    assert director.forms(SETTINGS)["where"].value("locationId") == str(place)
    director.send("where", SETTINGS, startLocal="2026-04-02 19:30")
    assert details(director)["location_id"] == place


def test_the_series_can_be_chosen_when_all_is_played(store: Store, director: Director) -> None:
    series = build.row(store, tables.series, organizer_id=director.user_id, name="Thursdays")
    director.create("matchplay")
    director.start()
    director.send("complete", "/standings")
    director.send("where", SETTINGS, seriesId=series)
    assert details(director)["series_id"] == series


def test_tournaments_are_linked_and_let_go(director: Director) -> None:
    director.create("matchplay")
    first = director.tournament_id
    director.create("bracket")
    director.send("link", SETTINGS, tournamentId=first, linkType="qualifying")
    (link,) = details(director)["links"]
    assert (link["linked_tournament_id"], link["link_type"]) == (first, "qualifying")
    # A linked tournament is not offered again.
    assert "link" not in director.forms(SETTINGS)
    director.send(f"link-out-{first}", SETTINGS)
    assert details(director)["links"] == []


def test_entries_have_prices_and_bundles(director: Director) -> None:
    director.create("best_game")
    director.send(
        "costs",
        SETTINGS,
        limited="on",
        automaticEntries=2,
        price="2,50",
        currency="sek",
        bundles="10 20\n25 40.5",
    )
    kept = details(director)["entry_configuration"]
    assert {**kept, "bundles": list(kept["bundles"])} == {
        "limited": True,
        "automaticEntries": 2,
        "price": 2.5,
        "currency": "SEK",
        "bundles": [{"entries": 10, "price": 20}, {"entries": 25, "price": 40.5}],
    }
    assert director.tournament().has_entry_limits
    form = director.forms(SETTINGS)["costs"]
    assert form.value("bundles") == "10 20\n25 40.5"
    for field, text in (("bundles", "many 20"), ("currency", "kronor"), ("price", "cheap")):
        status, sentence = director.refused("costs", SETTINGS, **{field: text})
        assert status == 422
        assert field in sentence


def test_registration_is_described(director: Director) -> None:
    director.create("matchplay")
    director.send("where", SETTINGS, timezone="Europe/Stockholm")
    given = {"status": "active", "playerLimit": 32, "hasWaitlist": "on", "custom1": "T-shirt size"}
    director.send("rsvp", SETTINGS, openAt="2026-03-01 12:00", **given)
    kept = details(director)["rsvp_configuration"]
    assert (kept["status"], kept["playerLimit"], kept["hasWaitlist"]) == ("active", 32, True)
    assert kept["openAtUtc"].startswith("2026-03-01T11:00")
    assert kept["custom1"] == "T-shirt size"
    assert director.forms(SETTINGS)["rsvp"].value("openAt") == "2026-03-01 12:00"
    director.send("rsvp", SETTINGS, status="inactive")
    assert details(director)["rsvp_configuration"]["openAtUtc"].startswith("2026-03-01T11:00")
    assert "The year must be" in director.refused("rsvp", SETTINGS, closeAt="2300-01-01 00:00")[1]
    assert "player limit" in director.refused("rsvp", SETTINGS, playerLimit="few")[1]
    assert "open at utc" in director.refused("rsvp", SETTINGS, openAt="soon")[1]
    # The clocks go forward from 02:00 to 03:00.
    status, refused = director.refused("rsvp", SETTINGS, openAt="2026-03-29 02:30")
    assert (status, "the clocks go forward. Write 03:30" in refused) == (422, True)


def test_a_player_has_labels_in_a_tournament(director: Director) -> None:
    director.create("matchplay")
    director.fill(2, 0)
    player_id = director.tournament().entrants[0].player_id
    page = f"/player?player={player_id}"
    director.send("labelling", page, labels=" novice, junior ,", labelColor="Teal")
    entrant = director.tournament().entrants[0]
    assert (entrant.labels, entrant.label_color) == (("novice", "junior"), "teal")
    assert "novice" in page_forms.text_of(director.page("/players"))
    status, sentence = director.refused("labelling", page, labelColor="12 colours")
    assert (status, "label color" in sentence) == (422, True)
    director.send("labelling", page, labels="", labelColor="")
    assert director.tournament().entrants[0].labels == ()
