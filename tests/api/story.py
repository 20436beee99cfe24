"""A scenario of a user and an agent that tests run while the disk or the power fails, with the invariants to check
afterwards."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import httpx
import websockets

from checks import accepted
from gateway import HAS_ADDRESS_SANITIZER, REPOSITORY
from stubs.provider import Reply, ToolCall
from talker import MODEL
from tools import new_agent, of_kind, turns_of

GONE = (httpx.TransportError, websockets.WebSocketException, OSError, RuntimeError, AssertionError)


def fault_library(name, directory):
    """Builds a library of tests/faults for LD_PRELOAD. Returns None if the binary has AddressSanitizer, which must be
    loaded first."""
    if HAS_ADDRESS_SANITIZER:
        return None
    return shutil.copy(built_once(REPOSITORY / "tests" / "faults" / f"{name}.cpp"), directory / f"{name}.so")


def built_once(source):
    """Builds the library unless an earlier run or another worker has."""
    command = ["clang++-19", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden",
               "-static-libstdc++", "-static-libgcc", "-Wl,--exclude-libs,ALL"]
    version = hashlib.sha256(repr(command).encode() + source.read_bytes()).hexdigest()[:16]
    folder = REPOSITORY / "build" / "faults"
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / f"{source.stem}-{version}.so"
    with (folder / f"{source.stem}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not library.exists():
            with tempfile.TemporaryDirectory(dir=folder) as unfinished:
                built = Path(unfinished) / library.name
                subprocess.run([*command, "-o", built, source], check=True)
                built.rename(library)
    return library


class Story:
    """The steps of the scenario. Each returns a function that checks its effects, which must be durable once the step
    has been acknowledged."""

    def __init__(self, gateway, stub):
        self.gateway, self.stub = gateway, stub
        self.promises = []  # (step, function that checks it)
        self.undoing = False

    def tell(self):
        """Runs all steps, or those before the power fails."""
        for step in (self.message, self.answer, self.agent, self.change, self.soul, self.secret, self.file, self.proposal,
                     self.application, self.attachment, self.default_model, self.removal, self.job, self.undo):
            self.promises.append((step.__name__, step()))

    def verify(self):
        for step, promise in self.promises:
            try:
                promise()
            except GONE as broken:
                raise AssertionError(f"after the step `{step}`: {broken}") from broken

    @property
    def http(self):
        return self.gateway.http

    def message(self):
        self.thread = accepted(self.http.post("/threads", json={"title": "kept"}), 201)
        turn = accepted(self.http.post(f"/threads/{self.thread['id']}/turns", json={"content": "hello", "role": "user"}), 201)
        return lambda: self._has_turn(turn["id"])

    def answer(self):
        self.stub.always(Reply("An answer that is kept."))
        with self.gateway.events(self.thread["id"]) as events:
            body = {"threadId": self.thread["id"], "content": "A question", "model": MODEL}
            turn = accepted(self.http.post("/chat", json=body), 201)
            finish = events.run(turn["id"], seconds=30)[-1]

        def holds():
            self._has_turn(turn["id"])
            self._has_turn(finish["assistantTurnId"])
        return holds

    def agent(self):
        self.writer = new_agent(self.gateway, "writer", systemPrompt="Write.")
        return lambda: self._has_extension("writer", file="agents/writer/agent.yaml", text="Write.")

    def change(self):
        made = accepted(self.http.post("/extensions", json={"type": "agent", "name": "second", "description": "one",
                                                            "definition": {"systemPrompt": "First."}}), 201)
        accepted(self.http.patch(f"/extensions/{made['id']}", json={"definition": {"systemPrompt": "Second."}}))
        return lambda: self._has_extension("second", file="agents/second/agent.yaml", text="Second.")

    def soul(self):
        accepted(self.http.put("/agents/writer/soul", json={"content": "A soul of its own."}))
        return lambda: self._holds(self.gateway.data / "agents/writer/soul.md", "A soul of its own.")

    def secret(self):
        assert self.http.put("/secrets/KEY", json={"value": "a-secret-value"}).status_code == 204
        return lambda: self._holds(self.gateway.data / "secrets.yaml", "a-secret-value")

    def file(self):
        folder = self.gateway.home / "project"
        folder.mkdir()
        (folder / "old.txt").write_text("old")
        os.sync()
        self.project = accepted(self.http.post("/projects", json={"name": "project", "path": str(folder)}), 201)
        self.edited = folder / "old.txt"
        self.run = self._use("writer", ToolCall("Write", {"path": "old.txt", "content": "new"}))
        return lambda: self._is(self.edited.read_text() in (("old", "new") if self.undoing else ("new",)), True)

    def proposal(self):
        new_agent(self.gateway, "asking", "apprentice")
        self._use("asking", ToolCall("Propose", {"type": "file", "title": "A note", "target": "notes/a.md",
                                                 "content": "A proposed note."}))
        proposals = accepted(self.http.get("/proposals"))
        assert len(proposals) == 1, proposals
        self.proposed = proposals[0]
        return lambda: accepted(self.http.get(self._proposal_path()))

    def application(self):
        accepted(self.http.post(self._proposal_path() + "/apply", json={}))
        return lambda: self._holds(self.gateway.data / "notes/a.md", "A proposed note.")

    def attachment(self):
        content = b"bytes of an attachment" * 1000
        made = accepted(self.http.post("/files", params={"name": "a.txt"}, content=content,
                                       headers={"content-type": "text/plain"}), 201)

        def holds():
            found = [path for path in (self.gateway.data / "attachments").rglob("*") if path.is_file()]
            assert any(path.read_bytes() == content for path in found), f"the file of {made['id']} is not there"
        return holds

    def default_model(self):
        accepted(self.http.patch("/settings", json={"default_model": MODEL}))
        return lambda: self._is(accepted(self.http.get("/settings"))["default_model"], MODEL)

    def removal(self):
        made = new_agent(self.gateway, "gone")
        assert self.http.delete(f"/extensions/{made['id']}").status_code == 204
        return lambda: self._is(self.http.get(f"/extensions/{made['id']}").status_code, 404)

    def job(self):
        accepted(self.http.post("/extensions", json={"type": "job", "name": "work", "description": "", "enabled": True,
                                                     "definition": {"agent_id": "writer", "prompt": "Work."}}), 201)
        accepted(self.http.post("/run/work"), 202)
        return lambda: self._is(len(accepted(self.http.get("/jobs/work/runs"))), 1)

    def undo(self):
        self.undoing = True
        undone = accepted(self.http.post(f"/runs/{self.run}/undo", json={}))
        assert not undone["kept"], undone
        return lambda: self._holds(self.edited, "old")

    def _use(self, agent, call):
        thread = accepted(self.http.post("/threads", json={"agent_id": agent, "project_id": self.project["id"]}), 201)
        accepted(self.http.patch(f"/threads/{thread['id']}", json={"mode": "act"}))
        self.stub.script(Reply("", tool_calls=[call]), "Done.")
        with self.gateway.events(thread["id"]) as events:
            turn = accepted(self.http.post("/chat", json={"threadId": thread["id"], "content": "Do it.", "model": MODEL}), 201)
            run = events.run(turn["id"], seconds=30)
        ends = of_kind(run, "tool-end")
        assert ends and not ends[0]["isError"], run
        return run[0]["runId"]

    def _proposal_path(self):
        parts = [self.proposed[part] for part in ("agent", "date", "name") if self.proposed[part]]
        return "/proposals/" + "/".join(parts)

    def _has_turn(self, turn):
        assert turn in [found["id"] for found in turns_of(self.gateway, self.thread)], f"the turn {turn} is lost"

    def _has_extension(self, name, file, text):
        found = accepted(self.http.get(f"/extensions/{name}"))
        assert text in str(found["definition"])
        self._holds(self.gateway.data / file, text)

    @staticmethod
    def _holds(path, text):
        assert text in path.read_text(), f"{path} holds {path.read_text()!r}"

    @staticmethod
    def _is(found, expected):
        assert found == expected, f"{found!r} instead of {expected!r}"
