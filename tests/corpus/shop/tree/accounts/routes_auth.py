"""HTTP routes below /auth: registering, signing in and out, resets, invitations."""

from flask import Blueprint, current_app, g, jsonify, make_response, request

from accounts import invitations, reset_tokens, sessions, users
from accounts.errors import Unauthenticated
from accounts.middleware import require_login, require_permission
from accounts.models import utcnow

bp = Blueprint("auth", __name__)


def _settings():
    return current_app.config["SETTINGS"]


def _client_ip():
    """The gateway is the only one that talks to us; it sets this header and strips any other."""
    return request.headers.get("X-Client-Ip", request.remote_addr or "")


def _signed_in(user, status=200):
    """A response that carries the cookie of a new session."""
    session = sessions.create_session(user, _settings(), request.headers.get("User-Agent", ""), _client_ip())
    response = make_response(jsonify(user.public()), status)
    response.set_cookie(
        sessions.COOKIE_NAME,
        session.token,
        max_age=_settings().session_ttl_seconds,
        httponly=True,
        secure=_settings().secure_cookies,
        samesite="Lax",
    )
    return response


@bp.post("/register")
def register():
    body = request.get_json(force=True)
    user = users.register(body.get("email"), body.get("password"), body.get("name"))
    return _signed_in(user, 201)


@bp.post("/login")
def login():
    """Signs a user in. The answer to a wrong address is that to a wrong password."""
    body = request.get_json(force=True)
    email = users.normalise_email(body.get("email"))
    throttle = current_app.config["THROTTLE"]
    throttle.check(email, _client_ip())
    user = users.find_by_email(email)
    if user is None or not users.verify_password(user.id, body.get("password", "")):
        throttle.failed(email, _client_ip())
        raise Unauthenticated("wrong address or password")
    throttle.succeeded(email)
    return _signed_in(user)


@bp.post("/logout")
@require_login
def logout():
    sessions.end_session(g.session_token)
    response = make_response("", 204)
    response.delete_cookie(sessions.COOKIE_NAME)
    return response


@bp.post("/refresh")
@require_login
def refresh():
    session, token = sessions.rotate_session(g.session_token, _settings())
    left = int((session.expires_at - utcnow()).total_seconds())
    response = make_response("", 204)
    response.set_cookie(sessions.COOKIE_NAME, token, max_age=left, httponly=True, secure=_settings().secure_cookies, samesite="Lax")
    return response


@bp.post("/reset")
def ask_for_reset():
    body = request.get_json(force=True)
    current_app.config["THROTTLE"].check("reset:" + users.normalise_email(body.get("email")), _client_ip())
    reset_tokens.request_reset(body.get("email"), current_app.config["MAILER"], _settings())
    return "", 202


@bp.post("/reset/confirm")
def confirm_reset():
    body = request.get_json(force=True)
    user = reset_tokens.redeem_reset_token(body.get("token"), body.get("password"))
    return _signed_in(user)


@bp.post("/invitations")
@require_permission("invitation.send")
def invite():
    body = request.get_json(force=True)
    code = invitations.invite(g.user, body.get("email"), body.get("role", "support"), current_app.config["MAILER"], _settings())
    return jsonify(code=code), 201


@bp.post("/invitations/accept")
def accept_invitation():
    body = request.get_json(force=True)
    user = invitations.accept(body.get("code"), body.get("password"), body.get("name"))
    return _signed_in(user, 201)
