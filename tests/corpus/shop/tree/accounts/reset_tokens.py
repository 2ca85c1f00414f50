"""Password reset tokens: issued by mail, good once, for half an hour.

A token is 32 random bytes in URL-safe base64. The table holds its SHA-256, so that a
copy of the database does not let anybody in. Asking for a reset never tells whether
an address is registered.
"""

import hashlib
import logging
import secrets
from datetime import timedelta

import sqlalchemy as sa

from accounts import audit, db, users
from accounts.errors import Invalid
from accounts.models import utcnow
from accounts.sessions import end_all_sessions

log = logging.getLogger("accounts.reset")

MAX_OPEN_TOKENS = 3


class BadResetToken(Invalid):
    """Unknown, used or expired: the caller is not told which."""

    code = "bad_reset_token"


def hash_reset_token(token):
    return hashlib.sha256(token.encode("ascii", "replace")).digest()


def request_reset(email, mailer, settings):
    """Mails a reset link when the address belongs to somebody. Returns nothing on purpose."""
    user = users.find_by_email(email)
    if user is None:
        log.info("reset asked for an unknown address")
        return
    if count_open_tokens(user.id) >= MAX_OPEN_TOKENS:
        log.warning("user %d has asked for too many resets", user.id)
        return
    token = issue_reset_token(user.id, settings.reset_token_ttl_seconds)
    link = "%s/reset-password?token=%s" % (settings.public_url, token)
    mailer.send(user.email, "Choose a new password", "reset_password.txt", {"name": user.display_name, "link": link})


def issue_reset_token(user_id, ttl_seconds):
    """A new token for the user; only its hash is kept."""
    token = secrets.token_urlsafe(32)
    db.run(
        sa.insert(db.reset_tokens).values(
            token_hash=hash_reset_token(token),
            user_id=user_id,
            expires_at=utcnow() + timedelta(seconds=ttl_seconds),
        )
    )
    audit.record(user_id, "reset.issued", user_id)
    return token


def count_open_tokens(user_id):
    row = db.one(
        sa.select(sa.func.count().label("n"))
        .select_from(db.reset_tokens)
        .where(db.reset_tokens.c.user_id == user_id)
        .where(db.reset_tokens.c.used_at.is_(None))
        .where(db.reset_tokens.c.expires_at > utcnow())
    )
    return row["n"]


def validate_reset_token(token):
    """The user id a token stands for. Raises BadResetToken when it is not good (any more)."""
    row = db.one(sa.select(db.reset_tokens).where(db.reset_tokens.c.token_hash == hash_reset_token(token or "")))
    if row is None:
        raise BadResetToken("this link does not work")
    if row["used_at"] is not None:
        audit.record(row["user_id"], "reset.replayed", row["user_id"])
        raise BadResetToken("this link does not work")
    if row["expires_at"] <= utcnow():
        raise BadResetToken("this link does not work")
    return row["user_id"]


def redeem_reset_token(token, new_password):
    """Sets the new password, spends the token and signs every browser out."""
    user_id = validate_reset_token(token)
    spent = db.run(
        sa.update(db.reset_tokens)
        .where(db.reset_tokens.c.token_hash == hash_reset_token(token))
        .where(db.reset_tokens.c.used_at.is_(None))
        .values(used_at=utcnow())
    )
    if spent != 1:
        raise BadResetToken("this link does not work")
    users.set_password(user_id, new_password)
    end_all_sessions(user_id, "password reset")
    return users.get(user_id)


def purge_reset_tokens(now=None):
    """For the nightly job: expired tokens are of no use to anybody."""
    return db.run(sa.delete(db.reset_tokens).where(db.reset_tokens.c.expires_at <= (now or utcnow())))
