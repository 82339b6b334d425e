"""Requests are counted by route, whatever stands in their paths."""

import pytest

from silverball.kit.measures import PATHS_KNOWN, RequestMeasures


def measured_routes() -> tuple[RequestMeasures, list[str]]:
    """Measures whose routes have the names of their paths, and the paths they asked for."""
    asked: list[str] = []

    def name_route(path: str) -> str:
        asked.append(path)
        return path

    measures = RequestMeasures()
    measures.name_routes(name_route)
    return measures, asked


@pytest.mark.parametrize(
    ("path", "route"),
    [
        ("/api/tournaments/7", "/api/tournaments/1"),
        ("/api/tournaments/7/games/123456", "/api/tournaments/1/games/1"),
        ("/api/tournaments/007/", "/api/tournaments/1/"),
        ("/api/tournaments/7a", "/api/tournaments/7a"),
        ("/static/2024-01.css", "/static/2024-01.css"),
        ("/api/users/profile", "/api/users/profile"),
    ],
)
def test_a_route_is_looked_up_for_a_path_without_its_ids(path: str, route: str) -> None:
    measures, _ = measured_routes()
    measures.count("GET", path, 200, 0.1)
    assert list(measures.routes) == [("GET", route)]


def test_the_games_of_a_season_do_not_crowd_out_the_other_paths() -> None:
    measures, asked = measured_routes()
    measures.count("GET", "/api/users/profile", 200, 0.1)
    for game_id in range(PATHS_KNOWN + 1):
        measures.count("PUT", f"/api/tournaments/1/games/{game_id}/result", 200, 0.1)
    measures.count("GET", "/api/users/profile", 200, 0.1)
    assert asked == ["/api/users/profile", "/api/tournaments/1/games/1/result"]
    assert measures.routes["PUT", "/api/tournaments/1/games/1/result"].computed[2] == PATHS_KNOWN + 1
