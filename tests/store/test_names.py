"""Names are found without case and accents, on both databases alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import literal, select

from silverball.store.database.engine import Store
from silverball.store.people.names import FoldedName, NameContains, fold, strip_punctuation

CASES = [
    ("Thursday Strikes", "thursday", True),
    ("Thursday Strikes", "STRIKES", True),
    ("Thursday Strikes", "friday", False),
    ("Åsa Öst", "asa ost", True),
    ("Asa Ost", "ÅSA", True),
    # The same letters, composed and decomposed; wide letters are at the end.
    ("Zoe\u0308", "Zo\u00eb", True),
    ("Søren Łuk", "soren luk", True),
    ("ДОМ", "дом", True),
    ("ΑΘΗΝΑ", "αθήνα", True),
    ("ΟΔΟΣ 5", "οδοσ", True),
    ("100%", "%", True),
    ("1000", "100%", False),
    ("under_score", "r_s", True),
    ("underscore", "r_s", False),
    ("back\\slash", "k\\s", True),
    ("O'Brien", "o'b", True),
    ("🎩 hat", "🎩", True),
    ("\uff26\uff35\uff2c\uff2c", "full", True),
]


@pytest.mark.parametrize(
    ("text", "plain"),
    [("Åsa", "asa"), ("ÉCLAIR", "eclair"), ("Łódź", "lodz"), ("plain", "plain"), ("İ", "i"), (None, None)],
)
def test_folding_removes_case_and_accents(text: str | None, plain: str | None) -> None:
    assert fold(text) == plain


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("  Zo\u00eb   O'Neil-M\u00e4rsh ", "zoe oneil marsh"),
        ("St. Clair, J.R.", "st clair jr"),
        ("O\u2019Brien", "obrien"),
        ("Stra\u00dfe", "strasse"),
        ("\u0141ucja (Lu)", "lucja lu"),
        ("???", ""),
    ],
)
def test_a_stripped_name_has_no_case_accents_and_punctuation(name: str, bare: str) -> None:
    assert strip_punctuation(name) == bare


@given(st.text(st.characters(categories=("Lu", "Ll", "Nd", "Zs"), max_codepoint=0x24F), max_size=30))
def test_stripping_twice_changes_nothing(name: str) -> None:
    assert strip_punctuation(strip_punctuation(name)) == strip_punctuation(name)


def test_both_databases_find_the_same_names(store: Store) -> None:
    with store.read() as db:
        for name, words, is_there in CASES:
            found = db.execute(select(literal(1)).where(NameContains(literal(name), literal(words)))).first()
            assert (found is not None) is is_there, (name, words)


@given(st.text(st.characters(categories=("Lu", "Ll", "Nd", "Zs")), min_size=1), st.data())
def test_a_name_is_found_by_any_part_of_it_in_capitals_or_not(name: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(name) - 1))
    part = name[start : data.draw(st.integers(start + 1, len(name)))]
    assert (fold(part) or "") in (fold(name) or "")


@pytest.mark.parametrize("name", [case[0] for case in CASES])
def test_both_databases_fold_a_name_as_python_does(store: Store, name: str) -> None:
    with store.read() as db:
        assert db.execute(select(FoldedName(literal(name)))).scalar_one() == fold(name)
