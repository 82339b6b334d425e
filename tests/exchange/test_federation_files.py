"""Files of the federation's records: all or nothing is stored, and faults have their row and field."""

import csv
import io
import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.federation import invented_record
from silverball.exchange import federation
from silverball.exchange.federation import COLUMNS, BrokenRecordsFile
from silverball.service.outlook.writes import NewRecord

HEADER = (
    "ifpaId,name,rank,womensRank,rating,ratingRank,totalEvents,initials,city,state,"
    "countryCode,countryName,updatedAt"
)
ADA = {
    "ifpaId": 101,
    "name": "Ada Quill",
    "rank": 12,
    "womensRank": 3,
    "rating": 1712.5,
    "ratingRank": 40,
    "totalEvents": 77,
    "initials": "AQ",
    "city": 'The "Harbour", Town',
    "state": "NV",
    "countryCode": "US",
    "countryName": "United States",
    "updatedAt": "2024-01-04T06:16:55.000000Z",
}
READ = msgspec.structs.replace(invented_record.ADA, city='The "Harbour", Town')
BARE = NewRecord(ifpa_id=102, name="Bo Larkin")


def as_json(*records: dict[str, Any]) -> bytes:
    return json.dumps(records).encode()


def as_csv(*records: dict[str, Any], header: str = HEADER) -> bytes:
    names = header.split(",")
    text = io.StringIO(newline="")
    rows = csv.writer(text)
    rows.writerow(names)
    rows.writerows([record.get(name, "") for name in names] for record in records)
    return text.getvalue().encode()


def read_faults(content: bytes) -> list[str]:
    with pytest.raises(BrokenRecordsFile) as caught:
        federation.parse(content)
    return caught.value.errors["file"]


def test_the_header_is_the_published_names() -> None:
    assert sorted(HEADER.split(",")) == sorted(COLUMNS)


@pytest.mark.parametrize(
    "content",
    [
        as_json(ADA, {"ifpaId": 102, "name": "Bo Larkin"}),
        # As the federation's own interface writes them.
        as_json({name: str(value) for name, value in ADA.items()}, {"ifpaId": "102", "name": " Bo Larkin "}),
        as_json(ADA, dict.fromkeys(ADA, "") | {"ifpaId": "102", "name": "Bo Larkin"}),
        as_json(ADA, dict.fromkeys(ADA) | {"ifpaId": 102, "name": "Bo Larkin"}),
        as_csv(ADA, {"ifpaId": 102, "name": "Bo Larkin"}),
        b"\xef\xbb\xbf" + as_csv(ADA, {"ifpaId": 102, "name": "Bo Larkin"}).replace(b"\r\n", b"\n"),
        as_csv(ADA, {"ifpaId": 102, "name": "Bo Larkin"}) + b"\r\n\r\n",
        as_csv(ADA, {"ifpaId": 102, "name": "Bo Larkin"}, header=",".join(reversed(HEADER.split(",")))),
        # By federation number, in whichever order the file has them.
        as_json({"ifpaId": 102, "name": "Bo Larkin"}, ADA),
    ],
)
def test_numbers_texts_and_empty_values_are_read_from_both_kinds_of_file(content: bytes) -> None:
    assert federation.parse(content) == [READ, BARE]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-08-02 20:24:55Z", datetime(2026, 8, 2, 20, 24, 55, tzinfo=UTC)),
        ("2026-08-02 20:24:55", datetime(2026, 8, 2, 20, 24, 55, tzinfo=UTC)),
        ("2026-08-02", datetime(2026, 8, 2, tzinfo=UTC)),
        ("2026-08-02T22:24:55+02:00", datetime(2026, 8, 2, 20, 24, 55, tzinfo=UTC)),
    ],
)
def test_every_usual_form_of_a_time_is_read(text: str, moment: datetime) -> None:
    (record,) = federation.parse(as_json(ADA | {"updatedAt": text}))
    assert record.updated_at == moment


@pytest.mark.parametrize(
    ("change", "field", "sentence"),
    [
        ({"ifpaId": "x"}, "ifpaId", "The ifpa id field must be an integer."),
        ({"ifpaId": 0}, "ifpaId", "The ifpa id field must be at least 1."),
        ({"ifpaId": "1_0"}, "ifpaId", "The ifpa id field must be an integer."),
        ({"name": "  "}, "name", "The name field is required."),
        ({"name": "A" * 201}, "name", "The name field must not be greater than 200 characters."),
        ({"name": "Ada\x00"}, "name", "The name field is not a text that can be stored."),
        ({"rank": "-1"}, "rank", "The rank field must be an integer."),
        ({"rank": "1.5"}, "rank", "The rank field must be an integer."),
        ({"womensRank": "12th"}, "womensRank", "The womens rank field must be an integer."),
        ({"rating": "nan"}, "rating", "The rating field must be a number."),
        ({"rating": "1e3"}, "rating", "The rating field must be a number."),
        ({"rating": "10001"}, "rating", "The rating field must not be greater than 10000.0."),
        ({"totalEvents": "many"}, "totalEvents", "The total events field must be an integer."),
        ({"city": "C" * 101}, "city", "The city field must not be greater than 100 characters."),
        ({"city": "two\nlines"}, "city", "The city field format is invalid."),
        ({"updatedAt": "yesterday"}, "updatedAt", "The updated at field must be a valid date."),
        (
            {"updatedAt": "0001-01-01T00:00:00+23:00"},
            "updatedAt",
            "The updated at field must be a valid date.",
        ),
        ({"updatedAt": "9999-01-01"}, "updatedAt", "The updated at field must be a valid date."),
    ],
)
def test_a_fault_is_reported_with_its_place_in_the_file(
    change: dict[str, Any], field: str, sentence: str
) -> None:
    second = ADA | {"ifpaId": 102} | change
    assert read_faults(as_json(ADA, second)) == [f"record 2, {field}: {sentence}"]
    # The header is a spreadsheet's first row.
    assert read_faults(as_csv(ADA, second)) == [f"row 3, {field}: {sentence}"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "row 1: The header must have the names "),
        (b"a,b\n1,2\n", "row 1: The header must have the names "),
        (b"ifpaId,rank\n1,2\n", "ifpaId and name must be among them."),
        (b"ifpaId,name,name\n1,2,3\n", "each once"),
        (b"ifpaId,name\n", "The file has no records."),
        (b"[]", "The file has no records."),
        (b"ifpaId,name\n1,Ada,2\n", "row 2: The row has 3 cells, the header has 2."),
        (b'ifpaId,name\n1,"Ada" Quill\n', "The file is not CSV with commas and double quotes"),
        (b"[1]", "record 1: The record must be an object."),
        (b'[{"ifpaId": 1, "name": "Ada"}, null]', "record 2: The record must be an object."),
        (b'{"ifpaId": 1, "name": "Ada"}', "The file must be a list of records."),
        (b"[{", "The file is not JSON"),
        (b"[" * 100_000, "The file is not JSON"),
        (b'[{"ifpaId": 1}]', "record 1, name: The name field is required."),
        (b'[{"ifpaId": 1, "name": "Ada", "elo": 3}]', "record 1, elo: The elo field is prohibited."),
        (b'[{"ifpaId": true, "name": "Ada"}]', "record 1, ifpaId: The ifpa id field must be an integer."),
        (b'[{"ifpaId": 1, "name": {"first": "Ada"}}]', "record 1, name: The name field must be a string."),
        ("ifpaId,name\n1,Åsa\n".encode("latin-1"), "The file is not in UTF-8."),
    ],
)
def test_a_file_of_another_form_is_refused_in_a_sentence(content: bytes, sentence: str) -> None:
    (fault,) = read_faults(content)
    assert sentence in fault


def test_a_number_used_twice_is_refused_with_both_places() -> None:
    other = {"ifpaId": 7, "name": "Edie Frost"}
    assert read_faults(as_csv(ADA, other, ADA)) == ["row 4, ifpaId: 101 is in row 2 already."]
    assert read_faults(as_json(ADA, other, ADA, other)) == [
        "record 3, ifpaId: 101 is in record 1 already.",
        "record 4, ifpaId: 7 is in record 2 already.",
    ]


def test_the_first_ten_faults_are_reported() -> None:
    wrong = [ADA | {"ifpaId": n, "rank": "?"} for n in range(1, 31)]
    assert [fault.partition(",")[0] for fault in read_faults(as_json(*wrong))] == [
        f"record {n}" for n in range(1, 11)
    ]


def test_a_file_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(federation, "RECORDS_MAX", 2)
    three = [{"ifpaId": n, "name": "Ada"} for n in (1, 2, 3)]
    for content in (as_json(*three), as_csv(*three)):
        assert read_faults(content) == ["The file may have 2 records."]
    assert len(federation.parse(as_csv(*three[:2]))) == 2


NAMES = st.text(st.characters(categories=("L", "Nd", "P", "Zs")), min_size=1, max_size=20)
PEOPLE = st.lists(
    st.fixed_dictionaries(
        {"ifpaId": st.integers(1, 2**63 - 1), "name": NAMES.filter(lambda name: bool(name.strip()))},
        optional={
            "rank": st.integers(1, 10**8),
            "rating": st.integers(0, 10**6).map(lambda cents: cents / 100),
            "city": NAMES,
        },
    ),
    min_size=1,
    max_size=5,
    unique_by=lambda record: record["ifpaId"],
)


@given(PEOPLE)
@settings(deadline=None)
def test_the_same_people_are_the_same_in_both_kinds_of_file(people: list[dict[str, Any]]) -> None:
    read = federation.parse(as_json(*people))
    assert read == federation.parse(as_csv(*people))
    assert [record.ifpa_id for record in read] == sorted(record["ifpaId"] for record in people)


def read_outcome(content: bytes) -> list[NewRecord] | list[str]:
    """The records of a file, or the sentences of its refusal."""
    try:
        return federation.parse(content)
    except BrokenRecordsFile as refusal:
        return refusal.errors["file"]


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_are_read_or_refused_in_sentences(content: bytes) -> None:
    outcome = read_outcome(content)
    assert outcome
    assert all(sentence for sentence in outcome if isinstance(sentence, str))
