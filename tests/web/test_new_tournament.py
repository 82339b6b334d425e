"""The form of a new tournament: formats in groups, like last time, and settings that exclude each other."""

import json
import re
from html import unescape

import msgspec
import pytest

import build
from silverball.kit.errors import Invalid
from silverball.rules.format import FormatGroup
from silverball.rules.registry import FORMATS
from silverball.service.tournaments import configuration
from silverball.store.database.engine import Store
from silverball.web.console import settings
from web import page_forms
from web.director import Director
from web.visitor import an_account


def test_every_format_stands_once_in_its_group_with_its_summary(director: Director) -> None:
    text = page_forms.text_of(director.page("/run/new"))
    assert [group for group in FormatGroup if group.value in text] == list(FormatGroup)
    for format_ in FORMATS.values():
        assert text.count(f"{format_.title} {format_.summary}") == 1
    assert "Like last time" not in text


@pytest.mark.parametrize("type_", FORMATS)
def test_a_format_asks_for_few_settings_first_and_each_has_a_line(type_: str) -> None:
    fields = {field.key: field for field in settings.setting_fields(type_) if field.kind != "points"}
    shown = FORMATS[type_].form_settings
    assert set(shown) <= set(fields)
    assert 2 <= len(shown) <= 6
    assert len(shown) >= 4 or type_ in {"golf", "bowling", "amazingrace"}
    assert list(fields)[: len(shown)] == list(shown)
    assert [
        key for key, field in fields.items() if not field.help or re.search("arena|entrant", field.help)
    ] == []


def test_the_rest_of_the_settings_is_under_more_settings(director: Director) -> None:
    page = director.page("/run/new?type=group_matchplay")
    before, after = page.split("<summary>More settings</summary>")
    assert ('name="set-scoring"' in before, 'name="set-seeding"' in after) == (True, True)
    # The table of a scoring of one's own stays beside the scoring.
    assert 'name="set-4P"' in before


def test_like_last_time_copies_format_settings_machines_and_players(director: Director) -> None:
    director.create("group_matchplay", duration=5, scoring="papa")
    director.start(6, 4)
    director.send("broken-1", "/arenas")
    assert f'href="/run/new?like={director.tournament_id}"' in director.page("/run")
    assert f'href="/run/new?like={director.tournament_id}"' in director.page("/run/new")
    past = director.tournament()
    form = page_forms.forms_on(director.page(f"/run/new?like={past.tournament_id}"))["new"]
    ticked = [value for name, value in form.fields if name == "playerId"]
    assert len(ticked) == 6
    answer = director.post(form, name="Once more", playerId=ticked[1:], set_duration="7")
    director.tournament_id = int(answer.headers["location"].split("/")[2])
    night = director.tournament()
    assert (night.type, night.status, night.details["name"]) == ("group_matchplay", "planned", "Once more")
    before, after = (msgspec.to_builtins(each.settings) for each in (past, night))
    assert after == {**before, "duration": 7}
    assert sorted(night.active_ids) == sorted(map(int, ticked[1:]))
    # The machine that is out of order was not ticked.
    assert [arena.arena_id for arena in night.lineup] == [2, 3, 4]
    director.send("start")


def test_only_ones_own_tournaments_are_copied_and_only_ones_own_players(
    store: Store, director: Director
) -> None:
    stranger = an_account(store, name="Else Where", email="else@silverball.test", role="organizer")
    other = build.a_tournament(store, organizer_id=stranger, players=2, arenas=1)
    for text in (str(other.tournament_id), "999", "x", "9" * 40, "²"):
        assert 'name="like"' not in director.page(f"/run/new?like={text}")
    form = page_forms.forms_on(director.page("/run/new?type=matchplay"))["new"]
    for field, ids in (("playerId", other.player_ids), ("arenaId", other.arena_ids)):
        answer = director.post(form, name="Theirs", **{field: ids[0]})
        assert (answer.status_code, "not in your book" in answer.text) == (422, True)
    assert "Nothing yet." in director.page("/run")


def test_settings_that_exclude_each_other_are_told_to_the_form(director: Director) -> None:
    page = director.page("/run/new?type=best_game")
    rules = json.loads(unescape(re.findall(r"data-impossible='([^']*)'", page)[0]))
    assert {(rule["field"], rule["other"]) for rule in rules} == {
        ("set-useQueues", "set-suggestions"),
        ("set-suggestions", "set-useQueues"),
    }
    assert all("exclude each other" in rule["sentence"] for rule in rules)
    # Where no other setting helps, the choice is not offered at all.
    options = page_forms.forms_on(director.page("/run/new?type=matchplay"))["new"].options
    assert ("tiers" in options["set-pairing"], "swiss" in options["set-pairing"]) == (False, True)


def test_queues_with_reports_of_players_are_refused_at_creation(director: Director) -> None:
    form = page_forms.forms_on(director.page("/run/new?type=best_game"))["new"]
    answer = director.post(form, name="Queues", set_useQueues="on", set_suggestions="restricted")
    assert (answer.status_code, "exclude each other" in answer.text) == (422, True)
    answer = director.post(form, name="Queues", set_useQueues="on", set_suggestions="disabled")
    director.tournament_id = int(answer.headers["location"].split("/")[2])
    director.fill(3, 2)
    director.send("start")
    assert director.tournament().status == "started"


@pytest.mark.parametrize("type_", FORMATS)
def test_what_the_form_excludes_is_what_the_service_refuses(type_: str) -> None:
    fields = {field.name: field for field in settings.setting_fields(type_)}
    for choice in settings.impossible_choices(type_):
        chosen = {choice.field: choice.values[0], choice.other: choice.excluded[0]}
        given = {fields[name].key: _typed(fields[name], value) for name, value in chosen.items()}
        with pytest.raises(Invalid):
            configuration.build_settings(type_, given)


def _typed(field: settings.SettingField, value: str) -> object:
    if field.kind == "flag":
        return value == "on"
    return int(value) if value.isdigit() else value
