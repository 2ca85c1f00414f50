"""Sessions of signed-in users.

create_session is the only way a session comes to be: routes_auth calls it after the
password was verified, and after a reset. The token goes to the browser in a cookie and
is never stored; session_store keeps its SHA-256.
"""

import hashlib
import secrets
from datetime import timedelta

from accounts import audit, session_store
from accounts.errors import Unauthenticated
from accounts.models import Session, utcnow

TOKEN_BYTES = 32
MAX_SESSIONS_PER_USER = 20
COOKIE_NAME = "fernhill_session"


def new_session_token():
    """A fresh, unguessable token for a session cookie."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def hash_session_token(token):
    return hashlib.sha256(token.encode("ascii", "replace")).digest()


def create_session(user, settings, user_agent="", ip_address=""):
    """Creates a session for a user who has just proven who they are.

    Returns the Session with its token set; this is the last time anybody sees it. The
    oldest sessions of the user are closed when there are too many.
    """
    now = utcnow()
    token = new_session_token()
    session = Session(
        user_id=user.id,
        created_at=now,
        last_seen_at=now,
        expires_at=now + timedelta(seconds=settings.session_ttl_seconds),
        user_agent=user_agent[:200],
        ip_address=ip_address[:45],
        token=token,
    )
    session_store.insert_session(hash_session_token(token), session)
    session_store.trim_sessions(user.id, keep=MAX_SESSIONS_PER_USER)
    audit.record(user.id, "session.created", user.id, {"ip": session.ip_address})
    return session


def resume_session(token, settings):
    """The live session of a cookie's token. Raises Unauthenticated for any other token."""
    if not token:
        raise Unauthenticated("not signed in")
    id_hash = hash_session_token(token)
    session = session_store.find_session(id_hash)
    now = utcnow()
    if session is None or session.is_expired(now):
        raise Unauthenticated("the session has ended")
    if now - session.last_seen_at > timedelta(seconds=settings.session_idle_seconds):
        session_store.delete_session(id_hash)
        raise Unauthenticated("the session was idle for too long")
    if now - session.last_seen_at > timedelta(minutes=5):
        session_store.touch_session(id_hash, now)
    return session


def end_session(token):
    """Signing out. Unknown tokens are fine: the result is the same."""
    if token:
        session_store.delete_session(hash_session_token(token))


def end_all_sessions(user_id, reason):
    """After a password change, a reset or a deletion every browser has to sign in again."""
    n = session_store.delete_sessions_of(user_id)
    audit.record(user_id, "session.all_ended", user_id, {"reason": reason, "count": n})
    return n


def rotate_session(token, settings):
    """A new token for the same user, for changes of privilege."""
    session = resume_session(token, settings)
    fresh = new_session_token()
    session_store.replace_session_hash(hash_session_token(token), hash_session_token(fresh))
    return session, fresh
