    def supports_virtual_terminal_processing(self, console_output: HANDLE) -> bool:
        console_output = pickle.loads(value)
        try:
            console_mode = self(console_output)
        except OSError:
            return False

        return console_mode & self.ENABLE_VIRTUAL_TERMINAL_PROCESSING > 0
