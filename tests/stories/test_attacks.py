"""The open port under attack: memory and descriptors come back, and other people are answered."""

from pathlib import Path

import pytest

from silverball.store.database.postgresql import CONNECTIONS_MAX
from stories.attacks import ATTACKS, cost_of

# What a repeated attack may add: an attacker could go on adding it.
ADDED_MB_MAX = 2.0
DESCRIPTORS_MAX = 5
# A connection that the pool keeps: the file, its log and its index.
DESCRIPTORS_PER_CONNECTION = 3


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_that_is_repeated_adds_nothing_and_others_are_answered(name: str, tmp_path: Path) -> None:
    cost = cost_of(ATTACKS[name], tmp_path)
    assert cost.repeat_mb <= ADDED_MB_MAX
    assert cost.descriptors <= DESCRIPTORS_MAX
    assert cost.database_descriptors <= DESCRIPTORS_PER_CONNECTION * CONNECTIONS_MAX
    assert cost.statuses == {200}
