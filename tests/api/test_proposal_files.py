"""Invalid proposal files, and events, restarts and retention of valid ones.

See docs/contract/proposals.md#files.
"""

import os
import sqlite3
import time

import pytest

from checks import UNKNOWN_ID, accepted, refused
from jobs import ended, new_job
from proposals import apply, file_of, folder, head_of, listed, reject, show, target_of, next_event, write


# Invalid files.


@pytest.mark.parametrize("text", [
    "---\ntitle: [\n---\ntext", "---\n- a\n- list\n---\ntext", "---\ntitle: no end\ntext", "---\na: &x 1\nb: *x\n---\n",
    b"---\ntitle: \xff\n---\ntext", "---\n" + "a: 1\n" * 20_000 + "---\n", "---"])
def test_invalid_yaml_front_matter_is_harmless(gateway, text):
    good, path = write(gateway), write(gateway, text=text)
    assert listed(gateway, good) is not None
    assert accepted(gateway.http.get(path))["status"] == "pending"
    refused(apply(gateway, path), 400, "validation failed")
    accepted(gateway.http.get("/proposals"))


def test_binary_content_is_not_applied(gateway):
    path = write(gateway, text=b"---\ntarget: notes/binary.md\n---\n\xff\xfe\x00")
    assert "�" in show(gateway, path)["content"]
    refused(apply(gateway, path), 400, "validation failed")


def test_file_of_100_mb_is_only_listed(own_gateway):
    path = write(own_gateway)
    with file_of(own_gateway, path).open("ab") as file:
        file.truncate(100 << 20)
    assert listed(own_gateway, path)["title"] == "Greet by name"
    refused(own_gateway.http.get(path), 413, "file too large")
    refused(apply(own_gateway, path), 413, "file too large")
    refused(reject(own_gateway, path), 400, "failed to reject proposal")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run the gateway as another user")
def test_unreadable_file_is_only_listed(make_gateway):
    gateway = make_gateway(user=65534).start()
    path = write(gateway)
    file_of(gateway, path).chmod(0)
    assert listed(gateway, path) is not None
    refused(gateway.http.get(path), 403, "permission denied")
    refused(apply(gateway, path), 403, "permission denied")
    refused(reject(gateway, path), 400, "failed to reject proposal")
    assert listed(gateway, path) is not None


def test_target_of_100_mb_is_replaced_without_a_diff(own_gateway):
    (own_gateway.data / "notes").mkdir()
    with (own_gateway.data / "notes" / "large").open("wb") as file:
        file.truncate(100 << 20)
    path = write(own_gateway, target="notes/large")
    shown = show(own_gateway, path)
    assert shown["current_content"] is None and shown["diff"] == "Files a/notes/large and b/notes/large differ\n"
    accepted(apply(own_gateway, path))
    assert (own_gateway.data / "notes" / "large").read_text() == "new text\n"


def test_long_and_entirely_different_texts_are_compared(own_gateway):
    (own_gateway.data / "notes").mkdir()
    (own_gateway.data / "notes" / "long.md").write_text("".join(f"a{line}\n" for line in range(100_000)))
    path = write(own_gateway, "".join(f"b{line}\n" for line in range(100_000)), target="notes/long.md")
    assert show(own_gateway, path)["diff"].count("\n") == 200_003


def test_symlinks_among_proposals_are_not_followed(own_gateway):
    (own_gateway.home / "secret.md").write_text("---\ntitle: Secret\n---\n")
    write(own_gateway)
    (folder(own_gateway) / "assistant" / "2026-02-02.md").symlink_to(own_gateway.home / "secret.md")
    (folder(own_gateway) / "loop").symlink_to(folder(own_gateway))
    assert [entry["title"] for entry in accepted(own_gateway.http.get("/proposals"))] == ["Greet by name"]
    assert own_gateway.http.get("/proposals/assistant/2026-02-02").status_code == 404


# Events, restarts, retention.


def test_decision_is_announced(own_gateway):
    path = write(own_gateway)
    large, huge = write(own_gateway, "x" * 100_000), write(own_gateway, "x" * 1_100_000)
    with own_gateway.events() as events:
        accepted(apply(own_gateway, path))
        event = next_event(events, "proposal-decided")
        assert "threadId" not in event and event["proposal"]["status"] == "applied"
        assert event["proposal"] == show(own_gateway, path)
        accepted(reject(own_gateway, large))
        assert next_event(events, "proposal-decided")["proposal"] == show(own_gateway, large)
        accepted(reject(own_gateway, huge))
        event = next_event(events, "proposal-decided")
        assert event["proposal"]["status"] == "rejected" and event["proposal"]["content"] is None, "long texts stay out"


def test_handwritten_proposal_is_announced(own_gateway):
    accepted(own_gateway.http.get("/proposals"))
    with own_gateway.events() as events:
        path = write(own_gateway)
        accepted(own_gateway.http.get("/proposals"))
        assert next_event(events, "proposal-created")["proposal"] == show(own_gateway, path)


def test_proposal_listed_for_the_first_time_is_announced(own_gateway):
    with own_gateway.events() as events:
        path = write(own_gateway)
        accepted(own_gateway.http.get("/proposals"))
        assert next_event(events, "proposal-created")["proposal"] == show(own_gateway, path)


def test_proposal_from_before_the_start_is_not_announced_again(own_gateway):
    write(own_gateway)
    own_gateway.restart()
    with own_gateway.events() as events:
        accepted(own_gateway.http.get("/proposals"))
        path = write(own_gateway)
        accepted(own_gateway.http.get("/proposals"))
        assert next_event(events, "proposal-created")["proposal"] == show(own_gateway, path)


def test_unseen_proposal_is_announced_before_its_decision(own_gateway):
    accepted(own_gateway.http.get("/proposals"))
    with own_gateway.events() as events:
        path = write(own_gateway)
        accepted(reject(own_gateway, path))
        assert next_event(events, "proposal-created")["proposal"]["status"] == "pending"
        assert next_event(events, "proposal-decided")["proposal"]["status"] == "rejected"
        write(own_gateway, status="applied")
        accepted(own_gateway.http.get("/proposals"))
        later = write(own_gateway)
        accepted(own_gateway.http.get("/proposals"))
        assert next_event(events, "proposal-created")["proposal"] == show(own_gateway, later), "one that was decided is no news"


def test_proposal_without_a_time_keeps_it_when_decided(own_gateway):
    path = write(own_gateway, created_at=None)
    os.utime(file_of(own_gateway, path), (1_700_000_000, 1_700_000_000))
    before = show(own_gateway, path)["created_at"]
    accepted(apply(own_gateway, path))
    assert before == "2023-11-14T22:13:20.000Z" and show(own_gateway, path)["created_at"] == before


def test_path_segments_may_have_any_length(own_gateway):
    for path in (f"/proposals/a/{'b' * 251}", f"/proposals/{'a' * 300}/b"):
        refused(own_gateway.http.get(path), 404, "proposal not found")
        refused(apply(own_gateway, path), 404, "proposal not found")


def test_proposals_survive_a_restart(own_gateway):
    pending, applied, rejected = write(own_gateway), write(own_gateway), write(own_gateway)
    accepted(apply(own_gateway, applied))
    accepted(reject(own_gateway, rejected))
    own_gateway.restart()
    assert [show(own_gateway, path)["status"] for path in (pending, applied, rejected)] == ["pending", "applied", "rejected"]
    refused(apply(own_gateway, applied), 409, "proposal already applied")


def test_decided_proposals_are_kept_for_90_days(own_gateway):
    old = write(own_gateway, status="applied", decided_at="2020-01-01T00:00:00.000Z")
    pending, recent = write(own_gateway), write(own_gateway)
    accepted(reject(own_gateway, recent))
    own_gateway.restart()
    with own_gateway.events() as events:
        accepted(apply(own_gateway, pending))
        next_event(events, "proposal-decided")
    assert not file_of(own_gateway, old).exists()
    assert file_of(own_gateway, recent).exists() and file_of(own_gateway, pending).exists()


def test_proposal_marked_by_a_person_is_decided(own_gateway):
    path = write(own_gateway, status="applied", created_at="2020-01-01T00:00:00.000Z")
    own_gateway.restart()
    assert show(own_gateway, path)["status"] == "applied" and listed(own_gateway, path) is None
    for decide in (apply, reject):
        refused(decide(own_gateway, path), 409, "proposal already applied")


def test_job_is_triggered_by_a_decision(own_talker, new_name):
    gateway = own_talker.gateway
    job = new_name("watcher")
    body = {"type": "job", "name": job, "description": "d", "enabled": True,
            "definition": {"agent_id": "assistant", "prompt": "What was applied?"},
            "trigger_def": {"type": "event", "event": "proposal.applied", "filter": {"type": "file"}}}
    accepted(gateway.http.post("/extensions", json=body), 201)
    with gateway.events() as events:
        accepted(apply(gateway, write(gateway)))
        assert next_event(events, "job-finished")["run"]["trigger"] == "event"


def record_applied(own_gateway, *paths):
    """Leaves the state after a kill between recording that the proposals are applied and applying them."""
    own_gateway.kill()
    with sqlite3.connect(own_gateway.data / "gateway.db") as database:
        for number, path in enumerate(paths):
            text = file_of(own_gateway, path).read_text().split("---\n", 2)[2]
            row = (path.removeprefix("/proposals/"), head_of(own_gateway, path)["target"], text, f"{UNKNOWN_ID[:-1]}{number}",
                   time.time_ns() // 10**6 + number)
            database.execute("INSERT INTO proposal_outbox (proposal, status, target, content, title, experiment_id,"
                             " decided_at) VALUES (?, 'applied', ?, ?, 'Greet', ?, ?)", row)


def test_job_is_triggered_by_a_decision_completed_at_start(own_gateway, new_name):
    job = new_job(own_gateway, new_name("watcher"), {"type": "event", "event": "proposal.applied"})
    path = write(own_gateway, "noted text")
    record_applied(own_gateway, path)
    own_gateway.start()
    assert [row["trigger"] for row in ended(own_gateway, job)] == ["event"]
    assert target_of(own_gateway, path).read_text() == "noted text"


def test_job_created_by_a_decision_at_start_is_triggered_once_by_each(own_gateway):
    watcher = ("description: d\nenabled: true\nagent_id: assistant\nprompt: What was applied?\nconcurrency: queue\n"
               "trigger: {type: event, event: proposal.applied}\n")
    creates_the_job = write(own_gateway, watcher, type="extension", target="jobs/watcher/job.yaml")
    record_applied(own_gateway, creates_the_job, write(own_gateway))
    own_gateway.start()
    # Runs are queued: the one for this event waits for the others.
    accepted(apply(own_gateway, write(own_gateway)))
    assert len(ended(own_gateway, {"name": "watcher"}, 3)) == 3
