"""What a database refuses, for rooms that may not know SQLAlchemy."""

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

DatabaseFault = SQLAlchemyError


def said(error: SQLAlchemyError) -> str:
    """What the database itself says, in one line, without the statement and its values."""
    origin = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    return (str(origin).strip() or type(origin).__name__).splitlines()[0]
