"""The site as its administrator describes it: name, contact, imprint, privacy text and time zone."""

from msgspec import Struct
from sqlalchemy import Connection, select

from silverball.store.people import site_values
from silverball.store.tables import site_value

PREFIX = "site-"


class SiteDetails(Struct, frozen=True, kw_only=True):
    """The details, each empty until somebody gives it. A contact is an e-mail or an https address."""

    name: str = ""
    contact: str = ""
    imprint: str = ""
    privacy: str = ""
    zone: str = ""

    @property
    def contact_link(self) -> str:
        """The contact as an address that a browser follows; empty without one."""
        return self.contact if "//" in self.contact or not self.contact else f"mailto:{self.contact}"


def find_site_details(db: Connection) -> SiteDetails:
    """The details of the site."""
    names = [f"{PREFIX}{name}" for name in SiteDetails.__struct_fields__]
    rows = db.execute(select(site_value.c.name, site_value.c.value).where(site_value.c.name.in_(names)))
    return SiteDetails(**{row.name.removeprefix(PREFIX): row.value for row in rows})


def note_site_details(db: Connection, details: SiteDetails) -> None:
    """Note the details in the place of those before."""
    for name in SiteDetails.__struct_fields__:
        site_values.note_site_value(db, f"{PREFIX}{name}", getattr(details, name))
