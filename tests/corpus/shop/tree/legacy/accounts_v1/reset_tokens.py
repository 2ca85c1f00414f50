"""Reset tokens of the old shop: stored as they are, good for a day. Replaced in 4.1."""

import random
import string
import time

TOKENS = {}
LIFETIME = 24 * 3600


def issue_reset_token(user_id):
    token = "".join(random.choice(string.ascii_lowercase + string.digits) for _ in range(20))
    TOKENS[token] = (user_id, time.time() + LIFETIME)
    return token


def validate_reset_token(token):
    """The user id, or None."""
    user_id, expires = TOKENS.get(token, (None, 0))
    if expires < time.time():
        return None
    return user_id


def forget_reset_token(token):
    TOKENS.pop(token, None)


def reset_password(users, token, password):
    user_id = validate_reset_token(token)
    if user_id is None:
        return False
    users.set_password(user_id, password)
    forget_reset_token(token)
    return True
