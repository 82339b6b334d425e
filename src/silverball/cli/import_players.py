"""silverball import players: a list of players from a file, looked at before it is stored."""

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from silverball import app, settings
from silverball.cli import database
from silverball.kit.http.endpoints import Request
from silverball.kit.values import decode
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.sheets.decoding import ENCODINGS
from silverball.service.users import reads as users
from silverball.store.database.deadlines import LONG_COMMANDS
from silverball.store.database.engine import Store
from silverball_wire.imports import ImportRow, PlayersImport
from silverball_wire.pages import Data

PATH = "/api/players/import"
DECISIONS = {"new": "new", "player": "player", "same": "same", "leave-out": "leaveOut"}
CHANGED = "import-changed"


class RowDecision(click.ParamType[tuple[int, dict[str, Any]]]):
    """A decision about a row: `4=new`, `4=player:12`, `4=same:2` or `4=leave-out`."""

    name = "row=decision"

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> tuple[int, dict[str, Any]]:
        """The number of the row, and the decision as the interface takes it."""
        row, _, decision = str(value).partition("=")
        word, _, target = decision.partition(":")
        is_whole = row.isdecimal() and word in DECISIONS and bool(target) == (word in ("player", "same"))
        if not is_whole or (target and not target.isdecimal()):
            self.fail(f"{value!r} is none of {self.__doc__}", parameter, context)
        key = "playerId" if word == "player" else "sameAs"
        return int(row), {"decision": DECISIONS[word], **({key: int(target)} if target else {})}


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--owner", type=click.IntRange(1, 2**63 - 1), required=True, help="User id of the organizer.")
@click.option("--tournament", type=click.IntRange(1, 2**63 - 1), help="Id of the tournament that they enter.")
@click.option("--store", "is_stored", is_flag=True, help="Store the rows; without it they are only shown.")
@click.option("--decide", multiple=True, type=RowDecision(), help="Answer the question of a row: 4=new.")
@click.option("--encoding", type=click.Choice(ENCODINGS), help="What the text is read in.")
@click.option("--sheet", help="The sheet of a workbook with several.")
@click.option("--columns", help="What each column is: first,last,number,other.")
@click.option(
    "--name-order", type=click.Choice(["first-last", "last-first"]), help="How `Quill, Ada` is read."
)
def players(
    file: Path,
    *,
    owner: int,
    tournament: int | None,
    is_stored: bool,
    decide: tuple[tuple[int, dict[str, Any]], ...],
    **chosen: str | None,
) -> None:
    """Read a list of players from FILE (.csv, .txt, .xlsx or .ods) into an organizer's book.

    It shows the rows as they will be, whom of the book they are, and what was left out. With --store all of
    them are stored, or none: not while a row has a question that --decide does not answer.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise click.ClickException(f"{file} cannot be read: {error.strerror}.") from error
    where = {} if tournament is None else {"tournamentId": tournament}
    sent = {"file": base64.b64encode(content).decode(), **where, **_choices(chosen)}
    with database.open_database(not_found=f"There is no user {owner}.", limits=LONG_COMMANDS) as store:
        with store.read() as db:
            users.find_user(db, owner, None)
        look = _ask(store, owner, sent)
        _show(look, dict(decide))
        if look.plan is None:
            raise click.ClickException("Nothing was stored: choose first, as said above.")
        if not is_stored:
            click.echo("Nothing was stored. Add --store to do it.")
            return
        rows = [_decided_row(row, dict(decide)) for row in look.rows]
        stored = _ask(store, owner, {"rows": rows, "plan": look.plan, **where})
    people = len({row.player_id for row in stored.rows if row.player_id is not None})
    click.echo(f"{file}: {people} players, {stored.new_players} of them new")
    if stored.book_action_id is not None:
        click.echo("The organizer can undo this at /home/actions.")


def _choices(chosen: Mapping[str, str | None]) -> dict[str, Any]:
    """The options as fields of the request."""
    fields: dict[str, Any] = {name: chosen[name] for name in ("encoding", "sheet") if chosen[name]}
    if chosen["columns"]:
        fields["columns"] = [word.strip() for word in chosen["columns"].split(",")]
    if chosen["name_order"]:
        fields["nameOrder"] = {"first-last": "firstLast", "last-first": "lastFirst"}[chosen["name_order"]]
    return fields


def _ask(store: Store, owner: int, sent: Mapping[str, Any]) -> PlayersImport:
    """The answer of the interface. Raises ClickException with the sentence of a refusal."""
    api = app.build_api(store, settings.load())
    caller = AuthenticatedCaller(user_id=owner, role="organizer", ability="manage")
    request = Request(method="POST", path=PATH, caller=caller, body=msgspec.json.encode(sent))
    response = app.answer_request(api, request)
    if response.status == 200:
        return decode(response.body, Data[PlayersImport]).data
    refusal = msgspec.json.decode(response.body)
    faults = [sentence for listed in refusal.get("errors", {}).values() for sentence in listed]
    raise click.ClickException("\n".join(["Nothing was stored.", *(faults or [refusal["message"]])]))


def _decided_row(row: ImportRow, decide: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
    sent = {"line": row.line, "name": row.name, "ifpaId": row.ifpa_id, "seed": row.seed}
    return {**sent, **decide.get(row.row, {})}


def _show(look: PlayersImport, decide: Mapping[int, dict[str, Any]]) -> None:
    """Print the rows as they will be, and whatever is asked or was left out."""
    if look.encoding:
        click.echo(f"Read as {look.encoding}; --encoding reads it as {', '.join(look.encodings)}.")
    if look.plan is None and len(look.sheets) > 1:
        listed = ", ".join(f"{sheet.name} ({sheet.rows} rows)" for sheet in look.sheets)
        click.echo(f"Which sheet? {listed}. Name it with --sheet.")
    for reading in look.name_orders:
        word = "last-first" if reading.name_order == "lastFirst" else "first-last"
        click.echo(f"--name-order {word}: {', '.join(reading.names)}")
    for note in look.notes:
        click.echo(note)
    for row in look.rows:
        number = f" ({row.ifpa_id})" if row.ifpa_id else ""
        click.echo(f"{row.row:>4}  {row.name or '?'}{number}: {_what_follows(row, decide)}")
    for left in look.left_out:
        click.echo(f"Left out: line {left.line}, {left.text!r}. {left.reason}")


def _what_follows(row: ImportRow, decide: Mapping[int, dict[str, Any]]) -> str:
    if row.row in decide:
        return _words(decide[row.row])
    if row.fault:
        return row.fault
    if row.question:
        choices: Sequence[str] = [
            _words({"decision": each.decision, "playerId": each.player_id, "sameAs": each.same_as})
            for each in row.choices
        ]
        return f"{row.question} {', '.join(choices)}"
    decision = _words({"decision": row.decision, "playerId": row.player_id, "sameAs": row.same_as})
    return " ".join([decision, *row.notes])


def _words(decision: Mapping[str, Any]) -> str:
    word = next(word for word, wire in DECISIONS.items() if wire == decision["decision"])
    target = decision.get("playerId") or decision.get("sameAs")
    return f"{word}:{target}" if target else word
