"""Writing calls with the types of the store: `Write[NewArena]` has `db: Connection` and a `Transaction`."""

from typing import TypeAlias, TypeVar

from silverball.kit.http import endpoints
from silverball.kit.http.body import Body
from silverball.store.engine import Db
from silverball.store.transaction import Transaction

B = TypeVar("B", bound=Body)
Write: TypeAlias = endpoints.Write[B, Db, Transaction]
