"""Requests and random records for the extension tests."""

import random

import pytest

from checks import accepted

MEMBERS = {"id", "type", "name", "description", "definition", "trigger_def", "source", "enabled", "owner_agent_id",
           "created_at", "updated_at", "essential"}


@pytest.fixture
def create_extension(gateway, new_name):
    """Creates an agent, job or app, each of which has a directory."""
    def create_extension(type="agent", **members):
        definition = {"agent_id": "assistant", "prompt": "work"} if type == "job" else {"systemPrompt": "You help."}
        return accepted(gateway.http.post("/extensions", json={
            "type": type, "name": new_name(type), "description": "d", "definition": definition, **members}), 201)
    return create_extension


def get(gateway, extension):
    return accepted(gateway.http.get(f"/extensions/{extension['id']}"))


def patch(gateway, extension, **members):
    return gateway.http.patch(f"/extensions/{extension['id']}", json=members)


def toggle(gateway, extension):
    return gateway.http.post(f"/extensions/{extension['id']}/toggle")


def named(gateway, wanted):
    return next((found for found in accepted(gateway.http.get("/extensions")) if found["name"] == wanted), None)


# Text that YAML could parse as another type, and text that could break any format.
TEXTS = ["", "no", "Yes", "null", "~", "1e3", "0x1F", "010", "1_000", ".inf", "2026-01-02", "12:30:45", "- item", "a: b",
         "a #b", "#comment", "'", '"', "\\", "| fold", "> fold", "&anchor", "*alias", "!tag", "%directive", "@at", "`tick",
         "{a: 1}", "[1, 2]", "? key", "---", "...", " leading", "trailing ", "two\nlines", "line\n", "\n\nblank", "\ttab",
         "a\r\nb", "\u0000zero", "\u0085next", "\u2028line", "\ufeffmark", "caf\u00e9 \U0001f600", "x" * 300, "<script>"]
NUMBERS = [0, -1, 1.5, -0.25, 1e-7, 1e300, 18446744073709551615, -9223372036854775808]
REQUIRED = {"command": {"prompt": "Say $ARGUMENTS"}, "job": {"agent_id": "assistant", "prompt": "Go."}}
TYPES = ["command", "agent", "job", "app", "theme", "renderer", "integration", "action", "widget", "artifact",
         "capability", "control"]


class Maker:
    """Generates random records of any type. A fixed seed makes failures reproducible."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed = seed

    def value(self, depth=0):
        kind = self.random.randrange(6 if depth < 3 else 4)
        if kind == 4:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        if kind == 5:
            return self.members(depth + 1)
        return [self.random.choice(TEXTS), self.random.choice(NUMBERS), self.random.random() < 0.5, None][kind]

    def members(self, depth=1):
        """Members that no schema defines, so any value is valid."""
        return {f"x-{self.random.choice(['no', 'a b', 'ü', '1', 'null', 'true'])}{number}": self.value(depth)
                for number in range(self.random.randrange(1, 4))}

    def record(self, number):
        type_ = self.random.choice(TYPES)
        record = {"type": type_, "name": f"made-{self.seed}-{number}", "description": self.random.choice(TEXTS),
                  "enabled": self.random.random() < 0.5,
                  "source": self.random.choice(["user", "agent", "community"]),
                  "definition": {**REQUIRED.get(type_, {}), **self.members()}}
        if type_ == "agent":
            record["definition"]["systemPrompt"] = self.random.choice(TEXTS)
        if type_ == "job":
            record["definition"]["prompt"] = self.random.choice(TEXTS)
        if self.random.random() < 0.4:
            record["trigger_def"] = self.random.choice([
                {"type": "cron", "expression": "0 0 1 1 *"}, {"type": "webhook", "secret": self.random.choice(TEXTS[1:])},
                {"type": "event", "event": "thread.created", "filter": {"title": self.random.choice(TEXTS)}}])
        return record
