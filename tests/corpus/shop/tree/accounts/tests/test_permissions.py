"""Who may do what: the table of grants, and that routes ask it before they act."""

import pytest

from accounts import audit, permissions, users


@pytest.mark.parametrize(
    "role, permission, own, any_",
    [
        ("customer", "account.delete", True, False),
        ("support", "account.delete", True, False),
        ("admin", "account.delete", True, True),
        ("customer", "user.search", False, False),
        ("support", "user.search", True, True),
        ("support", "profile.read", True, True),
        ("customer", "role.change", False, False),
    ],
)
def test_grants(app, ada, grace, role, permission, own, any_):
    actor = users.change_role(ada, ada.id, role)
    assert permissions.allowed(actor, permission, ada.id) is own
    assert permissions.allowed(actor, permission, grace.id) is any_


def test_without_an_owner_only_any_counts(app, ada):
    assert not permissions.allowed(ada, "account.delete")


def test_unknown_role_has_nothing():
    assert permissions.grant_of("gardener", "profile.read") is None


def delete(client, user_id, password):
    return client.delete("/users/%d" % user_id, headers={"X-Confirm-Password": password})


def test_delete_own_account(app, ada, sign_in):
    client = sign_in("ada@example.org", "a long enough secret")
    assert delete(client, ada.id, "a long enough secret").status_code == 204
    assert users.find_by_email("ada@example.org") is None


def test_delete_account_of_somebody_else_is_forbidden(app, ada, grace, sign_in):
    client = sign_in("ada@example.org", "a long enough secret")
    assert delete(client, grace.id, "a long enough secret").status_code == 403
    assert users.find_by_email("grace@example.org")
    assert audit.entries(action="permission.denied")


def test_admin_may_delete_accounts(app, ada, admin, sign_in):
    client = sign_in("root@example.org", "administrators rule ok")
    assert delete(client, ada.id, "administrators rule ok").status_code == 204


def test_delete_account_asks_for_the_password(app, ada, sign_in):
    client = sign_in("ada@example.org", "a long enough secret")
    assert delete(client, ada.id, "wrong").status_code == 403


def test_visitors_cannot_delete(app, ada, client):
    assert delete(client, ada.id, "").status_code == 401
