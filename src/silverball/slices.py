"""The slices of the service: their route modules, which are the endpoints of the interface."""

from types import ModuleType

from silverball.feed import replay
from silverball.service.book import routes as book
from silverball.service.finals import routes as finals
from silverball.service.games import routes as games
from silverball.service.journal import routes as journal
from silverball.service.machines import routes as machines
from silverball.service.money import routes as money
from silverball.service.numbers import routes as numbers
from silverball.service.outlook import routes as outlook
from silverball.service.players import routes as players
from silverball.service.ratings import routes as ratings
from silverball.service.roster import routes as roster
from silverball.service.rounds import routes as rounds
from silverball.service.series import routes as series
from silverball.service.sheets import routes as sheets
from silverball.service.single_player import amazing_race, best_game
from silverball.service.single_player import routes as single_player
from silverball.service.standings import routes as standings
from silverball.service.submissions import routes as submissions
from silverball.service.tables import routes as tables
from silverball.service.tournaments import dashboard, search
from silverball.service.tournaments import routes as tournaments
from silverball.service.users import routes as users
from silverball.service.venues import routes as venues
from silverball.service.webhooks import routes as webhooks

# A new slice is one import and one line here.
ROUTE_MODULES: tuple[ModuleType, ...] = (
    venues,
    book,
    journal,
    players,
    dashboard,
    users,
    machines,
    ratings,
    numbers,
    series,
    search,
    submissions,
    tournaments,
    finals,
    amazing_race,
    best_game,
    single_player,
    tables,
    outlook,
    games,
    money,
    roster,
    rounds,
    sheets,
    standings,
    webhooks,
    replay,
)
