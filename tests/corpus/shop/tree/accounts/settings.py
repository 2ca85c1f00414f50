"""Settings of the accounts service, read once from the environment.

Every key is FERNHILL_<NAME>. config/default.yaml lists the same keys for the
deployment tooling; tests/test_settings.py keeps the two in step.
"""

import os
from dataclasses import dataclass, fields


class SettingsError(ValueError):
    """A variable has a value that cannot be used."""


def _int(name, default, low=None, high=None):
    raw = os.environ.get(name)
    if raw is None or raw == "":
        return default
    try:
        value = int(raw)
    except ValueError:
        raise SettingsError("%s: expected a whole number, got %r" % (name, raw)) from None
    if low is not None and value < low or high is not None and value > high:
        raise SettingsError("%s: %d is not between %s and %s" % (name, value, low, high))
    return value


def _bool(name, default):
    raw = os.environ.get(name, "").strip().lower()
    if raw == "":
        return default
    if raw in ("1", "true", "yes", "on"):
        return True
    if raw in ("0", "false", "no", "off"):
        return False
    raise SettingsError("%s: expected yes or no, got %r" % (name, raw))


@dataclass(frozen=True)
class Settings:
    database_url: str = "sqlite:///accounts.db"
    pool_size: int = 5
    smtp_url: str = "smtp://localhost:25"
    mail_from: str = "Fernhill Nursery <hello@fernhill.example>"
    public_url: str = "https://fernhill.example"
    session_ttl_seconds: int = 14 * 24 * 3600
    session_idle_seconds: int = 2 * 24 * 3600
    reset_token_ttl_seconds: int = 30 * 60
    invitation_ttl_seconds: int = 7 * 24 * 3600
    login_attempts: int = 8
    login_window_seconds: int = 15 * 60
    password_min_length: int = 12
    max_body_bytes: int = 1 << 20
    avatar_dir: str = "/var/lib/fernhill/avatars"
    export_dir: str = "/var/lib/fernhill/exports"
    secure_cookies: bool = True

    @classmethod
    def from_environment(cls):
        env = os.environ.get
        return cls(
            database_url=env("FERNHILL_DATABASE_URL", cls.database_url),
            pool_size=_int("FERNHILL_POOL_SIZE", cls.pool_size, 1, 64),
            smtp_url=env("FERNHILL_SMTP_URL", cls.smtp_url),
            mail_from=env("FERNHILL_MAIL_FROM", cls.mail_from),
            public_url=env("FERNHILL_PUBLIC_URL", cls.public_url).rstrip("/"),
            session_ttl_seconds=_int("FERNHILL_SESSION_TTL_SECONDS", cls.session_ttl_seconds, 60),
            session_idle_seconds=_int("FERNHILL_SESSION_IDLE_SECONDS", cls.session_idle_seconds, 60),
            reset_token_ttl_seconds=_int("FERNHILL_RESET_TOKEN_TTL_SECONDS", cls.reset_token_ttl_seconds, 60, 24 * 3600),
            invitation_ttl_seconds=_int("FERNHILL_INVITATION_TTL_SECONDS", cls.invitation_ttl_seconds, 60),
            login_attempts=_int("FERNHILL_LOGIN_ATTEMPTS", cls.login_attempts, 1, 1000),
            login_window_seconds=_int("FERNHILL_LOGIN_WINDOW_SECONDS", cls.login_window_seconds, 1),
            password_min_length=_int("FERNHILL_PASSWORD_MIN_LENGTH", cls.password_min_length, 8, 128),
            max_body_bytes=_int("FERNHILL_MAX_BODY_BYTES", cls.max_body_bytes, 1024),
            avatar_dir=env("FERNHILL_AVATAR_DIR", cls.avatar_dir),
            export_dir=env("FERNHILL_EXPORT_DIR", cls.export_dir),
            secure_cookies=_bool("FERNHILL_SECURE_COOKIES", cls.secure_cookies),
        )

    def redacted(self):
        """What may be logged: everything except what carries a password."""
        hidden = {"database_url", "smtp_url"}
        return {f.name: "***" if f.name in hidden else getattr(self, f.name) for f in fields(self)}
