"""A role of PostgreSQL that may make tables in a database, and add no extension."""

from itertools import count

from silverball.store.database.engine import Store

_numbers = count(1)


def add_plain_role(admin: Store, url: str) -> tuple[str, str]:
    """Make another role in the administrator's database; returns its name and its address."""
    role = f"plain{next(_numbers)}"
    with admin.migration() as db:
        db.exec_driver_sql(f"CREATE ROLE {role} LOGIN")
        db.exec_driver_sql(f"GRANT CREATE ON SCHEMA public TO {role}")
    return role, url.replace("silverball@", f"{role}@")
