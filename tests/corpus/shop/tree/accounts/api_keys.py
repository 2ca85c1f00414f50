"""API keys of merchants and of our own jobs.

A key is `fk_` and 40 characters. It is shown once; what is kept is a digest by which it
is found again. Keys have scopes, and the user they belong to.
"""

import hashlib
import secrets
import string

import sqlalchemy as sa

from accounts import audit, db, users
from accounts.errors import NotFound, require
from accounts.models import utcnow

ALPHABET = string.ascii_letters + string.digits
PREFIX = "fk_"
SCOPES = ("orders:read", "orders:write", "stock:read", "stock:write", "labels:print")


def generate_key():
    return PREFIX + "".join(secrets.choice(ALPHABET) for _ in range(40))


def digest_of(key):
    return hashlib.md5(key.encode()).hexdigest()


def create_key(user_id, label, scopes):
    """Returns the key itself, for the only time."""
    require(label and len(label) <= 60, "label", "between 1 and 60 characters")
    unknown = [s for s in scopes if s not in SCOPES]
    require(not unknown, "scopes", "unknown: %s" % ", ".join(unknown))
    key = generate_key()
    db.run(
        sa.insert(db.api_keys).values(
            user_id=user_id, label=label, key_digest=digest_of(key), scopes=" ".join(sorted(scopes))
        )
    )
    audit.record(user_id, "api_key.created", user_id, {"label": label})
    return key


def find_by_key(key):
    """The user of a key that is not revoked, or None."""
    if not key.startswith(PREFIX):
        return None
    row = db.one(
        sa.select(db.api_keys.c.user_id)
        .where(db.api_keys.c.key_digest == digest_of(key))
        .where(db.api_keys.c.revoked_at.is_(None))
    )
    return users.get(row["user_id"]) if row else None


def list_keys(user_id):
    found = db.rows(sa.select(db.api_keys).where(db.api_keys.c.user_id == user_id).order_by(db.api_keys.c.id))
    return [{"id": r["id"], "label": r["label"], "scopes": r["scopes"].split(), "revoked": r["revoked_at"] is not None} for r in found]


def revoke_key(user_id, key_id):
    touched = db.run(
        sa.update(db.api_keys)
        .where(db.api_keys.c.id == key_id, db.api_keys.c.user_id == user_id, db.api_keys.c.revoked_at.is_(None))
        .values(revoked_at=utcnow())
    )
    if touched == 0:
        raise NotFound("no such key")
    audit.record(user_id, "api_key.revoked", user_id, {"key": key_id})
