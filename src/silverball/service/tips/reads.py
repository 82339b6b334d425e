"""Tips for one machine, and all tips for the bulk file."""

from collections.abc import Iterator

import msgspec
from sqlalchemy import Connection, select

from silverball.kit.errors import Invalid
from silverball.kit.http.query import Query
from silverball.rules.opdb import ids as opdb
from silverball.service.arenas import reads as arenas
from silverball.service.machines import reads as machines
from silverball.store import tables
from silverball_wire import times
from silverball_wire.base import Id
from silverball_wire.machines import OpdbEntry
from silverball_wire.tips import OpdbInfo, PinTipsBundle, Tip, TipRow

ROWS_AT_ONCE = 100
NO_TIPS = PinTipsBundle(pintips=(), opdb_info=None)
_TIP = tables.tip.c
# Strategy guides; the cards are the instruction cards printed by the manufacturer.
_RULESETS = ("pinball_rules_url", "pinball_primer_url", "bobs_guide_url")
_LINKS = (*_RULESETS, "pinball_cards_url")


class TipsQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/pintips, of which exactly one is given. Source: interface 4.9."""

    opdb_id: str | None = None
    """Id of a machine, which the tips are for."""
    arena_id: Id | None = None
    """Id of an arena, whose machine the tips are for."""


def tips_for_query(db: Connection, query: TipsQuery) -> PinTipsBundle:
    """The tips for the machine or arena of the query. Raises Invalid."""
    if query.opdb_id is not None and query.arena_id is not None:
        raise Invalid({"arenaId": ["Give either the opdb id or the arena id, not both."]})
    if query.opdb_id is not None:
        machines.require_known_id(db, "opdbId", query.opdb_id)
        return machine_tips(db, query.opdb_id)
    if query.arena_id is None:
        raise Invalid({"opdbId": ["The opdb id field is required when there is no arena id."]})
    named_arenas = arenas.existing_arenas(db, [query.arena_id])
    if not named_arenas:
        raise Invalid({"arenaId": ["The selected arena id is invalid."]})
    # Earlier versions stored whatever organizers typed, and an invalid id has no tips.
    opdb_id = named_arenas[0].opdb_id
    return NO_TIPS if opdb_id is None else machine_tips(db, opdb_id)


def machine_tips(db: Connection, opdb_id: str) -> PinTipsBundle:
    """The tips for a title, most votes first, by any current or former id of its entries."""
    today = machines.current_opdb_id(db, opdb_id)
    group_id = None if today is None else opdb.group_id_of(today)
    if today is None or group_id is None:
        return NO_TIPS
    rows = select(tables.tip).where(_TIP.opdb_id == group_id).order_by(_TIP.vote_total.desc(), _TIP.tip_id)
    tips = tuple(
        Tip(
            tip_id=row.tip_id,
            text=row.text,
            category=row.category,
            vote_total=row.vote_total,
            # This site has no voting.
            own_vote=None,
        )
        for row in db.execute(rows)
    )
    return PinTipsBundle(pintips=tips, opdb_info=_machine_info(db, today, group_id))


def json_lines(db: Connection) -> Iterator[str]:
    """Lines of a file of all tips, which `import pintips` reads: a line per tip."""
    rows = select(tables.tip).order_by(_TIP.tip_id).execution_options(yield_per=ROWS_AT_ONCE)
    yield "[\n"
    comma = ""
    for row in db.execute(rows):
        tip = TipRow(
            tip_id=row.tip_id,
            opdb_id=row.opdb_id,
            category=row.category,
            vote_total=row.vote_total,
            text=row.text,
            created_at=times.plain(row.created_at),
            updated_at=times.plain(row.updated_at),
        )
        yield f"{comma}{msgspec.json.encode(tip).decode()}\n"
        comma = ","
    yield "]\n"


def _machine_info(db: Connection, opdb_id: str, group_id: str) -> OpdbInfo | None:
    """A summary of the machine; missing values come from its group or the title's oldest machine."""
    entries = machines.entries_by_id(db, [opdb_id, group_id])
    entry = entries.get(opdb_id) or entries.get(group_id)
    if entry is None:
        return None
    sources = [entry, entries.get(group_id), machines.oldest_of_group(db, group_id)]
    links = {name: _first_link(sources, name) for name in _LINKS}
    dated_entry = next(
        (source for source in sources if source is not None and (source.year or source.manufacturer)), entry
    )
    maker = dated_entry.manufacturer.name if dated_entry.manufacturer else None
    supplementary = [str(part) for part in (maker, dated_entry.year) if part is not None]
    return OpdbInfo(
        name=entry.name,
        supplementary=", ".join(supplementary),
        has_ruleset=any(links[name] for name in _RULESETS),
        **links,
    )


def _first_link(sources: list[OpdbEntry | None], name: str) -> str | None:
    links: list[str | None] = [getattr(source, name) for source in sources if source is not None]
    return next((link for link in links if link is not None), None)
