"""A page says what became of a form when the database gave no clear answer."""

import asyncio

import pytest
from starlette.requests import Request

from silverball.store.database.deadlines import OutcomeUnknown
from silverball.store.database.health import DatabaseDamaged
from silverball.web import app


@pytest.mark.parametrize(
    ("error", "words"), [(OutcomeUnknown(), b"it acts once"), (DatabaseDamaged(), b"silverball doctor")]
)
def test_a_page_never_says_that_nothing_was_changed_when_it_is_unknown(
    error: Exception, words: bytes
) -> None:
    request = Request({"type": "http", "headers": [], "method": "POST", "path": "/"})
    answer = asyncio.run(app._server_error_page(request, error))
    assert answer.status_code == 503
    assert words in answer.body
    assert b"Nothing was changed" not in answer.body
