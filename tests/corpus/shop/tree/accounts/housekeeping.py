"""The nightly job of the accounts service: `python -m accounts.housekeeping`.

Every step is a transaction of its own, and a failing step does not keep the others from
running. The exit code is the number of steps that failed.
"""

import argparse
import logging
import sys
from datetime import timedelta

import sqlalchemy as sa

from accounts import db, exports, reset_tokens, session_store
from accounts.models import utcnow
from accounts.settings import Settings

log = logging.getLogger("accounts.housekeeping")

PURGE_AFTER = timedelta(days=30)


def purge_deleted_users(now):
    """Removes for good who was deleted a month ago. Orders stay with billing."""
    gone = sa.select(db.users.c.id).where(db.users.c.deleted_at <= now - PURGE_AFTER)
    for table in (db.addresses, db.consents, db.api_keys, db.reset_tokens, db.sessions):
        db.run(sa.delete(table).where(table.c.user_id.in_(gone)))
    return db.run(sa.delete(db.users).where(db.users.c.deleted_at <= now - PURGE_AFTER))


def purge_audit_log(now):
    return db.run(sa.delete(db.audit_log).where(db.audit_log.c.at <= now - timedelta(days=730)))


def steps(settings, now):
    return [
        ("sessions", lambda: session_store.purge_expired_sessions(now)),
        ("reset tokens", lambda: reset_tokens.purge_reset_tokens(now)),
        ("deleted users", lambda: purge_deleted_users(now)),
        ("audit log", lambda: purge_audit_log(now)),
        ("exports", lambda: len(exports.expire_exports(settings.export_dir, 14, now))),
    ]


def run(settings, now=None, dry_run=False):
    failed = 0
    for name, step in steps(settings, now or utcnow()):
        try:
            with db.transaction() as c:
                n = step()
                if dry_run:
                    c.rollback()
            log.info("%s: %d removed%s", name, n, " (dry run)" if dry_run else "")
        except Exception:
            log.exception("%s failed", name)
            failed += 1
    return failed


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dry-run", action="store_true", help="say what would be removed")
    args = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    settings = Settings.from_environment()
    db.configure(settings.database_url)
    return run(settings, dry_run=args.dry_run)


if __name__ == "__main__":
    sys.exit(main())
