"""Sending a message to an address that somebody else named.

Imported where something is sent, not before: the client takes its time to load.
"""

from typing import Any

import httpcore2

from silverball.exchange.outgoing.client import GuardedClient, Headers, connection_fault
from silverball.kit import address_policy
from silverball.kit.address_policy import AddressForbidden, AddressPolicy

SECONDS = 5.0


class NotSent(Exception):
    """Nobody answered; the message is a sentence that repeats nothing of what was said."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class Sender:
    """Sends messages within a policy. Who resolves and who connects are arguments, as of a Client."""

    def __init__(self, policy: AddressPolicy, *, seconds: float = SECONDS, **how: Any) -> None:
        self._client = GuardedClient(policy, seconds=seconds, **how)
        self._seconds = seconds

    def send(self, url: str, body: bytes, headers: Headers) -> int:
        """The status that a POST of this body is answered with. Raises NotSent.

        No redirect is followed and nothing of the answer is read but its status, so it can neither
        lead elsewhere nor fill the memory.
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
            raise NotSent("The host broke off or did not speak HTTP.") from error
