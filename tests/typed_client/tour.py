"""Calls of all methods of the typed client, resource by resource."""

import contextlib
from collections.abc import Callable, Sequence

from silverball_client import BadRequest, Client, NotAllowed, Refused
from silverball_client.bodies import (
    ListedEntrantPatch,
    NewEntrant,
    NewFinal,
    NewPayment,
    Registration,
    ShownNumber,
)
from silverball_wire.tournaments import Tournament

# These need a site that answers, one that fails for minutes, a frenzy whose games do not start by
# themselves, the federation's file, and a final whose source was corrected. Their answers have the types
# of their neighbours.
ANSWERED_ELSEWHERE = frozenset(
    [
        "POST /rating-submissions/{}/ifpa",
        "POST /tournaments/{}/webhooks/{}/deliveries/{}/retry",
        "POST /tournaments/{}/frenzy/games",
        "DELETE /federation-numbers/batches/{}",
        "POST /tournaments/{}/finals/follow",
    ]
)


def read_tournament(client: Client, tournament_id: int) -> None:
    """Read all of a tournament, whatever its format."""
    read = client.tournaments
    read.get(
        tournament_id, include_players=True, include_arenas=True, include_banks=True, include_series=True
    )
    read.players(tournament_id)
    read.arenas(tournament_id)
    list(client.activity_logs.list(tournament=tournament_id))
    read.standings(tournament_id)
    read.rounds(tournament_id)
    for game in read.games(tournament_id)[:2]:
        client.games.get(tournament_id, game.game_id)
    for single in list(read.single_player_games(tournament_id))[:2]:
        client.single_player_games.get(tournament_id, single.single_player_game_id)
    for card in list(read.cards(tournament_id))[:2]:
        client.cards.get(tournament_id, card.card_id)
    list(read.journal(tournament_id))
    newest = read.events(tournament_id)
    read.events(tournament_id, after=max(newest.low, newest.seq - 5), epoch=newest.epoch)
    for csv in (read.games_csv, read.players_csv, read.single_player_games_csv, read.entries_csv):
        csv(tournament_id)
    read.draws(tournament_id)
    read.estimate(tournament_id)
    read.stats_rounds(tournament_id)
    read.stats_arenas(tournament_id)
    read.stats_players(tournament_id)
    with contextlib.suppress(BadRequest):
        read.stats_matchplay(tournament_id)
    with contextlib.suppress(BadRequest):
        read.stats_matches(tournament_id)
    read.top_scores(tournament_id)
    with contextlib.suppress(NotAllowed):
        read.queues(tournament_id)
    with contextlib.suppress(BadRequest):
        read.stats_bestgame(tournament_id)
    with contextlib.suppress(BadRequest):
        read.amazing_race(tournament_id)
    with contextlib.suppress(BadRequest):
        read.max_matchplay(tournament_id)
    with contextlib.suppress(BadRequest):
        read.frenzy(tournament_id)
    with contextlib.suppress(BadRequest):
        for row in read.best_game_arenas(tournament_id)[:2]:
            read.best_game_arena(tournament_id, row.arena_id)


def read_summaries(client: Client, tournament_id: int) -> None:
    """Read what there is of a completed tournament."""
    list(client.tournaments.summary_arenas(tournament_id))
    list(client.tournaments.summary_matches(tournament_id))
    list(client.tournaments.summary_player_arenas(tournament_id))


def book(client: Client, visitor: Client) -> None:
    """The organizer's own things: made, listed, changed, deleted."""
    player = client.players.create(name="Zoe", labels=["late"])
    client.players.update(player.player_id, name="Zoë")
    twin = client.players.create(name="Zoe's twin")
    client.players.merge(twin.player_id, other_player_id=player.player_id)
    visitor_id = visitor.users.profile().user_id
    visitor.players.claim(player.player_id)
    assert player.player_id in [claim.player_id for claim in client.players.claims()]
    client.players.approve_claim(player.player_id, user_id=visitor_id)
    client.players.give_up_claim(player.player_id, user=visitor_id)
    # One's own player needs no approval.
    client.players.claim(player.player_id)
    client.players.give_up_claim(player.player_id)
    assert len(list(client.players.list())) > 20
    client.players.resolve(players=[player.player_id])
    client.players.delete(player.player_id)

    arena = client.arenas.create(name="Firepower", opdb_id="G5VDd-MJpqO")
    client.arenas.update(arena.arena_id, label_color="#a1b2c3")
    list(client.arenas.list())
    client.arenas.resolve(arenas=[arena.arena_id])
    bank = client.banks.create(name="Left wall", arena_ids=[arena.arena_id])
    client.banks.update(bank.bank_id, name="Right wall")
    list(client.banks.list())
    client.banks.delete(bank.bank_id)
    same = client.arenas.create(name="Firepower", opdb_id="G5VDd-MJpqO")
    client.arenas.merge(same.arena_id, other_arena_id=arena.arena_id)
    client.book.undo(client.book.actions()[0].book_action_id)
    client.arenas.delete(same.arena_id)
    client.arenas.delete(arena.arena_id)

    location = client.locations.create(name="The Tilt", lat=59.3, lng=18.1)
    client.locations.update(location.location_id, address="Main Street 1")
    list(client.locations.list())
    event = client.events.create(
        name="Weekend", start_utc="2030-01-05T10:00:00Z", location_id=location.location_id
    )
    client.events.update(event.event_id, description="Two days.")
    client.events.get(event.event_id)
    list(client.events.list())
    client.events.delete(event.event_id)
    client.locations.delete(location.location_id)

    club = client.clubs.create(name="Flippers")
    client.clubs.update(club.club_id, location="Here")
    client.clubs.get(club.club_id)
    client.clubs.delete(club.club_id)

    series = client.series.create(name="Winter")
    client.series.update(series.series_id, removed_results=1)
    client.series.get(series.series_id)
    client.series.get(series.series_id, include_details=True)
    client.series.stats(series.series_id)
    client.series.attendance(series.series_id, count=1)
    list(client.series.list())
    client.series.delete(series.series_id)


def account(client: Client, other_id: int) -> None:
    """The caller's account, tokens and dashboard, and other people's."""
    profile = client.users.profile()
    client.users.update_profile(initials="ADA")
    client.users.get(profile.user_id, include_counts=True)
    client.users.resolve(users=[profile.user_id])
    token = client.tokens.create(name="board", ability="read")
    client.tokens.list()
    client.tokens.rotate(token.token_id)
    client.tokens.revoke(token.token_id)
    client.dashboard.get()
    list(client.audit.list())
    client.users.confirm_number(other_id, ifpa_id=777)
    list(client.federation_numbers.list(status="confirmed"))
    client.users.withdraw_number(other_id)
    shown = ShownNumber(user_id=other_id, ifpa_id=777)
    batch = client.federation_numbers.confirm_all(numbers=[shown])
    assert batch.left_out[0].obstacles == ("not-claimed", "not-in-file")
    client.users.suspend(other_id)
    client.users.unsuspend(other_id)
    for kind in ("users", "tournaments", "series"):
        list(client.search.list(query="a", type=kind))
    list(client.tournaments.list(status="completed"))


def ratings(client: Client, user_id: int) -> None:
    """Ratings of accounts and of federation numbers, and what is rated."""
    list(client.ratings.list(user_ids=[user_id]))
    list(client.ratings.search(query="Rita"))
    client.ratings.list_by_ifpa(ifpa_ids=[1001])
    client.ratings.get("users", user_id)
    client.ratings.summary("users", user_id)
    client.ratings.chart("users", user_id)
    client.ratings.get_by_ifpa(1001)
    client.ratings.summary_by_ifpa(1001)
    client.ratings.chart_by_ifpa(1001)
    list(client.ifpa.rating_history(1001))
    client.ifpa.estimate(names=["Ines Calder", "Somebody"])
    assert client.plans.create(players=8, machines=4, types=["matchplay"]).options
    client.ratings.compare(user_ids=[user_id], ifpa_ids=[1001])
    client.ratings.compare_many(user_ids=[user_id], ifpa_ids=[1001])
    for period in list(client.rating_periods.list())[:1]:
        client.rating_periods.get(period.period_date[:10])
    submission = client.rating_submissions.create(url="https://results.example.org/night.json")
    client.rating_submissions.get(submission.rating_submission_id)
    list(client.rating_submissions.list())
    client.rating_submissions.withdraw(submission.rating_submission_id)


def machines(client: Client) -> None:
    """The machine database and tips."""
    client.opdb.changelog()
    client.opdb.entry("G5VDd-MJpqO")
    client.opdb.entry_with_videos("G5VDd-MJpqO")
    client.pintips.list(opdb_id="G5VDd-MJpqO")


def started(
    client: Client, kind: str, players: Sequence[int], arenas: Sequence[int], **settings: object
) -> int:
    """A running tournament of this format."""
    created: Tournament = client.tournaments.create(name=f"Tour of {kind}", type=kind, **settings)  # type: ignore[arg-type]  # as given
    tournament_id = created.tournament_id
    client.tournaments.add_players(tournament_id, players=[NewEntrant(player_id=each) for each in players])
    for arena_id in arenas:
        client.tournaments.add_arenas(tournament_id, arena_id=arena_id)
    client.tournaments.start(tournament_id)
    return tournament_id


def match_play(client: Client, players: Sequence[int], arenas: Sequence[int], other_organizer: int) -> None:
    """A night of match play with every change of its roster, rounds and games."""
    change = client.tournaments
    bank = client.banks.create(name="Bank", arena_ids=list(arenas[:3]))
    planned = change.create(name="Planned", type="matchplay").tournament_id
    change.update(planned, name="Planned well", description="A night.")
    me = client.users.profile().user_id
    change.add_scorekeeper(planned, me)
    change.remove_scorekeeper(planned, me)
    change.add_director(planned, other_organizer)
    change.remove_director(planned, other_organizer)
    change.add_bank(planned, bank.bank_id)
    change.remove_bank(planned, bank.bank_id)
    change.add_players(planned, name="Only here")
    change.delete(planned)

    night = started(client, "matchplay", players[:6], arenas, forecast=True)
    change.resolve_players(night, players=list(players[:2]))
    change.resolve_arenas(night, arenas=list(arenas[:2]))
    change.update_arena(night, arenas[5], status="inactive")
    change.remove_arena(night, arenas[5])
    change.remove_player(night, players[5])
    change.update_player(night, players[0], labels=["champion"])
    change.update_players(night, players=[ListedEntrantPatch(player_id=players[4], status="inactive")])
    client.rounds.open(night, dry_run=True)
    client.rounds.open(night)
    client.rounds.delete(night, change.rounds(night)[0].round_id)
    client.rounds.open(night)
    assert change.forecast(night).cut_position is None
    round_id = change.rounds(night)[0].round_id
    client.rounds.set_timer(night, minutes=20)
    client.rounds.extend_timer(night, minutes=5)
    game, other = change.games(night)[:2]
    client.games.give_extra_time(night, game.game_id, minutes=5)
    client.games.call(night, game.game_id)
    assert [called.game_id for called in client.rounds.timer(night).called_games] == [game.game_id]
    client.games.update(night, game.game_id, player_ids=game.player_ids[::-1])
    client.games.redraw_arena(night, game.game_id)
    client.rulings.rule_on_game(night, game.game_id, ruling="wait")
    client.rulings.rule_on_game(night, game.game_id, ruling="resume")
    client.rulings.add_note(night, game.game_id, kind="slow", text="Ten minutes late.")
    assert client.rulings.list_notes(night, game.game_id)[-1].text == "Ten minutes late."
    assert client.rulings.list_earlier_cards(night, game.game_id) == ()
    client.games.record_result(night, game.game_id, result_positions=game.player_ids)
    client.games.clear_result(night, game.game_id)
    for finished in (game, other):
        client.games.record_result(night, finished.game_id, result_positions=finished.player_ids)
    client.rounds.complete(night, round_id)
    newest = next(client.tournaments.journal(night))
    change.undo(night, action=newest.action_id)
    money = change.set_prizes(night, entry_fee=500, shares=[10_000], published=True)
    assert money.prizes_total + money.remainder == money.pot
    change.complete(night)
    paid = change.mark_prize_paid(night, change.prizes(night).prizes[0].player_ids[0], paid=True)
    assert paid.paid_total == paid.payouts[0].cents
    assert change.prize_table(night).final
    change.prizes_csv(night)
    change.reopen(night)
    change.complete(night)
    assert {place.player_id for place in change.federation_results(night).results}
    change.federation_results_csv(night)
    change.mark_results_sent(night, sent=True)
    assert change.federation_results_sent(night).changes == ()
    change.create_playoffs(night, type="bracket", players=2)
    list(client.games.list(tournaments=[night]))


def door(client: Client, players: Sequence[int], sign_up: Callable[[int, str], object]) -> None:
    """A full tournament with a waiting list, payments and a check-in."""
    full = Registration(status="active", player_limit=2, has_waitlist=True)
    night = client.tournaments.create(name="Full", type="matchplay", rsvp_configuration=full).tournament_id
    entrants = [NewEntrant(player_id=each) for each in players[:2]]
    client.tournaments.add_players(night, players=entrants)
    client.sign_ups.change_terms(night, fee=1000, new_code=True)
    for player_id in players[2:5]:
        client.sign_ups.add_waiting(night, player_id=player_id)
    client.sign_ups.move_waiting(night, players[4], position=1)
    client.sign_ups.remove_waiting(night, players[3])
    client.sign_ups.update_person(night, players[0], here=True, payment=NewPayment(cents=1000, how="cash"))
    client.sign_ups.remove_absent(night)
    for name in ("Ada Quill", "Bo Larkin", "Cleo Marsh"):
        sign_up(night, name)
    *_, first, second, _third = client.tournaments.sign_ups(night).people
    client.sign_ups.take(night, first.sign_up_id or 0, here=True)
    client.sign_ups.remove_untaken(night, second.sign_up_id or 0)
    client.sign_ups.take_all(night)
    assert players[4] in {person.player_id for person in client.tournaments.sign_ups(night).people}
    client.tournaments.sign_ups_csv(night)


def season(client: Client, players: Sequence[int], arenas: Sequence[int]) -> None:
    """A completed series of one night, and its results for the federation."""
    series_id = client.series.create(name="Spring").series_id
    night = started(client, "best_game", players[:3], arenas[:1], series_id=series_id)
    client.single_player_games.create(night, player_id=players[0], arena_id=arenas[0], score=5_000)
    client.tournaments.complete(night)
    client.series.update(series_id, status="completed")
    client.series.federation_results(series_id)
    client.series.federation_results_csv(series_id)


def finals(client: Client, players: Sequence[int], arenas: Sequence[int]) -> None:
    """Lists of players and machines, pairs apart, a player who leaves, finals of a night and of a series."""
    client.players.import_list(text="Name\nZoe Fern")
    client.arenas.import_list(text="Name\nFlash Gordon")
    series_id = client.series.create(name="Autumn").series_id
    night = started(client, "group_matchplay", players[:5], arenas[:2], series_id=series_id)
    change = client.tournaments
    change.set_pairs_apart(night, pairs=[players[:2]])
    assert len(change.pairs_apart(night).pairs) == 1
    client.rounds.open(night)
    change.forfeit_player(night, players[4], what="leaves")
    change.set_finals(night, steps=[NewFinal(name="A final", type="bracket", players=2)])
    (step,) = change.finals(night).steps
    assert len(step.qualified) == 2
    change.create_playoffs(night, type="bracket", players=players[:2])
    change.complete(night)
    client.series.playoffs(series_id, type="bracket", players=players[:2])


def scores(client: Client, players: Sequence[int], arenas: Sequence[int]) -> None:
    """A best game with queues, entries and single player games, and one with cards."""
    night = started(client, "best_game", players[:4], arenas[:2], use_queues=True, suggestions="disabled")
    client.tournaments.add_entries(night, players[0], type="comped", quantity=2)
    first = client.queues.join(night, player_id=players[0], arena_id=arenas[0])
    client.queues.join(night, player_id=players[1], arena_id=arenas[0])
    client.queues.move(night, first.queue_id)
    client.queues.leave(night, first.queue_id)
    last = client.queues.join(night, player_id=players[2], arena_id=arenas[1])
    begun = client.queues.start(night, last.queue_id)
    client.tournaments.queues(night)
    single = client.single_player_games
    single.update(night, begun.single_player_game_id, score=1_000_000)
    single.void(night, begun.single_player_game_id)
    single.unvoid(night, begun.single_player_game_id)
    single.delete(night, begun.single_player_game_id)
    cards = started(client, "card_best_game", players[:3], arenas)
    attempt = single.create(cards, player_id=players[0], arena_id=arenas[0], score=5_000)
    assert attempt.player_id == players[0]
    card = next(client.tournaments.cards(cards))
    client.cards.void(cards, card.card_id)
    client.cards.unvoid(cards, card.card_id)
    client.cards.delete(cards, card.card_id)


def frenzy(client: Client, players: Sequence[int], arenas: Sequence[int]) -> None:
    """A frenzy: its clock and its queue."""
    night = started(client, "frenzy", players[:6], arenas[:1])
    client.tournaments.add_arenas(night, arena_id=arenas[1])
    client.frenzy.pause(night)
    playing = next(game for game in client.tournaments.games(night) if game.status == "started")
    client.games.record_result(night, playing.game_id, result_positions=playing.player_ids)
    client.frenzy.resume(night)
    client.frenzy.change_time(night, seconds=60)
    queue = client.tournaments.frenzy(night)
    for entry in queue.queue[:1]:
        client.frenzy.move_to_end(night, entry.queue_id)
        client.frenzy.leave_queue(night, entry.queue_id)
        client.frenzy.join_queue(night, player_id=entry.player_id)


def other_formats(client: Client, players: Sequence[int], arenas: Sequence[int]) -> None:
    """What only some formats have."""
    bracket = started(client, "bracket", players[:4], arenas[:2], games_per_round=3)
    match = next(game for game in client.tournaments.games(bracket) if players[3] not in game.player_ids)
    two = list(match.player_ids)
    client.games.record_leg(bracket, match.game_id, result_positions=two)
    client.games.change_leg(bracket, match.game_id, 1, result_positions=two[::-1])
    client.games.list_legs(bracket, match.game_id)
    client.games.delete_leg(bracket, match.game_id, 1)
    client.tournaments.forfeit_player(bracket, players[3])

    manual = started(client, "manual_matchplay", players[:4], arenas[:2])
    client.rounds.open(manual)
    game = client.games.create(manual, player_ids=players[:2], arena_id=arenas[0])
    client.games.add_player(manual, game.game_id, player_id=players[2])
    client.games.remove_player(manual, game.game_id, players[2])
    client.games.delete(manual, game.game_id)
    with contextlib.suppress(Refused):
        client.tournaments.break_tie(manual, player_ids=list(players[:2]))
    client.tournaments.break_tie(manual, order=list(players[:4]))

    golf = started(client, "golf", players[:3], arenas[:2], golf_duration=2)
    client.rounds.update(golf, client.tournaments.rounds(golf)[0].round_id, arena_id=arenas[1])

    race = started(client, "amazingrace", players[:4], arenas)
    client.tournaments.amazing_race(race)
    attempts = [game for game in client.tournaments.single_player_games(race) if game.status != "completed"]
    first, second = attempts[:2]
    client.single_player_games.update(race, first.single_player_game_id, score=1_000)
    client.tournaments.advance_in_amazing_race(race, second.player_id)


def suggestions(client: Client, visitor: Client, players: Sequence[int], arenas: Sequence[int]) -> None:
    """Results that a player reports: one approved, one declined."""
    visitor.players.claim(players[0])
    client.players.approve_claim(players[0], user_id=visitor.users.profile().user_id)
    night = started(client, "matchplay", players[:2], arenas[:2], suggestions="restricted")
    client.rounds.open(night)
    (game,) = client.tournaments.games(night)
    for is_right in (False, True):
        read = visitor.games.suggest_result(night, game.game_id, result_positions=game.player_ids)
        (suggestion,) = read.suggestions or ()
        if is_right:
            client.suggestions.approve(night, suggestion.suggestion_id)
        else:
            client.suggestions.decline(night, suggestion.suggestion_id)


def webhooks(client: Client) -> None:
    """A webhook from its creation to its end."""
    night = client.tournaments.create(name="Hooked", type="knockout").tournament_id
    hook = client.webhooks.create(night, url="https://hooks.example.org/in", events=["TournamentUpdated"])
    client.webhooks.update(night, hook.webhook_id, name="Board")
    client.webhooks.get(night, hook.webhook_id)
    client.tournaments.webhooks(night)
    client.webhooks.replace_secret(night, hook.webhook_id)
    client.webhooks.test(night, hook.webhook_id)
    list(client.webhooks.deliveries(night, hook.webhook_id))
    client.webhooks.delete(night, hook.webhook_id)
