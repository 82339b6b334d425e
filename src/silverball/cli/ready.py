"""silverball ready: what health checks of containers and units ask."""

import http.client
import json
import time

import click

ANSWER_SECONDS_MAX = 4.0
PAUSE_SECONDS = 0.2


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address that the server listens on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535), help="Its port.")
@click.option("--wait", "seconds", default=0, type=click.IntRange(0, 3600), help="Seconds to ask again.")
def ready(host: str, port: int, seconds: int) -> None:
    """Ask a running server whether it is ready; exit with 1 if not."""
    until = time.monotonic() + seconds
    while True:
        try:
            answer = _ask(host, port)
        except click.ClickException:
            if time.monotonic() >= until:
                raise
            time.sleep(PAUSE_SECONDS)
        else:
            # What a degraded server does without is for its operator to read.
            click.echo(answer.get("message", "The server is ready."))
            return


def _ask(host: str, port: int) -> dict[str, str]:
    connection = http.client.HTTPConnection(host, port, timeout=ANSWER_SECONDS_MAX)
    try:
        connection.request("GET", "/ready")
        answer = connection.getresponse()
        status, text = answer.status, answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise click.ClickException(f"Nothing answers at {host} port {port}: {error}.") from error
    finally:
        connection.close()
    if status != http.client.OK:
        raise click.ClickException(f"The server is not ready: /ready answers {status}.")
    values: dict[str, str] = json.loads(text or b"{}")
    return values
