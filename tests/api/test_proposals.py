"""Proposals: changes that an agent may not make itself, so that a person decides on them.

See docs/contract/proposals.md#endpoints.
"""

import os

import pytest

from checks import accepted, at_once, is_id, is_timestamp, refused
from proposals import apply, experiments_of, file_of, folder, fresh_date, head_of, listed, reject, show, target_of, write

SHOWN = {"agent", "date", "name", "title", "type", "status", "target", "reason", "content", "current_content",
         "target_changed", "diff", "created_at"}
SEGMENT = "invalid path segment"


# Reading.


def test_handwritten_file_is_listed(gateway):
    path = write(gateway, target="notes/picked-up.md")
    date = path.rsplit("/", 1)[1]
    assert listed(gateway, path) == {
        "agent": "assistant", "date": date, "name": None, "title": "Greet by name", "type": "file",
        "target": "notes/picked-up.md", "created_at": "2026-01-02T03:04:05.678Z"}
    shown = show(gateway, path)
    assert set(shown) == SHOWN
    assert shown["status"] == "pending" and shown["content"] == "new text\n"
    assert shown["current_content"] is None and shown["target_changed"] is False
    assert shown["diff"].splitlines() == ["--- /dev/null", "+++ b/notes/picked-up.md", "@@ -0,0 +1,1 @@", "+new text"]


def test_nested_proposal_is_listed_and_shown_with_its_name(gateway):
    path = write(gateway, name="greet_People-2")
    assert listed(gateway, path)["name"] == "greet_People-2"
    assert show(gateway, path)["name"] == "greet_People-2"
    assert gateway.http.get(path.rsplit("/", 1)[0]).status_code == 404


@pytest.mark.parametrize("name", ["apply", "reject"])
def test_proposal_named_like_an_action_can_be_read(gateway, name):
    path = write(gateway, name=name)
    assert show(gateway, path)["name"] == name
    refused(gateway.http.delete(path), 405, "method not allowed")
    assert accepted(apply(gateway, path))["status"] == "applied"


def test_plain_and_nested_proposal_may_share_a_date(gateway):
    date = fresh_date()
    plain, nested = write(gateway, "plain\n", date=date), write(gateway, "nested\n", date=date, name="one")
    assert show(gateway, plain)["content"] == "plain\n" and show(gateway, nested)["content"] == "nested\n"


def test_newest_is_first(own_gateway):
    paths = [write(own_gateway, created_at=f"2026-01-0{day}T00:00:00.000Z") for day in (2, 3, 1)]
    dates = [entry["date"] for entry in accepted(own_gateway.http.get("/proposals"))]
    assert dates == [path.rsplit("/", 1)[1] for path in (paths[1], paths[0], paths[2])]


def test_empty_list(own_gateway):
    assert accepted(own_gateway.http.get("/proposals")) == []


def test_changed_file_is_listed_at_once(gateway):
    path = write(gateway, title="First")
    assert listed(gateway, path)["title"] == "First"
    write(gateway, title="Other", date=path.rsplit("/", 1)[1])
    assert listed(gateway, path)["title"] == "Other"
    file_of(gateway, path).unlink()
    assert listed(gateway, path) is None
    refused(gateway.http.get(path), 404, "proposal not found")


@pytest.mark.parametrize("after_head", ["", "\n", "\r\n"])
def test_content_follows_the_front_matter_and_one_empty_line(gateway, after_head):
    path = write(gateway, after_head + "\nline\n\n---\nno trailing line feed")
    expected = "\nline\n\n---\nno trailing line feed" if after_head else "line\n\n---\nno trailing line feed"
    assert show(gateway, path)["content"] == expected


def test_front_matter_may_have_crlf_line_ends(gateway):
    path = write(gateway, text="---\r\ntitle: Wide\r\ntarget: notes/w.md\r\n---\r\nbody\r\n")
    shown = show(gateway, path)
    assert (shown["title"], shown["target"], shown["content"]) == ("Wide", "notes/w.md", "body\r\n")


def test_front_matter_may_have_a_bom_and_trailing_space(gateway):
    path = write(gateway, text="\ufeff---  \ntitle: Marked\ntarget: notes/marked.md\n---\t\n\nhello\n")
    assert listed(gateway, path)["title"] == "Marked" and show(gateway, path)["content"] == "hello\n"
    accepted(apply(gateway, path))
    assert (gateway.data / "notes/marked.md").read_text() == "hello\n" and show(gateway, path)["status"] == "applied"


def test_missing_front_matter_members_have_defaults(gateway):
    path = write(gateway, "text", title=None, type=None, status=None, created_at=None, target="agents/writer/soul.md")
    entry = listed(gateway, path)
    assert entry["title"] == path.rsplit("/", 1)[1] and entry["type"] == "soul" and is_timestamp(entry["created_at"])


def test_diff_is_unified_against_the_target(gateway):
    path = write(gateway, "one\ntwo\nthree\n", target="notes/diff.md")
    (gateway.data / "notes").mkdir(exist_ok=True)
    (gateway.data / "notes" / "diff.md").write_text("one\n2\nthree")
    shown = show(gateway, path)
    assert shown["current_content"] == "one\n2\nthree"
    assert shown["diff"].splitlines() == [
        "--- a/notes/diff.md", "+++ b/notes/diff.md", "@@ -1,3 +1,3 @@", " one", "-2", "-three",
        "\\ No newline at end of file", "+two", "+three"]


def test_target_changed_after_the_proposal_is_reported(gateway):
    target = gateway.data / "notes" / "moving.md"
    target.parent.mkdir(exist_ok=True)
    target.write_text("before\n")
    path = write(gateway, target="notes/moving.md")
    assert show(gateway, path)["target_changed"] is False
    later = os.stat(file_of(gateway, path)).st_mtime + 5
    target.write_text("meanwhile\n")
    os.utime(target, (later, later))
    assert show(gateway, path)["target_changed"] is True


@pytest.mark.parametrize("segment", [".", "..", ".hidden", "-a", "_a", "a.b", "a%2Fb", "%C3%A4", "a%20b", "%2e%2e"])
def test_invalid_segment_is_refused(gateway, segment):
    for path in (f"/proposals/{segment}/2026-01-02", f"/proposals/assistant/{segment}",
                 f"/proposals/assistant/2026-01-02/{segment}"):
        with gateway.connect() as connection:
            connection.request(f"GET {path} HTTP/1.1")
            response = connection.response()
        assert (response.status, response.error) == (400, SEGMENT), path


def test_decision_on_an_invalid_segment_is_refused(gateway):
    for action in ("apply", "reject"):
        refused(gateway.http.post(f"/proposals/a.b/2026-01-02/{action}"), 400, SEGMENT)
        refused(gateway.http.post(f"/proposals/assistant/2026.01/{action}"), 400, SEGMENT)
        refused(gateway.http.post(f"/proposals/assistant/2026-01-02/.x/{action}"), 400, SEGMENT)


def test_files_with_invalid_names_are_not_listed(gateway):
    paths = [folder(gateway) / "assistant" / "a.b.md", folder(gateway) / "dot.ted" / "2026-01-02.md",
             folder(gateway) / "assistant" / "not-markdown.txt"]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("---\ntitle: Hidden one\n---\ntext")
    assert "Hidden one" not in [entry["title"] for entry in accepted(gateway.http.get("/proposals"))]


def test_unknown_proposal_is_not_found(gateway):
    for path in ("/proposals/assistant/1999-01-01", "/proposals/assistant/1999-01-01/name"):
        refused(gateway.http.get(path), 404, "proposal not found")
        for body in (b"", b"{}", b"{", b'{"content": 1}'):
            refused(gateway.http.post(f"{path}/apply", content=body), 404, "proposal not found")
            refused(gateway.http.post(f"{path}/reject", content=body), 404, "proposal not found")


def test_other_methods_are_not_allowed(gateway):
    path = write(gateway)
    for method, target in (("DELETE", path), ("PUT", f"{path}/apply"), ("POST", "/proposals")):
        refused(gateway.http.request(method, target), 405, "method not allowed")


# Applying.


def test_applying_writes_the_target_and_marks_the_file(gateway):
    path = write(gateway, "new text\n")
    decided = accepted(apply(gateway, path))
    assert decided["status"] == "applied"
    assert target_of(gateway, path).read_text() == "new text\n"
    assert head_of(gateway, path)["status"] == "applied"
    assert show(gateway, path)["status"] == "applied" and show(gateway, path)["target_changed"] is False
    assert listed(gateway, path) is None


def test_applying_records_an_experiment(gateway):
    path = write(gateway, reason="It is friendlier.")
    accepted(apply(gateway, path))
    [row] = experiments_of(gateway, path)
    assert is_id(row["id"]) and is_timestamp(row["created_at"])
    assert (row["domain"], row["verdict"], row["metric"], row["value"]) == ("agent:assistant", "keep", None, None)
    assert row["proposal"] == path.removeprefix("/proposals/") and row["reason"] == "It is friendlier."


def test_edited_content_is_applied_instead(gateway):
    path = write(gateway, "staged\n")
    accepted(apply(gateway, path, content="edited\n"))
    assert target_of(gateway, path).read_text() == "edited\n"


def test_edited_content_may_be_empty(gateway):
    path = write(gateway, "staged\n")
    accepted(apply(gateway, path, content=""))
    assert target_of(gateway, path).read_bytes() == b""


@pytest.mark.parametrize("body", [b"", b"{}", b'{"content": null}', b'{"unknown": 1}'])
def test_body_is_optional(gateway, body):
    path = write(gateway)
    accepted(gateway.http.post(f"{path}/apply", content=body))


def test_invalid_bodies_change_nothing(gateway):
    path = write(gateway)
    refused(gateway.http.post(f"{path}/apply", content=b"{"), 400, "Invalid JSON")
    refused(gateway.http.post(f"{path}/apply", json=[]), 400, "Request body must be an object")
    refused(apply(gateway, path, content=1), 400, "content must be a string")
    refused(reject(gateway, path, reason=[]), 400, "reason must be a string")
    assert show(gateway, path)["status"] == "pending" and not target_of(gateway, path).exists()


def test_nested_proposal_is_decided_by_its_path(gateway):
    one, other = write(gateway, name="one"), write(gateway, name="other")
    accepted(apply(gateway, one))
    accepted(reject(gateway, other))
    assert experiments_of(gateway, one)[0]["proposal"].count("/") == 2
    assert head_of(gateway, one)["status"] == "applied" and head_of(gateway, other)["status"] == "rejected"


def test_second_decision_is_a_conflict(gateway):
    applied, rejected = write(gateway), write(gateway)
    accepted(apply(gateway, applied))
    accepted(reject(gateway, rejected))
    for decide in (apply, reject):
        refused(decide(gateway, applied), 409, "proposal already applied")
        refused(decide(gateway, rejected), 409, "proposal already rejected")
    assert len(experiments_of(gateway, applied)) == len(experiments_of(gateway, rejected)) == 1


def test_one_of_many_simultaneous_decisions_is_made(gateway):
    path = write(gateway)
    responses = at_once(8, lambda number: (apply if number % 2 else reject)(gateway, path))
    assert sorted(response.status_code for response in responses) == [200] + 7 * [409]
    assert len(experiments_of(gateway, path)) == 1


def test_simultaneous_decisions_are_told_the_one_that_was_made(gateway):
    for _ in range(80):
        path = write(gateway)
        responses = at_once(12, lambda number: (apply if number % 2 else reject)(gateway, path))
        made, = [response.json()["status"] for response in responses if response.status_code == 200]
        for response in responses:
            if response.status_code != 200:
                refused(response, 409, f"proposal already {made}")


def test_decision_is_made_once_per_idempotency_key(gateway):
    path = write(gateway)
    request = {"headers": {"Idempotency-Key": path}, "json": {"content": "x"}}
    first = accepted(gateway.http.post(f"{path}/apply", **request))
    assert accepted(gateway.http.post(f"{path}/apply", **request)) == first


def test_existing_target_keeps_its_mode_and_parents_are_created(gateway):
    deep = write(gateway, target="notes/deep/er/still.md")
    accepted(apply(gateway, deep))
    target = gateway.data / "notes/deep/er/still.md"
    assert target.read_text() == "new text\n" and target.stat().st_mode & 0o777 == 0o600
    target.chmod(0o640)
    accepted(apply(gateway, write(gateway, "again\n", target=str(target))))
    assert target.read_text() == "again\n" and target.stat().st_mode & 0o777 == 0o640


def test_applied_soul_respects_the_size_limit(gateway):
    accepted(apply(gateway, write(gateway, "Be kind.\n", type="soul", target="agents/kind/soul.md")))
    assert accepted(gateway.http.get("/agents/kind/soul"))["content"] == "Be kind.\n"
    large = write(gateway, "x" * 102_401, type="soul", target="agents/kind/soul.md")
    refused(apply(gateway, large), 413, "soul content too large (max 100KB)")
    assert show(gateway, large)["status"] == "pending"


# Rejecting.


def test_rejecting_marks_the_file_and_records_the_reason(gateway):
    path = write(gateway, reason="proposer's")
    decided = accepted(reject(gateway, path, reason="Not now."))
    assert decided["status"] == "rejected"
    assert head_of(gateway, path)["status"] == "rejected" and not target_of(gateway, path).exists()
    [row] = experiments_of(gateway, path)
    assert (row["verdict"], row["reason"], row["domain"]) == ("discard", "Not now.", "agent:assistant")
    assert listed(gateway, path) is None


def test_reason_is_optional(gateway):
    path = write(gateway)
    accepted(reject(gateway, path))
    assert experiments_of(gateway, path)[0]["reason"] is None


def test_file_with_invalid_front_matter_is_not_rejected(gateway):
    path = write(gateway, text="---\ntitle: [\n---\ntext")
    refused(reject(gateway, path), 400, "failed to reject proposal")
    assert experiments_of(gateway, path) == []
    assert listed(gateway, path) is not None


def test_rejecting_needs_no_valid_target(gateway):
    for target in ("/etc/passwd", None, "config.yaml"):
        accepted(reject(gateway, write(gateway, target=target)))
