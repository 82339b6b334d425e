"""Tips over HTTP."""

from silverball.kit.http.endpoints import Call, get
from silverball.service.tips import reads
from silverball_wire.tips import PinTipsBundle


@get("/api/pintips", query=reads.TipsQuery)
def list_pintips(call: Call[reads.TipsQuery]) -> PinTipsBundle:
    """Playing tips for a machine or an arena; for every model of its title."""
    with call.read() as db:
        return reads.tips_for_query(db, call.query)
