"""Operations of `client.book`."""

from silverball_client.calling import M, Request, Resource, operation
from silverball_wire.book import BookAction


class BookResource(Resource[M]):
    """Operations of `client.book`."""

    @operation
    def actions(self) -> Request[tuple[BookAction, ...]]:
        """Actions of the caller's book as a whole, newest first.

        `GET /api/book/actions`.
        """
        return Request(
            "GET",
            ("book", "actions"),
            tuple[BookAction, ...],
            in_data=True,
        )

    @operation
    def undo(self, book_action_id: int, *, idempotency_key: str | None = None) -> Request[BookAction]:
        """Undo a merge of machines or a list that only filled the book.

        `POST /api/book/actions/{bookActionId}/undo`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("book", "actions", book_action_id, "undo"),
            BookAction,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )
