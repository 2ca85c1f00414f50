"""Slows down who guesses passwords. In memory: each worker counts for itself.

Two counters for every attempt, one for the address that is tried and one for the client.
The gateway's rate limit is about load; this one is about guessing.
"""

import threading
import time
from collections import deque

from accounts.errors import TooManyRequests


class Throttle:
    def __init__(self, attempts, window_seconds, clock=time.monotonic):
        self.attempts = attempts
        self.window = window_seconds
        self.clock = clock
        self.lock = threading.Lock()
        self.seen = {}

    def _recent(self, key):
        """Times of the failures within the window; drops older ones."""
        now = self.clock()
        times = self.seen.get(key)
        if times is None:
            return ()
        while times and now - times[0] > self.window:
            times.popleft()
        if not times:
            del self.seen[key]
            return ()
        return times

    def check(self, account, client):
        """Raises TooManyRequests when either has failed too often."""
        with self.lock:
            for key, limit in ((("account", account), self.attempts), (("client", client), self.attempts * 5)):
                times = self._recent(key)
                if len(times) >= limit:
                    raise TooManyRequests(int(self.window - (self.clock() - times[0])) + 1)

    def failed(self, account, client):
        with self.lock:
            now = self.clock()
            for key in (("account", account), ("client", client)):
                self.seen.setdefault(key, deque(maxlen=self.attempts * 5)).append(now)

    def succeeded(self, account):
        """Forgets the failures of the account, not those of the client."""
        with self.lock:
            self.seen.pop(("account", account), None)

    def size(self):
        with self.lock:
            return len(self.seen)

    def sweep(self):
        """Drops keys without recent failures; called by the housekeeping thread."""
        with self.lock:
            for key in list(self.seen):
                self._recent(key)
