"""tokenkit 0.3: URL-safe tokens with a purpose and an expiry, in one file.

A token names what it is for, so that a token for one thing cannot be used for another.
Vendored from upstream; changes go there first.
"""

import base64
import hashlib
import hmac
import os
import struct
import time

__version__ = "0.3"


class TokenError(ValueError):
    pass


class ExpiredToken(TokenError):
    pass


def create_token(purpose, subject, ttl, key, now=None):
    """A signed token: expiry, random part, subject, signature over all and the purpose."""
    expires = int((now or time.time()) + ttl)
    body = struct.pack(">Q", expires) + os.urandom(8) + subject.encode("utf-8")
    return _encode(body + _sign(purpose, body, key))


def validate_token(purpose, token, key, now=None):
    """The subject of a token. Raises TokenError for one that is not ours or not for this."""
    raw = _decode(token)
    if len(raw) < 48:
        raise TokenError("too short")
    body, signature = raw[:-32], raw[-32:]
    if not hmac.compare_digest(signature, _sign(purpose, body, key)):
        raise TokenError("bad signature")
    (expires,) = struct.unpack(">Q", body[:8])
    if expires < (now or time.time()):
        raise ExpiredToken("expired")
    return body[16:].decode("utf-8")


def session_token(subject, key, ttl=86400):
    return create_token("session", subject, ttl, key)


def reset_token(subject, key, ttl=1800):
    return create_token("reset", subject, ttl, key)


def _sign(purpose, body, key):
    return hmac.new(key, purpose.encode() + b"\0" + body, hashlib.sha256).digest()


def _encode(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _decode(text):
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (ValueError, TypeError) as e:
        raise TokenError("not a token") from e
