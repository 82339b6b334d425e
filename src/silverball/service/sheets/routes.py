"""Lists of players and machines over HTTP."""

from silverball.kit.http.endpoints import post
from silverball.service.core.calls import Write
from silverball.service.roster import writes as roster
from silverball.service.sheets import writes
from silverball.service.sheets.bodies import MachinesToImport, PlayersToImport
from silverball_wire.imports import MachinesImport, PlayersImport
from silverball_wire.pages import Data


@post("/api/players/import", body=PlayersToImport, ability="manage", takes_file=True)
def import_players(call: Write[PlayersToImport]) -> Data[PlayersImport]:
    """Look at a list of players, or store its rows."""
    return Data(data=writes.import_players(call, roster.add_players))


@post("/api/arenas/import", body=MachinesToImport, ability="manage", takes_file=True)
def import_arenas(call: Write[MachinesToImport]) -> Data[MachinesImport]:
    """Look at a list of machines, or store its rows."""
    return Data(data=writes.import_machines(call, roster.add_arenas))
