"""The demo's facts as it prints them, for people and for programs."""

import json
import shlex

from msgspec import Struct

APP_KEY = "silverball"
# A tournament that goes on while the demo runs, and one of the real, finished ones.
LIVE_ID = 1
FINISHED_ID = 244501


class DemoFacts(Struct, frozen=True, kw_only=True):
    """Facts with which a person or a program uses a demo."""

    base_url: str
    # The address for other devices on the network; None when the demo listens on this machine only.
    lan_url: str | None
    token: str
    user_id: int
    email: str
    password: str

    @property
    def ws_url(self) -> str:
        """The base URL of the feed: wss when the site is served with TLS."""
        return self.base_url.replace("http", "ws", 1)


def ready_json(facts: DemoFacts) -> str:
    """One line of JSON for programs. `tournamentId` is the finished tournament."""
    return json.dumps(
        {
            "baseUrl": facts.base_url,
            "wsUrl": facts.ws_url,
            "lanUrl": facts.lan_url,
            "appKey": APP_KEY,
            "token": facts.token,
            "userId": facts.user_id,
            "email": facts.email,
            "password": facts.password,
            "tournamentId": FINISHED_ID,
            "liveTournamentId": LIVE_ID,
        }
    )


def ready_text(facts: DemoFacts) -> str:
    """The lines for people, with commands to paste into another window."""
    base_url = facts.base_url
    lines = [
        "",
        f"  Live now       {base_url}/t/{LIVE_ID}",
        f"  Finished       {base_url}/t/{FINISHED_ID}",
        f"  Console        {base_url}/run  ({facts.email}, {facts.password})",
        f"  Interface      {base_url}/docs",
        f"  Base URL       {base_url}",
        f"  Websocket URL  {facts.ws_url}",
        f"  App key        {APP_KEY}",
        f"  Token          {facts.token}",
    ]
    if facts.lan_url is not None:
        warning = "everybody on this network can open it; changes need the token or the password"
        lines.append(f"  Phones         {facts.lan_url}/t/{LIVE_ID}  ({warning})")
    paths = (
        f"/api/tournaments/{LIVE_ID}/standings",
        f"/api/tournaments/{LIVE_ID}/games?status=started",
        f"/api/tournaments/{FINISHED_ID}?includePlayers=true",
        "/api/tournaments?status=completed&limit=5",
    )
    lines += ["", "  Paste into another window:", "", f"  export TOKEN={shlex.quote(facts.token)}"]
    lines += [f"  curl -s -H \"Authorization: Bearer $TOKEN\" '{base_url}{path}'" for path in paths]
    lines += [f"  curl -sN '{base_url}/api/tournaments/{LIVE_ID}/stream'"]
    return "\n".join([*lines, "", "  Press Ctrl-C to stop."])
