"""The audit log: who did what to whom. Rows are added, never changed."""

import sqlalchemy as sa

from accounts import db
from accounts.models import utcnow

ACTIONS = {
    "user.registered": "registered",
    "user.deleted": "deleted the account",
    "user.password_changed": "changed the password",
    "user.role_changed": "changed the role",
    "session.created": "signed in",
    "session.all_ended": "was signed out everywhere",
    "reset.issued": "asked for a new password",
    "reset.replayed": "used a reset link twice",
    "api_key.created": "made an API key",
    "api_key.revoked": "revoked an API key",
    "invitation.sent": "sent an invitation",
    "permission.denied": "was refused",
    "consent.changed": "changed a consent",
    "export.written": "exported personal data",
}


def record(actor_id, action, subject, detail=None):
    """An unknown action is an error in our code, found by the first test that runs it."""
    if action not in ACTIONS:
        raise KeyError("audit: unknown action %r" % action)
    db.run(
        sa.insert(db.audit_log).values(
            at=utcnow(), actor_id=actor_id, action=action, subject=str(subject), detail=detail or {}
        )
    )


def entries(subject=None, action=None, limit=50, before_id=None):
    """Newest first, a page at a time."""
    statement = sa.select(db.audit_log).order_by(db.audit_log.c.id.desc()).limit(min(limit, 500))
    if subject is not None:
        statement = statement.where(db.audit_log.c.subject == str(subject))
    if action is not None:
        statement = statement.where(db.audit_log.c.action == action)
    if before_id is not None:
        statement = statement.where(db.audit_log.c.id < before_id)
    return [dict(row) for row in db.rows(statement)]


def sentence(entry, names):
    """One entry for people: "Ada deleted the account of Grace"."""
    actor = names.get(entry["actor_id"], "somebody")
    subject = names.get(int(entry["subject"])) if entry["subject"].isdigit() else entry["subject"]
    what = ACTIONS.get(entry["action"], entry["action"])
    if subject and subject != actor:
        return "%s %s of %s" % (actor, what, subject)
    return "%s %s" % (actor, what)
