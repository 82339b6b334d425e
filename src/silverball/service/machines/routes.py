"""The machine database and its tips over HTTP."""

from silverball.kit.http.endpoints import Call, get
from silverball.kit.http.query import Query
from silverball.rules import opdb
from silverball.service.machines import reads
from silverball_wire.machines import OpdbChange, OpdbEntry, OpdbEntryBundle, PinTipsBundle
from silverball_wire.pages import Data

WORDS = {"opdb_id": opdb.ID_PATTERN}


@get("/api/opdb/changelog")
def list_opdb_changes(call: Call[Query]) -> Data[tuple[OpdbChange, ...]]:
    """Ids of the machine database that were replaced or deleted, oldest first."""
    with call.read() as db:
        return Data(data=reads.changelog(db))


@get("/api/opdb/entry/{opdb_id}", query=reads.EntryQuery, words=WORDS)
def show_opdb_entry(call: Call[reads.EntryQuery]) -> Data[OpdbEntry]:
    """One entry of the machine database. Use the bulk file to read many."""
    with call.read() as db:
        return Data(data=reads.find_entry(db, call.words["opdb_id"], call.query))


@get("/api/opdb/entries/{opdb_id}", query=reads.EntryQuery, words=WORDS)
def show_opdb_entry_with_videos(call: Call[reads.EntryQuery]) -> OpdbEntryBundle:
    """One entry of the machine database with the videos about its title."""
    with call.read() as db:
        return reads.entry_bundle(db, call.words["opdb_id"], call.query)


@get("/api/pintips", query=reads.TipsQuery)
def list_pintips(call: Call[reads.TipsQuery]) -> PinTipsBundle:
    """Playing tips for a machine or an arena; for every model of its title."""
    with call.read() as db:
        return reads.tips_for_query(db, call.query)
