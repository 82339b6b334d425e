"""The slices of the service: their route modules, which are the endpoints of the interface."""

from types import ModuleType

from silverball.feed import replay
from silverball.service.games import routes as games
from silverball.service.journal import routes as audit
from silverball.service.machines import routes as machines
from silverball.service.money import routes as money_routes
from silverball.service.outlook import routes as outlook_routes
from silverball.service.players import routes as players
from silverball.service.ratings import routes as ratings
from silverball.service.roster import routes as roster
from silverball.service.rounds import routes as rounds
from silverball.service.series import routes as series
from silverball.service.single_player import amazing_race, best_game
from silverball.service.single_player import routes as single_player_routes
from silverball.service.standings import routes as standings
from silverball.service.submissions import routes as submissions
from silverball.service.tables import routes as tables_routes
from silverball.service.tournaments import dashboard, search
from silverball.service.tournaments import routes as tournaments
from silverball.service.users import routes as users
from silverball.service.venues import routes as venues_routes
from silverball.service.webhooks import routes as webhooks

# A new slice is one import and one line here.
ROUTE_MODULES: tuple[ModuleType, ...] = (
    venues_routes,
    audit,
    venues_routes,
    players,
    dashboard,
    users,
    venues_routes,
    machines,
    ratings,
    series,
    ratings,
    players,
    ratings,
    search,
    series,
    submissions,
    machines,
    users,
    tournaments,
    users,
    amazing_race,
    best_game,
    single_player_routes,
    rounds,
    single_player_routes,
    tables_routes,
    ratings,
    tables_routes,
    outlook_routes,
    games,
    games,
    games,
    outlook_routes,
    money_routes,
    single_player_routes,
    roster,
    rounds,
    rounds,
    money_routes,
    single_player_routes,
    standings,
    standings,
    games,
    standings,
    rounds,
    rounds,
    webhooks,
    outlook_routes,
    replay,
)
