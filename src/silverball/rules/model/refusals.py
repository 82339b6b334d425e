"""Refusals that several parts of the rules share; others stand beside the function that raises them."""

from silverball.kit.errors import WrongFormat


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
