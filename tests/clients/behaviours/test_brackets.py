"""How a client maps a bracket: the heap number of each match, and seeds that count from 0."""

from clients.behaviours.site import Site

# Source: formats.md 14.10 and issue 12: 24 players in a bracket of 32.
FIRST_ROUND = {
    17: (16, 17),
    18: (9, 24),
    21: (13, 20),
    22: (12, 21),
    25: (15, 18),
    26: (10, 23),
    29: (14, 19),
    30: (11, 22),
}


def seeds(site: Site) -> dict[int, int]:
    """Player id -> seed counted from 1, as a client computes it."""
    players = site.data(site.path("bracket", "?includePlayers=1"))["players"]
    return {player["playerId"]: player["tournamentPlayer"]["seed"] + 1 for player in players}


def test_a_client_that_adds_one_to_seeds_has_them_from_one(site: Site) -> None:
    # Observed: a client that maps state championships shows seed + 1. Source: formats.md 4.
    assert sorted(seeds(site).values()) == list(range(1, 25))


def test_a_client_places_the_first_round_by_heap_index(site: Site) -> None:
    # Observed: the same client reads game.index as a place in a heap. Source: formats.md 14.10.
    seed_by_id = seeds(site)
    games = site.data(site.path("bracket", "/games"))
    played = {
        game["index"]: tuple(sorted(seed_by_id[player_id] for player_id in game["playerIds"]))
        for game in games
        if game["index"] in range(16, 32) and not game["bye"]
    }
    assert played == FIRST_ROUND


def test_a_match_is_one_game_whatever_its_length(site: Site) -> None:
    # Observed: the client keeps one game for each place. Source: formats.md 14.10.
    games = site.data(site.path("bracket", "/games"))
    places = [(game["set"], game["index"]) for game in games if not game["bye"]]
    assert len(places) == len(set(places))


def test_a_match_in_play_has_games_won_as_points_and_no_places(site: Site) -> None:
    # Observed: the client shows resultPoints as "4 - 2" in the order of playerIds. Source: formats.md 14.10.
    games = site.data(site.path("bracket", "/games?status=started"))
    match = next(game for game in games if not game["bye"])
    path = site.path("bracket", f"/games/{match['gameId']}")
    first, second = match["playerIds"]
    for won, status in (({first: 1}, "started"), ({first: 1, second: 2}, "completed")):
        body = {"games": {str(player_id): count for player_id, count in won.items()}}
        assert site.http.put(f"{path}/result", json=body).status_code == 200
        shown = site.data(path)
        assert shown["status"] == status
        if status == "started":
            assert shown["resultPositions"] == [None, None]
    assert shown["resultPoints"] == ["1.00", "2.00"]
