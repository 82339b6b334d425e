"""The handbook's night, line by line: the commands of docs/running-a-night.md work."""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import build
from silverball import app
from silverball.kit.http.api import Api
from silverball.service.access import AuthenticatedCaller
from silverball.service.verify import reads as verifier
from silverball.settings import Settings
from silverball.store.engine import Store

PAGE = Path(__file__).parents[2] / "docs" / "running-a-night.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ASSIGNED = re.compile(r"^(\w+)=\$\((curl .*) \| jq (.*)\)$")
WORD = re.compile(r"\$(\w+)")
STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
FLAGS = frozenset({"-sS"})


@dataclass
class Shell:
    """A shell that runs the lines of the page and remembers their variables."""

    store: Store
    api: Api
    caller: AuthenticatedCaller
    variables: dict[str, str] = field(default_factory=dict)

    def run(self, line: str) -> None:
        if line.startswith("#"):
            self.record_the_rest()
        elif line.startswith("silverball verify "):
            tournament_id = int(self._expanded(line).split()[-1])
            with self.store.read() as db:
                assert list(verifier.verify_tournament(db, tournament_id).faults) == []
        elif line.startswith(("URL=", "AUTH=")):
            name, _, value = line.partition("=")
            self.variables[name] = "" if name == "URL" else shlex.split(value)[0]
        elif (assigned := ASSIGNED.match(line)) is not None:
            answer = self.curl(assigned[2])
            self.variables[assigned[1]] = str(value_at(answer, shlex.split(assigned[3])[0]))
        else:
            self.curl(line)

    def curl(self, line: str) -> Any:
        words = iter(shlex.split(self._expanded(line))[1:])
        method, path, body, key = "", "", None, None
        for word in words:
            if word == "-X":
                method = next(words)
            elif word == "--json":
                body = json.loads(next(words))
            elif word == "-H":
                name, _, value = next(words).partition(": ")
                key = value if name == "Idempotency-Key" else key
            elif word not in FLAGS:
                path = f"/api{word}"
        method = method or ("GET" if body is None else "POST")
        status, answer, _ = build.send(self.api, method, path, body, by=self.caller, key=key)
        assert status in {200, 201}, f"{line}: {status} {answer}"
        return answer

    def record_the_rest(self) -> None:
        path = f"/api/tournaments/{self.variables.get('P', self.variables['T'])}/games"
        _, games, _ = build.send(self.api, "GET", f"{path}?status=started", by=self.caller)
        for game in games["data"]:
            body = {"resultPositions": game["playerIds"]}
            status, answer, _ = build.send(
                self.api, "PUT", f"{path}/{game['gameId']}/result", body, by=self.caller
            )
            assert status == 200, answer

    def _expanded(self, line: str) -> str:
        return WORD.sub(lambda word: self.variables[word[1]], line)


def value_at(answer: Any, path: str) -> Any:
    """The value that jq finds at a path like `.data[0].gameId`."""
    for name, index in STEP.findall(path):
        answer = answer[name] if name else answer[int(index)]
    return answer


def lines() -> Iterator[str]:
    for block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        yield from block.splitlines()


def test_the_lines_of_the_page_run_a_whole_night(store: Store) -> None:
    organizer_id = build.a_user(store, name="Olga Ramp", role="organizer")
    shell = Shell(
        store,
        app.build_api(store, Settings(base_url=build.BASE_URL)),
        build.caller(organizer_id, role="organizer", ability="manage"),
    )
    for line in lines():
        shell.run(line)
    night = shell.curl("curl $URL/tournaments/$T?includeLinkedTournaments=true")["data"]
    final = shell.curl("curl $URL/tournaments/$P")["data"]
    assert (night["status"], final["status"]) == ("completed", "completed")
    assert [linked["tournamentId"] for linked in night["linkedTournaments"]] == [final["tournamentId"]]
    assert len(shell.curl("curl $URL/tournaments/$T/standings")) == 9
    # The correction was undone, so the winner of the first result has won.
    game = shell.curl("curl $URL/tournaments/$T/games/$GAME")["data"]
    assert game["resultPositions"] == [int(shell.variables["ONE"]), int(shell.variables["OTHER"])]
    # The game on the broken machine was moved to another one, and then forfeited by the absent player.
    moved = shell.curl("curl $URL/tournaments/$T/games/$LATE")["data"]
    assert moved["arenaId"] != int(shell.variables["BROKEN"])
    assert moved["resultPositions"][-1] == int(shell.variables["ABSENT"])
