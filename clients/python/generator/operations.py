"""Python source of the resources: one method for each operation."""

import re
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec

from generator import bodies, names
from silverball.kit.http.endpoints import Endpoint, FileDownload, Stream, SvgImage
from silverball.kit.http.openapi import documented_path
from silverball.service.tournaments.bodies import ChangedTournament
from silverball.service.tournaments.reads.parts import PartsQuery
from silverball_wire.generated.format_settings import SETTING_FIELDS
from silverball_wire.pages import Data, Page, SimplePage
from silverball_wire.tournaments import JournalAction, JournalPage

TEXTS = (FileDownload, SvgImage)
LINEUP = frozenset({"arenas", "banks"})
STAFF = frozenset({"directors", "scorekeepers"})
PACKAGE = "silverball_client"
REPORT = re.compile(r"(stats|summary)_|_csv$|top_scores|best_game|single_player_games|events|journal")
PARTS_OF_TOURNAMENTS = (
    "tournament_changes",
    "tournament_lineup",
    "tournament_reports",
    "tournament_roster",
    "tournament_staff",
)
# Arguments that many methods share, and are in a TypedDict of `options.py`: its name -> its fields.
PARTS = "TournamentParts"
SETTINGS = "FormatSettings"
BOTH = "SettingsAndParts"


@dataclass(frozen=True)
class Section:
    """A class of operations in a module of its own; a large resource has several."""

    module: str
    class_name: str
    purpose: str


@dataclass(frozen=True)
class Argument:
    """An argument of a method: `name: type = default`, and the parameter or field that it becomes."""

    name: str
    source: str
    wire_name: str
    description: str = ""


@dataclass(frozen=True)
class Described:
    """One operation as the client has it."""

    endpoint: Endpoint
    resource: str
    method: str

    @property
    def section(self) -> Section:
        """The class that has the method."""
        purpose = f"Operations of `client.{self.resource}`."
        if self.resource == "tournaments":
            parts = self.endpoint.path.removeprefix("/api/").split("/")
            kind = parts[2] if len(parts) > 2 and "bg" not in parts[-1] and parts[-1] != "csv" else ""
            if kind == "players":
                return Section("tournament_roster", "TournamentRoster", f"{purpose[:-1]}: who plays.")
            if kind in STAFF:
                return Section("tournament_staff", "TournamentStaff", f"{purpose[:-1]}: who runs it.")
            if kind in LINEUP:
                return Section(
                    "tournament_lineup", "TournamentLineup", f"{purpose[:-1]}: machines and banks."
                )
            if self.endpoint.is_write:
                return Section(
                    "tournament_changes", "TournamentChanges", f"{purpose[:-1]}: from start to end."
                )
            if REPORT.search(self.method):
                return Section(
                    "tournament_reports", "TournamentReports", f"{purpose[:-1]}: lists and statistics."
                )
        return Section(self.resource, class_name(self.resource), purpose)

    @property
    def route(self) -> str:
        """The route as the documents write it: `GET /tournaments/{tournamentId}`."""
        return f"{self.endpoint.method} {documented_path(self.endpoint).removeprefix('/api')}"


def describe(endpoints: Iterable[Endpoint]) -> list[Described]:
    """Return the operations of these endpoints. Raises ValueError when two have one name."""
    # A stream is what `client.follow` is for, which is written by hand.
    answered = [endpoint for endpoint in endpoints if endpoint.returns is not Stream]
    paths = [(endpoint.method, documented_path(endpoint).removeprefix("/api")) for endpoint in answered]
    known = {names.route_key(method, path) for method, path in paths}
    described: list[Described] = []
    for endpoint, (method, path) in zip(answered, paths, strict=True):
        resource, name = names.operation_name(method, path, known)
        for other in described:
            if (other.resource, other.method) == (resource, name):
                raise ValueError(f"{other.route} and {method} {path} are both {resource}.{name}")
        described.append(Described(endpoint, resource, name))
    return sorted(described, key=lambda each: (each.resource, each.method))


class OperationWriter:
    """Writes the modules of `operations/`, and collects the objects in bodies that they need."""

    def __init__(self, objects: bodies.Bodies) -> None:
        self.objects = objects

    def modules(self, described: list[Described]) -> dict[str, str]:
        """Return the source of `operations/`: file -> text."""
        by_section: defaultdict[Section, list[Described]] = defaultdict(list)
        for operation in described:
            by_section[operation.section].append(operation)
        resources = {operation.resource for operation in described}
        written = {
            f"{PACKAGE}/operations/{section.module}.py": self._module(section, operations, by_section)
            for section, operations in by_section.items()
        }
        package = f"{PACKAGE}/operations/__init__.py", f"{PACKAGE}/options.py"
        return {**written, package[0]: _package(sorted(resources)), package[1]: _options()}

    def _module(self, section: Section, operations: list[Described], sections: Iterable[Section]) -> str:
        body = [line for operation in operations for line in self._method(operation)]
        kinds = [
            kind
            for operation in operations
            for kind in (
                *_answer_kinds(operation.endpoint.returns),
                *_body_hints(operation.endpoint).values(),
                *_query_hints(operation.endpoint).values(),
            )
        ]
        bases = [
            other
            for other in sections
            if section.module == "tournaments" and other.module in PARTS_OF_TOURNAMENTS
        ]
        lines = [f'"""{section.purpose}"""', ""]
        lines += ["from collections.abc import Mapping, Sequence", "from datetime import date, datetime"]
        lines += ["from decimal import Decimal", "from typing import Any, Literal, Unpack", ""]
        lines += ["from msgspec import UNSET, UnsetType", ""]
        calling = "Alternatives, M, Request, Resource, chosen, operation, paged"
        lines += [f"from silverball_client.calling import {calling}"]
        lines += [f"from silverball_client.options import {PARTS}, {SETTINGS}, {BOTH}"]
        lines += [
            f"from silverball_client.operations.{base.module} import {base.class_name}" for base in bases
        ]
        lines += sorted({line for kind in kinds for line in _imports(kind)})
        base_names = [base.class_name for base in bases] or ["Resource"]
        lines += ["", "", f"class {section.class_name}({', '.join(f'{name}[M]' for name in base_names)}):"]
        lines += [f'    """{section.purpose}"""', *body]
        return "\n".join(lines) + "\n"

    def _method(self, described: Described) -> Iterator[str]:
        endpoint = described.endpoint
        in_path, in_query, in_body = _path_arguments(endpoint), _query_arguments(endpoint), []
        if endpoint.accepts_body_parameters and endpoint.method == "POST":
            in_query, in_body = [], in_query
        elif endpoint.body is not None:
            in_body = self._body_arguments(endpoint)
        options = _shared_options(endpoint)
        in_query = [] if endpoint.query is PartsQuery else in_query
        in_body = [
            argument
            for argument in in_body
            if argument.name not in SETTING_FIELDS or not _has_settings(endpoint)
        ]
        named = [argument.source for argument in [*in_query, *in_body]]
        required = [source for source in named if " = " not in source]
        optional = [source for source in named if " = " in source]
        if endpoint.is_write:
            optional.append("idempotency_key: str | None = None")
        keywords = ["*", *required, *optional] if required or optional else []
        if options:
            keywords.append(f"**options: Unpack[{options}]")
        signature = ", ".join(["self", *(argument.source for argument in in_path), *keywords])
        is_paged = _is_page(endpoint.returns)
        yield ""
        yield f"    @{'paged' if is_paged else 'operation'}"
        yield f"    def {described.method}({signature}) -> Request[{_returned_type(endpoint.returns)}]:"
        yield from _docstring(described, [*in_query, *in_body])
        yield "        return Request("
        yield f'            "{endpoint.method}",'
        yield f"            {_path_source(endpoint)},"
        yield f"            {_answer_source(endpoint.returns)},"
        if get_origin(endpoint.returns) is Data:
            yield "            in_data=True,"
        if in_query:
            yield f"            query={_mapping(in_query)},"
        if options:
            yield f"            query=chosen(options, {PARTS}, {options}),"
        if options == BOTH:
            yield f"            body={_mapping(in_body)} | chosen(options, {SETTINGS}, {options}),"
        elif in_body:
            yield f"            body={_mapping(in_body)},"
        if endpoint.is_write:
            yield "            is_write=True, idempotency_key=idempotency_key,"
        yield "        )"

    def _body_arguments(self, endpoint: Endpoint) -> list[Argument]:
        hints = get_type_hints(endpoint.body, include_extras=True)
        plain_hints = _body_hints(endpoint)
        arguments = []
        assert endpoint.body is not None
        for field in msgspec.structs.fields(endpoint.body):
            self.objects.add(plain_hints[field.name])
            text = bodies.argument_type(plain_hints[field.name], field.required)
            description = bodies.description_of(hints[field.name])
            # A player in the body beside the player in the path, as in a merge.
            name = f"other_{field.name}" if field.name in endpoint.parameters else field.name
            arguments.append(Argument(name, f"{name}: {text}", field.encode_name, description))
        return arguments


def _query_arguments(endpoint: Endpoint) -> list[Argument]:
    hints = get_type_hints(endpoint.query, include_extras=True)
    plain_hints = _query_hints(endpoint)
    arguments = []
    is_paged = _is_page(endpoint.returns)
    for field in msgspec.structs.fields(endpoint.query):
        text = bodies.input_type(plain_hints[field.name])
        if is_paged and field.name == "page":
            text = "int = 1"
        elif plain_hints[field.name] is bool:
            text = "bool = False"
        elif not field.required:
            text = f"{text if 'None' in text else text + ' | None'} = None"
        arguments.append(
            Argument(
                field.name,
                f"{field.name}: {text}",
                field.encode_name,
                bodies.description_of(hints[field.name]),
            )
        )
    return arguments


def _options() -> str:
    """Return the source of `options.py`."""
    lines = ['"""Arguments that several methods share."""', ""]
    lines += [
        "from collections.abc import Mapping, Sequence",
        "from typing import Any, Literal, TypedDict",
        "",
    ]
    lines += ["from msgspec import UnsetType", ""]
    settings = [
        (name, bodies.input_type(hint).replace(" | UnsetType", ""), hint)
        for name, hint in get_type_hints(ChangedTournament).items()
        if name in SETTING_FIELDS
    ]
    lines += sorted({line for _, _, hint in settings for line in _imports(hint)})
    descriptions = get_type_hints(ChangedTournament, include_extras=True)
    lines += ["", "", f"class {SETTINGS}(TypedDict, total=False):"]
    lines += ['    """The settings of all formats; the service refuses those of other formats."""', ""]
    for name, text, _ in settings:
        lines += bodies.comment_lines(bodies.description_of(descriptions[name]), 4)
        lines.append(f"    {name}: {text}")
    lines += ["", "", f"class {PARTS}(TypedDict, total=False):"]
    lines += ['    """The parts of a tournament that an answer should have."""', ""]
    lines += [f"    {field.name}: bool" for field in msgspec.structs.fields(PartsQuery)]
    lines += ["", "", f"class {BOTH}({SETTINGS}, {PARTS}, total=False):"]
    lines += ['    """Settings to store, and parts that the answer should have."""']
    return "\n".join(lines) + "\n"


def _returned_type(returns: Any) -> str:
    if returns in TEXTS:
        return "str"
    return " | ".join(dict.fromkeys(bodies.answer_type(kind) for kind in _answer_kinds(returns)))


def _answer_source(returns: Any) -> str:
    if returns in TEXTS:
        return "str"
    kinds = list(_answer_kinds(returns))
    if len(kinds) == 1 or _is_decodable(kinds):
        return _returned_type(returns)
    # The most particular type first: the others would accept its answers too.
    kinds.sort(key=_required_count, reverse=True)
    return f"Alternatives(({', '.join(bodies.answer_type(kind) for kind in kinds)}))"


def _has_settings(endpoint: Endpoint) -> bool:
    return endpoint.body is not None and SETTING_FIELDS[-1] in endpoint.body.__struct_fields__


def _shared_options(endpoint: Endpoint) -> str:
    """Return the TypedDict of arguments that the method shares with others, if there is one."""
    if endpoint.query is not PartsQuery:
        return ""
    return BOTH if _has_settings(endpoint) else PARTS


def _is_page(returns: Any) -> bool:
    """Whether an answer is a page of a list."""
    return get_origin(returns) in (Page, SimplePage) or returns is JournalPage


def _answer_kinds(returns: Any) -> list[Any]:
    """Return the types of an answer, or of an item of its list, without the envelope."""
    if returns in TEXTS:
        return []
    inner = get_args(returns)[0] if get_origin(returns) in (Data, Page, SimplePage) else returns
    if inner is JournalPage:
        inner = JournalAction
    return list(get_args(inner)) if get_origin(inner) in (Union, UnionType) else [inner]


def _is_decodable(kinds: list[Any]) -> bool:
    """Whether msgspec can tell these types apart: at most one object and one list."""
    lists = [kind for kind in kinds if get_origin(kind) is tuple]
    return len(lists) <= 1 and len(kinds) - len(lists) <= 1


def _required_count(kind: Any) -> int:
    (struct,) = bodies.structs_in(kind)
    return sum(field.required for field in msgspec.structs.fields(struct))


def _body_hints(endpoint: Endpoint) -> dict[str, Any]:
    return {} if endpoint.body is None else get_type_hints(endpoint.body)


def _query_hints(endpoint: Endpoint) -> dict[str, Any]:
    return get_type_hints(endpoint.query)


def _imports(kind: Any) -> Iterator[str]:
    """Return the lines that import what this type names."""
    yield from bodies.shape_imports(kind)
    for struct in bodies.structs_in(kind):
        if not bodies.is_shape(struct):
            yield f"from silverball_client.bodies import {struct.__name__}"


def _path_arguments(endpoint: Endpoint) -> list[Argument]:
    return [
        Argument(name, f"{name}: {'str' if name in endpoint.words else 'int'}", name)
        for name in endpoint.parameters
    ]


def _path_parts(endpoint: Endpoint) -> list[str]:
    parts = endpoint.path.removeprefix("/api/").split("/")
    return [part[1:-1] if part.startswith("{") else f'"{part}"' for part in parts]


def _path_source(endpoint: Endpoint) -> str:
    parts = _path_parts(endpoint)
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def _mapping(arguments: list[Argument]) -> str:
    return "{" + ", ".join(f'"{argument.wire_name}": {argument.name}' for argument in arguments) + "}"


def _docstring(described: Described, arguments: list[Argument]) -> Iterator[str]:
    endpoint = described.endpoint
    told = [argument for argument in arguments if argument.description]
    facts = [f"`{endpoint.method} {documented_path(endpoint)}`."]
    if endpoint.is_write:
        facts.append(f"Needs a token with the ability `{endpoint.ability}`.")
    yield f'        """{endpoint.title}'
    yield ""
    yield from textwrap.wrap(
        " ".join(facts),
        bodies.LINE_LENGTH,
        initial_indent=" " * 8,
        subsequent_indent=" " * 8,
        break_on_hyphens=False,
        break_long_words=False,
    )
    if told:
        yield ""
    for argument in told:
        yield from (
            line.replace("# ", "", 1)
            for line in bodies.comment_lines(f"{argument.name}: {argument.description}", 8)
        )
    yield '        """'


def _package(resources: list[str]) -> str:
    lines = ['"""All operations, grouped by resource."""', "", "from typing import Generic", ""]
    lines += ["from silverball_client.calling import Caller, M"]
    lines += [
        f"from silverball_client.operations.{resource} import {class_name(resource)}"
        for resource in sorted(resources)
    ]
    lines += ["", "", "class Operations(Generic[M]):", '    """The resources of a client."""', ""]
    lines += ["    def __init__(self, caller: Caller) -> None:"]
    lines += [
        f"        self.{resource}: {class_name(resource)}[M] = {class_name(resource)}(caller)"
        for resource in sorted(resources)
    ]
    return "\n".join(lines) + "\n"


def class_name(resource: str) -> str:
    """Return the name of a resource's class: `RatingPeriodsResource`."""
    return "".join(word.capitalize() for word in resource.split("_")) + "Resource"
