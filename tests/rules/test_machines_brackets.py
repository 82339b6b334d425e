"""Random nights of round robins, brackets and ladders, one machine per format."""

from rules import bracket_moves
from rules.night_machine import machine_of

TestRoundRobin = machine_of(bracket_moves.ROUND_ROBIN)
TestGroups = machine_of(bracket_moves.GROUPS)
TestDoubleRoundRobin = machine_of(bracket_moves.DOUBLE_ROUND_ROBIN)
TestBracket = machine_of(bracket_moves.BRACKET)
TestDoubleBracket = machine_of(bracket_moves.DOUBLE_BRACKET)
TestLadder = machine_of(bracket_moves.LADDER)
TestGroupBracket = machine_of(bracket_moves.GROUP_BRACKET)
TestGroupBracketWithByes = machine_of(bracket_moves.GROUP_BRACKET_WITH_BYES)
TestGroupBracketWithDoubleByes = machine_of(bracket_moves.GROUP_BRACKET_WITH_DOUBLE_BYES)
TestGolfBracket = machine_of(bracket_moves.GOLF_BRACKET)
