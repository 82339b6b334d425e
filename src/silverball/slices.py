"""The slices of the service: their route modules, which are the endpoints of the interface."""

from types import ModuleType

from silverball.feed import replay
from silverball.service.amazingrace import routes as amazingrace
from silverball.service.arenas import routes as arenas
from silverball.service.audit import routes as audit
from silverball.service.banks import routes as banks
from silverball.service.bestgame import routes as bestgame
from silverball.service.cards import routes as cards
from silverball.service.clubs import routes as clubs
from silverball.service.dashboard import routes as dashboard
from silverball.service.directors import routes as directors
from silverball.service.draws import routes as draws
from silverball.service.entries import routes as entries
from silverball.service.estimates import routes as estimates
from silverball.service.event_results import routes as event_results
from silverball.service.exports import routes as exports
from silverball.service.forecasts import routes as forecasts
from silverball.service.frenzy import routes as frenzy
from silverball.service.games import routes as games
from silverball.service.locations import routes as locations
from silverball.service.machines import routes as machines
from silverball.service.maxmatchplay import routes as maxmatchplay
from silverball.service.numbers import routes as numbers
from silverball.service.occasions import routes as occasions
from silverball.service.periods import routes as periods
from silverball.service.planning import routes as planning
from silverball.service.players import routes as players
from silverball.service.prizes import routes as prizes
from silverball.service.queues import routes as queues
from silverball.service.ratings import routes as ratings
from silverball.service.roster import routes as roster
from silverball.service.rounds import routes as rounds
from silverball.service.rulings import routes as rulings
from silverball.service.search import routes as search
from silverball.service.series import routes as series
from silverball.service.signups import routes as signups
from silverball.service.singleplayer import routes as singleplayer
from silverball.service.standings import routes as standings
from silverball.service.stats import routes as stats
from silverball.service.submissions import routes as submissions
from silverball.service.suggestions import routes as suggestions
from silverball.service.summaries import routes as summaries
from silverball.service.tiebreaks import routes as tiebreaks
from silverball.service.timekeeping import routes as timekeeping
from silverball.service.tips import routes as tips
from silverball.service.tokens import routes as tokens
from silverball.service.tournaments import routes as tournaments
from silverball.service.users import routes as users
from silverball.service.webhooks import routes as webhooks
from silverball.service.worth import routes as worth

# A new slice is one import and one line here.
ROUTE_MODULES: tuple[ModuleType, ...] = (
    arenas,
    audit,
    banks,
    clubs,
    dashboard,
    directors,
    locations,
    machines,
    numbers,
    occasions,
    periods,
    players,
    ratings,
    search,
    series,
    submissions,
    tips,
    tokens,
    tournaments,
    users,
    amazingrace,
    bestgame,
    cards,
    draws,
    entries,
    exports,
    estimates,
    event_results,
    forecasts,
    frenzy,
    games,
    maxmatchplay,
    planning,
    prizes,
    queues,
    roster,
    rounds,
    rulings,
    signups,
    singleplayer,
    standings,
    stats,
    suggestions,
    summaries,
    tiebreaks,
    timekeeping,
    webhooks,
    worth,
    replay,
)
