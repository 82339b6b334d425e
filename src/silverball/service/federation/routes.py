"""The federation over HTTP."""

from silverball.kit.http.endpoints import Call, read_post
from silverball.service.federation.reads import estimates
from silverball.service.federation.reads.estimates import EstimateQuery
from silverball.wire.federation import WpprEstimate


@read_post("/api/ifpa/wppr-estimator", query=EstimateQuery)
def estimate_wppr(call: Call[EstimateQuery]) -> WpprEstimate:
    """What the players of a tournament, a series or a list make a tournament worth."""
    with call.read() as db:
        return estimates.wppr_estimate(db, call.query, call.caller)
