"""Match the players of a document with people known here. Pure: the known people are an argument."""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from silverball.service.submissions.document import DocumentPlayer
from silverball.store import names


class KnownPerson(Struct, frozen=True):
    """A person known here by account, by federation number or by both."""

    user_id: int | None
    ifpa_id: int | None


class KnownPeople(Struct, frozen=True):
    """The people that a document's players may be."""

    # User id -> that user.
    users: Mapping[int, KnownPerson] = msgspec.field(default_factory=dict)
    # Federation number -> the users with this number.
    by_ifpa: Mapping[int, Sequence[KnownPerson]] = msgspec.field(default_factory=dict)
    # Folded name (no case, no accents) -> the people of that name.
    by_name: Mapping[str, Sequence[KnownPerson]] = msgspec.field(default_factory=dict)

    def person_by_ifpa(self, ifpa_id: int) -> KnownPerson:
        """The holder of this federation number; with their account only if no other account has it."""
        users = self.by_ifpa.get(ifpa_id, ())
        return users[0] if len(users) == 1 else KnownPerson(None, ifpa_id)


class ResolvedPlayer(Struct, frozen=True):
    """A player of a document and the person behind them."""

    name: str
    ifpa_id: int | None
    user_id: int | None
    # Whether the match is final.
    settled: bool
    candidates: tuple[KnownPerson, ...] = ()

    def identifiers(self) -> list[tuple[str, int]]:
        """The identifiers that no two players can share."""
        listed = (("user", self.user_id), ("ifpa", self.ifpa_id))
        return [(kind, value) for kind, value in listed if value is not None]


def resolve_players(players: Sequence[DocumentPlayer], known: KnownPeople) -> tuple[ResolvedPlayer, ...]:
    """Match the players, in their order. Two matched to one person, one of them by name only, stay open."""
    resolved = [_resolve_player(player, known) for player in players]
    counted = Counter(key for match in resolved for key in match.identifiers())
    return tuple(
        _as_unsettled(match)
        if _is_known_by_name_only(player, known) and any(counted[key] > 1 for key in match.identifiers())
        else match
        for player, match in zip(players, resolved, strict=True)
    )


def duplicate_faults(players: Sequence[ResolvedPlayer]) -> list[str]:
    """Sentences for players who turned out to be one person, by account or by number."""
    faults: list[str] = []
    first_places: dict[tuple[str, int], int] = {}
    for place, player in enumerate(players):
        firsts = [first_places.setdefault(key, place) for key in player.identifiers()]
        if any(first != place for first in firsts):
            faults.append(f"players.{place}: This is the same person as players.{min(firsts)}.")
    return faults


def _is_known_by_name_only(player: DocumentPlayer, known: KnownPeople) -> bool:
    return player.ifpa_id is None and player.matchplay_user_id not in known.users


def _as_unsettled(player: ResolvedPlayer) -> ResolvedPlayer:
    person = KnownPerson(player.user_id, player.ifpa_id)
    return ResolvedPlayer(player.name, None, None, settled=False, candidates=(person,))


def _resolve_player(player: DocumentPlayer, known: KnownPeople) -> ResolvedPlayer:
    """Match a player by federation number, by user id, or by a name that only one person has."""
    if player.ifpa_id is not None:
        by_number = known.person_by_ifpa(player.ifpa_id)
        user = known.users.get(player.matchplay_user_id or 0, by_number)
        if user.ifpa_id in (None, player.ifpa_id):
            return ResolvedPlayer(player.name, player.ifpa_id, user.user_id, settled=True)
        return ResolvedPlayer(player.name, player.ifpa_id, None, settled=False, candidates=(by_number, user))
    account = None if player.matchplay_user_id is None else known.users.get(player.matchplay_user_id)
    if account is not None:
        return ResolvedPlayer(player.name, account.ifpa_id, account.user_id, settled=True)
    namesakes = tuple(known.by_name.get(names.fold(player.name) or "", ()))
    if len(namesakes) == 1:
        return ResolvedPlayer(player.name, namesakes[0].ifpa_id, namesakes[0].user_id, settled=True)
    return ResolvedPlayer(player.name, None, None, settled=False, candidates=namesakes)
