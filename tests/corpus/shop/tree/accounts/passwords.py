"""Hashing and judging passwords.

Stored form: scrypt$<n>$<r>$<p>$<salt>$<hash>, salt and hash in URL-safe base64. A hash
whose cost is below today's is replaced at the next successful sign-in (needs_rehash).
"""

import base64
import hashlib
import hmac
import os

from accounts.errors import require

N, R, P = 1 << 15, 8, 1
SALT_BYTES = 16

COMMON = {
    "password", "passw0rd", "123456789012", "qwertyuiop12", "letmeinplease", "iloveplants",
    "fernhillfernhill", "gardengarden", "correcthorse",
}


def _b64(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _derive(password, salt, n, r, p):
    return hashlib.scrypt(password.encode("utf-8"), salt=salt, n=n, r=r, p=p, maxmem=1 << 27, dklen=32)


def hash_password(password):
    salt = os.urandom(SALT_BYTES)
    return "scrypt$%d$%d$%d$%s$%s" % (N, R, P, _b64(salt), _b64(_derive(password, salt, N, R, P)))


def verify(password, stored):
    """True when the password is the one that was hashed. Anything malformed is a no."""
    try:
        scheme, n, r, p, salt, digest = stored.split("$")
        if scheme != "scrypt":
            return False
        wanted = _unb64(digest)
        got = _derive(password, _unb64(salt), int(n), int(r), int(p))
    except (ValueError, TypeError):
        return False
    return hmac.compare_digest(wanted, got)


def needs_rehash(stored):
    parts = stored.split("$")
    return parts[0] != "scrypt" or int(parts[1]) < N


def check_strength(password, email, minimum=12):
    """Length first; a composition rule would only bring Password1! back."""
    require(isinstance(password, str) and len(password) >= minimum, "password", "at least %d characters" % minimum)
    require(len(password) <= 256, "password", "at most 256 characters")
    lowered = password.lower()
    require(lowered not in COMMON, "password", "is on every list of common passwords")
    require(email.split("@")[0] not in lowered, "password", "contains your address")
    require(len(set(password)) >= 5, "password", "repeats too few characters")


def strength_hint(password):
    """0 to 4 for the meter in the form. Advice only; check_strength decides."""
    score = min(len(password) // 6, 3)
    if any(c.isdigit() for c in password) and any(c.isalpha() for c in password):
        score += 1
    if len(set(password)) < len(password) / 2:
        score -= 1
    return max(0, min(score, 4))
