"""Settings come from the environment; the defaults file lists every key."""

import pathlib
import re

import pytest

from accounts.settings import Settings, SettingsError

ROOT = pathlib.Path(__file__).parents[2]


def test_defaults():
    s = Settings.from_environment()
    assert s.session_ttl_seconds == 14 * 24 * 3600
    assert s.secure_cookies


def test_numbers_are_checked(monkeypatch):
    monkeypatch.setenv("FERNHILL_POOL_SIZE", "many")
    with pytest.raises(SettingsError, match="FERNHILL_POOL_SIZE"):
        Settings.from_environment()
    monkeypatch.setenv("FERNHILL_POOL_SIZE", "1000")
    with pytest.raises(SettingsError, match="between"):
        Settings.from_environment()


def test_redacted_hides_urls():
    shown = Settings(database_url="postgresql://u:p@db/accounts").redacted()
    assert shown["database_url"] == "***"
    assert shown["pool_size"] == 5


def test_defaults_file_has_every_key():
    text = (ROOT / "config" / "default.yaml").read_text(encoding="utf-8")
    source = (ROOT / "accounts" / "settings.py").read_text(encoding="utf-8")
    for key in set(re.findall(r"FERNHILL_[A-Z_]+", source)):
        assert key in text, key
