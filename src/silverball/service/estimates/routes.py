"""The federation over HTTP."""

from silverball.kit.http.endpoints import Call, read_post
from silverball.service.estimates import reads
from silverball.service.estimates.reads import EstimateQuery
from silverball_wire.federation import WpprEstimate


@read_post("/api/ifpa/wppr-estimator", query=EstimateQuery)
def estimate_wppr(call: Call[EstimateQuery]) -> WpprEstimate:
    """The WPPR value of a field: the players of a tournament, of a series, or of a list."""
    with call.read() as db:
        return reads.wppr_estimate(db, call.query, call.caller)
