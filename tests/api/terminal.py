"""A program on a pseudo terminal, as a user runs it."""

import os
import pty
import select
import signal
import termios
import time

from checks import PATIENCE

LOCAL_FLAGS = 3  # index in the result of tcgetattr


class Terminal:
    """Runs the command with a pseudo terminal as its controlling terminal, and keeps its output."""

    def __init__(self, command, environment, directory):
        self.shown = ""
        self.process, self.screen = pty.fork()
        if self.process == 0:
            os.chdir(directory)
            os.execve(command[0], command, environment)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process is not None:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        os.close(self.screen)

    def type(self, text):
        """Types keys: \\r is Enter, \\x03 Ctrl-C, \\x04 Ctrl-D."""
        os.write(self.screen, text.encode())

    def wait_for(self, text, seconds=PATIENCE):
        """Waits until the text has been shown since the previous call; returns the output before it."""
        deadline = time.monotonic() + seconds
        while text not in self.shown:
            assert self._read(deadline), f"{text!r} was not shown; but: {self.shown!r}"
        before, _, self.shown = self.shown.partition(text)
        return before

    def wait_for_prompt(self, prompt, seconds=PATIENCE):
        """Waits until the prompt is shown and the line editor has left canonical mode: a Ctrl-D pressed before that
        would be lost."""
        self.wait_for(prompt, seconds)
        deadline = time.monotonic() + seconds
        while self.flags() & termios.ICANON:
            assert time.monotonic() < deadline, "the terminal is not taken over"

    def flags(self):
        """Returns the current local flags of the terminal, such as `termios.ECHO`."""
        return termios.tcgetattr(self.screen)[LOCAL_FLAGS]

    def exit_status(self, seconds=PATIENCE):
        """Waits until the program exits and returns its exit status."""
        deadline = time.monotonic() + seconds
        while self._read(deadline):
            pass
        assert time.monotonic() < deadline, f"it goes on; shown: {self.shown!r}"
        _, status = os.waitpid(self.process, 0)
        self.process = None
        return os.waitstatus_to_exitcode(status)

    def _read(self, deadline):
        """Reads more output. Returns False at the end or at the deadline."""
        if not select.select([self.screen], [], [], max(0, deadline - time.monotonic()))[0]:
            return False
        try:
            piece = os.read(self.screen, 65536)
        except OSError:
            return False
        self.shown += piece.decode(errors="replace")
        return bool(piece)
