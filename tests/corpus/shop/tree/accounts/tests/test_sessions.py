"""Creating, resuming and ending sessions."""

from datetime import timedelta

import pytest

from accounts import models, session_store, sessions
from accounts.errors import Unauthenticated


def test_token_is_not_stored(app, ada, settings):
    session = sessions.create_session(ada, settings, "Firefox", "192.0.2.1")
    assert len(session.token) >= 40
    stored = session_store.find_session(sessions.hash_session_token(session.token))
    assert stored.user_id == ada.id
    assert stored.token is None


def test_two_sessions_have_different_tokens(app, ada, settings):
    assert sessions.create_session(ada, settings).token != sessions.create_session(ada, settings).token


def test_resume_finds_the_user(app, ada, settings):
    token = sessions.create_session(ada, settings).token
    assert sessions.resume_session(token, settings).user_id == ada.id


@pytest.mark.parametrize("token", ["", None, "nonsense", "x" * 500])
def test_unknown_tokens_are_refused(app, settings, token):
    with pytest.raises(Unauthenticated):
        sessions.resume_session(token, settings)


def test_expired(app, ada, settings, monkeypatch):
    token = sessions.create_session(ada, settings).token
    later = models.utcnow() + timedelta(seconds=settings.session_ttl_seconds)
    monkeypatch.setattr(sessions, "utcnow", lambda: later)
    with pytest.raises(Unauthenticated, match="ended"):
        sessions.resume_session(token, settings)


def test_idle(app, ada, settings, monkeypatch):
    token = sessions.create_session(ada, settings).token
    later = models.utcnow() + timedelta(seconds=settings.session_idle_seconds + 1)
    monkeypatch.setattr(sessions, "utcnow", lambda: later)
    with pytest.raises(Unauthenticated, match="idle"):
        sessions.resume_session(token, settings)


def test_oldest_sessions_are_trimmed(app, ada, settings):
    tokens = [sessions.create_session(ada, settings).token for _ in range(sessions.MAX_SESSIONS_PER_USER + 3)]
    assert len(session_store.list_sessions(ada.id)) == sessions.MAX_SESSIONS_PER_USER
    assert sessions.resume_session(tokens[-1], settings)


def test_end_all(app, ada, settings):
    token = sessions.create_session(ada, settings).token
    assert sessions.end_all_sessions(ada.id, "test") == 1
    with pytest.raises(Unauthenticated):
        sessions.resume_session(token, settings)


def test_rotation_spends_the_old_token(app, ada, settings):
    old = sessions.create_session(ada, settings).token
    _, fresh = sessions.rotate_session(old, settings)
    assert sessions.resume_session(fresh, settings).user_id == ada.id
    with pytest.raises(Unauthenticated):
        sessions.resume_session(old, settings)
