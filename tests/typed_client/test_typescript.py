"""The TypeScript client: how it is packed, what its types accept, and how it follows."""

import json
import re
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from feed.client_programs import NODE, needs_node
from feed.running_program import admin_token
from servers import Servers
from silverball import __version__
from silverball.store.database.engine import Store
from silverball.store.tournament import announcements
from silverball_client import Client
from silverball_wire.events import EVENTS
from typed_client.packed_typescript import ROOT, TOOLS, install_package, packed_client
from web.breakable_connection import BreakableConnection

SOURCE = ROOT / "clients" / "typescript"
LINES_MAX = 400
PROGRAM = """
import { createInterface } from "node:readline";
import { connect } from "silverball-client";

const [baseUrl, token, id, mode] = process.argv.slice(2);
// A page without streams, as some browsers and applications have it.
const whole = async (...request) => {
  const answer = await fetch(...request);
  return answer.headers.get("content-type")?.includes("event-stream")
    ? new Response("", { headers: { "content-type": "text/plain" } })
    : answer;
};
const silverball = connect(baseUrl, { token, ...(mode === "whole" ? { fetch: whole } : {}) });
const path = { tournamentId: Number(id) };
const say = (...words) => console.log(JSON.stringify(words));
const { data: place } = await silverball.GET("/api/tournaments/{tournamentId}/events", { params: { path } });
const stop = new AbortController();
createInterface({ input: process.stdin }).on("line", () => stop.abort());
say("ready");
const after = { epoch: place.epoch, seq: place.seq };
for await (const event of silverball.follow(path.tournamentId, { after, signal: stop.signal })) {
  const { data } = await silverball.GET("/api/tournaments/{tournamentId}", { params: { path } });
  say(event.name, event.seq, event.data?.name, data.data.name);
}
say("ended");
"""
USE = """
import { connect, type Announced, type components } from "silverball-client";

const silverball = connect("http://127.0.0.1:8000", { token: "secret", waitSeconds: 5 });
export const status = async (): Promise<components["schemas"]["Game"]["status"]> => {
  const { data, error } = await silverball.GET("/api/tournaments/{tournamentId}/games", {
    params: { path: { tournamentId: 1 }, query: { status: "started" } },
  });
  if (error) throw new Error(error.message);
  return data.data[0]?.status ?? "started";
};
export function words(event: Announced): string {
  if (event.name === "Missed") return `missed up to ${event.seq}`;
  return event.name === "GameCreatedOrUpdated" ? `game ${event.data.gameId}` : event.name;
}
// @ts-expect-error there is no such path
void silverball.GET("/api/nothing");
"""


def test_the_client_has_under_four_hundred_lines_of_its_own() -> None:
    files = sorted((SOURCE / "src").glob("*.ts"))
    assert sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files) < LINES_MAX


def test_the_version_and_the_licence_are_those_of_the_program() -> None:
    assert json.loads((SOURCE / "package.json").read_text())["version"] == __version__
    assert (SOURCE / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_data_of_every_event_has_a_type() -> None:
    text = (SOURCE / "src" / "follow.ts").read_text(encoding="utf-8")
    shapes = dict(re.findall(r'^  (\w+): Schemas\["(\w+)"\];$', text, re.MULTILINE))
    assert shapes == {name: shape.__name__ for name, shape in EVENTS.items()}


def test_no_lock_has_an_address() -> None:
    lock = (ROOT / "tests" / "clients" / "package-lock.json").read_text(encoding="utf-8")
    assert "resolved" not in lock
    assert not list(SOURCE.glob("package-lock.json"))


@needs_node
def test_the_package_has_the_built_client_and_nothing_else() -> None:
    with tarfile.open(packed_client()) as archive:
        names = {member.name.removeprefix("package/") for member in archive}
        own = [archive.extractfile(member) for member in archive if member.name.endswith((".js", ".json"))]
        texts = [file.read().decode() for file in own if file is not None]
    built = {f"dist/{name}.{kind}" for name in ("index", "follow", "transport") for kind in ("js", "d.ts")}
    built |= {f"dist/generated/{name}.{kind}" for name in ("events", "openapi") for kind in ("js", "d.ts")}
    assert names == {"package.json", "README.md", "LICENSE", *built}
    assert not [text for text in texts if "127.0.0.1" in text]


@needs_node
def test_the_strict_compiler_knows_answers_and_events(tmp_path: Path) -> None:
    install_package(tmp_path)
    (tmp_path / "use.ts").write_text(USE)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--module", "NodeNext"]
    command = [str(TOOLS / ".bin" / "tsc"), *options, "--target", "ES2022", "use.ts"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


class Following:
    """A program that follows a tournament, and what it says."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def read_words(self) -> list[Any]:
        assert self._process.stdout is not None
        words: list[Any] = json.loads(self._process.stdout.readline() or '["nothing"]')
        return words

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()


@contextmanager
def following(folder: Path, *words: object) -> Iterator[Following]:
    install_package(folder)
    (folder / "program.mjs").write_text(PROGRAM)
    command = [str(NODE), "program.mjs", *map(str, words)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=folder, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield Following(process)
        finally:
            process.kill()


@needs_node
@pytest.mark.parametrize("mode", ["stream", "whole"])
def test_changes_come_in_order_over_cuts_and_answers_are_as_new_as_they_are(
    store: Store, database_url: str, tmp_path: Path, mode: str
) -> None:
    token, server, cable = admin_token(store), Servers.without_limits(database_url), BreakableConnection()
    server.start()
    cable.to = server.port
    try:
        with Client(f"http://127.0.0.1:{server.port}", token) as client:
            night = client.tournaments.create(name="Thursday", type="matchplay").tournament_id
            with following(tmp_path, cable.url, token, night, mode) as program:
                assert program.read_words() == ["ready"]
                first = client.tournaments.events(night).seq
                client.tournaments.update(night, name="Friday")
                assert program.read_words() == ["TournamentUpdated", first + 1, "Friday", "Friday"]
                cable.cut()
                client.tournaments.update(night, name="Saturday")
                cable.mend()
                assert program.read_words() == ["TournamentUpdated", first + 2, "Saturday", "Saturday"]
                # What is missed can be gone for good: then that is an event too.
                cable.cut()
                with store.write() as transaction:
                    announcements.restart_epochs(transaction, [night])
                cable.mend()
                assert program.read_words()[0] == "Missed"
                client.tournaments.update(night, name="Sunday")
                assert program.read_words()[2:] == ["Sunday", "Sunday"]
                program.stop()
                assert program.read_words() == ["ended"]
    finally:
        cable.close()
        server.close()


@needs_node
def test_a_tournament_that_is_not_there_ends_it_with_the_refusal(
    store: Store, database_url: str, tmp_path: Path
) -> None:
    install_package(tmp_path)
    (tmp_path / "program.mjs").write_text(
        'import { connect, Refused } from "silverball-client";\n'
        "try { for await (const _ of connect(process.argv[2]).follow(999)); }\n"
        "catch (fault) { console.log(fault instanceof Refused, fault.status, fault.code); }\n"
    )
    admin_token(store)
    server = Servers.without_limits(database_url)
    server.start()
    try:
        command = [str(NODE), "program.mjs", f"http://127.0.0.1:{server.port}"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    finally:
        server.close()
    assert done.stdout == "true 404 not-found\n", done.stderr
