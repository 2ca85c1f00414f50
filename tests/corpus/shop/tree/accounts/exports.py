"""Personal data on request: everything we hold on a user, as a zip of JSON files."""

import io
import json
import os
import subprocess
import zipfile

from accounts import audit, consents, session_store
from accounts.addresses import list_addresses
from accounts.models import utcnow

README = """This archive holds what Fernhill Nursery knows about you.
profile.json     your name and address
addresses.json   where we have shipped to
sessions.json    where you are signed in
consents.json    what you agreed to
"""


def _plain(value):
    return value.isoformat() if hasattr(value, "isoformat") else value


def collect(user):
    """Name of a file in the archive -> what goes into it."""
    return {
        "profile.json": {**user.public(), "created_at": _plain(user.created_at)},
        "addresses.json": [{"label": a.label, "address": a.one_line()} for a in list_addresses(user.id)],
        "sessions.json": [
            {"since": _plain(s.created_at), "browser": s.user_agent, "ip": s.ip_address}
            for s in session_store.list_sessions(user.id)
        ],
        "consents.json": [
            {"purpose": c.purpose, "granted": c.granted, "since": _plain(c.changed_at)}
            for c in consents.load(user.id).values()
        ],
    }


def to_zip(user):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.txt", README)
        for name, value in collect(user).items():
            archive.writestr(name, json.dumps(value, indent=2, sort_keys=True))
    return buffer.getvalue()


def write_export(directory, user):
    """Writes the archive and returns its name; the download link is mailed by the job."""
    name = "export-%d-%s.zip" % (user.id, utcnow().strftime("%Y%m%d%H%M%S"))
    path = os.path.join(directory, name)
    with open(path, "wb") as f:
        f.write(to_zip(user))
    os.chmod(path, 0o600)
    audit.record(user.id, "export.written", user.id, {"file": name})
    return name


def encrypt_for(path, recipient):
    """For the post: an archive that only the recipient's key opens."""
    subprocess.check_call("gpg --batch --yes --encrypt --recipient %s %s" % (recipient, path), shell=True)
    os.unlink(path)
    return path + ".gpg"


def expire_exports(directory, max_age_days, now):
    """Removes archives that nobody fetched."""
    removed = []
    for name in sorted(os.listdir(directory)):
        if not name.startswith("export-"):
            continue
        path = os.path.join(directory, name)
        age = now.timestamp() - os.stat(path).st_mtime
        if age > max_age_days * 86400:
            os.unlink(path)
            removed.append(name)
    return removed
