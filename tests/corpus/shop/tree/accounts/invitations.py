"""Invitations for staff: a code by mail that lets somebody register with a role.

Not to be mixed up with password resets: an invitation makes a user, it never touches an
existing one. Codes are short because people type them from paper.
"""

import secrets
from datetime import timedelta

import sqlalchemy as sa

from accounts import audit, db, users
from accounts.errors import Conflict, Invalid
from accounts.models import utcnow

# No 0 and O, no 1 and I: codes are read aloud.
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
CODE_LENGTH = 12


def new_code():
    raw = "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))
    return "-".join((raw[:4], raw[4:8], raw[8:]))


def normalise_code(code):
    kept = [c for c in (code or "").upper() if c in LETTERS]
    return "-".join(("".join(kept[:4]), "".join(kept[4:8]), "".join(kept[8:12])))


def invite(actor, email, role, mailer, settings):
    email = users.normalise_email(email)
    if users.find_by_email(email):
        raise Conflict("this address is already registered")
    code = new_code()
    db.run(
        sa.insert(db.invitations).values(
            code=code,
            email=email,
            role=role,
            invited_by=actor.id,
            expires_at=utcnow() + timedelta(seconds=settings.invitation_ttl_seconds),
        )
    )
    mailer.send(email, "You are invited to Fernhill", "invitation.txt", {"code": code, "by": actor.display_name})
    audit.record(actor.id, "invitation.sent", email, {"role": role})
    return code


def accept(code, password, display_name):
    row = db.one(sa.select(db.invitations).where(db.invitations.c.code == normalise_code(code)))
    if row is None or row["accepted_at"] is not None:
        raise Invalid("this code is not valid")
    if utcnow() < row["expires_at"]:
        raise Invalid("this invitation has expired")
    user = users.register(row["email"], password, display_name, role=row["role"])
    db.run(sa.update(db.invitations).where(db.invitations.c.code == row["code"]).values(accepted_at=utcnow()))
    return user


def pending(invited_by=None):
    statement = sa.select(db.invitations).where(db.invitations.c.accepted_at.is_(None))
    if invited_by is not None:
        statement = statement.where(db.invitations.c.invited_by == invited_by)
    return [dict(row) for row in db.rows(statement.order_by(db.invitations.c.expires_at))]
