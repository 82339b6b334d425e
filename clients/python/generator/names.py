"""The name of each operation in the client: `client.<resource>.<method>(...)`.

A rule finds it from the method and the path, so that a new endpoint has a name at once. Where another name
reads better, it stands in NAMES.
"""

import re
from collections.abc import Collection

# Below a tournament these are resources of their own; the rest are methods of `tournaments`.
OWN_RESOURCES = frozenset(
    [
        "cards",
        "frenzy",
        "games",
        "max-matchplay",
        "queues",
        "rounds",
        "sign-ups",
        "single-player-games",
        "suggestions",
        "webhooks",
    ]
)
VERBS = {"GET": "get", "POST": "create", "PUT": "set", "PATCH": "update", "DELETE": "delete"}
PARAMETER = re.compile(r"\{\w+\}")

# Method and path, with `{}` for each parameter -> resource and method.
NAMES = {
    "GET /arenas/resolve-unknown": "arenas.resolve",
    "POST /book/actions/{}/undo": "book.undo",
    "GET /dashboard": "dashboard.get",
    "POST /ifpa/wppr-estimator": "ifpa.estimate",
    "GET /opdb/entries/{}": "opdb.entry_with_videos",
    "GET /opdb/entry/{}": "opdb.entry",
    "POST /arenas/import": "arenas.import_list",
    "POST /plan": "plans.create",
    "POST /players/import": "players.import_list",
    "POST /players/{}/claim": "players.claim",
    "PUT /players/{}/claim": "players.approve_claim",
    "DELETE /players/{}/claim": "players.give_up_claim",
    "GET /players/resolve-unknown": "players.resolve",
    "POST /rating-submissions/{}/ifpa": "rating_submissions.settle_players",
    "DELETE /rating-submissions/{}": "rating_submissions.withdraw",
    "GET /ratings/ifpa": "ratings.list_by_ifpa",
    "GET /ratings/ifpa/{}": "ratings.get_by_ifpa",
    "GET /ratings/ifpa/{}/summary": "ratings.summary_by_ifpa",
    "GET /ratings/ifpa/{}/chart.svg": "ratings.chart_by_ifpa",
    "GET /ratings/{}/{}/chart.svg": "ratings.chart",
    "POST /ratings/compare": "ratings.compare_many",
    "GET /series/{}/stats/attendance": "series.attendance",
    "DELETE /tokens/{}": "tokens.revoke",
    "POST /tokens/{}/rotate": "tokens.rotate",
    "GET /users/resolve-unknown": "users.resolve",
    "POST /federation-numbers/batches": "federation_numbers.confirm_all",
    "DELETE /federation-numbers/batches/{}": "federation_numbers.take_back",
    "PUT /users/{}/federation-number": "users.confirm_number",
    "DELETE /users/{}/federation-number": "users.withdraw_number",
    "PUT /users/{}/suspension": "users.suspend",
    "DELETE /users/{}/suspension": "users.unsuspend",
    "GET /tournaments/{}/arenas/bgsummary": "tournaments.best_game_arenas",
    "GET /tournaments/{}/arenas/{}/bgdetails": "tournaments.best_game_arena",
    "GET /tournaments/{}/arenas/resolve-unknown": "tournaments.resolve_arenas",
    "POST /tournaments/{}/arenas": "tournaments.add_arenas",
    "DELETE /tournaments/{}/arenas/{}": "tournaments.remove_arena",
    "PUT /tournaments/{}/banks/{}": "tournaments.add_bank",
    "DELETE /tournaments/{}/banks/{}": "tournaments.remove_bank",
    "PUT /tournaments/{}/scorekeepers/{}": "tournaments.add_scorekeeper",
    "DELETE /tournaments/{}/scorekeepers/{}": "tournaments.remove_scorekeeper",
    "PUT /tournaments/{}/directors/{}": "tournaments.add_director",
    "DELETE /tournaments/{}/directors/{}": "tournaments.remove_director",
    "PUT /tournaments/{}/timer": "rounds.set_timer",
    "GET /tournaments/{}/timer": "rounds.timer",
    "POST /tournaments/{}/timer/extend": "rounds.extend_timer",
    "POST /tournaments/{}/games/{}/extra-time": "games.give_extra_time",
    "GET /tournaments/{}/players/resolve-unknown": "tournaments.resolve_players",
    "POST /tournaments/{}/players": "tournaments.add_players",
    "PATCH /tournaments/{}/players": "tournaments.update_players",
    "DELETE /tournaments/{}/players/{}": "tournaments.remove_player",
    "POST /tournaments/{}/players/{}/entries": "tournaments.add_entries",
    "POST /tournaments/{}/players/{}/forfeit": "tournaments.forfeit_player",
    "POST /tournaments/{}/amazing-race/{}/advance": "tournaments.advance_in_amazing_race",
    "POST /tournaments/{}/playoffs": "tournaments.create_playoffs",
    "POST /tournaments/{}/tiebreaks": "tournaments.break_tie",
    "PUT /tournaments/{}/prizes/players/{}": "tournaments.mark_prize_paid",
    "GET /tournaments/{}/prizes/csv": "tournaments.prizes_csv",
    "PATCH /tournaments/{}/sign-ups": "sign_ups.change_terms",
    "POST /tournaments/{}/sign-ups/absent": "sign_ups.remove_absent",
    "PUT /tournaments/{}/sign-ups/players/{}": "sign_ups.update_person",
    "POST /tournaments/{}/sign-ups/untaken": "sign_ups.take_all",
    "PUT /tournaments/{}/sign-ups/untaken/{}": "sign_ups.take",
    "DELETE /tournaments/{}/sign-ups/untaken/{}": "sign_ups.remove_untaken",
    "POST /tournaments/{}/sign-ups/waiting": "sign_ups.add_waiting",
    "PUT /tournaments/{}/sign-ups/waiting/{}": "sign_ups.move_waiting",
    "DELETE /tournaments/{}/sign-ups/waiting/{}": "sign_ups.remove_waiting",
    "PUT /tournaments/{}/federation-results/sent": "tournaments.mark_results_sent",
    "GET /tournaments/{}/federation-results/csv": "tournaments.federation_results_csv",
    "GET /series/{}/federation-results/csv": "series.federation_results_csv",
    "GET /tournaments/{}/single-player-games/top-scores": "tournaments.top_scores",
    "POST /tournaments/{}/frenzy/games": "frenzy.start_games",
    "POST /tournaments/{}/frenzy/time": "frenzy.change_time",
    "POST /tournaments/{}/frenzy/queue": "frenzy.join_queue",
    "DELETE /tournaments/{}/frenzy/queue/{}": "frenzy.leave_queue",
    "POST /tournaments/{}/frenzy/queue/{}/end": "frenzy.move_to_end",
    "POST /tournaments/{}/games/{}/arena": "games.redraw_arena",
    "POST /tournaments/{}/games/{}/players": "games.add_player",
    "DELETE /tournaments/{}/games/{}/players/{}": "games.remove_player",
    "PUT /tournaments/{}/games/{}/result": "games.record_result",
    "DELETE /tournaments/{}/games/{}/result": "games.clear_result",
    "GET /tournaments/{}/games/{}/legs": "games.list_legs",
    "POST /tournaments/{}/games/{}/legs": "games.record_leg",
    "PATCH /tournaments/{}/games/{}/legs/{}": "games.change_leg",
    "DELETE /tournaments/{}/games/{}/legs/{}": "games.delete_leg",
    "GET /tournaments/{}/games/{}/notes": "rulings.list_notes",
    "POST /tournaments/{}/games/{}/notes": "rulings.add_note",
    "GET /tournaments/{}/games/{}/earlier-cards": "rulings.list_earlier_cards",
    "POST /tournaments/{}/games/{}/ruling": "rulings.rule_on_game",
    "POST /tournaments/{}/games/{}/suggestions": "games.suggest_result",
    "POST /tournaments/{}/max-matchplay/games": "max_matchplay.create_games",
    "POST /tournaments/{}/queues": "queues.join",
    "DELETE /tournaments/{}/queues/{}": "queues.leave",
    "POST /tournaments/{}/rounds": "rounds.open",
    "DELETE /tournaments/{}/suggestions/{}": "suggestions.decline",
    "POST /tournaments/{}/webhooks/{}/secret": "webhooks.replace_secret",
    "POST /tournaments/{}/webhooks/{}/deliveries/{}/retry": "webhooks.retry_delivery",
}


def operation_name(method: str, path: str, known: Collection[str]) -> tuple[str, str]:
    """Return the resource and the method for a route such as `/tournaments/{tournamentId}/games`.

    `known` are the routes of the interface as in NAMES, among which a GET may claim the plain name.
    """
    route = route_key(method, path)
    if route in NAMES:
        resource, name = NAMES[route].split(".")
        return resource, name
    parts = route.partition(" ")[2].strip("/").split("/")
    is_own = len(parts) > 2 and parts[0] == "tournaments" and parts[2] in OWN_RESOURCES
    if is_own and not (method == "GET" and "{}" not in parts[2:]):
        return _snake_case(parts[2]), _method_name(method, route, parts[3:], known, is_own=True)
    return _snake_case(parts[0]), _method_name(method, route, parts[1:], known, is_own=False)


def route_key(method: str, path: str) -> str:
    """Return the route as NAMES has it: `GET /tournaments/{}/games`."""
    return f"{method} {PARAMETER.sub('{}', path)}"


def _method_name(method: str, route: str, rest: list[str], known: Collection[str], *, is_own: bool) -> str:
    nouns = "_".join(_snake_case(part) for part in rest if part != "{}")
    if not nouns:
        is_list = method == "GET" and not rest and not is_own
        return "list" if is_list else VERBS[method] if rest or method == "POST" else f"{VERBS[method]}_all"
    if rest[-1] == "{}":
        return f"{VERBS[method]}_{nouns.removesuffix('s')}"
    has_read = f"GET {route.partition(' ')[2]}" in known
    if method == "GET" or (method == "POST" and not has_read):
        return nouns
    return f"{VERBS[method]}_{nouns.removesuffix('s') if method == 'POST' else nouns}"


def _snake_case(word: str) -> str:
    return re.sub(r"[-.]", "_", word)
