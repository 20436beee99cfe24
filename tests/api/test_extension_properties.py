"""Random records survive being written, read, restarted and reseeded. A fixed seed makes failures reproducible.

See docs/contract/extensions.md#records.
"""

import pytest

from checks import accepted
from extensions import Maker

SEEDS = range(4)
RECORDS = 60


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
