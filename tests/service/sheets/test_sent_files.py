"""Files of players over HTTP: forms with a file, read in the computing process."""

import asyncio
from functools import partial

import pytest

import asgi
import build
from service.sheets.spreadsheets import an_xlsx
from silverball.jobs.background import COMPUTING_MODULE
from silverball.kit.edge.front import FrontDoor
from silverball.kit.errors import Invalid
from silverball.service.sheets.elsewhere import ReadingProcess
from silverball.service.sheets.sources import ListSource
from silverball.settings import Settings
from silverball.store import processes
from silverball.store.database.engine import Store
from test_app import a_token, front_door

__all__ = ["front_door"]
PATH = "/api/players/import"
BOUNDARY = "silverball-boundary"
WORKBOOK = an_xlsx({"Players": [["Name", "IFPA"], ["Ada Quill", 12345], ["Bo Larkin", ""]]})


def a_form(file: bytes, **fields: str) -> bytes:
    parts = [
        f'--{BOUNDARY}\r\ncontent-disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    head = 'content-disposition: form-data; name="file"; filename="players.xlsx"\r\ncontent-type: x/y\r\n\r\n'
    file_part = f"--{BOUNDARY}\r\n{head}".encode() + file + b"\r\n"
    return b"".join([*parts, file_part, f"--{BOUNDARY}--\r\n".encode()])


async def send(door: FrontDoor, token: str, body: bytes, path: str = PATH) -> asgi.Reply:
    kind = f"multipart/form-data; boundary={BOUNDARY}"
    headers = {"content-type": kind, "content-length": str(len(body))}
    return await asgi.send(door, path, method="POST", token=token, body=body, headers=headers)


def test_a_form_with_a_file_is_read_and_its_rows_are_stored(store: Store, front_door: FrontDoor) -> None:
    organizer = build.a_user(store, role="organizer")
    token = a_token(store, organizer, ability="manage")
    reply = asyncio.run(send(front_door, token, a_form(WORKBOOK, columns='["name", "number"]')))
    assert reply.status == 200, reply.body
    look = reply.json["data"]
    assert [(row["name"], row["ifpaId"]) for row in look["rows"]] == [
        ("Ada Quill", 12345),
        ("Bo Larkin", None),
    ]
    rows = [{key: row[key] for key in ("line", "name", "ifpaId")} for row in look["rows"]]
    status, stored, _ = build.do(store, "POST", PATH, {"rows": rows, "plan": look["plan"]}, by=organizer)
    assert (status, stored["data"]["newPlayers"]) == (200, 2)


def test_forms_are_taken_where_a_file_is_wanted_and_nowhere_else(store: Store, front_door: FrontDoor) -> None:
    token = a_token(store, build.a_user(store, role="organizer"), ability="manage")

    async def ask() -> list[asgi.Reply]:
        faulty = await send(front_door, token, a_form(WORKBOOK, columns="name"))
        cut_off = await send(front_door, token, a_form(WORKBOOK)[:300])
        elsewhere = await send(front_door, token, a_form(WORKBOOK), "/api/players")
        large = await send(front_door, token, a_form(b"x" * 1_000_001))
        return [faulty, cut_off, elsewhere, large]

    faulty, cut_off, elsewhere, large = asyncio.run(ask())
    assert (faulty.status, list(faulty.json["errors"])) == (422, ["columns"])
    assert cut_off.status == 422
    assert elsewhere.json["code"] == "body-is-form"
    assert large.json["code"] == "body-too-large"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_process_of_its_own_reads_files_for_pages(store: Store) -> None:
    reader = ReadingProcess(COMPUTING_MODULE, partial(processes.setup_of, store, Settings()))
    try:
        found = reader.read(ListSource(file=WORKBOOK)).found
        assert [person.name for person in found.people] == ["Ada Quill", "Bo Larkin"]
        with pytest.raises(Invalid, match="broken"):
            reader.read(ListSource(file=WORKBOOK[:500]))
    finally:
        reader.close()
