"""Creating, finding, changing and removing users. No HTTP in here."""

import re

import sqlalchemy as sa

from accounts import audit, db, passwords
from accounts.errors import Conflict, NotFound, require
from accounts.models import User, utcnow

EMAIL = re.compile(r"^[^@\s]{1,64}@[^@\s.]+(\.[^@\s.]+)+$")
ROLES = ("customer", "support", "admin")


def normalise_email(email):
    """Lower case, no surrounding blanks. The part before the @ is left alone otherwise."""
    return (email or "").strip().lower()


def register(email, password, display_name, role="customer"):
    email = normalise_email(email)
    require(EMAIL.match(email), "email", "does not look like an address")
    require(role in ROLES, "role", "unknown role")
    require(display_name and len(display_name) <= 80, "name", "between 1 and 80 characters")
    passwords.check_strength(password, email)
    if find_by_email(email):
        raise Conflict("this address is already registered")
    db.run(
        sa.insert(db.users).values(
            email=email,
            display_name=display_name.strip(),
            password_hash=passwords.hash_password(password),
            role=role,
        )
    )
    user = find_by_email(email)
    audit.record(user.id, "user.registered", user.id)
    return user


def find_by_email(email):
    row = db.one(
        sa.select(db.users).where(db.users.c.email == normalise_email(email), db.users.c.deleted_at.is_(None))
    )
    return User.from_row(row) if row else None


def get(user_id):
    row = db.one(sa.select(db.users).where(db.users.c.id == user_id))
    if row is None or row["deleted_at"] is not None:
        raise NotFound("no such user")
    return User.from_row(row)


def rename(user_id, display_name):
    require(display_name and len(display_name) <= 80, "name", "between 1 and 80 characters")
    db.run(sa.update(db.users).where(db.users.c.id == user_id).values(display_name=display_name.strip()))
    return get(user_id)


def change_role(actor, user_id, role):
    require(role in ROLES, "role", "unknown role")
    db.run(sa.update(db.users).where(db.users.c.id == user_id).values(role=role))
    audit.record(actor.id, "user.role_changed", user_id, {"role": role})
    return get(user_id)


def set_password(user_id, password):
    user = get(user_id)
    passwords.check_strength(password, user.email)
    db.run(
        sa.update(db.users)
        .where(db.users.c.id == user_id)
        .values(password_hash=passwords.hash_password(password))
    )
    audit.record(user_id, "user.password_changed", user_id)


def verify_password(user_id, password):
    row = db.one(sa.select(db.users.c.password_hash).where(db.users.c.id == user_id))
    return bool(row) and passwords.verify(password, row["password_hash"])


def soft_delete(actor, user_id):
    """Hides the user at once; the nightly purge removes what is left after 30 days."""
    touched = db.run(
        sa.update(db.users)
        .where(db.users.c.id == user_id, db.users.c.deleted_at.is_(None))
        .values(deleted_at=utcnow(), email=sa.func.concat("deleted-", user_id, "@invalid"))
    )
    if touched == 0:
        raise NotFound("no such user")
    audit.record(actor.id, "user.deleted", user_id)


def search(prefix, limit=20):
    """For the support desk: by the beginning of the address or of the name."""
    pattern = prefix.replace("%", "").replace("_", "") + "%"
    found = db.rows(
        sa.select(db.users)
        .where(sa.or_(db.users.c.email.like(pattern), db.users.c.display_name.like(pattern)))
        .where(db.users.c.deleted_at.is_(None))
        .order_by(db.users.c.email)
        .limit(min(limit, 100))
    )
    return [User.from_row(row) for row in found]
