"""Invented machines in each of the four shapes of the machine database."""

from copy import deepcopy
from typing import Any

MOMENT = "2024-01-04 06:16:55"
MAKERS = {
    "Nebula": {"manufacturerId": 7, "name": "Nebula", "fullName": "Nebula Amusements, Inc."},
    "Harbor": {"manufacturerId": 9, "name": "Harbor", "fullName": None},
}
IMAGE = {
    "title": "Backglass",
    "primary": True,
    "type": "backglass",
    "urls": {
        "small": "https://img.example/a-small.jpg",
        "medium": "https://img.example/a-medium.jpg",
        "large": "https://img.example/a-large.jpg",
    },
    "sizes": {
        "small": {"width": 160, "height": 120},
        "medium": {"width": 640, "height": 480},
        "large": {"width": 1200, "height": 900},
    },
}
# Two titles, whose ids differ by case only.
MACHINES: list[dict[str, Any]] = [
    {
        "opdbId": "G4ODR-MLzY7",
        "name": "The Comet Rider (Pro)",
        "commonName": "Comet Rider",
        "shortName": "TCR",
        "physicalMachine": True,
        "ipdbId": 21,
        "manufactureDate": "1994-03-01",
        "maker": "Nebula",
        "type": "ss",
        "display": "dmd",
        "playerCount": 4,
        "features": ["Widebody"],
        "keywords": ["space", "comet"],
        "description": "A long ride.",
        "createdAt": "2018-01-20",
        "updatedAt": "2021-06-14",
        "images": [IMAGE],
    },
    {
        "opdbId": "G4ODR-Mzly7",
        "name": "The Comet Rider (Umbrella)",
        "commonName": "Comet Rider Umbrella",
        "shortName": None,
        "physicalMachine": False,
        "ipdbId": None,
        "manufactureDate": None,
        "maker": "Nebula",
        "type": "ss",
        "display": "dmd",
        "playerCount": 4,
        "features": [],
        "keywords": [],
        "description": None,
        "createdAt": "2018-01-20",
        "updatedAt": "2021-06-14",
        "images": [],
    },
    {
        "opdbId": "G4odR-MLzY7",
        "name": "Harbor Lights",
        "commonName": None,
        "shortName": None,
        "physicalMachine": True,
        "ipdbId": 400,
        "manufactureDate": "1961-11-20",
        "maker": "Harbor",
        "type": "em",
        "display": "reels",
        "playerCount": 2,
        "features": ["Add-a-ball", "Replay"],
        "keywords": ["sea"],
        "description": None,
        "createdAt": "2018-01-20",
        "updatedAt": "2019-02-02",
        "images": [],
    },
]
ALIASES: list[dict[str, Any]] = [
    {
        "opdbId": "G4ODR-MLzY7-A1B7O",
        "name": "The Comet Rider (LE)",
        "commonName": "Comet Rider LE",
        "shortName": None,
        "physicalMachine": True,
        "ipdbId": None,
        "manufactureDate": "1994-05-01",
        "maker": "Nebula",
        "type": None,
        "display": None,
        "playerCount": None,
        "features": ["Limited edition"],
        "keywords": [],
        "description": None,
        "createdAt": "2018-01-20",
        "updatedAt": "2021-06-14",
        "images": [],
    },
]
GROUPS = [("G4ODR", "Comet Rider"), ("G4odR", "Harbor Lights")]
SLIM = ("opdbId", "name", "shortName", "commonName", "physicalMachine")


def export_file() -> list[dict[str, Any]]:
    """The export of opdb.org: a flat list without groups."""
    return [_export_row(entry, "machine") for entry in MACHINES] + [
        _export_row(entry, "alias") for entry in ALIASES
    ]


def first_shape() -> dict[str, Any]:
    """The first published shape."""
    return {
        "machines": [_published_row(entry) for entry in MACHINES],
        "aliases": [_published_row(entry) for entry in ALIASES],
        "manufacturers": list(MAKERS.values()),
    }


def second_shape() -> dict[str, Any]:
    """The second published shape, with its groups."""
    machines = [{**_published_row(entry), "entryType": "machine", "people": []} for entry in MACHINES]
    aliases = [{**_published_row(entry), "entryType": "alias", "people": []} for entry in ALIASES]
    groups = [
        {"opdbId": opdb_id, "name": name, "entryType": "machineGroup", "physicalMachine": False}
        for opdb_id, name in GROUPS
    ]
    return {"entries": [*groups, *machines, *aliases]}


def slim_shape() -> dict[str, Any]:
    """The slim published shape."""
    groups = [{"opdbId": opdb_id, "name": name, "entryType": "machineGroup"} for opdb_id, name in GROUPS]
    return {"entries": [*groups, *(_slim_row(entry) for entry in (*MACHINES, *ALIASES))]}


SHAPES = {"export": export_file, "first": first_shape, "second": second_shape, "slim": slim_shape}


def _export_row(stored: dict[str, Any], kind: str) -> dict[str, Any]:
    # A copy, because tests change the rows that they get.
    entry = deepcopy(stored)
    maker = MAKERS[entry["maker"]]
    row = {
        "opdb_id": entry["opdbId"],
        f"is_{kind}": True,
        "name": entry["name"],
        "common_name": entry["commonName"],
        "shortname": entry["shortName"],
        "physical_machine": int(entry["physicalMachine"]),
        "ipdb_id": entry["ipdbId"],
        "manufacture_date": entry["manufactureDate"],
        "manufacturer": {
            "manufacturer_id": maker["manufacturerId"],
            "name": maker["name"],
            "full_name": maker["fullName"],
            "created_at": "2018-01-20",
            "updated_at": "2018-01-20",
        },
        "features": entry["features"],
        "keywords": entry["keywords"],
        "created_at": entry["createdAt"],
        "updated_at": entry["updatedAt"],
        "images": entry["images"],
    }
    if kind == "machine":
        row |= {
            "type": entry["type"],
            "display": entry["display"],
            "player_count": entry["playerCount"],
            "description": entry["description"],
        }
    return row


def _published_row(stored: dict[str, Any]) -> dict[str, Any]:
    entry = deepcopy(stored)
    maker = dict(MAKERS[entry["maker"]])
    features = [
        {"featureId": None, "name": name, "group": None, "description": None} for name in entry["features"]
    ]
    row = {name: value for name, value in entry.items() if name != "maker"}
    return {
        **row,
        "manufacturer": maker,
        "manufacturerId": maker["manufacturerId"],
        "features": features,
    }


def _slim_row(entry: dict[str, Any]) -> dict[str, Any]:
    maker = MAKERS[entry["maker"]]
    return {name: entry[name] for name in SLIM} | {
        "year": int(entry["manufactureDate"][:4]) if entry["manufactureDate"] else None,
        "manufacturerId": maker["manufacturerId"],
        "manufacturerName": maker["name"],
        "entryType": "alias" if "-A" in entry["opdbId"] else "machine",
        "primaryBackglassImage": None,
    }


def a_tip(number: int = 1, opdb_id: str = "G4ODR", **fields: Any) -> dict[str, Any]:
    """A tip as the file of all tips has it."""
    return {
        "tipId": number,
        "opdbId": opdb_id,
        "category": "general",
        "voteTotal": 2,
        "text": f"Tip {number}.",
        "createdAt": MOMENT,
        "updatedAt": MOMENT,
        **fields,
    }
