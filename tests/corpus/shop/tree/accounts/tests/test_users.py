"""Registering, finding, changing and deleting users; passwords."""

import pytest

from accounts import passwords, users
from accounts.errors import Conflict, Invalid, NotFound


def test_register_normalises_the_address(app):
    user = users.register("  Joan@Example.ORG", "clarke at bletchley", "Joan")
    assert user.email == "joan@example.org"
    assert users.find_by_email("JOAN@example.org").id == user.id


def test_register_twice(app, ada):
    with pytest.raises(Conflict):
        users.register("ada@example.org", "some other password", "Ada II")


@pytest.mark.parametrize("email", ["", "ada", "ada@", "@example.org", "a b@example.org", "ada@localhost"])
def test_bad_addresses(app, email):
    with pytest.raises(Invalid) as e:
        users.register(email, "long enough, surely", "X")
    assert "email" in e.value.fields


@pytest.mark.parametrize("password", ["short", "aaaaaaaaaaaaaaaa", "letmeinplease", "ada-ada-ada-ada"])
def test_weak_passwords(app, password):
    with pytest.raises(Invalid):
        users.register("ada@example.org", password, "Ada")


def test_hash_is_salted_and_verifies():
    one, two = passwords.hash_password("correct horse battery"), passwords.hash_password("correct horse battery")
    assert one != two
    assert passwords.verify("correct horse battery", one)
    assert not passwords.verify("Correct horse battery", one)


@pytest.mark.parametrize("stored", ["", "scrypt$", "md5$x", "scrypt$1$2$3$4$5", None])
def test_malformed_hashes_are_a_no(stored):
    assert passwords.verify("anything at all", stored or "x") is False


def test_soft_delete_frees_the_address(app, ada):
    users.soft_delete(ada, ada.id)
    assert users.find_by_email("ada@example.org") is None
    with pytest.raises(NotFound):
        users.get(ada.id)
    with pytest.raises(NotFound):
        users.soft_delete(ada, ada.id)


def test_search_ignores_wildcards(app, ada, grace):
    assert [u.display_name for u in users.search("gra")] == ["Grace"]
    assert users.search("%ra") == []
