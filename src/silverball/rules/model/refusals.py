"""Refusals that several parts of the rules share; others stand beside the function that raises them."""

from silverball.kit.errors import Conflict, WrongFormat


class NoSinglePlayerGames(WrongFormat):
    sentence = "Tournament has no single player games"


class NoCards(WrongFormat):
    sentence = "Tournament has no cards"


class NotAFrenzy(WrongFormat):
    sentence = "Tournament is not Frenzy"


class NotAMaxMatchPlay(WrongFormat):
    sentence = "Tournament is not Max Match Play"


class NotAnAmazingRace(WrongFormat):
    sentence = "Tournament is not Amazing Race"


class NotABestGame(WrongFormat):
    sentence = "Tournament is not Best Game"


class NotAMatchPlay(WrongFormat):
    sentence = "Tournament is not Match Play"


class TournamentIsCompleted(Conflict):
    sentence = "The tournament is completed. Reopen it before you {action}."


class TournamentNotStarted(Conflict):
    sentence = "The tournament has not started. Start it first."


class GameWithoutResult(Conflict):
    sentence = "{game} has no result to delete."


class DrawnElsewhere(Conflict):
    sentence = (
        "The games of this tournament do not follow from its seeds: it was drawn elsewhere. Its "
        "results stay as they are."
    )


class RoundWithoutArena(Conflict):
    sentence = "{round} has no arena yet. Choose one, then record the result."


class AllRoundsPlayed(Conflict):
    sentence = "The tournament is over: {reason}. Complete it."
