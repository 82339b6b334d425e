"""Concurrent requests for the same change have exactly one effect."""

from concurrent.futures import ThreadPoolExecutor

from service.desk import a_desk
from silverball.store.database.engine import Store
from silverball.store.tournament import snapshot


def test_a_round_that_two_people_open_is_opened_once(store: Store) -> None:
    desk = a_desk(store, players=8, arenas=5)
    with ThreadPoolExecutor(6) as crowd:
        answers = list(crowd.map(lambda _: desk.do("POST", "/rounds", {}), range(6)))
    assert sorted(status for status, _ in answers) == [201, 409, 409, 409, 409, 409]
    with store.read() as db:
        night = snapshot.load(db, desk.night.tournament_id)
    assert (len(night.rounds), len(night.games)) == (1, 4)


def test_the_second_of_two_scorekeepers_learns_the_first_result(store: Store) -> None:
    desk = a_desk(store)
    game = desk.open_round()[0]
    orders = [game["playerIds"], game["playerIds"][::-1]]
    path = f"/games/{game['gameId']}/result"

    def send(number: int) -> tuple[int, dict[str, object]]:
        status, body = desk.do("PUT", path, {"resultPositions": orders[number % 2]}, by="keeper")
        return status, body

    with ThreadPoolExecutor(6) as crowd:
        answers = list(crowd.map(send, range(6)))
    # Three equal results are all accepted.
    assert sorted(status for status, _ in answers) == [200, 200, 200, 409, 409, 409]
    told = next(body for status, body in answers if status == 409)
    assert "Keeper entered players" in str(told["message"])
