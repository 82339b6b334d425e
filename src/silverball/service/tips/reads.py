"""Tips: for one machine, and all of them for the bulk file."""

from collections.abc import Iterator

import msgspec
from sqlalchemy import Connection, select

from silverball.kit.errors import Invalid
from silverball.kit.http.query import Query
from silverball.rules.opdb import ids as opdb
from silverball.service.arenas import reads as arenas
from silverball.service.machines import reads as machines
from silverball.store import tables
from silverball.wire import times
from silverball.wire.base import Id
from silverball.wire.machines import OpdbEntry
from silverball.wire.tips import OpdbInfo, PinTipsBundle, Tip, TipRow

ROWS_AT_ONCE = 100
NO_TIPS = PinTipsBundle(pintips=(), opdb_info=None)
_TIP = tables.tip.c
# Guides that say what to shoot for; the cards are what the maker printed.
_RULESETS = ("pinball_rules_url", "pinball_primer_url", "bobs_guide_url")
_LINKS = (*_RULESETS, "pinball_cards_url")


class TipsQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/pintips: one of them. Source: interface 4.9."""

    opdb_id: str | None = None
    arena_id: Id | None = None


def tips_for_query(db: Connection, query: TipsQuery) -> PinTipsBundle:
    """The tips for the machine or the arena that is named. Raises Invalid."""
    if query.opdb_id is not None and query.arena_id is not None:
        raise Invalid({"arenaId": ["Give either the opdb id or the arena id, not both."]})
    if query.opdb_id is not None:
        if opdb.parse_id(query.opdb_id) is None:
            raise Invalid({"opdbId": ["The opdb id field must be an id of the machine database."]})
        return machine_tips(db, query.opdb_id)
    if query.arena_id is None:
        raise Invalid({"opdbId": ["The opdb id field is required when there is no arena id."]})
    found = arenas.existing_arenas(db, [query.arena_id])
    if not found:
        raise Invalid({"arenaId": ["The selected arena id is invalid."]})
    # People type these ids, so an arena may have something else there.
    return NO_TIPS if found[0].opdb_id is None else machine_tips(db, found[0].opdb_id)


def machine_tips(db: Connection, opdb_id: str) -> PinTipsBundle:
    """The tips for a title, most votes first, by the id of any of its entries; an old id too."""
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
            # Nobody votes here.
            own_vote=None,
        )
        for row in db.execute(rows)
    )
    return PinTipsBundle(pintips=tips, opdb_info=_machine_info(db, today, group_id))


def json_lines(db: Connection) -> Iterator[str]:
    """All tips as a file that `import pintips` reads: a head, a line per tip, a tail."""
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
    """The machine in short; what an entry does not say, its group or the title's first machine does."""
    found = machines.entries_by_id(db, [opdb_id, group_id])
    entry = found.get(opdb_id) or found.get(group_id)
    if entry is None:
        return None
    told = [entry, found.get(group_id), machines.oldest_of_group(db, group_id)]
    links = {name: _first_link(told, name) for name in _LINKS}
    dated = next((one for one in told if one is not None and (one.year or one.manufacturer)), entry)
    maker = dated.manufacturer.name if dated.manufacturer else None
    supplementary = [str(one) for one in (maker, dated.year) if one is not None]
    return OpdbInfo(
        name=entry.name,
        supplementary=", ".join(supplementary),
        has_ruleset=any(links[name] for name in _RULESETS),
        **links,
    )


def _first_link(told: list[OpdbEntry | None], name: str) -> str | None:
    links: list[str | None] = [getattr(one, name) for one in told if one is not None]
    return next((one for one in links if one is not None), None)
