"""Plans of nights over HTTP."""

from silverball.kit.http.endpoints import Access, Call, read_post
from silverball.service.planning.reads import plans
from silverball.service.planning.reads.plans import PlanQuery
from silverball_wire.pages import Data
from silverball_wire.plans import Plan


@read_post("/api/plan", query=PlanQuery, access=Access.OWN)
def plan_night(call: Call[PlanQuery]) -> Data[Plan]:
    """Plan a night: each format and number of rounds, and when it would end."""
    with call.read() as db:
        return Data(data=plans.plan(db, call.query, call.user_id, call.now))
