"""Printed sheets: the round, result sheets, names with codes; and the pages of the codes."""

import re
from typing import Any

import pytest
import segno
from sqlalchemy import update

import build
import hostile
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.web.qr_codes import qr_code
from web import page_forms
from web.visitor import Visitor

SHEETS = ("", "/round", "/scores", "/names")


def page_of(visitor: Visitor, path: str) -> str:
    answer = visitor.get(path)
    assert answer.status_code == 200, (path, answer.text)
    return answer.text


@pytest.fixture
def night(store: Store) -> build.Night:
    """Two rounds: the first is played; the second has one game and a bye."""
    made = build.a_tournament(store, players=3, type="matchplay")
    first, second, third = made.player_ids
    rounds = [build.a_round(store, made.tournament_id, index) for index in (0, 1)]
    points = {"points": ["1.00", "0.00"], "status": "completed", "positions": [first, second]}
    build.a_game(
        store, made.tournament_id, [first, second], round_id=rounds[0], arena_id=made.arena_ids[0], **points
    )
    build.a_game(store, made.tournament_id, [third, first], round_id=rounds[1], arena_id=made.arena_ids[1])
    build.a_game(store, made.tournament_id, [second], round_id=rounds[1], bye=True, status="completed")
    return made


@pytest.mark.parametrize("sheet", SHEETS)
def test_anybody_may_print(visitor: Visitor, night: build.Night, sheet: str) -> None:
    page = page_of(visitor, f"/t/{night.tournament_id}/print{sheet}")
    assert "Thursday Strikes" in page
    assert "style=" not in page
    assert "<script" not in page


def test_the_printed_round_lists_players_and_machines_in_order(visitor: Visitor, night: build.Night) -> None:
    text = page_forms.text_of(page_of(visitor, f"/t/{night.tournament_id}/print/round"))
    assert "Round 2" in text
    assert "Machine 2 1. Player 3 2. Player 1" in text
    assert "Bye: Player 2" in text
    assert "Machine 1 1." not in text


def test_an_older_round_can_be_chosen(visitor: Visitor, night: build.Night) -> None:
    form = page_forms.forms_on(page_of(visitor, f"/t/{night.tournament_id}/print"))["round"]
    assert (form.method, len(form.options["round"])) == ("get", 2)
    oldest = form.options["round"][-1]
    text = page_forms.text_of(page_of(visitor, f"{form.action}?round={oldest}"))
    assert "Machine 1 1. Player 1 2. Player 2" in text
    # An unknown round means the newest one.
    for odd in ("999", "x", "latest", "1,2", "9" * 40):
        assert "Round 2" in page_of(visitor, f"{form.action}?round={odd}")


def test_there_is_a_sheet_for_each_game_of_the_round(visitor: Visitor, night: build.Night) -> None:
    page = page_of(visitor, f"/t/{night.tournament_id}/print/scores")
    assert page.count('class="sheet"') == 1
    assert "1. Player 3" in page_forms.text_of(page)


def test_without_games_there_is_a_score_sheet_for_each_player(store: Store, visitor: Visitor) -> None:
    made = build.a_tournament(store, players=3, arenas=2, type="best_game")
    page = page_of(visitor, f"/t/{made.tournament_id}/print/scores")
    assert page.count('class="sheet"') == 3
    assert page.count("Machine 2") == 3


def test_a_tournament_without_anybody_says_so(store: Store, visitor: Visitor) -> None:
    made = build.a_tournament(store, players=0, arenas=0, status="planned")
    for sheet in ("scores", "names"):
        assert "Nobody takes part yet." in page_of(visitor, f"/t/{made.tournament_id}/print/{sheet}")
    assert "No games are drawn." in page_of(visitor, f"/t/{made.tournament_id}/print/round")


def test_each_name_has_the_code_of_its_own_page(store: Store, visitor: Visitor, night: build.Night) -> None:
    with store.write() as transaction:
        gone = (tables.entrant.c.player_id == night.player_ids[2]) & True
        transaction.connection.execute(update(tables.entrant).where(gone).values(status="inactive"))
    page = page_of(visitor, f"/t/{night.tournament_id}/print/names")
    codes = re.findall(r'<path[^>]* d="([^"]+)"', page)
    base = f"{build.BASE_URL}/t/{night.tournament_id}"
    wanted = [base, *(f"{base}/players/{player_id}" for player_id in night.player_ids[:2])]
    # Codes of one list share a mask.
    assert codes == [qr_path(address, like=base) for address in wanted]
    assert page_forms.foreign_in(page) == []


def qr_path(address: str, *, like: str = "") -> str:
    """The path of a QR code, in the mask of another one if given, drawn by a second call of the library."""
    mask = segno.make(like, error="m", micro=False).mask if like else None
    picture = segno.make(address, error="m", micro=False, mask=mask).svg_inline(border=2)
    found = re.search(r' d="([^"]+)"', picture)
    assert found is not None
    return found[1]


def test_a_code_holds_the_address_and_nothing_that_runs() -> None:
    address = "https://pins.example.org/t/12345678/players/12345678"
    picture = qr_code(address)
    assert "style" not in picture
    assert "script" not in picture
    assert "width" not in picture.replace("stroke-width", "")
    # 33 modules a side hold 62 letters at this level, which prints large enough on a list.
    assert segno.make(address, error="m", micro=False).symbol_size(border=0)[0] <= 33


def test_a_code_leads_to_where_the_player_plays_now(visitor: Visitor, night: build.Night) -> None:
    first, second, third = night.player_ids
    text = page_forms.text_of(page_of(visitor, f"/t/{night.tournament_id}/players/{first}"))
    assert "Play now Machine 2 You play 2nd of 2. With you, in play order 1. Player 3 2. Player 1 you" in text
    assert "My games Machine 1 1. Player 1 2. Player 2 1" in text
    waiting = page_forms.text_of(page_of(visitor, f"/t/{night.tournament_id}/players/{second}"))
    assert "Take a break" in waiting
    assert third


@pytest.mark.parametrize(
    ("status", "sentence"), [("planned", "begins on 2026-03-05"), ("completed", "Final results")]
)
def test_before_and_after_the_night_the_page_says_so(
    store: Store, visitor: Visitor, status: str, sentence: str
) -> None:
    made = build.a_tournament(store, status=status)
    path = f"/t/{made.tournament_id}/players/{made.player_ids[0]}"
    assert sentence in page_forms.text_of(page_of(visitor, path))


def test_a_player_outside_the_tournament_has_no_page(
    store: Store, visitor: Visitor, night: build.Night
) -> None:
    other = build.a_player(store, night.organizer_id)
    at = f"/t/{night.tournament_id}"
    for path in (
        f"{at}/players/{other}",
        f"{at}/players/x",
        "/t/999/players/1",
        "/t/999/print",
        "/t/x/print/names",
    ):
        assert visitor.get(path).status_code == 404


def test_a_hidden_number_is_on_no_sheet(store: Store, visitor: Visitor) -> None:
    made = build.a_tournament(store, players=0)
    values: dict[str, Any] = {"ifpa_id": 777_123_456}
    user_id = build.a_user(store, profile_opt_out=True, location="canary-town", **values)
    player_id = build.a_player(store, made.organizer_id, claimed_by=user_id, labels=[], **values)
    build.row(store, tables.entrant, tournament_id=made.tournament_id, player_id=player_id)
    for path in (*(f"/print{sheet}" for sheet in SHEETS), f"/players/{player_id}"):
        page = page_of(visitor, f"/t/{made.tournament_id}{path}")
        assert "canary" not in page
        assert "777123456" not in page


def test_hostile_names_are_text_on_paper(store: Store, visitor: Visitor) -> None:
    names = [payload.replace("\x00", "") or "x" for payload in hostile.PAYLOADS]
    made = build.a_tournament(store, players=len(names), arenas=len(names), name=names[0])
    with store.write() as transaction:
        for table, ids in ((tables.player, made.player_ids), (tables.arena, made.arena_ids)):
            key = table.primary_key.columns[0]
            for player_id, name in zip(ids, names, strict=True):
                transaction.connection.execute(update(table).where(key == player_id).values(name=name))
    round_id = build.a_round(store, made.tournament_id)
    for arena_id, pair in zip(
        made.arena_ids, zip(made.player_ids, made.player_ids[1:], strict=False), strict=False
    ):
        build.a_game(store, made.tournament_id, list(pair), round_id=round_id, arena_id=arena_id)
    paths = [
        *(f"/print{sheet}" for sheet in SHEETS),
        *(f"/players/{player_id}" for player_id in made.player_ids[::7]),
    ]
    for path in paths:
        assert page_forms.foreign_in(page_of(visitor, f"/t/{made.tournament_id}{path}")) == [], path


def test_more_sheets_than_can_be_drawn_are_refused_with_the_limit(
    store: Store, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("silverball.web.public.print_sheets.SHEETS_MAX", 3)
    night = build.a_tournament(store, players=4)
    refused = visitor.get(f"/t/{night.tournament_id}/print/names")
    assert refused.status_code == 422
    assert "At most 3 sheets are printed at once, and these are 4." in refused.text
    assert visitor.get(f"/t/{night.tournament_id}/print").status_code == 200
