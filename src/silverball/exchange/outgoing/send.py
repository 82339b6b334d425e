"""Sending a message to an address that a user has entered.

Imported on the first message, because the HTTP client is slow to load.
"""

from typing import Any

import httpcore2

from silverball.exchange.outgoing.client import GuardedClient, Headers, connection_fault
from silverball.kit import address_policy
from silverball.kit.address_policy import AddressForbidden, AddressPolicy

SECONDS = 5.0


class NotSent(Exception):
    """A message without a response; the text is a sentence that repeats nothing of what the host sent."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class Sender:
    """Sends messages within a policy; further arguments go to the GuardedClient."""

    def __init__(self, policy: AddressPolicy, *, seconds: float = SECONDS, **options: Any) -> None:
        self._client = GuardedClient(policy, seconds=seconds, **options)
        self._seconds = seconds

    def send(self, url: str, body: bytes, headers: Headers) -> int:
        """Send a POST and return the status of the response. Raises NotSent.

        No redirect is followed and only the status of the response is read, so it can neither lead
        elsewhere nor fill the memory.
        """
        deadline = self._client.new_deadline()
        try:
            target = address_policy.parse_address(url, self._client.policy)
            with self._client.request("POST", target, deadline, headers, body) as response:
                return response.status
        except AddressForbidden as error:
            raise NotSent(error.sentence) from error
        except httpcore2.TimeoutException as error:
            raise NotSent(f"There was no answer within {self._seconds:g} seconds.") from error
        except httpcore2.ConnectError as error:
            raise NotSent(connection_fault(error)) from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
            raise NotSent("The host closed the connection or did not speak HTTP.") from error
