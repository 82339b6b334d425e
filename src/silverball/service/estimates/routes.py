"""The federation over HTTP."""

from silverball.kit.http.endpoints import Call, read_post
from silverball.service.estimates import reads
from silverball.service.estimates.reads import EstimateQuery
from silverball.wire.federation import WpprEstimate


@read_post("/api/ifpa/wppr-estimator", query=EstimateQuery)
def estimate_wppr(call: Call[EstimateQuery]) -> WpprEstimate:
    """What the players of a tournament, a series or a list make a tournament worth."""
    with call.read() as db:
        return reads.wppr_estimate(db, call.query, call.caller)
