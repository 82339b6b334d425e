"""Random nights that are played to the end their settings give them, with every claim on the way checked."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

import msgspec

from rules.moves import Moves
from rules.night import NOON, Night
from rules.night_machine import NightMachine
from rules.verify import walked_nights
from silverball.kit.values import convert, replace
from silverball.rules.model.tournament import Tournament
from silverball.rules.outlook.forecast import CertainFacts, Claim, Forecast, certain_facts, cut_of
from silverball.rules.registry import FORMATS

PLAY = ("play_round", "record", "record_all")
STEPS_MAX = 150


@dataclass
class FinishedWalk:
    """The claims of a night and what came of it."""

    claims: set[Claim] = field(default_factory=set)
    # The claims of a place in a game: with the game, since they are about its result.
    places: set[tuple[Claim, int]] = field(default_factory=set)
    final: Tournament | None = None
    # The forecast as it was published last.
    published: Forecast | None = None

    def wrong_claims(self) -> list[str]:
        """The claims that did not come true; none while the night is not over."""
        if self.final is None:
            return []
        positions = {row.player_id: row.position for row in FORMATS[self.final.type].rank(self.final)}
        wrong = [f"{claim}: {positions}" for claim in self.claims if self._is_wrong(claim, positions)]
        for claim, game_id in self.places:
            game = next((each for each in self.final.games if each.game_id == game_id), None)
            order = () if game is None else game.finishing_order or game.result_positions
            has_place = claim.player_id in order and order.index(claim.player_id) < (claim.place or 0)
            if has_place and positions[claim.player_id] > self._last_place(claim):
                wrong.append(f"{claim} in {game}: {positions}")
        return wrong

    def _last_place(self, claim: Claim) -> int:
        assert self.final is not None
        return 1 if claim.goal == "win" else cut_of(self.final) or 0

    def _is_wrong(self, claim: Claim, positions: dict[int, int]) -> bool:
        made_it = positions.get(claim.player_id, len(positions) + 1) <= self._last_place(claim)
        return made_it is not (claim.fact == "clinched")


def walk_to_end(played: Moves, seed: str) -> FinishedWalk:
    """Play a random night to its end, as far as that comes; nobody is adjusted, joins or leaves."""
    dice = Random(seed)

    class WalkedNight(NightMachine):
        moves = played

        def prepare_night(self, night: Night) -> Night:
            return _with_rounds(walked_nights.with_bands(night, dice), dice)

    machine: Any = WalkedNight()
    machine.plan(pick=8 * dice.randrange(1000) + 1, seed=dice.randrange(1000))
    found = FinishedWalk()
    form = FORMATS[played.kind]
    for _ in range(STEPS_MAX):
        tournament = machine.tournament
        if tournament.status == "started":
            _note_claims(found, tournament)
            if form.is_over(tournament):
                found.final = tournament
                break
        steps = [
            step
            for step in machine.rules
            if step.function.__name__ in PLAY and all(holds(machine) for holds in step.preconditions)
        ]
        if not steps:
            break
        step = dice.choice(steps)
        drawn = {"pick": dice.randrange(2**16), "points": 0, "actions": 1}
        step.function(machine, **{name: drawn[name] for name in step.arguments})
        if dice.random() < walked_nights.TIES_SHARE:
            walked_nights.separate_tied(machine, dice)
    return found


def stored_and_loaded(facts: CertainFacts) -> Forecast:
    """The forecast with these facts, as the next one finds it in the database."""
    forecast = Forecast(
        chances=None,
        rated_ids=(),
        nights_simulated=0,
        claims=facts.claims,
        withdrawals=facts.withdrawals,
        assumptions=facts.assumptions,
    )
    return convert(msgspec.json.decode(msgspec.json.encode(forecast)), Forecast, str_keys=True)


def _note_claims(found: FinishedWalk, tournament: Tournament) -> None:
    game_of = {
        player_id: game.game_id
        for game in tournament.games
        if game.status == "started" and not game.is_tiebreak
        for player_id in game.player_ids
    }
    certain = certain_facts(tournament, FORMATS[tournament.type], found.published, NOON)
    # Nobody is adjusted, joins or leaves, and no result is corrected.
    assert certain.withdrawals == ()
    found.published = stored_and_loaded(certain)
    for claim in certain.claims:
        if claim.fact == "place":
            assert claim.game_id == game_of[claim.player_id]
            found.places.add((claim, claim.game_id))
        else:
            found.claims.add(claim)


def _with_rounds(night: Night, dice: Random) -> Night:
    """The planned night with a number of rounds, where its format may have one."""
    chosen = night.tournament.settings
    if not getattr(chosen, "duration", 1):
        settings: Any = msgspec.structs.replace(chosen, duration=dice.randint(2, 5))
        night.tournament = replace(night.tournament, settings=settings)
    return night
