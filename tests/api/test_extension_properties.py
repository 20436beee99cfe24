"""Random records survive being written, read, restarted and reseeded. A fixed seed makes failures reproducible.

See docs/contract/extensions.md#records.
"""

import random

import pytest

from checks import accepted

SEEDS = range(4)
RECORDS = 60

# Text that YAML could take for something else, and text that could break any format.
TEXTS = ["", "no", "Yes", "null", "~", "1e3", "0x1F", "010", "1_000", ".inf", "2026-01-02", "12:30:45", "- item", "a: b",
         "a #b", "#comment", "'", '"', "\\", "| fold", "> fold", "&anchor", "*alias", "!tag", "%directive", "@at", "`tick",
         "{a: 1}", "[1, 2]", "? key", "---", "...", " leading", "trailing ", "two\nlines", "line\n", "\n\nblank", "\ttab",
         "a\r\nb", "\u0000zero", "\u0085next", "\u2028line", "\ufeffmark", "caf\u00e9 \U0001f600", "x" * 300, "<script>"]
NUMBERS = [0, -1, 1.5, -0.25, 1e-7, 1e300, 18446744073709551615, -9223372036854775808]
REQUIRED = {"command": {"prompt": "Say $ARGUMENTS"}, "job": {"agent_id": "assistant", "prompt": "Go."}}
TYPES = ["command", "agent", "job", "app", "theme", "renderer", "integration", "action", "widget", "artifact",
         "capability", "control"]


class Maker:
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
        """Members unknown to every schema, so that any value is valid."""
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


def all_records(gateway):
    return {record["name"]: record for record in accepted(gateway.http.get("/extensions"))}


@pytest.mark.parametrize("seed", SEEDS)
def test_record_survives_write_read_restart_and_reseed(own_gateway, seed):
    made = {}
    for number in range(RECORDS):
        body = Maker(seed * 1000 + number).record(number)
        response = own_gateway.http.post("/extensions", json=body)
        record = accepted(response, 201)
        for member in ("type", "name", "description", "enabled", "source", "definition"):
            assert record[member] == body[member], (member, body)
        assert record["trigger_def"] == body.get("trigger_def"), body
        made[record["name"]] = record
    for name, record in made.items():
        assert accepted(own_gateway.http.get(f"/extensions/{record['id']}")) == record
    assert accepted(own_gateway.http.post("/reseed")) == {"status": "reseeded", "warnings": []}
    before = all_records(own_gateway)
    assert {name: before[name] for name in made} == made
    own_gateway.restart()
    assert all_records(own_gateway) == before


@pytest.mark.parametrize("seed", SEEDS)
def test_definition_read_from_the_file_is_unchanged(own_gateway, seed):
    for number in range(RECORDS // 4):
        maker = Maker(seed * 1000 + 500 + number)
        body = {**maker.record(number), "type": "agent", "definition": maker.members()}
        record = accepted(own_gateway.http.post("/extensions", json=body), 201)
        config = accepted(own_gateway.http.get(f"/extensions/{record['id']}/disk-config"))
        assert {member: config[member] for member in body["definition"]} == body["definition"]
        assert config["description"] == body["description"]
        accepted(own_gateway.http.patch(f"/extensions/{record['id']}/disk-config", json=config))
        after = accepted(own_gateway.http.get(f"/extensions/{record['id']}"))
        assert after["definition"] == record["definition"] and after["description"] == record["description"]
