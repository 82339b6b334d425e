"""Shared rules ask a format's settings for what they have."""

from typing import runtime_checkable

from silverball.rules.model import settings_protocols
from silverball.rules.model.settings_protocols import has
from silverball.rules.registry import FORMATS

PROTOCOLS = {
    protocol
    for module in (settings_protocols, settings_protocols)
    for name, protocol in vars(module).items()
    if name.startswith("Has")
}


def test_every_format_answers_for_every_protocol_as_isinstance_does() -> None:
    assert len(PROTOCOLS) > 25
    for form in FORMATS.values():
        values = form.settings()
        for protocol in PROTOCOLS:
            assert has(values, protocol) == isinstance(values, runtime_checkable(protocol)), (
                form.type,
                protocol,
            )


def test_every_protocol_is_answered_yes_by_some_format_and_no_by_another() -> None:
    for protocol in PROTOCOLS:
        assert {has(form.settings(), protocol) for form in FORMATS.values()} == {True, False}, protocol
