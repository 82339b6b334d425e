"""The pages that answer a refused form."""

from types import MappingProxyType

from silverball.kit.edge.idempotency import IdempotencyKeyMalformed, IdempotencyKeyReused
from silverball.kit.errors import Names, Refusal, Words
from silverball.kit.http import refusals

# Pages say machine where the interface says arena.
PAGE_WORDS: Words = MappingProxyType({"an arena": "a machine", "arena": "machine", "arenas": "machines"})


def refusal_text(refusal: Refusal, names: Names | None = None) -> str:
    """The refusal's sentence in the words of pages, with names in place of ids where there are some."""
    return refusal.text(words=PAGE_WORDS) if names is None else refusal.text(names, PAGE_WORDS)


def status_for(refusal: Refusal) -> int:
    """The status of the page that shows the form again."""
    return refusals.status_for(type(refusal))


def needs_new_key(refusal: Refusal) -> bool:
    """Whether the form's idempotency key was refused, so that the form cannot be sent with it again."""
    return isinstance(refusal, IdempotencyKeyMalformed | IdempotencyKeyReused)
