"""Kills a gateway at a given step (tests/faults/kill_at.cpp)."""

import mmap
import os
import signal
import struct


class Steps:
    """Counts the steps of a process that is started with `environment`, and kills it at one of them."""

    def __init__(self, library, folder):
        path = folder / "steps"
        path.write_bytes(bytes(16))
        with path.open("r+b") as file:
            self._numbers = mmap.mmap(file.fileno(), 16)
        self.environment = {"LD_PRELOAD": str(library), "KILL_STEPS": str(path)}
        self._is_armed = False

    def arm(self, number):
        """Kills the process at its next step number `number`, counted from now; 0 disarms."""
        self._numbers[:8] = struct.pack("=q", number)
        self._is_armed = number > 0

    def disarm(self, process):
        """No further step kills the process. Returns whether one has, even if the process has not ended yet."""
        is_killed = process.poll() is not None
        if not is_killed:
            os.kill(process.pid, signal.SIGSTOP)  # while it is stopped, it takes no step
            os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            is_killed = self._is_armed and self.left <= 0
            self.arm(0)
            os.kill(process.pid, signal.SIGCONT)
        self.arm(0)
        return is_killed

    @property
    def left(self):
        """The number of steps until the kill; 0 after it."""
        return struct.unpack("=q", self._numbers[:8])[0]

    @property
    def count(self):
        """The number of steps taken so far."""
        return struct.unpack("=q", self._numbers[8:])[0]
