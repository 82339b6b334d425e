"""Nights of single player games in which anything may happen, one machine per format."""

from rules import solo_moves
from rules.machine import machine_of

TestGolf = machine_of(solo_moves.GOLF)
TestBowling = machine_of(solo_moves.BOWLING)
TestBestGame = machine_of(solo_moves.BEST_GAME)
TestCardBestGame = machine_of(solo_moves.CARD_BEST_GAME)
TestAmazingRace = machine_of(solo_moves.AMAZING_RACE)
