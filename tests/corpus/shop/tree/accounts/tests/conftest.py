"""Fixtures: a database in memory, an application on it, and people to act."""

import pytest

from accounts import db, users
from accounts.app import build
from accounts.settings import Settings


class Outbox:
    """Stands in for the mailer and keeps what was sent."""

    def __init__(self):
        self.messages = []

    def send(self, to, subject, template, values):
        self.messages.append((to, subject, template, values))
        return True


@pytest.fixture
def settings(tmp_path):
    return Settings(
        database_url="sqlite://",
        avatar_dir=str(tmp_path / "avatars"),
        export_dir=str(tmp_path / "exports"),
        secure_cookies=False,
    )


@pytest.fixture
def app(settings):
    app = build(settings)
    app.config["MAILER"] = Outbox()
    with db.transaction():
        db.create_all()
        yield app


@pytest.fixture
def outbox(app):
    return app.config["MAILER"]


@pytest.fixture
def client(app):
    return app.test_client()


@pytest.fixture
def ada(app):
    return users.register("ada@example.org", "a long enough secret", "Ada")


@pytest.fixture
def grace(app):
    return users.register("grace@example.org", "another long secret", "Grace")


@pytest.fixture
def admin(app):
    return users.register("root@example.org", "administrators rule ok", "Root", role="admin")


@pytest.fixture
def sign_in(client):
    def go(email, password):
        response = client.post("/auth/login", json={"email": email, "password": password})
        assert response.status_code == 200, response.get_json()
        return client

    return go
