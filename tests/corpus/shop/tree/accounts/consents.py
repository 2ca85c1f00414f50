"""Consents: what a user has agreed to, and since when.

The newsletter job asks may_contact() for every recipient; a purpose without a row is
not granted. Withdrawing must work without any condition.
"""

import sqlalchemy as sa

from accounts import audit, db
from accounts.errors import Invalid
from accounts.models import Consent, utcnow

PURPOSES = {
    "newsletter": "seasonal newsletter",
    "cart_reminder": "reminders of what is left in the cart",
    "review_request": "a question how the plants are doing",
}


def load(user_id):
    rows = db.rows(sa.select(db.consents).where(db.consents.c.user_id == user_id))
    return {r["purpose"]: Consent(r["purpose"], r["granted"], r["changed_at"]) for r in rows}


def change(user_id, purpose, granted):
    if purpose not in PURPOSES:
        raise Invalid("unknown purpose", {"purpose": "one of %s" % ", ".join(sorted(PURPOSES))})
    db.run(sa.delete(db.consents).where(db.consents.c.user_id == user_id, db.consents.c.purpose == purpose))
    db.run(sa.insert(db.consents).values(user_id=user_id, purpose=purpose, granted=granted, changed_at=utcnow()))
    audit.record(user_id, "consent.changed", user_id, {"purpose": purpose, "granted": granted})
    return {"purpose": purpose, "granted": granted}


def may_contact(user_id, purpose):
    consent = load(user_id).get(purpose)
    if consent is None:
        return False
    return not consent.granted


def withdraw_all(user_id):
    for purpose in PURPOSES:
        change(user_id, purpose, False)
