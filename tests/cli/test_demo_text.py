"""What the demo prints, for people and for programs."""

import json

import pytest

from silverball.cli import demo as command
from silverball.cli.demo import DemoFacts
from silverball.kit.values import replace

FACTS = DemoFacts(
    base_url="http://127.0.0.1:8000",
    lan_url=None,
    token="1|slv_x",
    user_id=1,
    email="demo@silverball.invalid",
    password="abc",
)


@pytest.mark.parametrize(
    ("base_url", "ws_url"),
    [
        ("http://127.0.0.1:8000", "ws://127.0.0.1:8000"),
        ("https://demo.example.org", "wss://demo.example.org"),
        ("https://http.example.org/pinball", "wss://http.example.org/pinball"),
    ],
)
def test_the_websocket_address_follows_the_base_url(base_url: str, ws_url: str) -> None:
    facts = replace(FACTS, base_url=base_url)
    assert json.loads(command.ready_json(facts))["wsUrl"] == ws_url
    assert f"Websocket URL  {ws_url}\n" in command.ready_text(facts)


def test_a_line_sets_the_token_and_the_others_use_it() -> None:
    lines = [line.strip() for line in command.ready_text(FACTS).splitlines()]
    assert "export TOKEN='1|slv_x'" in lines
    curls = [line for line in lines if line.startswith("curl ")]
    assert all("1|slv_x" not in line for line in curls)
    assert sum("Bearer $TOKEN" in line for line in curls) == 4
    assert any("/api/tournaments/1/" in line for line in curls)
    assert any("/api/tournaments/244501" in line for line in curls)


def test_the_address_for_phones_comes_with_a_warning() -> None:
    assert "Phones" not in command.ready_text(FACTS)
    shown = command.ready_text(replace(FACTS, lan_url="http://192.0.2.7:8000"))
    assert "http://192.0.2.7:8000/t/1  (everybody on this network can open it" in shown
