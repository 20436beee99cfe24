"""A program at a terminal of its own, as a person has it in front of them."""

import os
import pty
import select
import signal
import termios
import time

from checks import PATIENCE

LOCAL_FLAGS = 3  # of what tcgetattr answers


class Terminal:
    """Runs the command with a pseudo terminal as its controlling terminal. What it shows is kept."""

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
        """Keys as they are pressed: \\n is Enter, \\x03 Ctrl-C, \\x04 Ctrl-D."""
        os.write(self.screen, text.encode())

    def wait_for(self, text, seconds=PATIENCE):
        """Waits until the text has been shown since the last call."""
        deadline = time.monotonic() + seconds
        while text not in self.shown:
            assert self._read(deadline), f"{text!r} was not shown; but: {self.shown!r}"
        before, _, self.shown = self.shown.partition(text)
        return before

    def wait_for_prompt(self, prompt, seconds=PATIENCE):
        """Waits until the prompt is shown and the line editor behind it has taken the terminal over: a Ctrl-D that is
        pressed before would be lost."""
        self.wait_for(prompt, seconds)
        deadline = time.monotonic() + seconds
        while self.flags() & termios.ICANON:
            assert time.monotonic() < deadline, "the terminal is not taken over"

    def flags(self):
        """How the terminal is set now: `termios.ECHO` and so on."""
        return termios.tcgetattr(self.screen)[LOCAL_FLAGS]

    def exit_status(self, seconds=PATIENCE):
        """Waits for the end."""
        deadline = time.monotonic() + seconds
        while self._read(deadline):
            pass
        assert time.monotonic() < deadline, f"it goes on; shown: {self.shown!r}"
        _, status = os.waitpid(self.process, 0)
        self.process = None
        return os.waitstatus_to_exitcode(status)

    def _read(self, deadline):
        """False at the end, or when the time is over."""
        if not select.select([self.screen], [], [], max(0, deadline - time.monotonic()))[0]:
            return False
        try:
            piece = os.read(self.screen, 65536)
        except OSError:
            return False
        self.shown += piece.decode(errors="replace")
        return bool(piece)
