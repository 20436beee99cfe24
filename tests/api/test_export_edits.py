"""Importing an edited export: an invalid or oversized part is skipped, everything else is imported.

See docs/contract/transfer.md#agw-import.
"""

from checks import accepted
from transfer import created, imported, reasons, transcript_of, write_lines


def exported_threads(count):
    """Returns the lines of an export with threads of three turns each."""
    lines = [{"record": "export", "format": 1}]
    for number in range(count):
        thread = f"01890000-0000-7000-8000-{number:012x}"
        lines.append({"record": "thread", "id": thread, "title": f"T{number}", "created_at": "2024-01-01T00:00:00.000Z"})
        lines += [{"record": "turn", "thread_id": thread, "id": f"01890001-0000-7000-8000-{number * 10 + at:012x}",
                   "role": "user", "content": f"{number}/{at}"} for at in range(3)]
    return lines


def test_too_long_a_list_of_tasks_is_truncated_and_reported(own_gateway):
    lines = exported_threads(3)
    tasks = [{"text": f"Task {number}", "status": "done"} for number in range(130)]
    lines[1]["tasks"] = [7, *tasks]
    lines[5]["tasks"] = [{"text": "x" * 10_000, "status": "active"}] * 2 + tasks[:1]
    path = write_lines(own_gateway.home / "edited.jsonl", lines)
    result = imported(own_gateway, "agent-gateway", path)
    why = "a list has at most 100 tasks, with 16 KiB of text"
    assert reasons(result) == {f"31 tasks of thread {lines[1]['id']}": why, f"1 tasks of thread {lines[5]['id']}": why}
    assert created(result) == {"threads": 3, "turns": 9}
    kept = [accepted(own_gateway.http.get(f"/threads/{lines[at]['id']}")).get("tasks") for at in (1, 5, 9)]
    assert kept == [tasks[:100], [lines[5]["tasks"][0], tasks[0]], None]
    assert created(imported(own_gateway, "agent-gateway", path)) == {}


def test_an_invalid_turn_is_skipped_alone(own_gateway):
    lines = exported_threads(3)
    lines[3]["id"] = "not-an-id"
    lines[6]["id"] = lines[2]["id"]  # the id of a turn of another thread
    lines[8]["id"] = lines[8]["id"].upper() + "x"
    path = write_lines(own_gateway.home / "edited.jsonl", lines)
    result = imported(own_gateway, "agent-gateway", path)
    why = reasons(result)
    assert set(why) == {"turn not-an-id of T0", "2 turns of T1"} and "must be an id" in why["turn not-an-id of T0"]
    assert "belongs to another thread" in why["2 turns of T1"]
    assert created(result) == {"threads": 3, "turns": 6}
    assert [turn["content"] for turn in transcript_of(own_gateway, lines[1]["id"])] == ["0/0", "0/2"]
    assert [turn["content"] for turn in transcript_of(own_gateway, lines[5]["id"])] == ["1/1"]
    assert created(imported(own_gateway, "agent-gateway", path)) == {}


def test_an_invalid_thread_is_skipped_alone(own_gateway):
    lines = exported_threads(2)
    for line in lines[1:5]:
        line["id" if line["record"] == "thread" else "thread_id"] = "not-an-id"
    path = write_lines(own_gateway.home / "edited.jsonl", lines)
    result = imported(own_gateway, "agent-gateway", path)
    [(item, why)] = reasons(result).items()
    assert item == "thread T0" and "must be an id" in why
    assert created(result) == {"threads": 1, "turns": 3}


def test_a_turn_with_too_deeply_nested_metadata_is_skipped_alone(own_gateway):
    lines = exported_threads(1)
    deep = {}
    for _ in range(59):
        deep = {"in": deep}
    lines[3]["metadata"] = {"input": deep}
    path = write_lines(own_gateway.home / "edited.jsonl", lines)
    result = imported(own_gateway, "agent-gateway", path)
    [(item, why)] = reasons(result).items()
    assert item == f"turn {lines[3]['id']} of T0" and why.startswith("Invalid JSON")
    assert created(result) == {"threads": 1, "turns": 2}
