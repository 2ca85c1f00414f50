"""Connection handling and table definitions, on SQLAlchemy Core.

Modules of this service build their statements with select(), insert() and update()
over the tables below. One connection per request is kept in a context variable, so
that everything a request does is one transaction.
"""

import contextlib
import contextvars

import sqlalchemy as sa

metadata = sa.MetaData()

users = sa.Table(
    "users",
    metadata,
    sa.Column("id", sa.BigInteger, primary_key=True),
    sa.Column("email", sa.String(254), unique=True, nullable=False),
    sa.Column("display_name", sa.String(80), nullable=False),
    sa.Column("password_hash", sa.String(200), nullable=False),
    sa.Column("role", sa.String(16), nullable=False, server_default="customer"),
    sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now()),
    sa.Column("deleted_at", sa.DateTime(timezone=True)),
)

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("id_hash", sa.LargeBinary(32), primary_key=True),
    sa.Column("user_id", sa.BigInteger, sa.ForeignKey("users.id"), nullable=False),
    sa.Column("user_agent", sa.String(200)),
    sa.Column("ip_address", sa.String(45)),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
)

reset_tokens = sa.Table(
    "reset_tokens",
    metadata,
    sa.Column("token_hash", sa.LargeBinary(32), primary_key=True),
    sa.Column("user_id", sa.BigInteger, sa.ForeignKey("users.id"), nullable=False),
    sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("used_at", sa.DateTime(timezone=True)),
)

invitations = sa.Table(
    "invitations",
    metadata,
    sa.Column("code", sa.String(32), primary_key=True),
    sa.Column("email", sa.String(254), nullable=False),
    sa.Column("role", sa.String(16), nullable=False),
    sa.Column("invited_by", sa.BigInteger, sa.ForeignKey("users.id")),
    sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("accepted_at", sa.DateTime(timezone=True)),
)

api_keys = sa.Table(
    "api_keys",
    metadata,
    sa.Column("id", sa.BigInteger, primary_key=True),
    sa.Column("user_id", sa.BigInteger, sa.ForeignKey("users.id"), nullable=False),
    sa.Column("label", sa.String(60), nullable=False),
    sa.Column("key_digest", sa.String(64), unique=True, nullable=False),
    sa.Column("scopes", sa.String(200), nullable=False),
    sa.Column("revoked_at", sa.DateTime(timezone=True)),
)

addresses = sa.Table(
    "addresses",
    metadata,
    sa.Column("id", sa.BigInteger, primary_key=True),
    sa.Column("user_id", sa.BigInteger, sa.ForeignKey("users.id"), nullable=False),
    sa.Column("label", sa.String(40), nullable=False),
    sa.Column("lines", sa.JSON, nullable=False),
    sa.Column("postcode", sa.String(12), nullable=False),
    sa.Column("country", sa.String(2), nullable=False),
    sa.Column("is_default", sa.Boolean, nullable=False, server_default=sa.false()),
)

consents = sa.Table(
    "consents",
    metadata,
    sa.Column("user_id", sa.BigInteger, sa.ForeignKey("users.id"), primary_key=True),
    sa.Column("purpose", sa.String(40), primary_key=True),
    sa.Column("granted", sa.Boolean, nullable=False),
    sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
)

audit_log = sa.Table(
    "audit_log",
    metadata,
    sa.Column("id", sa.BigInteger, primary_key=True),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("actor_id", sa.BigInteger),
    sa.Column("action", sa.String(60), nullable=False),
    sa.Column("subject", sa.String(120), nullable=False),
    sa.Column("detail", sa.JSON),
)


class Unavailable(RuntimeError):
    """The database cannot be reached at the moment."""


_engine = None
_connection = contextvars.ContextVar("connection", default=None)


def configure(url, pool_size=5):
    global _engine
    options = {} if url.startswith("sqlite") else {"pool_size": pool_size, "pool_pre_ping": True}
    _engine = sa.create_engine(url, **options)


def create_all():
    """For tests; deployments run the files in migrations/."""
    metadata.create_all(_engine)


def connection():
    """The request's connection. Outside of transaction() this is an error in our code."""
    c = _connection.get()
    if c is None:
        raise RuntimeError("no transaction is open")
    return c


@contextlib.contextmanager
def transaction():
    """Opens a transaction, or joins the one that is open."""
    if _connection.get() is not None:
        yield _connection.get()
        return
    try:
        with _engine.begin() as c:
            token = _connection.set(c)
            try:
                yield c
            finally:
                _connection.reset(token)
    except sa.exc.OperationalError as e:
        raise Unavailable(str(e.orig)) from e


def ping():
    with transaction() as c:
        c.execute(sa.select(sa.literal(1)))


def one(statement):
    """The only row of a statement as a mapping, or None."""
    return connection().execute(statement).mappings().one_or_none()


def rows(statement):
    return connection().execute(statement).mappings().all()


def run(statement):
    """Number of rows touched by an insert, update or delete."""
    return connection().execute(statement).rowcount
