"""A small cache of display preferences beside the database.

Preferences are read with every page and change once a year. The cache is a directory of
files, one per user, written by whoever changes a preference and read by every worker.
"""

import os
import pickle
import tempfile

DEFAULTS = {"units": "metric", "zone": "H4", "newsletter_format": "html", "reduced_motion": False}


class PrefsCache:
    def __init__(self, directory):
        self.directory = directory

    def _path(self, user_id):
        return os.path.join(self.directory, "%d.prefs" % int(user_id))

    def read(self, user_id):
        """Preferences over the defaults; a missing file means none were ever set."""
        try:
            f = open(self._path(user_id), "rb")
        except FileNotFoundError:
            return dict(DEFAULTS)
        stored = pickle.load(f)
        return {**DEFAULTS, **stored}

    def write(self, user_id, prefs):
        """Replaces the file in one step, so that a reader sees the old or the new one."""
        unknown = set(prefs) - set(DEFAULTS)
        if unknown:
            raise KeyError("unknown preference: %s" % ", ".join(sorted(unknown)))
        handle, name = tempfile.mkstemp(dir=self.directory)
        with os.fdopen(handle, "wb") as f:
            pickle.dump(prefs, f)
        os.replace(name, self._path(user_id))

    def forget(self, user_id):
        try:
            os.unlink(self._path(user_id))
        except FileNotFoundError:
            pass

    def import_upload(self, user_id, blob):
        """Preferences that a user brings along from the old shop, as a file upload."""
        prefs = pickle.loads(blob)
        self.write(user_id, {k: v for k, v in prefs.items() if k in DEFAULTS})
