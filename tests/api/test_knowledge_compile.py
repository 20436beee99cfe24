"""What the job compile-knowledge makes of raw sources, without any model (decisions, 9)."""

import os
import random
import re

import pytest

from checks import accepted
from jobs import ended, new_agent, rows, run
from knowledge import article, asked, compiled, found, page, raw, slugs, write

RUNBOOK = """\
# Restoring a backup

Stop the gateway first, then copy the backup over the database. Start it again and look at the log.

## Checking the backup

A backup that was never restored is no backup. See [[deploy-notes]].
"""


def wiki(gateway, slug):
    return gateway.data / f"knowledge/wiki/{slug}.md"


def test_each_source_becomes_a_page(own):
    raw(own, "Runbook (v2).md", RUNBOOK)
    raw(own, "ops/Deploy Notes.txt", "Deploy notes\n\nRun the playbook. Back out with [[runbook-v2]].\n")
    raw(own, "ops/numbers.csv", "a,b\n1,2\n")
    report = compiled(own)
    assert "made (3)" in report and "runbook-v2" in report
    listed = {page["slug"]: page for page in asked(own, "/pages")}
    assert set(listed) == {"runbook-v2", "deploy-notes", "numbers"}
    runbook = listed["runbook-v2"]
    assert (runbook["title"], runbook["category"], runbook["scope"]) == ("Restoring a backup", "general", "shared")
    assert runbook["summary"].startswith("Stop the gateway first, then copy the backup over the database.")
    assert "backup" in runbook["tags"]
    assert (listed["deploy-notes"]["title"], listed["deploy-notes"]["category"]) == ("Deploy notes", "ops")
    assert article(own, "runbook-v2")["sources"] == ["raw/Runbook (v2).md"]
    assert article(own, "runbook-v2")["links"] == ["deploy-notes"] == article(own, "runbook-v2")["backlinks"]
    assert article(own, "runbook-v2")["content"] == RUNBOOK
    assert found(own, "restore a backup")[0] == "runbook-v2"


def test_the_sources_are_never_changed(own):
    file = raw(own, "notes.md", RUNBOOK)
    before = file.stat()
    compiled(own)
    assert file.read_text() == RUNBOOK and file.stat().st_mtime_ns == before.st_mtime_ns


def test_what_a_sources_own_head_says_is_taken(own):
    raw(own, "notes.md", "---\ntitle: Mine\nsummary: S\ncategory: c\ntags: [t]\nentities: [Ada]\nsources: [x]\n---\nText.\n")
    compiled(own)
    listed = asked(own, "/pages")[0]
    assert (listed["title"], listed["summary"], listed["category"], listed["tags"]) == ("Mine", "S", "c", ["t"])
    assert article(own, "notes")["sources"] == ["raw/notes.md", "x"] and article(own, "notes")["content"] == "Text.\n"
    assert own.http.get("/entities").json()[0]["name"] == "Ada"


def test_only_what_has_changed_is_written_again(own):
    raw(own, "a.md", "# A\n\nold\n")
    raw(own, "b.md", "# B\n")
    compiled(own)
    before = wiki(own, "b").stat()
    raw(own, "a.md", "# A\n\nnewer\n")
    assert asked(own, "/health")["shared"]["stale"] == ["a"]
    assert asked(own, "/health")["raw"]["stale"] == ["raw/a.md"]
    report = compiled(own)
    assert "changed (1): a" in report and "made" not in report
    assert found(own, "newer") == ["a"] and found(own, "old") == []
    assert wiki(own, "b").stat() == before
    assert asked(own, "/health")["shared"]["stale"] == []


def test_nothing_new_changes_nothing_and_is_not_logged(own):
    raw(own, "a.md", "# A\n")
    compiled(own)
    before, log = wiki(own, "a").stat(), asked(own, "/log")
    os.utime(own.data / "knowledge/raw/a.md")
    assert "Nothing has changed" in compiled(own)
    assert wiki(own, "a").stat() == before and asked(own, "/log") == log


def test_a_compilation_is_logged(own):
    raw(own, "a.md", "# A\n")
    compiled(own)
    [event] = asked(own, "/log")
    assert event["op"] == "compile" and event["title"].startswith("1 made") and "made (1): a" in event["detail"]
    assert asked(own, "/stats")["log_entries"] == 1


@pytest.mark.parametrize("mebibytes", [2, 17])
def test_a_long_log_that_a_person_wrote_is_not_lost(own, mebibytes):
    text = "Words of a person, and no entry.\n" * (mebibytes * 1024 * 1024 // 33)
    log = write(own, "knowledge/log.md", text)
    raw(own, "a.md", "# A\n")
    compiled(own)
    raw(own, "b.md", "# B\n")
    compiled(own)
    assert log.read_text().startswith(text)


def test_a_page_that_a_person_wrote_is_kept_and_the_source_gets_another(own):
    mine = page(own, "notes", "# My own notes\n")
    raw(own, "notes.md", "# Raw notes\n\nThe aardvark.\n")
    before = mine.read_bytes()
    compiled(own)
    assert mine.read_bytes() == before and len(asked(own, "/pages")) == 2
    assert article(own, found(own, "aardvark")[0])["sources"] == ["raw/notes.md"]


def test_a_compiled_page_that_a_person_edited_is_kept(own):
    raw(own, "notes.md", "# Notes\n\none\n")
    compiled(own)
    edited = wiki(own, "notes").read_text() + "\nMy remark.\n"
    wiki(own, "notes").write_text(edited)
    compiled(own)
    assert wiki(own, "notes").read_text() == edited
    source = raw(own, "notes.md", "# Notes\n\ntwo\n")
    os.utime(source, (4e9, 4e9))
    assert "kept" in compiled(own)
    assert wiki(own, "notes").read_text() == edited
    assert asked(own, "/health")["shared"]["stale"] == ["notes"], "it does not say what its source says"
    assert slugs(asked(own, "/pages")) == ["notes"]


def test_a_compiled_page_that_was_deleted_is_made_again(own):
    raw(own, "notes.md", "# Notes\n")
    compiled(own)
    wiki(own, "notes").unlink()
    assert asked(own, "/pages") == []
    compiled(own)
    assert slugs(asked(own, "/pages")) == ["notes"]


def test_the_page_of_a_source_that_is_gone_is_stale_and_stays(own):
    file = raw(own, "notes.md", "# Notes\n")
    compiled(own)
    file.unlink()
    assert asked(own, "/health")["shared"]["stale"] == ["notes"]
    compiled(own)
    assert asked(own, "/health")["shared"]["stale"] == ["notes"] and slugs(asked(own, "/pages")) == ["notes"]


def test_sources_of_one_name_have_a_page_each_which_they_keep(own):
    raw(own, "b/notes.md", "# Second\n")
    compiled(own)
    raw(own, "a/notes.md", "# First\n")
    compiled(own)
    raw(own, "b/notes.md", "# Second, changed\n")
    compiled(own)
    assert {p["slug"]: p["title"] for p in asked(own, "/pages")} == {"notes": "Second, changed", "a-notes": "First"}


def test_an_agents_sources_become_its_own_pages(own):
    write(own, "agents/scout/knowledge/raw/trail.md", "# The trail\n")
    write(own, "agents/scout/knowledge/camp.txt", "The camp\n\nNear the river.\n")
    compiled(own)
    assert {p["slug"]: p["scope"] for p in asked(own, "/pages")} == {"trail": "agent:scout", "camp": "agent:scout"}
    assert (own.data / "agents/scout/knowledge/wiki/trail.md").exists()
    assert article(own, "trail")["sources"] == ["raw/trail.md"]
    health = asked(own, "/health")
    assert health["agents"]["scout"]["uncompiled"] == [] and health["raw"]["pages"] == 2


def test_a_dry_run_says_what_would_be_done(own):
    raw(own, "notes.md", "# Notes\n")
    report = compiled(own, dry="true")
    assert report.startswith("Dry run") and "made (1): notes" in report
    assert asked(own, "/pages") == [] and asked(own, "/log") == [] and not wiki(own, "notes").exists()


def test_it_goes_on_after_a_restart_where_it_was(own):
    raw(own, "notes.md", "# Notes\n")
    compiled(own)
    before = wiki(own, "notes").stat()
    own.restart()
    assert "Nothing has changed" in compiled(own) and wiki(own, "notes").stat() == before


def test_pages_restored_without_the_database_are_known_again(own):
    raw(own, "notes.md", "# Notes\n\none\n")
    compiled(own)
    assert own.stop() == 0
    for file in own.data.glob("gateway.db*"):
        file.unlink()
    own.start()
    assert "Nothing has changed" in compiled(own)
    raw(own, "notes.md", "# Notes\n\ntwo\n")
    compiled(own)
    assert found(own, "two") == ["notes"] and slugs(asked(own, "/pages")) == ["notes"]


def test_a_gateway_killed_in_the_middle_ends_with_the_same_pages(own):
    for number in range(300):
        raw(own, f"note-{number}.md", f"# Note {number}\n\nword{number}\n")
    job = {"name": "compile-knowledge"}
    run(own, job)
    while not any((own.data / "knowledge/wiki").iterdir()):
        pass
    own.kill()
    own.start()
    compiled(own)
    assert len(asked(own, "/pages")) == 300 and found(own, "word217") == ["note-217"]
    assert asked(own, "/health")["raw"]["uncompiled"] == [] == asked(own, "/health")["shared"]["stale"]
    raw(own, "note-1.md", "# Note 1\n\nchanged\n")
    compiled(own)
    assert found(own, "changed") == ["note-1"], "no page is taken for one that a person wrote"


# Hostile sources.

@pytest.mark.parametrize("name, content, why", [
    ("image.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not text"),
    ("zeros.md", b"# Title\n\0\0", "not text"), ("latin.txt", "Müll".encode("latin-1"), "not UTF-8"),
    ("wide.md", "# Wide".encode("utf-16"), "not"), ("half.md", b"# Cut \xe2\x82", "not UTF-8"),
    ("surrogate.md", b"# \xed\xa0\x80", "not UTF-8")])
def test_what_is_no_text_becomes_no_page_and_is_named(own, name, content, why):
    raw(own, "good.md", "# Good\n")
    raw(own, name, content)
    report = compiled(own)
    assert f"raw/{name} ({why}" in report and slugs(asked(own, "/pages")) == ["good"]
    health = asked(own, "/health")["raw"]
    assert health["orphans"] == [f"raw/{name}"] and health["uncompiled"] == [] and health["pages"] == 1
    assert "Nothing has changed" in compiled(own)


def test_a_huge_source_is_left_out(own):
    with raw(own, "huge.md", "").open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    raw(own, "good.md", "# Good\n")
    assert "raw/huge.md (too large)" in compiled(own) and slugs(asked(own, "/pages")) == ["good"]


def test_a_source_that_leaves_no_room_for_its_head_is_left_out(own):
    raw(own, "full.md", "y" * (4 << 20))
    assert "raw/full.md (its page would be larger than 4 MiB)" in compiled(own)
    assert asked(own, "/pages") == [] and asked(own, "/health")["raw"]["orphans"] == ["raw/full.md"]
    assert "Nothing has changed" in compiled(own)


@pytest.mark.parametrize("name", ["a  b.md", " a.md", "tab\there.md", "con\x01trol.md", "é" * 100 + ".md",
                                  "/".join("x" * 90 for _ in range(4)) + "/deep.md"])
def test_a_page_names_its_source_whatever_that_is_called(own, name):
    raw(own, name, "# Any\n")
    compiled(own)
    health = asked(own, "/health")
    assert (health["shared"]["stale"], health["raw"]["uncompiled"]) == ([], [])
    assert article(own, asked(own, "/pages")[0]["slug"])["sources"] == [f"raw/{name}"]


def test_symlinks_are_not_followed(own, tmp_path):
    (tmp_path / "secret.md").write_text("# Secret\n\nxylophone\n")
    root = own.data / "knowledge/raw"
    root.mkdir(parents=True, exist_ok=True)
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "outside").symlink_to(tmp_path)
    (root / "circle").symlink_to(root)
    (root / "self.md").symlink_to(root / "self.md")
    (root / "token.md").symlink_to(own.data / ".gateway-token")
    (own.data / "knowledge/wiki").mkdir(exist_ok=True)
    (own.data / "knowledge/wiki/out.md").symlink_to(tmp_path / "secret.md")
    (own.data / "knowledge/wiki/outside").symlink_to(tmp_path)
    raw(own, "good.md", "# Good\n")
    compiled(own)
    assert slugs(asked(own, "/pages")) == ["good"] and found(own, "xylophone") == []


def test_a_page_that_is_a_symlink_is_not_written_through(own, tmp_path):
    victim = tmp_path / "victim.md"
    victim.write_text("mine")
    (own.data / "knowledge/wiki").mkdir(parents=True, exist_ok=True)
    (own.data / "knowledge/wiki/notes.md").symlink_to(victim)
    raw(own, "notes.md", "# Notes\n\nA dodo.\n")
    compiled(own)
    assert victim.read_text() == "mine" and len(found(own, "dodo")) == 1


def test_a_directory_of_pages_that_leads_out_is_not_written_to(own, tmp_path):
    write(own, "agents/scout/knowledge/raw/a.md", "# A\n")
    (own.data / "agents/scout/knowledge/wiki").symlink_to(tmp_path)
    raw(own, "good.md", "# Good\n")
    compiled(own)
    assert list(tmp_path.glob("*.md")) == [] and slugs(asked(own, "/pages")) == ["good"]


def test_a_pipe_or_a_directory_with_the_name_of_a_page_stops_nothing(own):
    root = own.data / "knowledge/raw"
    root.mkdir(parents=True, exist_ok=True)
    os.mkfifo(root / "pipe.md")
    (own.data / "knowledge/wiki/notes.md").mkdir(parents=True)
    raw(own, "notes.md", "# Notes\n\nA dodo.\n")
    compiled(own)
    assert len(found(own, "dodo")) == 1


@pytest.mark.parametrize("name", ["....md", "..%2f..%2fescape.md", "a\nb.md", "con\x1b[31m.md", "'; DROP TABLE x; --.md",
                                  "-rf.md", "x" * 240 + ".md", "   .md", "漢字.md", "é.md", "a:b?c*d.md", "\\..\\x.md"])
def test_a_source_of_any_name_becomes_a_page_in_its_place(own, name):
    raw(own, name, "# Any\n\nA dodo.\n")
    compiled(own)
    if name.startswith("."):
        return
    [slug] = found(own, "dodo")
    assert re.fullmatch(r"[^A-Z\s/.\\\x00-\x1f]{1,100}", slug)
    assert [file.stem for file in (own.data / "knowledge/wiki").iterdir()] == [slug]
    assert article(own, slug)["title"] == "Any"


def test_links_in_circles_and_to_themselves_are_links(own):
    raw(own, "a.md", "# A\n\n[[b]] [[a]]\n")
    raw(own, "b.md", "# B\n\n[[a]]\n")
    compiled(own)
    assert article(own, "a")["links"] == ["b"] and article(own, "b")["backlinks"] == ["a"]
    assert asked(own, "/health")["shared"]["orphans"] == []


def test_deep_directories_end_somewhere(own):
    raw(own, "/".join(["d"] * 100) + "/deep.md", "# Deep\n")
    raw(own, "good.md", "# Good\n")
    compiled(own)
    assert slugs(asked(own, "/pages")) == ["good"]


def test_noise_is_survived(own):
    numbers = random.Random(7)
    marks = ["[[", "]]", "[", "](", ")", "`", "```\n", "*", "_", "|", "\n", "> ", "- ", "<", ">", "&#x", ";", "!", "#", "~~",
             "word ", "---\n", "\t", "1. ", ":", "\\", "http://x.y", "\u202e"]
    for number in range(30):
        raw(own, f"noise-{number}.md", "".join(numbers.choices(marks, k=3000)))
    compiled(own)
    assert len(asked(own, "/pages")) == 30
    for number in range(30):
        assert article(own, f"noise-{number}")["html"] is not None


def test_the_job_can_be_stopped_and_started_at_once(own):
    job = {"name": "compile-knowledge"}
    raw(own, "a.md", "# A\n")
    run(own, job)
    ended(own, job)
    assert rows(own, job)[0]["status"] == "completed"


def test_pages_of_a_renamed_agent_still_follow_their_sources(own):
    agent = new_agent(own, "scout")
    for name in ("habits", "edited", "own"):
        write(own, f"agents/scout/knowledge/raw/{name}.md", f"# {name}\n\nFirst.\n")
    compiled(own)
    write(own, "agents/scout/knowledge/wiki/own.md", "A person's.\n")
    accepted(own.http.patch(f"/extensions/{agent['id']}", json={"name": "ranger"}))
    write(own, "agents/ranger/knowledge/raw/edited.md", "# edited\n\nSecond, before the next compilation.\n")
    compiled(own)
    assert "Second, before" in article(own, "edited", scope="agent:ranger")["content"]
    for name in ("habits", "own"):
        write(own, f"agents/ranger/knowledge/raw/{name}.md", f"# {name}\n\nSecond.\n")
    compiled(own)
    assert "Second." in article(own, "habits", scope="agent:ranger")["content"]
    assert article(own, "own")["content"] == "A person's.\n"
