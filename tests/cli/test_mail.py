"""`silverball mail test`: a mail that arrives, or the step that failed by name."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.test_serve import free_port
from exchange.outgoing import hosts
from silverball.cli.main import silverball_group
from silverball.kit.mail import MailFailed, MailServer, MailTalk
from smtp_server import SmtpServer

TO = "ada@silverball.example"
# As a mail server may have made it.
PASSWORD = "pa$$w&rd x\"'#%@:/"


@pytest.fixture
def smtp() -> Iterator[SmtpServer]:
    with SmtpServer() as server:
        yield server


def send_test(
    port: int, host: str = "127.0.0.1", *, user: str = "", tls: bool = False, **given: str
) -> Result:
    environment = {
        "SILVERBALL_BASE_URL": "https://pinball.example.org",
        "SILVERBALL_MAIL_SERVER": f"smtp://{user}{host}:{port}{'' if tls else '?tls=off'}" if host else "",
        "SILVERBALL_MAIL_SENDER": "Pinball Club <night@pinball.example>",
        **given,
    }
    return CliRunner(env=environment).invoke(silverball_group, ["mail", "test", TO])


def test_a_mail_arrives_with_a_name_an_id_and_the_site(smtp: SmtpServer) -> None:
    done = send_test(smtp.port)
    assert (done.exit_code, done.output) == (0, f"127.0.0.1 took the mail to {TO}.\n")
    (mail,) = smtp.mails
    assert mail.recipients == (TO,)
    assert mail.message["From"] == "Pinball Club <night@pinball.example>"
    assert mail.message["Subject"].endswith("(pinball.example.org)")
    assert mail.message["Message-ID"].endswith("@pinball.example>")


@pytest.mark.parametrize(
    ("step", "answers", "tls"),
    [
        ("TLS", {}, True),
        ("recipient", {"MAIL": "550 not from you"}, False),
        ("recipient", {"RCPT": "550 nobody here"}, False),
    ],
)
def test_the_step_that_fails_is_named(
    smtp: SmtpServer, step: str, answers: dict[str, str], tls: bool
) -> None:
    smtp.answers = answers
    done = send_test(smtp.port, tls=tls)
    assert done.exit_code == 1
    assert done.output.startswith(f"Error: {step}: ")
    assert smtp.mails == []


def test_a_name_without_an_address_a_closed_port_and_no_server_are_told_apart() -> None:
    assert send_test(25, host="mail.invalid").output.startswith("Error: resolve: mail.invalid has no address")
    assert send_test(free_port()).output.startswith("Error: connect: 127.0.0.1 port ")
    assert "SILVERBALL_MAIL_SERVER is not set" in send_test(25, host="").output


def test_a_certificate_that_nobody_trusts_fails_at_tls(tmp_path: Path) -> None:
    authority = hosts.an_authority(tmp_path)
    with SmtpServer(authority.server_context("localhost")) as smtp:
        done = send_test(smtp.port, host="localhost", tls=True)
        assert done.output.startswith("Error: TLS: The certificate of localhost is not trusted")
        login = {"SILVERBALL_MAIL_PASSWORD": PASSWORD, "SSL_CERT_FILE": str(tmp_path / "root.pem")}
        trusted = send_test(smtp.port, host="localhost", user="night@club.example@", tls=True, **login)
        assert trusted.exit_code == 0, trusted.output
        smtp.answers = {"AUTH": "535 who are you"}
        assert smtp.mails[0].login == ("night@club.example", PASSWORD)
        refused = send_test(smtp.port, host="localhost", user="night@", tls=True, **login)
        assert refused.output == "Error: login: The server refuses the name or the password (535).\n"


def _say_nothing(accepted: socket.socket) -> None:
    accepted.recv(1)


def test_a_server_that_says_nothing_is_not_waited_for() -> None:
    silent = hosts.Listener(_say_nothing)
    with pytest.raises(MailFailed, match="longer than") as failed:
        MailTalk(MailServer(host="127.0.0.1", port=silent.port)).run_within(0.2)
    assert failed.value.step == "connect"
    silent.close()
