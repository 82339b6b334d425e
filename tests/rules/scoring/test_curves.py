"""Curves. Source: the reference table of formats, section 15."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.properties import quick
from silverball.kit.errors import Invalid
from silverball.rules.scoring import curves

RANKS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 75, 87, 88, 100)
REFERENCE = """
bg_linear 100 99 98 97 96 95 94 93 92 91 86 81 76 71 61 51 26 14 13 1
bg_linear_150 150 149 148 147 146 145 144 143 142 141 136 131 126 121 111 101 76 64 63 51
bg_linear_200 200 199 198 197 196 195 194 193 192 191 186 181 176 171 161 151 126 114 113 101
bg_linear_300 300 299 298 297 296 295 294 293 292 291 286 281 276 271 261 251 226 214 213 201
bg_linear_500 500 499 498 497 496 495 494 493 492 491 486 481 476 471 461 451 426 414 413 401
bg_papa 100 90 85 84 83 82 81 80 79 78 73 68 63 58 48 38 13 1 0 0
bg_papa_150 150 140 135 134 133 132 131 130 129 128 123 118 113 108 98 88 63 51 50 38
bg_papa_200 200 190 185 184 183 182 181 180 179 178 173 168 163 158 148 138 113 101 100 88
bg_papa_qck_de 100 90 85 83 81 79 77 75 73 71 61 51 41 31 11 0 0 0 0 0
bg_circuit 100 75 60 50 45 40 35 30 25 20 15 10 5 0 0 0 0 0 0 0
bg_indisc 100 97 95 94 93 92 91 90 89 88 83 78 73 68 58 48 23 11 10 0
bg_indisc_200 200 195 190 189 188 187 186 185 184 183 178 173 168 163 153 143 118 106 105 93
bg_cax 100 94 91 90 89 88 87 86 85 84 79 74 69 64 54 44 19 7 6 0
bg_hella 105 90 80 70 65 60 55 50 45 40 15 0 0 0 0 0 0 0 0 0
bg_eurovision 12 10 8 7 6 5 4 3 2 1 0 0 0 0 0 0 0 0 0 0
bg_top_25 25 24 23 22 21 20 19 18 17 16 11 6 1 0 0 0 0 0 0 0
bg_top_30 30 29 28 27 26 25 24 23 22 21 16 11 6 1 0 0 0 0 0 0
bg_50_percent_de 100 50 25 13 6 3 2 1 0 0 0 0 0 0 0 0 0 0 0 0
bg_90_percent_de 100 90 81 73 66 59 53 48 43 39 23 14 8 5 2 1 0 0 0 0
bg_95_pct_mod_de 100 95 90 85 81 77 73 69 66 63 48 37 29 22 12 2 0 0 0 0
"""
ROWS = [line.split() for line in REFERENCE.strip().splitlines()]
# Source: formats, section 15, full sequences.
PERCENT_90_HEAD = (
    "100 90 81 73 66 59 53 48 43 39 35 31 28 25 23 21 19 17 15 14 12 11 10 9 8 7 6 6 5 5 4 4 3 3 3 3"
)
PERCENT_90 = [int(value) for value in PERCENT_90_HEAD.split()] + [2] * 4 + [1] * 11 + [0]
PERCENT_95_HEAD = "100 95 90 85 81 77 73 69 66 63 59 56 54 51 48 46 44 41 39 37 35 34 32 30 29 27 26 25"
PERCENT_95 = [*map(int, PERCENT_95_HEAD.split()), *range(23, -1, -1)]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_curve_has_its_reference_values(row: list[str]) -> None:
    assert [curves.points_of_rank(row[0], rank) for rank in RANKS] == [int(value) for value in row[1:]]


def test_every_curve_but_the_custom_and_the_unknown_one_is_in_the_reference() -> None:
    assert {row[0] for row in ROWS} == curves.CURVES - {"custom", "bg_past_times"}


def test_the_percentages_have_their_full_sequences() -> None:
    assert list(curves.points_by_rank("bg_90_percent_de", len(PERCENT_90))) == PERCENT_90
    assert list(curves.points_by_rank("bg_95_pct_mod_de", len(PERCENT_95))) == PERCENT_95
    assert curves.points_of_rank("bg_95_pct_mod_de", 51) == 1
    assert curves.points_of_rank("bg_95_pct_mod_de", 52) == 0


def test_the_unknown_curve_follows_the_line() -> None:
    assert curves.points_by_rank("bg_past_times", 100) == curves.points_by_rank("bg_linear", 100)


def test_a_custom_table_is_worth_nothing_beyond_its_end() -> None:
    assert curves.points_by_rank("custom", 4, [25, 18, 15]) == (25, 18, 15, 0)


@given(st.sampled_from(sorted(curves.CURVES)), st.integers(1, 2000))
@quick
def test_a_worse_rank_is_never_worth_more_and_never_less_than_nothing(curve: str, rank: int) -> None:
    custom = (9, 5, 5, 1)
    assert curves.points_of_rank(curve, rank, custom) >= curves.points_of_rank(curve, rank + 1, custom) >= 0


def test_an_unknown_curve_is_refused() -> None:
    with pytest.raises(Invalid, match="no curve called bg_moon"):
        curves.points_of_rank("bg_moon", 1)


@pytest.mark.parametrize("rank", [0, -1, 100_001])
def test_a_rank_outside_the_table_is_our_own_mistake(rank: int) -> None:
    with pytest.raises(ValueError, match="rank"):
        curves.points_of_rank("bg_linear", rank)
