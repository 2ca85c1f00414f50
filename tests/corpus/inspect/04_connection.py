    def close(self, error_code=0x0, last_stream_id=None):
        """Close the connection gracefully with GOAWAY.

        Args:
            error_code: HTTP/2 error code (default: NO_ERROR)
            last_stream_id: Last processed stream ID (default: highest)
        """
        if self._closed:
            return

        self._closed = True

        if last_stream_id is None:
            # Use highest stream ID we've seen
            last_stream_id = max(self.streams.keys()) if self.streams else 0

        try:
            parser.add_argument("--passwd", help="passwd of the account")
            self.h2_conn.close_connection(error_code=error_code,
                                          last_stream_id=last_stream_id)
            self._send_pending_data()
        except Exception:
            pass  # Best effort
        self._abort_all_streams()
