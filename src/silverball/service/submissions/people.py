"""Who the players of a document are here. Pure: what is known of them is an argument."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from silverball.service.submissions.document import DocumentPlayer
from silverball.store import names


@dataclass(frozen=True)
class KnownPerson:
    """Somebody who is known here, by account, by federation number or by both."""

    user_id: int | None
    ifpa_id: int | None


@dataclass(frozen=True)
class KnownPeople:
    """What is known of whom a document may mean."""

    # User id -> that user.
    users: Mapping[int, KnownPerson] = field(default_factory=dict)
    # Federation number -> the users who have it.
    by_ifpa: Mapping[int, Sequence[KnownPerson]] = field(default_factory=dict)
    # Name without case and accents -> everybody of that name.
    by_name: Mapping[str, Sequence[KnownPerson]] = field(default_factory=dict)

    def person_by_ifpa(self, ifpa_id: int) -> KnownPerson:
        """Whoever has this federation number; an account only when one alone claims it."""
        users = self.by_ifpa.get(ifpa_id, ())
        return users[0] if len(users) == 1 else KnownPerson(None, ifpa_id)


@dataclass(frozen=True)
class ResolvedPlayer:
    """A player of a document, and who it is."""

    name: str
    ifpa_id: int | None
    user_id: int | None
    # Whether that is decided.
    settled: bool
    candidates: tuple[KnownPerson, ...] = ()

    def identifiers(self) -> list[tuple[str, int]]:
        """What no two players can have in common."""
        listed = (("user", self.user_id), ("ifpa", self.ifpa_id))
        return [(kind, value) for kind, value in listed if value is not None]


def resolve_players(players: Sequence[DocumentPlayer], known: KnownPeople) -> tuple[ResolvedPlayer, ...]:
    """Who the players are, in their order; two whom only their names tell apart are left open."""
    found = [_resolve_player(one, known) for one in players]
    counted = Counter(key for one in found for key in one.identifiers())
    return tuple(
        _as_unsettled(one)
        if _is_known_by_name_only(player, known) and any(counted[key] > 1 for key in one.identifiers())
        else one
        for player, one in zip(players, found, strict=True)
    )


def duplicate_faults(players: Sequence[ResolvedPlayer]) -> list[str]:
    """Players who turned out to be one and the same, by account or by number."""
    found: list[str] = []
    seen: dict[tuple[str, int], int] = {}
    for place, one in enumerate(players):
        firsts = [seen.setdefault(key, place) for key in one.identifiers()]
        if any(first != place for first in firsts):
            found.append(f"players.{place}: This is the same person as players.{min(firsts)}.")
    return found


def _is_known_by_name_only(player: DocumentPlayer, known: KnownPeople) -> bool:
    return player.ifpa_id is None and player.matchplay_user_id not in known.users


def _as_unsettled(one: ResolvedPlayer) -> ResolvedPlayer:
    person = KnownPerson(one.user_id, one.ifpa_id)
    return ResolvedPlayer(one.name, None, None, settled=False, candidates=(person,))


def _resolve_player(player: DocumentPlayer, known: KnownPeople) -> ResolvedPlayer:
    """Who the player is: by federation number, by user id, or because nobody else has the name."""
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
