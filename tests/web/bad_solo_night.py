"""A bad night of a format that everybody plays for themselves: pingolf and best game."""

from silverball.rules.model.tournament import SinglePlayerGame
from web.bad_night import BadNight


class BadSoloNight(BadNight):
    """What directors do on the pages of these formats."""

    def correct_attempt(self, attempt_id: int, name: str, value: int) -> None:
        """A score or a number of strokes was wrong."""
        with self.acting(f"correction of attempt {attempt_id}"):
            self.olga.go(f"/correct?attempt={attempt_id}")
            self.olga.fill(f"#right-{name}", str(value))
            self.olga.tap("text=Show what changes")
            self.olga.fill("#correct-reason", "The sheet was read wrong.")
            self.olga.tap("text=Save the correction")
            self.olga.page.wait_for_selector("text=/was corrected/")

    def attempt(self, attempt_id: int) -> SinglePlayerGame:
        return next(
            attempt
            for attempt in self.tournament.single_player_games
            if attempt.single_player_game_id == attempt_id
        )

    def set_hole(self, round_id: int, arena_id: int) -> None:
        """Say on which machine a hole is played."""
        with self.acting(f"machine of hole {round_id}"):
            self.olga.go(f"?round={round_id}")
            if not self.olga.page.locator("#hole-arenaId").is_visible():
                self.olga.tap("summary >> text=Machine and target")
            self.olga.page.select_option("#hole-arenaId", str(arena_id))
            self.olga.tap("text=Save machine and target")
            self.wait_until(lambda: self._arena_of(round_id) == arena_id)

    def _arena_of(self, round_id: int) -> int | None:
        return next(round_.arena_id for round_ in self.tournament.rounds if round_.round_id == round_id)

    def enter_strokes(self, number: int) -> None:
        """Enter the strokes of all who wait for a hole, on both phones."""
        round_id = self.tournament.rounds_in_order[number].round_id
        for screen in (self.olga, self.otto):
            screen.go(f"?round={round_id}")
        for attempt in self.tournament.single_player_games:
            if attempt.round_id == round_id and attempt.status != "completed":
                key = attempt.single_player_game_id
                with self.acting(f"strokes of attempt {key}"):
                    strokes = self.dice.randint(1, 6)
                    next(self._screens).tap(f"#attempt-{key} button[name=strokes][value='{strokes}']")
                    self.wait_until(lambda: self._is_completed(key))  # noqa: B023  # asked at once

    def _is_completed(self, attempt_id: int) -> bool:
        return bool(self.attempt(attempt_id).status == "completed")

    def enter_score(self, player_id: int, arena_id: int, score: int) -> None:
        """Enter the score of a player on a machine, on the phone of whoever's turn it is."""
        screen = next(self._screens)
        before = len(self.completed_attempts)
        with self.acting(f"score of player {player_id} on machine {arena_id}"):
            if "/t/" not in screen.page.url or not screen.page.locator("#score-playerId").count():
                screen.go()
            screen.page.select_option("#score-playerId", str(player_id))
            screen.page.select_option("#score-arenaId", str(arena_id))
            screen.fill("#score-score", str(score))
            screen.tap("#score > button")
            self.wait_until(lambda: len(self.completed_attempts) == before + 1)

    @property
    def completed_attempts(self) -> list[SinglePlayerGame]:
        return [attempt for attempt in self.tournament.single_player_games if attempt.status == "completed"]
