"""Query strings: lenient where clients are sloppy, strict where silence would hide a mistake.

Flags: 1, true, on and yes in any case are true, everything else is false. Lists are one parameter
with commas, or a repeated parameter (`ids=1&ids=2`, `ids[]=1&ids[]=2`); a list of texts can only be
repeated, since a text may contain a comma. Numbers outside their limits are refused, never clamped.
A refusal lists all faults at once. Parameters that the route does not know are ignored, and so are bad
values of fields marked IGNORED_WHEN_INVALID; the answer names both.
"""

import re
from collections.abc import Callable, Iterable
from typing import Annotated, Any
from urllib.parse import parse_qsl, quote, urlencode

import msgspec
from msgspec import Struct

from silverball.kit import values
from silverball.kit.errors import Invalid
from silverball.kit.http.fields import Choices, marks_of

TRUE_WORDS = frozenset({"1", "true", "on", "yes"})
PAIRS_MAX = 200
NUMBER = re.compile(r"[+-]?[0-9]{1,25}", re.ASCII)
Pairs = list[tuple[str, str]]
HeaderPairs = tuple[tuple[bytes, bytes], ...]
# The optional suffix of a list's name.
LIST_SUFFIX = "[]"
# Names the ignored parameters of a request, in the order sent.
IGNORED_HEADER = b"x-ignored-parameters"
IGNORED_NAMES_MAX = 20
IGNORED_LETTERS_MAX = 60
# The `page` of a list; service/core/calls.py limits its depth.
PageNumber = Annotated[int, msgspec.Meta(ge=1)]


class Query(msgspec.Struct, rename="camel", frozen=True, kw_only=True, forbid_unknown_fields=False):
    """Parameters of a route. Every subclass repeats `frozen=True, kw_only=True`."""


class ParsedQuery(Struct, frozen=True):
    """The parameters of a request, and the names of those that were ignored."""

    query: Any
    ignored: tuple[str, ...] = ()

    @property
    def headers(self) -> HeaderPairs:
        """The header that names what was ignored; no header when nothing was."""
        return ((IGNORED_HEADER, _listed_in_header(self.ignored)),) if self.ignored else ()


class _FieldFault(Exception):
    """A fault of one field, as a sentence."""


def parse_query(query_string: bytes) -> Pairs:
    """The parameters in the order sent: trimmed, without empty ones."""
    if not query_string:
        return []
    # Some clients send non-ASCII letters unescaped.
    text = query_string.decode("utf-8", "replace")
    try:
        sent = parse_qsl(text, keep_blank_values=True, errors="replace", max_num_fields=PAIRS_MAX)
    except ValueError as error:
        raise Invalid({"query": ["The query must not have more than 200 items."]}) from error
    # No stored text contains a zero byte.
    cleaned = [(name, value.replace("\x00", "").strip()) for name, value in sent]
    return [(name, value) for name, value in cleaned if value]


class QueryParser:
    """Converts name-value pairs into one Struct. Built once per route."""

    def __init__(self, query: type[Query]) -> None:
        self.query = query
        self.fields = [_QueryField(info) for info in msgspec.structs.fields(query)]
        self._known_names = {name for field in self.fields for name in field.accepted_names}
        # Of a request without parameters, once one was parsed.
        self._of_nothing: ParsedQuery | None = None

    def parse(self, pairs: Pairs) -> ParsedQuery:
        """The Struct and what was ignored. Raises Invalid with every fault, by the name the client used."""
        if pairs:
            return self._parse(pairs)
        if self._of_nothing is None:
            self._of_nothing = self._parse([])
        return self._of_nothing

    def _parse(self, pairs: Pairs) -> ParsedQuery:
        sent: dict[str, list[str]] = {}
        for name, value in pairs:
            sent.setdefault(name, []).append(value)
        values: dict[str, Any] = {}
        faults: dict[str, list[str]] = {}
        ignored = sent.keys() - self._known_names
        for field in self.fields:
            try:
                value = field.find_value(sent)
                if value is not None:
                    values[field.name] = value
                elif field.required:
                    faults[field.encoded_name] = [f"The {field.human_name} field is required."]
            except _FieldFault as fault:
                if field.ignores(fault):
                    ignored |= sent.keys() & field.accepted_names
                else:
                    faults[field.encoded_name] = [f"The {fault}"]
        if faults:
            raise Invalid(faults)
        return ParsedQuery(self.query(**values), tuple(name for name in sent if name in ignored))


class _NotAnInteger(_FieldFault):
    """Text in place of a number. With digits no field ignores it: nobody can guess what it meant."""

    def __init__(self, sentence: str, text: str) -> None:
        super().__init__(sentence)
        self.is_a_word = not any(letter.isdigit() for letter in text)


class _QueryField:
    """One field of a query."""

    def __init__(self, info: msgspec.structs.FieldInfo) -> None:
        self.name = info.name
        self.encoded_name = info.encode_name
        self.required = info.required
        self.human_name = humanize_name(info.encode_name)
        # Of a field that is no list, the name of a list is known in order to be refused.
        self.accepted_names = {info.encode_name, info.encode_name + LIST_SUFFIX}
        marks = marks_of(info.type)
        self._is_ignored_when_invalid = marks.get("is_ignored_when_invalid", False)
        self._is_ignored_when_a_word = marks.get("is_ignored_when_a_word", False)
        kind = _without_marks(values.inspect(info.type))
        self.items = kind if isinstance(kind, msgspec.inspect.VarTupleType) else None
        if "choices" in marks:
            self.read = _make_choice_reader(marks["choices"], self.human_name)
        elif "is_valid" in marks:
            self.read = _make_checked_reader(marks["is_valid"], self.human_name)
        else:
            self.read = _make_reader(self.items.item_type if self.items else kind, self.human_name)

    def ignores(self, fault: _FieldFault) -> bool:
        """Whether a value with this fault counts as absent."""
        if isinstance(fault, _NotAnInteger):
            return bool(self._is_ignored_when_a_word) and fault.is_a_word
        return bool(self._is_ignored_when_invalid)

    def find_value(self, sent: dict[str, list[str]]) -> Any:
        """The field's value among the values sent, by name; None when absent. Raises _FieldFault."""
        texts, listed = sent.get(self.encoded_name, []), sent.get(self.encoded_name + LIST_SUFFIX, [])
        if self.items is not None:
            return self._read_list([*texts, *listed], self.items) if texts or listed else None
        if listed:
            raise _FieldFault(f"{self.human_name} field must not be a list.")
        # Of a repeated parameter the last value counts.
        return self.read(texts[-1]) if texts else None

    def _read_list(self, texts: list[str], kind: msgspec.inspect.VarTupleType) -> tuple[Any, ...]:
        if not isinstance(kind.item_type, msgspec.inspect.StrType):
            texts = [word for text in texts for word in text.split(",")]
        words = [word.strip() for word in texts if word.strip()]
        if kind.max_length is not None and len(words) > kind.max_length:
            raise _FieldFault(f"{self.human_name} field must not have more than {kind.max_length} items.")
        return tuple(self.read(word) for word in words)


def humanize_name(name: str) -> str:
    """`tournamentId` as words: tournament id."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", name).replace("_", " ").lower()


def _listed_in_header(names: Iterable[str]) -> bytes:
    """The names separated by commas: escaped as in a URL, and cut, because anybody can send anything."""
    shown = [quote(name[:IGNORED_LETTERS_MAX], safe="[]") for name in names]
    return ", ".join(shown[:IGNORED_NAMES_MAX]).encode()


def _without_marks(kind: msgspec.inspect.Type) -> msgspec.inspect.Type:
    """The type itself: without None beside it, and without marks of `fields.py`."""
    if isinstance(kind, msgspec.inspect.UnionType):
        kind = next(part for part in kind.types if not isinstance(part, msgspec.inspect.NoneType))
    return kind.type if isinstance(kind, msgspec.inspect.Metadata) else kind


def _make_reader(kind: msgspec.inspect.Type, human_name: str) -> Callable[[str], Any]:
    if isinstance(kind, msgspec.inspect.BoolType):
        return lambda text: text.lower() in TRUE_WORDS
    if isinstance(kind, msgspec.inspect.IntType):
        return lambda text: _parse_integer(text, kind, human_name)
    if isinstance(kind, msgspec.inspect.LiteralType):
        return _make_choice_reader(lambda: map(str, kind.values), human_name)
    if isinstance(kind, msgspec.inspect.StrType):
        return lambda text: _parse_text(text, kind, human_name)
    raise TypeError(f"no reader for the query field {human_name}: {kind}")


def _make_choice_reader(choices: Choices, human_name: str) -> Callable[[str], str]:
    return _make_checked_reader(lambda text: text in choices(), human_name)


def _make_checked_reader(is_valid: Callable[[str], bool], human_name: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if not is_valid(text):
            raise _FieldFault(f"selected {human_name} is invalid.")
        return text

    return read


def _parse_integer(text: str, kind: msgspec.inspect.IntType, human_name: str) -> int:
    if not NUMBER.fullmatch(text):
        raise _NotAnInteger(f"{human_name} field must be an integer.", text)
    value = int(text)
    if kind.ge is not None and value < kind.ge:
        raise _FieldFault(f"{human_name} field must be at least {kind.ge}.")
    if kind.le is not None and value > kind.le:
        raise _FieldFault(f"{human_name} field must not be greater than {kind.le}.")
    return value


def _parse_text(text: str, kind: msgspec.inspect.StrType, human_name: str) -> str:
    if kind.max_length is not None and len(text) > kind.max_length:
        raise _FieldFault(f"{human_name} field must not be greater than {kind.max_length} characters.")
    return text


# The links and the page bar of one page of a list, as existing clients know them.
#
# Source: conventions.md, pagination envelopes; samples/cards.json, samples/tournaments-played.json.


# Up to this count the bar has a link to each page; above, it has gaps.
PAGES_WITHOUT_GAP_MAX = 13
PAGES_EACH_SIDE = 3
# A current page this close to an end is linked without a gap up to that end.
PAGES_NEAR_END = PAGES_EACH_SIDE + 4
GAP = None

QueryPairs = Iterable[tuple[str, str]]


def last_page_number(total: int, per_page: int) -> int:
    """The number of the last page; an empty list has one empty page."""
    return max(1, -(-total // per_page))


def page_numbers(page: int, last_page: int) -> list[int | None]:
    """The page numbers in the bar, with None for a gap."""
    if last_page <= PAGES_WITHOUT_GAP_MAX:
        return list(range(1, last_page + 1))
    start: list[int | None] = [1, 2]
    end: list[int | None] = [last_page - 1, last_page]
    long = PAGES_NEAR_END + PAGES_EACH_SIDE
    if page <= PAGES_NEAR_END:
        return [*range(1, long + 1), GAP, *end]
    if page > last_page - PAGES_NEAR_END:
        return [*start, GAP, *range(last_page - long + 1, last_page + 1)]
    return [*start, GAP, *range(page - PAGES_EACH_SIDE, page + PAGES_EACH_SIDE + 1), GAP, *end]


def paginate(
    total: int, page: int, per_page: int, path_url: str, query_pairs: QueryPairs = ()
) -> dict[str, Any]:
    """`links` and `meta` of the full envelope for page `page` of `total` entries.

    `path_url` is the URL without its query; `query_pairs` are the parameters that every link repeats
    (`page` is replaced).
    """
    urls = _PageUrls(path_url, query_pairs)
    last_page = last_page_number(total, per_page)
    previous_page, next_page = _adjacent_pages(page, last_page)
    first_row, last_row = _row_range(total, page, per_page)
    bar = [_bar_item(urls, "&laquo; Previous", previous_page)]
    bar += [_number_item(urls, number, page) for number in page_numbers(page, last_page)]
    bar.append(_bar_item(urls, "Next &raquo;", next_page))
    return {
        "links": {
            "first": urls.url(1),
            "last": urls.url(last_page),
            "prev": urls.url(previous_page),
            "next": urls.url(next_page),
        },
        "meta": {
            "current_page": page,
            "from": first_row,
            "last_page": last_page,
            "links": bar,
            "path": path_url,
            "per_page": per_page,
            "to": last_row,
            "total": total,
        },
    }


def simple_paginate(
    total: int,
    page: int,
    per_page: int,
    path_url: str,
    query_pairs: QueryPairs = (),
    *,
    has_chosen_limit: bool = False,
) -> dict[str, Any]:
    """`links` and `meta` of the tournament list: no page bar, no link to the last page.

    `per_page` is text when the client chose it (`limit_given`).
    """
    urls = _PageUrls(path_url, query_pairs)
    last_page = last_page_number(total, per_page)
    previous_page, next_page = _adjacent_pages(page, last_page)
    first_row, last_row = _row_range(total, page, per_page)
    return {
        "links": {
            "first": urls.url(1),
            "last": None,
            "prev": urls.url(previous_page),
            "next": urls.url(next_page),
        },
        "meta": {
            "current_page": page,
            "current_page_url": urls.url(page),
            "from": first_row,
            "path": path_url,
            "per_page": str(per_page) if has_chosen_limit else per_page,
            "to": last_row,
            "last_page": last_page,
            "total": total,
        },
    }


class _PageUrls:
    """URLs of the pages of one list."""

    def __init__(self, path_url: str, query_pairs: QueryPairs) -> None:
        parameters = urlencode([(name, text) for name, text in query_pairs if name != "page"])
        self._before_number = f"{path_url}?{parameters}&page=" if parameters else f"{path_url}?page="

    def url(self, page: int | None) -> str | None:
        return None if page is None else f"{self._before_number}{page}"


def _adjacent_pages(page: int, last_page: int) -> tuple[int | None, int | None]:
    return (page - 1 if page > 1 else None, page + 1 if page < last_page else None)


def _row_range(total: int, page: int, per_page: int) -> tuple[int | None, int | None]:
    """The numbers of the first and last entry on the page, from 1; None when it is empty."""
    skipped = per_page * (page - 1)
    if skipped >= total:
        return None, None
    return skipped + 1, min(total, skipped + per_page)


def _bar_item(urls: _PageUrls, label: str, page: int | None) -> dict[str, Any]:
    return {"url": urls.url(page), "label": label, "page": page, "active": False}


def _number_item(urls: _PageUrls, number: int | None, page: int) -> dict[str, Any]:
    if number is None:
        return {"url": None, "label": "...", "active": False}
    return {**_bar_item(urls, str(number), number), "active": number == page}
