"""Rows of the sessions table. Callers hash the token; nothing here knows it."""

import sqlalchemy as sa

from accounts import db
from accounts.models import Session, utcnow


def insert_session(id_hash, session):
    """Stores a session that was just created."""
    db.run(
        sa.insert(db.sessions).values(
            id_hash=id_hash,
            user_id=session.user_id,
            user_agent=session.user_agent,
            ip_address=session.ip_address,
            created_at=session.created_at,
            last_seen_at=session.last_seen_at,
            expires_at=session.expires_at,
        )
    )


def find_session(id_hash):
    row = db.one(sa.select(db.sessions).where(db.sessions.c.id_hash == id_hash))
    return _session(row) if row else None


def list_sessions(user_id):
    """Newest first, for the page "where you are signed in"."""
    found = db.rows(
        sa.select(db.sessions)
        .where(db.sessions.c.user_id == user_id)
        .order_by(db.sessions.c.created_at.desc())
    )
    return [_session(row) for row in found]


def touch_session(id_hash, now):
    db.run(sa.update(db.sessions).where(db.sessions.c.id_hash == id_hash).values(last_seen_at=now))


def replace_session_hash(old_hash, new_hash):
    db.run(sa.update(db.sessions).where(db.sessions.c.id_hash == old_hash).values(id_hash=new_hash))


def delete_session(id_hash):
    return db.run(sa.delete(db.sessions).where(db.sessions.c.id_hash == id_hash))


def delete_sessions_of(user_id):
    return db.run(sa.delete(db.sessions).where(db.sessions.c.user_id == user_id))


def trim_sessions(user_id, keep):
    """Closes the oldest sessions of a user beyond `keep`."""
    stale = (
        sa.select(db.sessions.c.id_hash)
        .where(db.sessions.c.user_id == user_id)
        .order_by(db.sessions.c.created_at.desc())
        .offset(keep)
    )
    hashes = [row["id_hash"] for row in db.rows(stale)]
    if not hashes:
        return 0
    return db.run(sa.delete(db.sessions).where(db.sessions.c.id_hash.in_(hashes)))


def purge_expired_sessions(now=None):
    """For the nightly job."""
    return db.run(sa.delete(db.sessions).where(db.sessions.c.expires_at <= (now or utcnow())))


def _session(row):
    return Session(
        user_id=row["user_id"],
        created_at=row["created_at"],
        last_seen_at=row["last_seen_at"],
        expires_at=row["expires_at"],
        user_agent=row["user_agent"] or "",
        ip_address=row["ip_address"] or "",
    )
