"""What happens before and around a request: transaction, identity, permission checks."""

import functools
import logging

from flask import current_app, g, request

from accounts import audit, db, permissions, sessions, users
from accounts.api_keys import find_by_key
from accounts.errors import Forbidden, Unauthenticated

log = logging.getLogger("accounts.middleware")

PUBLIC_PATHS = ("/healthz", "/readyz", "/auth/login", "/auth/register", "/auth/reset", "/auth/invitations")


def install(app):
    app.before_request(open_transaction)
    app.before_request(load_identity)
    app.teardown_request(close_transaction)


def open_transaction():
    g.transaction = db.transaction()
    g.transaction.__enter__()


def close_transaction(error):
    transaction = g.pop("transaction", None)
    if transaction is not None:
        transaction.__exit__(type(error) if error else None, error, error.__traceback__ if error else None)


def load_identity():
    """Sets g.user from the session cookie or from an API key; None for visitors."""
    g.user = None
    g.session_token = request.cookies.get(sessions.COOKIE_NAME)
    settings = current_app.config["SETTINGS"]
    key = request.headers.get("X-Api-Key")
    if key:
        g.user = find_by_key(key)
        if g.user is None:
            raise Unauthenticated("unknown API key")
        return
    if not g.session_token:
        return
    try:
        session = sessions.resume_session(g.session_token, settings)
        g.user = users.get(session.user_id)
    except Unauthenticated:
        if not request.path.startswith(PUBLIC_PATHS):
            raise


def require_login(view):
    """Decorator: visitors get a 401."""

    @functools.wraps(view)
    def wrapped(*args, **kwargs):
        if g.user is None:
            raise Unauthenticated("please sign in")
        return view(*args, **kwargs)

    return wrapped


def require_permission(permission, owner=None):
    """Decorator: authorises the request before the view runs, 403 otherwise.

    `owner` names the argument of the view that holds the id of whom the thing belongs
    to. A denied request is recorded, because somebody trying to delete accounts of
    others is worth a look.
    """

    def decorate(view):
        @functools.wraps(view)
        @require_login
        def wrapped(*args, **kwargs):
            owner_id = kwargs.get(owner) if owner else None
            if not permissions.allowed(g.user, permission, owner_id):
                audit.record(g.user.id, "permission.denied", owner_id or 0, {"permission": permission})
                log.warning("user %d lacks %s on %s", g.user.id, permission, owner_id)
                raise Forbidden("you may not do this")
            return view(*args, **kwargs)

        return wrapped

    return decorate


def require_recent_password(view):
    """Decorator: dangerous actions ask for the password again, in X-Confirm-Password."""

    @functools.wraps(view)
    @require_login
    def wrapped(*args, **kwargs):
        if not users.verify_password(g.user.id, request.headers.get("X-Confirm-Password", "")):
            raise Forbidden("please enter your password again")
        return view(*args, **kwargs)

    return wrapped
