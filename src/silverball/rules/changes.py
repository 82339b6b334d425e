"""Everything that can happen to a tournament: facts in the past tense, one frozen dataclass each."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Change:
    """Something that happened to a tournament."""

    def journalled(self) -> Mapping[str, Any]:
        """What the journal keeps of it."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class TournamentImported(Change):
    """A whole tournament came in from a file; undo and verification begin after it."""

    tournament_id: int
    # Kind of thing -> the stored fields of each: what the tournament consists of.
    parts: Mapping[str, Sequence[Mapping[str, Any]]]
    # Where it came from, and a digest by which the same file is known again.
    origin: Mapping[str, Any]

    def journalled(self) -> Mapping[str, Any]:
        return self.origin
