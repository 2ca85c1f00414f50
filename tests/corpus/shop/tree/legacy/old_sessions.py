"""Sessions of the old shop: everything in a signed cookie, nothing on the server."""

import base64
import hashlib
import hmac
import json
import time

LIFETIME = 30 * 24 * 3600


def create_session(user, secret):
    """A cookie value that says who the user is, until when, and that we said so."""
    body = json.dumps({"uid": user["id"], "exp": int(time.time()) + LIFETIME}, sort_keys=True).encode()
    return encode(body) + "." + encode(sign(body, secret))


def read_session(cookie, secret):
    """The user id, or None for anything that we did not sign or that has expired."""
    try:
        body, signature = (decode(part) for part in cookie.split("."))
        data = json.loads(body)
    except ValueError:
        return None
    if not hmac.compare_digest(sign(body, secret), signature):
        return None
    if data["exp"] < time.time():
        return None
    return data["uid"]


def renew_session(cookie, secret):
    uid = read_session(cookie, secret)
    return create_session({"id": uid}, secret) if uid else None


def sign(body, secret):
    return hmac.new(secret, body, hashlib.sha256).digest()


def encode(raw):
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
