"""All operations, grouped by resource."""

from typing import Generic

from silverball_client.calling import Caller, M
from silverball_client.operations.activity_logs import ActivityLogsResource
from silverball_client.operations.arenas import ArenasResource
from silverball_client.operations.audit import AuditResource
from silverball_client.operations.banks import BanksResource
from silverball_client.operations.book import BookResource
from silverball_client.operations.cards import CardsResource
from silverball_client.operations.clubs import ClubsResource
from silverball_client.operations.dashboard import DashboardResource
from silverball_client.operations.events import EventsResource
from silverball_client.operations.federation_numbers import FederationNumbersResource
from silverball_client.operations.frenzy import FrenzyResource
from silverball_client.operations.games import GamesResource
from silverball_client.operations.ifpa import IfpaResource
from silverball_client.operations.locations import LocationsResource
from silverball_client.operations.max_matchplay import MaxMatchplayResource
from silverball_client.operations.opdb import OpdbResource
from silverball_client.operations.pintips import PintipsResource
from silverball_client.operations.plans import PlansResource
from silverball_client.operations.players import PlayersResource
from silverball_client.operations.queues import QueuesResource
from silverball_client.operations.rating_periods import RatingPeriodsResource
from silverball_client.operations.rating_submissions import RatingSubmissionsResource
from silverball_client.operations.ratings import RatingsResource
from silverball_client.operations.rounds import RoundsResource
from silverball_client.operations.rulings import RulingsResource
from silverball_client.operations.search import SearchResource
from silverball_client.operations.series import SeriesResource
from silverball_client.operations.sign_ups import SignUpsResource
from silverball_client.operations.single_player_games import SinglePlayerGamesResource
from silverball_client.operations.suggestions import SuggestionsResource
from silverball_client.operations.tokens import TokensResource
from silverball_client.operations.tournaments import TournamentsResource
from silverball_client.operations.users import UsersResource
from silverball_client.operations.webhooks import WebhooksResource


class Operations(Generic[M]):
    """The resources of a client."""

    def __init__(self, caller: Caller) -> None:
        self.activity_logs: ActivityLogsResource[M] = ActivityLogsResource(caller)
        self.arenas: ArenasResource[M] = ArenasResource(caller)
        self.audit: AuditResource[M] = AuditResource(caller)
        self.banks: BanksResource[M] = BanksResource(caller)
        self.book: BookResource[M] = BookResource(caller)
        self.cards: CardsResource[M] = CardsResource(caller)
        self.clubs: ClubsResource[M] = ClubsResource(caller)
        self.dashboard: DashboardResource[M] = DashboardResource(caller)
        self.events: EventsResource[M] = EventsResource(caller)
        self.federation_numbers: FederationNumbersResource[M] = FederationNumbersResource(caller)
        self.frenzy: FrenzyResource[M] = FrenzyResource(caller)
        self.games: GamesResource[M] = GamesResource(caller)
        self.ifpa: IfpaResource[M] = IfpaResource(caller)
        self.locations: LocationsResource[M] = LocationsResource(caller)
        self.max_matchplay: MaxMatchplayResource[M] = MaxMatchplayResource(caller)
        self.opdb: OpdbResource[M] = OpdbResource(caller)
        self.pintips: PintipsResource[M] = PintipsResource(caller)
        self.plans: PlansResource[M] = PlansResource(caller)
        self.players: PlayersResource[M] = PlayersResource(caller)
        self.queues: QueuesResource[M] = QueuesResource(caller)
        self.rating_periods: RatingPeriodsResource[M] = RatingPeriodsResource(caller)
        self.rating_submissions: RatingSubmissionsResource[M] = RatingSubmissionsResource(caller)
        self.ratings: RatingsResource[M] = RatingsResource(caller)
        self.rounds: RoundsResource[M] = RoundsResource(caller)
        self.rulings: RulingsResource[M] = RulingsResource(caller)
        self.search: SearchResource[M] = SearchResource(caller)
        self.series: SeriesResource[M] = SeriesResource(caller)
        self.sign_ups: SignUpsResource[M] = SignUpsResource(caller)
        self.single_player_games: SinglePlayerGamesResource[M] = SinglePlayerGamesResource(caller)
        self.suggestions: SuggestionsResource[M] = SuggestionsResource(caller)
        self.tokens: TokensResource[M] = TokensResource(caller)
        self.tournaments: TournamentsResource[M] = TournamentsResource(caller)
        self.users: UsersResource[M] = UsersResource(caller)
        self.webhooks: WebhooksResource[M] = WebhooksResource(caller)
