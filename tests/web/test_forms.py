"""From the fields of a form to a body of the interface."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import build
from house import tables
from rules import knockouts
from silverball.kit.errors import Conflict, Invalid, Sentence
from silverball.web import forms, score_fields, site
from silverball.web.console import form_bodies, settings
from silverball.web.forms import FormData, FormState
from silverball.web.score_fields import ScoreShortened
from silverball.web.tournament_night import TournamentNight

PAIRS = st.lists(st.tuples(st.text(min_size=1, max_size=10), st.text(max_size=30)), max_size=20)
PLAYERS = [("of", "11"), ("of", "22"), ("of", "33"), ("of", "44")]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12),
        (" 12 ", 12),
        ("1,234,567", 1_234_567),
        ("1.234.567", 1_234_567),
        ("1 234 567", 1_234_567),
        ("1\u202f234", 1234),
        ("1'234", 1234),
        ("-5", -5),
        ("", ""),
        ("many", "many"),
        ("1e5", "1e5"),
        ("--5", "--5"),
        ("\u0663", "\u0663"),
        ("9" * 26, "9" * 26),
        ("12.5", "12.5"),
        ("1,23", "1,23"),
        ("1,234.567", "1,234.567"),
    ],
)
def test_a_number_is_parsed_with_and_without_separators(text: str, number: int | str) -> None:
    assert forms.parse_number(text) == number


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("1234567", 1_234_567),
        ("0", 0),
        ("1,234", 1_234),
        ("1.234", 1_234),
        ("1,234,567", 1_234_567),
        ("1.234.567", 1_234_567),
        ("1'234'567", 1_234_567),
        ("1\u2019234\u2019567", 1_234_567),
        ("1\u202f234\u202f567", 1_234_567),
        ("1\u2009234\u2009567", 1_234_567),
        (" 1 234 567 ", 1_234_567),
        ("12,34,567", 1_234_567),
        ("1,23,45,678", 12_345_678),
    ],
)
def test_a_score_is_read_as_typed(text: str, score: int) -> None:
    form = FormData((*PLAYERS, ("seen", ""), ("score-11", text)))
    assert form_bodies.result(form)["resultScores"] == {"11": score}
    assert form_bodies.single_player_result(FormData((("score", text),))) == {"score": score}
    assert form_bodies.hole(FormData((("score", text),))) == {"score": score}


@pytest.mark.parametrize(
    "text",
    [
        *(
            "12.5",
            "1..2",
            "1,23",
            "12,3456",
            "1,234.567",
            "1.234,567",
            "1,,234",
            ",123",
            "123,",
            "0,123",
            "1234,567",
        ),
        *("-5", "1e6", "12 5", "12M5", "M", "12.5X", "1.2345k", "\u0661\u0662", "1,2,345,678", "1\n234", "?"),
        *("9" * 26, "ten"),
    ],
)
def test_a_score_that_could_be_another_is_refused(text: str) -> None:
    for name, build_body in (
        ("score-11", form_bodies.result),
        ("score", form_bodies.single_player_result),
        ("score", form_bodies.hole),
    ):
        with pytest.raises(Invalid, match="is not a score") as refused:
            build_body(FormData((("seen", ""), (name, text))))
        assert list(refused.value.errors) == [name]
        assert not isinstance(refused.value, ScoreShortened)


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("12.5M", "12,500,000"),
        ("12,5 m", "12,500,000"),
        ("900k", "900,000"),
        ("1.25 Mio.", "1,250,000"),
        ("2b", "2,000,000,000"),
        ("12.345M", "12,345,000"),
    ],
)
def test_a_shortened_score_is_offered_in_full(text: str, full: str) -> None:
    form = FormData((("seen", ""), ("score-11", text), ("score-22", "7")))
    with pytest.raises(ScoreShortened, match=f"is read as {full}") as offer:
        form_bodies.result(form)
    confirmed = score_fields.with_offered(form, offer.value)
    assert form_bodies.result(confirmed)["resultScores"] == {"11": int(full.replace(",", "")), "22": 7}


def test_all_scores_that_cannot_be_read_are_named() -> None:
    with pytest.raises(Invalid) as refused:
        form_bodies.result(FormData((("seen", ""), ("score-11", "12.5"), ("score-22", "12.5M"))))
    assert list(refused.value.errors) == ["score-11", "score-22"]


@given(st.integers(1, 10**20), st.sampled_from([",", ".", " ", "'"]))
def test_any_way_of_grouping_is_the_same_number(value: int, separator: str) -> None:
    assert forms.parse_number(f"{value:,}".replace(",", separator)) == value


@given(PAIRS)
def test_a_packed_form_is_unpacked_unchanged(pairs: list[tuple[str, str]]) -> None:
    form = FormData((*pairs, ("csrf", "secret")))
    back = forms.unpack(form.pack(), 50)
    assert list(back.pairs) == [pair for pair in pairs if pair[0] not in {"csrf", forms.PASSWORD}]


@pytest.mark.parametrize("text", ["", "x", "%%%", "\u00e9", "YWJj\n", "=" * 50])
def test_what_was_not_folded_is_an_empty_form(text: str) -> None:
    assert forms.unpack(text, 50).value("name") == ""


def test_a_form_too_large_to_carry_is_left_behind() -> None:
    assert FormData((("names", "x" * forms.PACKED_BYTES_MAX),)).pack() == ""


@pytest.mark.parametrize(
    ("sent", "order"),
    [
        ([("place-11", "1"), ("place-22", "2"), ("place-33", "3"), ("place-44", "4")], [11, 22, 33, 44]),
        ([("place-11", "4"), ("place-22", "3"), ("place-33", "2"), ("place-44", "1")], [44, 33, 22, 11]),
        # The last player has the last free place.
        ([("place-11", "1"), ("place-22", "2"), ("place-44", "3")], [11, 22, 44, 33]),
        ([("place-11", "2"), ("place-22", "3"), ("place-44", "4")], [33, 11, 22, 44]),
        ([("first", "33")], [33, 11, 22, 44]),
    ],
)
def test_places_become_the_finishing_order(sent: list[tuple[str, str]], order: list[int]) -> None:
    assert form_bodies.result(FormData((*PLAYERS, *sent)))["resultPositions"] == order


@pytest.mark.parametrize(
    "sent",
    [
        [],
        [("place-11", "1"), ("place-22", "1")],
        [("place-11", "1"), ("place-22", "1"), ("place-33", "2")],
        [("place-11", "9"), ("place-22", "9"), ("place-33", "9"), ("place-44", "9")],
    ],
)
def test_places_that_say_no_order_are_refused(sent: list[tuple[str, str]]) -> None:
    with pytest.raises(Invalid):
        form_bodies.result(FormData((*PLAYERS, *sent)))


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        ({"forfeit": "11"}, {"forfeit": 11}),
        ({"striking": "1", "strike": "22"}, {"strikes": [22]}),
        ({"score-11": "1,000", "score-22": "2,000"}, {"resultScores": {"11": 1000, "22": 2000}}),
    ],
)
def test_a_result_can_be_entered_in_other_ways(fields: dict[str, str], body: dict[str, Any]) -> None:
    built = form_bodies.result(FormData((*PLAYERS, ("seen", "5f3a9c"), *fields.items())))
    assert built == {"seen": "5f3a9c", **body}


def test_bands_follow_one_another() -> None:
    form = FormData((("set-playoffsCutoffs", "4 A final\n\n8 B final\n"),))
    assert settings.submitted_settings("group_matchplay", form)["playoffsCutoffs"] == [
        {"index": 0, "value": 4, "cumulative": 4, "text": "A final", "color": None},
        {"index": 1, "value": 8, "cumulative": 12, "text": "B final", "color": None},
    ]


def test_only_the_submitted_form_is_shown_with_its_entries() -> None:
    typed = FormState("result-5", FormData((("place-11", "2"), ("key", "k"))))
    assert typed.value("result-5", "place-11") == "2"
    assert typed.value("result-5", "place-22", "here") == "here"
    assert typed.value("result-6", "place-11", "here") == "here"
    assert (typed.key("result-5"), typed.key("result-6")) == ("k", "")
    assert not FormState().is_for("")


@pytest.mark.parametrize(
    ("template", "facts", "text"),
    [
        ("{player} is missing.", {"player": 1}, "Ada is missing."),
        ("The score of {player} is wrong.", {"player": 2}, "The score of Bo is wrong."),
        ("{players} have the same score.", {"players": (1, 2)}, "Ada and Bo have the same score."),
        ("{arena} is busy.", {"arena": 7}, "Meteor is busy."),
        ("{arena} is busy.", {"arena": 8}, "Machine 8 is busy."),
        ("The queues of {arenas} are open.", {"arenas": (8, 9)}, "The queues of machines 8 and 9 are open."),
        (
            "No arena is free: add an arena, or use arenas of {player}.",
            {"player": 1},
            "No machine is free: add a machine, or use machines of Ada.",
        ),
        ("{player} is missing.", {"player": 99}, "Player 99 is missing."),
        ("{players} are tied.", {"players": (1, 99)}, "Players 1 and 99 are tied."),
        ("Round {number} is over.", {"number": 1}, "Round 1 is over."),
    ],
)
def test_refusals_are_shown_with_names(template: str, facts: dict[str, Any], text: str) -> None:
    night = TournamentNight(
        tournament=knockouts.knockout_tournament([]),
        now=build.NOW,
        players={1: "Ada", 2: "Bo"},
        arenas={7: "Meteor"},
    )
    assert night.refusal_text(Conflict(template, **facts)) == text
    assert night.refusal_text(Invalid({"players": [Sentence(template, **facts)]})) == text


def test_a_machine_keeps_a_name_that_has_the_word_of_the_interface_in_it() -> None:
    night = TournamentNight(
        tournament=knockouts.knockout_tournament([]), now=build.NOW, players={}, arenas={7: "the arena"}
    )
    assert (
        night.refusal_text(Conflict("Add an arena beside {arena}.", arena=7))
        == "Add a machine beside the arena."
    )


def test_no_refusal_says_arena_on_a_page() -> None:
    kinds = [kind for kind in tables.refusal_classes() if "arena" in kind.sentence]
    assert len(kinds) > 20
    for kind in kinds:
        facts = dict.fromkeys(re.findall(r"\{(\w+)\}", kind.sentence), 7)
        refusal = Conflict(kind.sentence, **facts)
        # The wire keeps its word, which is that of its fields.
        assert "arena" in refusal.message.lower()
        shown = site.refusal_text(refusal)
        assert "arena" not in shown.lower(), shown
        assert "an machine" not in shown
    assert site.refusal_text(Invalid({"arenaId": ["The arena id field is required."]})) == (
        "The machine id field is required."
    )
