"""The envelopes around lists and items. Meta keys are snake_case on the wire."""

from typing import Generic, TypeVar

from msgspec import Struct, field

from silverball_wire.base import UNSET, UnsetType, Wire

T = TypeVar("T")


class PaginationLinks(Wire, frozen=True, kw_only=True):
    """Links to other pages; `last` is null in the simple envelope. Source: wire.yaml PaginationLinks."""

    first: str | None
    """Address of the first page; null when it is not known."""
    last: str | None
    """Address of the last page; null in the tournament list."""
    prev: str | None
    """Address of the page before; null on the first one."""
    next: str | None
    """Address of the next page; null on the last one."""


class PageLink(Wire, frozen=True, kw_only=True):
    """One link of the page bar. Source: samples/cards.json."""

    url: str | None
    """Address of the page; null in the gap and beyond the ends."""
    label: str
    page: int | UnsetType | None = UNSET
    """Number of the page; absent in the gap between numbers."""
    active: bool
    """Whether it is the page that was asked for."""


class PaginationMeta(Struct, frozen=True, kw_only=True):
    """The position of a page in its list. Source: wire.yaml PaginationMeta."""

    current_page: int
    from_: int | None = field(name="from")
    last_page: int
    links: tuple[PageLink, ...]
    """The bar of page numbers, as web pages show it."""
    path: str
    per_page: int
    to: int | None
    total: int
    """Number of items on all pages."""


class SimplePaginationMeta(Struct, frozen=True, kw_only=True):
    """The same for tournaments. Source: samples/tournaments-played.json, interface.md 2, row 9."""

    current_page: int
    current_page_url: str
    """Address of this page."""
    from_: int | None = field(name="from")
    path: str
    # Text when the client gave a limit.
    per_page: int | str
    to: int | None
    last_page: int = 1
    total: int = 0
    """Number of items on all pages."""


class Page(Wire, Generic[T], frozen=True, kw_only=True):
    """A page of a list. Source: conventions.md, pagination envelopes."""

    data: tuple[T, ...]
    """The items on this page."""
    links: PaginationLinks
    """Links to other pages."""
    meta: PaginationMeta


class SimplePage(Wire, Generic[T], frozen=True, kw_only=True):
    """A page of the tournament list. Source: samples/tournaments-played.json."""

    data: tuple[T, ...]
    """The items on this page."""
    links: PaginationLinks
    """Links to other pages."""
    meta: SimplePaginationMeta


class Data(Wire, Generic[T], frozen=True, kw_only=True):
    """An item, or a list without pages, under `data`. Source: samples/rounds.json."""

    data: T


class ErrorBody(Wire, frozen=True, kw_only=True):
    """A sentence for people, and a stable code for programs. Source: interface 7."""

    message: str
    code: str


class ValidationErrorBody(Wire, frozen=True, kw_only=True):
    """The faults of a request by field. Source: wire.yaml ValidationError, conventions.md."""

    message: str
    code: str
    errors: dict[str, tuple[str, ...]]
    """Faulty fields, each with the sentences about it."""
