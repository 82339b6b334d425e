"""GET rounds."""

from silverball.kit.http import Access, Call, get
from silverball.kit.query import Query
from silverball.service.rounds import reads
from silverball.wire.pages import Data
from silverball.wire.rounds import Round


@get("/api/tournaments/{tournament_id}/rounds", access=Access.OPENABLE)
def list_rounds(call: Call[Query]) -> Data[tuple[Round, ...]]:
    """Rounds of a tournament, newest first."""
    with call.read() as db:
        return Data(data=reads.of_tournament(db, call.ids["tournament_id"]))
