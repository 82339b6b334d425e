"""Directors of a tournament over HTTP."""

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import delete, put
from silverball.service.calls import Write
from silverball.service.directors import writes
from silverball_wire.pages import Data
from silverball_wire.users import User

DIRECTOR = "/api/tournaments/{tournament_id}/directors/{user_id}"


@put(DIRECTOR, ability="manage")
def add_director_to_tournament(call: Write[Body]) -> Data[User]:
    """Let an account run the tournament as its organizer does; it cannot delete it or choose directors."""
    return Data(data=writes.add_director(call))


@delete(DIRECTOR, ability="manage")
def remove_director_from_tournament(call: Write[Body]) -> Data[User]:
    """Take a director's rights; directors may resign."""
    return Data(data=writes.remove_director(call))
