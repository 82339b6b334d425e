"""Refusals: the answers to requests that cannot be carried out.

    Refusal
    |-- NotFound       the thing does not exist, or the caller may not know that it does
    |-- NotAllowed     the caller may not do this
    |-- Conflict       the state of the thing does not allow it
    |-- Invalid        the request itself is wrong; every fault is listed by field
    |-- WrongFormat    the tournament's format has no such thing
    |-- Gone           it existed once and is kept no longer
    `-- ServiceUnavailable  not now; the same request can succeed later

A refusal carries data: a stable `code`, the ids that it is about, and a sentence made from both.

    class PlayerAlreadyEntered(Conflict):
        sentence = "{player} is in the tournament already."

    raise PlayerAlreadyEntered(player=12)

The interface prints "Player 12 is in the tournament already."; a page puts the player's name there
(`refusal.text(names)`), and may say some words as its readers do (`words`). This module imports nothing
of the project: the rules use it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

# The kinds of thing that a sentence refers to by id, so that a page can show their names.
REFERENCE_KINDS = ("player", "game", "arena")
# The name of a thing by kind and id; None where the reader may see the id only.
Names = Callable[[str, int], str | None]
# Words of sentences -> the words that a reader uses.
Words = Mapping[str, str]
SAME_WORDS: Words = MappingProxyType({})
_SLOT = re.compile(r"\{(\w+)\}")
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def _no_names(_kind: str, _key: int) -> None:
    """Leave every id as it is, as the interface shows it."""


class Sentence:
    """A sentence with slots, and the facts that fill them.

    A slot called player, game or arena (also in the plural, or with a word before it, as in
    `other_player`) holds an id or a sequence of ids; every other slot holds plain text.
    """

    def __init__(self, template: str, **facts: Any) -> None:
        self.template = template
        self.facts = facts

    def text(self, names: Names = _no_names, words: Words = SAME_WORDS) -> str:
        """The sentence for a reader: with names where `names` knows them, else with ids."""

        def filled(slot: re.Match[str]) -> str:
            key = slot[1]
            if key not in self.facts:
                return slot[0]
            return _slot_text(key, self.facts[key], names, words, is_first=slot.start() == 0)

        return _SLOT.sub(filled, _in_words(self.template, words))

    def __str__(self) -> str:
        return self.text()


def _in_words(template: str, words: Words) -> str:
    """The template in the reader's words, with its slots as they are."""
    if not words:
        return template
    longest_first = "|".join(rf"\b{re.escape(word)}\b" for word in sorted(words, key=len, reverse=True))
    return re.sub(rf"{_SLOT.pattern}|{longest_first}", lambda word: words.get(word[0], word[0]), template)


def _slot_text(key: str, value: Any, names: Names, words: Words, *, is_first: bool) -> str:
    word = key.rsplit("_", 1)[-1]
    kind = word.removesuffix("s")
    if kind not in REFERENCE_KINDS:
        return str(value)
    ids = [value] if isinstance(value, int) else list(value)
    known = [names(kind, each) for each in ids]
    if ids and all(name is not None for name in known):
        text = _listed([str(name) for name in known])
        return text[:1].upper() + text[1:] if is_first else text
    noun = _in_words(kind if len(ids) == 1 else f"{kind}s", words)
    return f"{noun.capitalize() if is_first else noun} {_listed([str(each) for each in ids])}"


def _listed(words: Sequence[str]) -> str:
    """The words as prose: "1, 2 and 3"."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


class Refusal(Exception):
    """A request that cannot be carried out: its code, the facts, and a sentence for the caller.

    A subclass gets its `code` from its name (`GameAlreadyCompleted`: "game-already-completed"). Codes
    are published and never change: a class that is renamed keeps its code by naming it.
    """

    code: ClassVar[str] = "refused"
    # What is wrong, and what to do next. Slots are filled with the facts.
    sentence: ClassVar[str] = "This cannot be done."
    # Members of the interface's answer beside sentence and code.
    more: Mapping[str, object] = MappingProxyType({})

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "code" not in cls.__dict__:
            cls.code = _CAPITAL.sub("-", cls.__name__).lower()

    def __init__(self, template: str | None = None, **facts: Any) -> None:
        self._sentence = Sentence(self.sentence if template is None else template, **facts)
        self.facts = facts
        self.message = self._sentence.text()
        super().__init__(self.message)

    def text(self, names: Names = _no_names, words: Words = SAME_WORDS) -> str:
        """The sentence for a reader, with names in place of ids where `names` knows them."""
        return self._sentence.text(names, words)


class NotFound(Refusal):
    """Nothing exists under this id. The wording is the one that existing clients know."""

    sentence = "No query results for model [App\\Models\\{model}]{keys}"

    def __init__(self, model: str, *keys: object) -> None:
        listed = " " + ", ".join(str(key) for key in keys) if keys else "."
        super().__init__(model=model, keys=listed)


class MovedElsewhere(NotFound):
    """The thing existed under this id and has another one now."""

    def __init__(self, model: str, key: object, *, moved_to: str) -> None:
        super().__init__(model, key)
        self.moved_to = moved_to


class NotAllowed(Refusal):
    """The caller is known but may not do this."""

    sentence = "This action is unauthorized."


class Conflict(Refusal):
    """The state of the thing does not allow it now. Raise a subclass, which says why."""


class WrongFormat(Refusal):
    """A tournament of this format has no such thing. Raise a subclass, which says what."""


class Gone(Refusal):
    """The thing existed once and is kept no longer."""


class ServiceUnavailable(Refusal):
    """No answer is possible now, and nothing is wrong with the request."""

    sentence = "Service Unavailable"


class Invalid(Refusal):
    """A request with faults, which are listed by field as the client named it."""

    def __init__(self, faults: Mapping[str, Sequence[str | Sentence]]) -> None:
        self.faults = faults
        self.errors = {name: [str(fault) for fault in listed] for name, listed in faults.items()}
        sentences = [fault for listed in self.errors.values() for fault in listed]
        more = len(sentences) - 1
        suffix = f" (and {more} more error{'s' if more != 1 else ''})" if more else ""
        super().__init__("{faults}", faults=sentences[0] + suffix)

    def text(self, names: Names = _no_names, words: Words = SAME_WORDS) -> str:
        """All faults in a row, with names in place of ids where `names` knows them."""
        listed = [fault for faults in self.faults.values() for fault in faults]
        return " ".join(
            each.text(names, words) if isinstance(each, Sentence) else _in_words(each, words)
            for each in listed
        )
