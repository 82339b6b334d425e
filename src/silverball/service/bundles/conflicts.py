"""Refusals of bundles whose ids or links are taken here."""

import re

from silverball.kit.errors import Conflict


def kind_title(kind: str) -> str:
    """The id's name as the first words of a sentence: `singlePlayerGameId` -> "Single player game"."""
    words = re.sub(r"(?=[A-Z])", " ", kind.removesuffix("Id")).lower()
    return words[0].upper() + words[1:]


class IdInUse(Conflict):
    """Another object has the id; the bundle can be imported with new ids."""

    sentence = "{kind} {key} is here already{where}. Import with new ids (--renumber), or leave it out."

    def __init__(self, kind: str, key: int, where: str) -> None:
        super().__init__(kind=kind_title(kind), key=key, where=where)


class LinkInUse(Conflict):
    """The custom link leads to something else here."""

    sentence = "The custom link {link} is in use already. Import with new ids (--renumber), or leave it out."
