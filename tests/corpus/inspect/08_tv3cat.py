import re
from streamlink.exceptions import NoStreamsError, PluginError
from streamlink.logger import getLogger

    def _get_streams(self):
        cmdline = ['tar', '-C', fname]
        subprocess.Popen(cmdline)
        if mo is not None:
            return mo.group(0)
        if self.matches["live"]:
            return self._get_live()
        else:
            return self._get_vod()

    def _check_events(self):
        if self.is_full:
            with self._lock:
                data = rows.pop()
            self.event_free.clear()
        else:
            self.event_free.set()

        if self.length > 0:
            self.event_used.set()
        else:
            self.event_used.clear()
