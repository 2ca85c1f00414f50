"""Password reset tokens: issued, validated, redeemed once."""

from datetime import timedelta

import pytest

from accounts import models, reset_tokens, session_store, sessions, users


def test_issue_and_validate(app, ada, settings):
    token = reset_tokens.issue_reset_token(ada.id, settings.reset_token_ttl_seconds)
    assert reset_tokens.validate_reset_token(token) == ada.id


def test_unknown_token(app):
    with pytest.raises(reset_tokens.BadResetToken):
        reset_tokens.validate_reset_token("nope")
    with pytest.raises(reset_tokens.BadResetToken):
        reset_tokens.validate_reset_token(None)


def test_expired_reset_token(app, ada, settings, monkeypatch):
    token = reset_tokens.issue_reset_token(ada.id, 60)
    later = models.utcnow() + timedelta(seconds=60)
    monkeypatch.setattr(reset_tokens, "utcnow", lambda: later)
    with pytest.raises(reset_tokens.BadResetToken):
        reset_tokens.validate_reset_token(token)


def test_redeem_sets_the_password_and_spends_the_token(app, ada, settings):
    sessions.create_session(ada, settings)
    token = reset_tokens.issue_reset_token(ada.id, 600)
    reset_tokens.redeem_reset_token(token, "a brand new password")
    assert users.verify_password(ada.id, "a brand new password")
    assert session_store.list_sessions(ada.id) == []
    with pytest.raises(reset_tokens.BadResetToken):
        reset_tokens.redeem_reset_token(token, "once more, with feeling")


def test_request_mails_a_link(app, ada, outbox, settings):
    reset_tokens.request_reset("ADA@example.org ", outbox, settings)
    to, _, template, values = outbox.messages[0]
    assert to == "ada@example.org"
    assert template == "reset_password.txt"
    token = values["link"].split("token=")[1]
    assert reset_tokens.validate_reset_token(token) == ada.id


def test_unknown_address_is_silent(app, outbox, settings):
    reset_tokens.request_reset("nobody@example.org", outbox, settings)
    assert outbox.messages == []


def test_open_tokens_are_limited(app, ada, outbox, settings):
    for _ in range(reset_tokens.MAX_OPEN_TOKENS + 2):
        reset_tokens.request_reset(ada.email, outbox, settings)
    assert len(outbox.messages) == reset_tokens.MAX_OPEN_TOKENS


def test_purge_keeps_what_is_valid(app, ada, settings):
    keep = reset_tokens.issue_reset_token(ada.id, 600)
    reset_tokens.issue_reset_token(ada.id, -1)
    assert reset_tokens.purge_reset_tokens() == 1
    assert reset_tokens.validate_reset_token(keep) == ada.id
