"""Proposals whose files are bad, and what is told of good ones: events, restarts, retention (decisions, 8)."""

import os
import sqlite3
import time

import pytest

from checks import UNKNOWN_ID, accepted, refused
from jobs import ended, new_job
from proposals import apply, file_of, folder, head_of, listed, reject, show, target_of, told, write


# Bad files.


@pytest.mark.parametrize("text", [
    "---\ntitle: [\n---\ntext", "---\n- a\n- list\n---\ntext", "---\ntitle: no end\ntext", "---\na: &x 1\nb: *x\n---\n",
    b"---\ntitle: \xff\n---\ntext", "---\n" + "a: 1\n" * 20_000 + "---\n", "---"])
def test_a_head_that_is_no_yaml_harms_nothing(gateway, text):
    good, path = write(gateway), write(gateway, text=text)
    assert listed(gateway, good) is not None
    assert accepted(gateway.http.get(path))["status"] == "pending"
    refused(apply(gateway, path), 400, "validation failed")
    accepted(gateway.http.get("/proposals"))


def test_a_content_that_is_no_text_is_not_applied(gateway):
    path = write(gateway, text=b"---\ntarget: notes/binary.md\n---\n\xff\xfe\x00")
    assert "�" in show(gateway, path)["content"]
    refused(apply(gateway, path), 400, "validation failed")


def test_a_file_of_100_mb_is_listed_and_no_more(own):
    path = write(own)
    with file_of(own, path).open("ab") as file:
        file.truncate(100 << 20)
    assert listed(own, path)["title"] == "Greet by name"
    refused(own.http.get(path), 413, "file too large")
    refused(apply(own, path), 413, "file too large")
    refused(reject(own, path), 400, "failed to reject proposal")


def test_a_target_of_100_mb_is_not_shown_but_replaced(own):
    (own.data / "notes").mkdir()
    with (own.data / "notes" / "large").open("wb") as file:
        file.truncate(100 << 20)
    path = write(own, target="notes/large")
    shown = show(own, path)
    assert shown["current_content"] is None and shown["diff"] == "Files a/notes/large and b/notes/large differ\n"
    accepted(apply(own, path))
    assert (own.data / "notes" / "large").read_text() == "new text\n"


def test_texts_that_differ_all_over_are_compared_in_time(own):
    (own.data / "notes").mkdir()
    (own.data / "notes" / "long.md").write_text("".join(f"a{line}\n" for line in range(100_000)))
    path = write(own, "".join(f"b{line}\n" for line in range(100_000)), target="notes/long.md")
    assert show(own, path)["diff"].count("\n") == 200_003


def test_links_among_the_proposals_are_not_followed(own):
    (own.home / "secret.md").write_text("---\ntitle: Secret\n---\n")
    write(own)
    (folder(own) / "assistant" / "2026-02-02.md").symlink_to(own.home / "secret.md")
    (folder(own) / "loop").symlink_to(folder(own))
    assert [entry["title"] for entry in accepted(own.http.get("/proposals"))] == ["Greet by name"]
    assert own.http.get("/proposals/assistant/2026-02-02").status_code == 404


# Events, restarts, retention.


def test_deciding_is_told(own):
    path = write(own)
    large, huge = write(own, "x" * 100_000), write(own, "x" * 1_100_000)
    with own.events() as events:
        accepted(apply(own, path))
        event = told(events, "proposal-decided")
        assert "threadId" not in event and event["proposal"]["status"] == "applied"
        assert event["proposal"] == show(own, path)
        accepted(reject(own, large))
        assert told(events, "proposal-decided")["proposal"] == show(own, large)
        accepted(reject(own, huge))
        event = told(events, "proposal-decided")
        assert event["proposal"]["status"] == "rejected" and event["proposal"]["content"] is None, "long texts stay out"


def test_one_that_is_picked_up_is_told(own):
    accepted(own.http.get("/proposals"))
    with own.events() as events:
        path = write(own)
        accepted(own.http.get("/proposals"))
        assert told(events, "proposal-created")["proposal"] == show(own, path)


def test_one_that_is_written_before_anybody_has_looked_is_told(own):
    with own.events() as events:
        path = write(own)
        accepted(own.http.get("/proposals"))
        assert told(events, "proposal-created")["proposal"] == show(own, path)


def test_one_that_was_there_before_the_start_is_not_told_again(own):
    write(own)
    own.restart()
    with own.events() as events:
        accepted(own.http.get("/proposals"))
        path = write(own)
        accepted(own.http.get("/proposals"))
        assert told(events, "proposal-created")["proposal"] == show(own, path)


def test_one_that_is_decided_unseen_is_told_before_its_decision(own):
    accepted(own.http.get("/proposals"))
    with own.events() as events:
        path = write(own)
        accepted(reject(own, path))
        assert told(events, "proposal-created")["proposal"]["status"] == "pending"
        assert told(events, "proposal-decided")["proposal"]["status"] == "rejected"
        write(own, status="applied")
        accepted(own.http.get("/proposals"))
        later = write(own)
        accepted(own.http.get("/proposals"))
        assert told(events, "proposal-created")["proposal"] == show(own, later), "one that was decided is no news"


def test_the_time_of_one_without_it_stays_when_it_is_decided(own):
    path = write(own, created_at=None)
    os.utime(file_of(own, path), (1_700_000_000, 1_700_000_000))
    before = show(own, path)["created_at"]
    accepted(apply(own, path))
    assert before == "2023-11-14T22:13:20.000Z" and show(own, path)["created_at"] == before


def test_a_segment_may_be_as_long_as_it_likes(own):
    for path in (f"/proposals/a/{'b' * 251}", f"/proposals/{'a' * 300}/b"):
        refused(own.http.get(path), 404, "proposal not found")
        refused(apply(own, path), 404, "proposal not found")


def test_proposals_outlive_a_restart(own):
    pending, applied, rejected = write(own), write(own), write(own)
    accepted(apply(own, applied))
    accepted(reject(own, rejected))
    own.restart()
    assert [show(own, path)["status"] for path in (pending, applied, rejected)] == ["pending", "applied", "rejected"]
    refused(apply(own, applied), 409, "proposal already applied")


def test_decided_ones_are_kept_for_90_days(own):
    old = write(own, status="applied", decided_at="2020-01-01T00:00:00.000Z")
    pending, recent = write(own), write(own)
    accepted(reject(own, recent))
    own.restart()
    with own.events() as events:
        accepted(apply(own, pending))
        told(events, "proposal-decided")
    assert not file_of(own, old).exists() and file_of(own, recent).exists() and file_of(own, pending).exists()


def test_one_that_is_marked_by_hand_is_decided(own):
    path = write(own, status="applied", created_at="2020-01-01T00:00:00.000Z")
    own.restart()
    assert show(own, path)["status"] == "applied" and listed(own, path) is None
    for decide in (apply, reject):
        refused(decide(own, path), 409, "proposal already applied")


def test_a_job_is_triggered_by_a_decision(own_talker, name):
    gateway = own_talker.gateway
    job = name("watcher")
    body = {"type": "job", "name": job, "description": "d", "enabled": True,
            "definition": {"agent_id": "assistant", "prompt": "What was applied?"},
            "trigger_def": {"type": "event", "event": "proposal.applied", "filter": {"type": "file"}}}
    accepted(gateway.http.post("/extensions", json=body), 201)
    with gateway.events() as events:
        accepted(apply(gateway, write(gateway)))
        assert told(events, "job-finished")["run"]["trigger"] == "event"


def note_applied(own, *paths):
    """As a kill in the midst of applying them leaves it, right after that was noted."""
    own.kill()
    with sqlite3.connect(own.data / "gateway.db") as database:
        for number, path in enumerate(paths):
            text = file_of(own, path).read_text().split("---\n", 2)[2]
            noted = (path.removeprefix("/proposals/"), head_of(own, path)["target"], text, f"{UNKNOWN_ID[:-1]}{number}",
                     time.time_ns() // 10**6 + number)
            database.execute("INSERT INTO proposal_outbox (proposal, status, target, content, title, experiment_id,"
                             " decided_at) VALUES (?, 'applied', ?, ?, 'Greet', ?, ?)", noted)


def test_a_job_is_triggered_by_a_decision_that_a_start_finishes(own, name):
    job = new_job(own, name("watcher"), {"type": "event", "event": "proposal.applied"})
    path = write(own, "noted text")
    note_applied(own, path)
    own.start()
    assert [row["trigger"] for row in ended(own, job)] == ["event"]
    assert target_of(own, path).read_text() == "noted text"


def test_a_job_that_a_start_makes_by_a_decision_is_triggered_once_by_each(own):
    watcher = ("description: d\nenabled: true\nagent_id: assistant\nprompt: What was applied?\nconcurrency: queue\n"
               "trigger: {type: event, event: proposal.applied}\n")
    makes_it = write(own, watcher, type="extension", target="jobs/watcher/job.yaml")
    note_applied(own, makes_it, write(own))
    own.start()
    # What comes last is told last: its run waits behind all others.
    accepted(apply(own, write(own)))
    assert len(ended(own, {"name": "watcher"}, 3)) == 3
