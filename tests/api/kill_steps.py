"""Kills a gateway at a step that it takes (tests/faults/kill_at.cpp)."""

import mmap
import struct


class Steps:
    """The steps of a process that is started with `environment`."""

    def __init__(self, library, folder):
        path = folder / "steps"
        path.write_bytes(bytes(16))
        with path.open("r+b") as file:
            self._numbers = mmap.mmap(file.fileno(), 16)
        self.environment = {"LD_PRELOAD": str(library), "KILL_STEPS": str(path)}

    def arm(self, number):
        """The process is killed at the step of this number from now on; never, if it is 0."""
        self._numbers[:8] = struct.pack("=q", number)

    @property
    def left(self):
        """How many steps are left until the kill; 0 once it came."""
        return struct.unpack("=q", self._numbers[:8])[0]

    @property
    def count(self):
        """How many steps it took so far."""
        return struct.unpack("=q", self._numbers[8:])[0]
