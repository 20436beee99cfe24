"""The job compile-knowledge, without a model.

See docs/contract/knowledge.md#compiling.
"""

import os
import random
import re

import pytest

from checks import accepted
from jobs import ended, new_agent, rows, run
from knowledge import article, fetch, compile_sources, search, page, raw, slugs, write

RUNBOOK = """\
# Restoring a backup

Stop the gateway first, then copy the backup over the database. Start it again and look at the log.

## Checking the backup

A backup that was never restored is no backup. See [[deploy-notes]].
"""


def wiki(gateway, slug):
    return gateway.data / f"knowledge/wiki/{slug}.md"


def test_each_source_becomes_a_page(own_gateway):
    raw(own_gateway, "Runbook (v2).md", RUNBOOK)
    raw(own_gateway, "ops/Deploy Notes.txt", "Deploy notes\n\nRun the playbook. Back out with [[runbook-v2]].\n")
    raw(own_gateway, "ops/numbers.csv", "a,b\n1,2\n")
    report = compile_sources(own_gateway)
    assert "made (3)" in report and "runbook-v2" in report
    listed = {page["slug"]: page for page in fetch(own_gateway, "/pages")}
    assert set(listed) == {"runbook-v2", "deploy-notes", "numbers"}
    runbook = listed["runbook-v2"]
    assert (runbook["title"], runbook["category"], runbook["scope"]) == ("Restoring a backup", "general", "shared")
    assert runbook["summary"].startswith("Stop the gateway first, then copy the backup over the database.")
    assert "backup" in runbook["tags"]
    assert (listed["deploy-notes"]["title"], listed["deploy-notes"]["category"]) == ("Deploy notes", "ops")
    assert article(own_gateway, "runbook-v2")["sources"] == ["raw/Runbook (v2).md"]
    assert article(own_gateway, "runbook-v2")["links"] == ["deploy-notes"] == article(own_gateway, "runbook-v2")["backlinks"]
    assert article(own_gateway, "runbook-v2")["content"] == RUNBOOK
    assert search(own_gateway, "restore a backup")[0] == "runbook-v2"


def test_sources_are_never_changed(own_gateway):
    file = raw(own_gateway, "notes.md", RUNBOOK)
    before = file.stat()
    compile_sources(own_gateway)
    assert file.read_text() == RUNBOOK and file.stat().st_mtime_ns == before.st_mtime_ns


def test_front_matter_of_a_source_is_used(own_gateway):
    raw(own_gateway, "notes.md",
        "---\ntitle: Mine\nsummary: S\ncategory: c\ntags: [t]\nentities: [Ada]\nsources: [x]\n---\nText.\n")
    compile_sources(own_gateway)
    listed = fetch(own_gateway, "/pages")[0]
    assert (listed["title"], listed["summary"], listed["category"], listed["tags"]) == ("Mine", "S", "c", ["t"])
    compiled_page = article(own_gateway, "notes")
    assert compiled_page["sources"] == ["raw/notes.md", "x"] and compiled_page["content"] == "Text.\n"
    assert own_gateway.http.get("/entities").json()[0]["name"] == "Ada"


def test_only_changed_sources_are_compiled(own_gateway):
    raw(own_gateway, "a.md", "# A\n\nold\n")
    raw(own_gateway, "b.md", "# B\n")
    compile_sources(own_gateway)
    before = wiki(own_gateway, "b").stat()
    raw(own_gateway, "a.md", "# A\n\nnewer\n")
    assert fetch(own_gateway, "/health")["shared"]["stale"] == ["a"]
    assert fetch(own_gateway, "/health")["raw"]["stale"] == ["raw/a.md"]
    report = compile_sources(own_gateway)
    assert "changed (1): a" in report and "made" not in report
    assert search(own_gateway, "newer") == ["a"] and search(own_gateway, "old") == []
    assert wiki(own_gateway, "b").stat() == before
    assert fetch(own_gateway, "/health")["shared"]["stale"] == []


def test_unchanged_sources_are_not_logged(own_gateway):
    raw(own_gateway, "a.md", "# A\n")
    compile_sources(own_gateway)
    before, log = wiki(own_gateway, "a").stat(), fetch(own_gateway, "/log")
    os.utime(own_gateway.data / "knowledge/raw/a.md")
    assert "Nothing has changed" in compile_sources(own_gateway)
    assert wiki(own_gateway, "a").stat() == before and fetch(own_gateway, "/log") == log


def test_compilation_is_logged(own_gateway):
    raw(own_gateway, "a.md", "# A\n")
    compile_sources(own_gateway)
    [event] = fetch(own_gateway, "/log")
    assert event["op"] == "compile" and event["title"].startswith("1 made") and "made (1): a" in event["detail"]
    assert fetch(own_gateway, "/stats")["log_entries"] == 1


@pytest.mark.parametrize("mebibytes", [2, 17])
def test_long_handwritten_log_is_not_lost(own_gateway, mebibytes):
    text = "Words of a person, and no entry.\n" * (mebibytes * 1024 * 1024 // 33)
    log = write(own_gateway, "knowledge/log.md", text)
    raw(own_gateway, "a.md", "# A\n")
    compile_sources(own_gateway)
    raw(own_gateway, "b.md", "# B\n")
    compile_sources(own_gateway)
    assert log.read_text().startswith(text)


def test_handwritten_page_is_kept_and_the_source_gets_another(own_gateway):
    mine = page(own_gateway, "notes", "# My own notes\n")
    raw(own_gateway, "notes.md", "# Raw notes\n\nThe aardvark.\n")
    before = mine.read_bytes()
    compile_sources(own_gateway)
    assert mine.read_bytes() == before and len(fetch(own_gateway, "/pages")) == 2
    assert article(own_gateway, search(own_gateway, "aardvark")[0])["sources"] == ["raw/notes.md"]


def test_edited_page_is_kept(own_gateway):
    raw(own_gateway, "notes.md", "# Notes\n\none\n")
    compile_sources(own_gateway)
    edited = wiki(own_gateway, "notes").read_text() + "\nMy remark.\n"
    wiki(own_gateway, "notes").write_text(edited)
    compile_sources(own_gateway)
    assert wiki(own_gateway, "notes").read_text() == edited
    source = raw(own_gateway, "notes.md", "# Notes\n\ntwo\n")
    os.utime(source, (4e9, 4e9))
    assert "kept" in compile_sources(own_gateway)
    assert wiki(own_gateway, "notes").read_text() == edited
    assert fetch(own_gateway, "/health")["shared"]["stale"] == ["notes"], "its text differs from its source"
    assert slugs(fetch(own_gateway, "/pages")) == ["notes"]


def test_page_that_a_person_made_too_large_is_kept(own_gateway):
    raw(own_gateway, "notes.md", "# Notes\n\none\n")
    compile_sources(own_gateway)
    edited = wiki(own_gateway, "notes").read_text() + "My remark.\n" * 500_000
    wiki(own_gateway, "notes").write_text(edited)
    compile_sources(own_gateway)
    raw(own_gateway, "notes.md", "# Notes\n\ntwo\n")
    assert "kept" in compile_sources(own_gateway)
    assert wiki(own_gateway, "notes").read_text() == edited


def test_page_that_a_person_replaced_by_a_symlink_is_kept(own_gateway, tmp_path):
    raw(own_gateway, "notes.md", "# Notes\n")
    compile_sources(own_gateway)
    wiki(own_gateway, "notes").unlink()
    wiki(own_gateway, "notes").symlink_to(tmp_path / "mine.md")
    compile_sources(own_gateway)
    assert wiki(own_gateway, "notes").is_symlink()


def test_page_that_could_not_be_written_is_tried_again(own_gateway):
    pages = own_gateway.data / "knowledge/wiki"
    pages.rmdir()
    pages.write_text("")
    raw(own_gateway, "notes.md", "# Notes\n")
    assert "its page cannot be read: not a directory" in compile_sources(own_gateway)
    pages.unlink()
    assert "made (1): notes" in compile_sources(own_gateway)
    assert slugs(fetch(own_gateway, "/pages")) == ["notes"]


def test_deleted_page_is_compiled_again(own_gateway):
    raw(own_gateway, "notes.md", "# Notes\n")
    compile_sources(own_gateway)
    wiki(own_gateway, "notes").unlink()
    assert fetch(own_gateway, "/pages") == []
    compile_sources(own_gateway)
    assert slugs(fetch(own_gateway, "/pages")) == ["notes"]


def test_page_of_a_removed_source_is_stale_but_kept(own_gateway):
    file = raw(own_gateway, "notes.md", "# Notes\n")
    compile_sources(own_gateway)
    file.unlink()
    assert fetch(own_gateway, "/health")["shared"]["stale"] == ["notes"]
    compile_sources(own_gateway)
    assert fetch(own_gateway, "/health")["shared"]["stale"] == ["notes"] and slugs(fetch(own_gateway, "/pages")) == ["notes"]


def test_sources_with_the_same_name_keep_separate_pages(own_gateway):
    raw(own_gateway, "b/notes.md", "# Second\n")
    compile_sources(own_gateway)
    raw(own_gateway, "a/notes.md", "# First\n")
    compile_sources(own_gateway)
    raw(own_gateway, "b/notes.md", "# Second, changed\n")
    compile_sources(own_gateway)
    assert {p["slug"]: p["title"] for p in fetch(own_gateway, "/pages")} == {"notes": "Second, changed", "a-notes": "First"}


def test_sources_of_an_agent_become_its_pages(own_gateway):
    write(own_gateway, "agents/scout/knowledge/raw/trail.md", "# The trail\n")
    write(own_gateway, "agents/scout/knowledge/camp.txt", "The camp\n\nNear the river.\n")
    compile_sources(own_gateway)
    assert {p["slug"]: p["scope"] for p in fetch(own_gateway, "/pages")} == {"trail": "agent:scout", "camp": "agent:scout"}
    assert (own_gateway.data / "agents/scout/knowledge/wiki/trail.md").exists()
    assert article(own_gateway, "trail")["sources"] == ["raw/trail.md"]
    health = fetch(own_gateway, "/health")
    assert health["agents"]["scout"]["uncompiled"] == [] and health["raw"]["pages"] == 2


def test_dry_run_reports_what_would_change(own_gateway):
    raw(own_gateway, "notes.md", "# Notes\n")
    report = compile_sources(own_gateway, dry="true")
    assert report.startswith("Dry run") and "made (1): notes" in report
    assert fetch(own_gateway, "/pages") == [] and fetch(own_gateway, "/log") == [] and not wiki(own_gateway, "notes").exists()


def test_compilation_resumes_after_a_restart(own_gateway):
    raw(own_gateway, "notes.md", "# Notes\n")
    compile_sources(own_gateway)
    before = wiki(own_gateway, "notes").stat()
    own_gateway.restart()
    assert "Nothing has changed" in compile_sources(own_gateway) and wiki(own_gateway, "notes").stat() == before


def test_restored_pages_are_recognized_without_the_database(own_gateway):
    raw(own_gateway, "notes.md", "# Notes\n\none\n")
    compile_sources(own_gateway)
    assert own_gateway.stop() == 0
    for file in own_gateway.data.glob("gateway.db*"):
        file.unlink()
    own_gateway.start()
    assert "Nothing has changed" in compile_sources(own_gateway)
    raw(own_gateway, "notes.md", "# Notes\n\ntwo\n")
    compile_sources(own_gateway)
    assert search(own_gateway, "two") == ["notes"] and slugs(fetch(own_gateway, "/pages")) == ["notes"]


def test_killed_compilation_ends_with_the_same_pages(own_gateway):
    for number in range(300):
        raw(own_gateway, f"note-{number}.md", f"# Note {number}\n\nword{number}\n")
    job = {"name": "compile-knowledge"}
    run(own_gateway, job)
    while not any((own_gateway.data / "knowledge/wiki").iterdir()):
        pass
    own_gateway.kill()
    own_gateway.start()
    compile_sources(own_gateway)
    assert len(fetch(own_gateway, "/pages")) == 300 and search(own_gateway, "word217") == ["note-217"]
    assert fetch(own_gateway, "/health")["raw"]["uncompiled"] == [] == fetch(own_gateway, "/health")["shared"]["stale"]
    raw(own_gateway, "note-1.md", "# Note 1\n\nchanged\n")
    compile_sources(own_gateway)
    assert search(own_gateway, "changed") == ["note-1"], "no page is mistaken for a handwritten one"


# Hostile sources.

@pytest.mark.parametrize("name, content, why", [
    ("image.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not text"),
    ("zeros.md", b"# Title\n\0\0", "not text"), ("latin.txt", "Müll".encode("latin-1"), "not UTF-8"),
    ("wide.md", "# Wide".encode("utf-16"), "not"), ("half.md", b"# Cut \xe2\x82", "not UTF-8"),
    ("surrogate.md", b"# \xed\xa0\x80", "not UTF-8")])
def test_binary_source_is_skipped_and_named(own_gateway, name, content, why):
    raw(own_gateway, "good.md", "# Good\n")
    raw(own_gateway, name, content)
    report = compile_sources(own_gateway)
    assert f"raw/{name} ({why}" in report and slugs(fetch(own_gateway, "/pages")) == ["good"]
    health = fetch(own_gateway, "/health")["raw"]
    assert health["orphans"] == [f"raw/{name}"] and health["uncompiled"] == [] and health["pages"] == 1
    assert "Nothing has changed" in compile_sources(own_gateway)


def test_huge_source_is_skipped(own_gateway):
    with raw(own_gateway, "huge.md", "").open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    raw(own_gateway, "good.md", "# Good\n")
    assert "raw/huge.md (too large)" in compile_sources(own_gateway) and slugs(fetch(own_gateway, "/pages")) == ["good"]


def test_source_without_room_for_front_matter_is_skipped(own_gateway):
    raw(own_gateway, "full.md", "y" * (4 << 20))
    assert "raw/full.md (its page would be larger than 4 MiB)" in compile_sources(own_gateway)
    assert fetch(own_gateway, "/pages") == [] and fetch(own_gateway, "/health")["raw"]["orphans"] == ["raw/full.md"]
    assert "Nothing has changed" in compile_sources(own_gateway)


@pytest.mark.parametrize("name", ["a  b.md", " a.md", "tab\there.md", "con\x01trol.md", "é" * 100 + ".md",
                                  "/".join("x" * 90 for _ in range(4)) + "/deep.md"])
def test_page_names_a_source_with_any_name(own_gateway, name):
    raw(own_gateway, name, "# Any\n")
    compile_sources(own_gateway)
    health = fetch(own_gateway, "/health")
    assert (health["shared"]["stale"], health["raw"]["uncompiled"]) == ([], [])
    assert article(own_gateway, fetch(own_gateway, "/pages")[0]["slug"])["sources"] == [f"raw/{name}"]


def test_symlinks_are_not_followed(own_gateway, tmp_path):
    (tmp_path / "secret.md").write_text("# Secret\n\nxylophone\n")
    root = own_gateway.data / "knowledge/raw"
    root.mkdir(parents=True, exist_ok=True)
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "outside").symlink_to(tmp_path)
    (root / "circle").symlink_to(root)
    (root / "self.md").symlink_to(root / "self.md")
    (root / "token.md").symlink_to(own_gateway.data / ".gateway-token")
    (own_gateway.data / "knowledge/wiki").mkdir(exist_ok=True)
    (own_gateway.data / "knowledge/wiki/out.md").symlink_to(tmp_path / "secret.md")
    (own_gateway.data / "knowledge/wiki/outside").symlink_to(tmp_path)
    raw(own_gateway, "good.md", "# Good\n")
    compile_sources(own_gateway)
    assert slugs(fetch(own_gateway, "/pages")) == ["good"] and search(own_gateway, "xylophone") == []


def test_symlinked_page_is_not_written_through(own_gateway, tmp_path):
    victim = tmp_path / "victim.md"
    victim.write_text("mine")
    (own_gateway.data / "knowledge/wiki").mkdir(parents=True, exist_ok=True)
    (own_gateway.data / "knowledge/wiki/notes.md").symlink_to(victim)
    raw(own_gateway, "notes.md", "# Notes\n\nA dodo.\n")
    compile_sources(own_gateway)
    assert victim.read_text() == "mine" and len(search(own_gateway, "dodo")) == 1


def test_symlinked_page_directory_is_not_written(own_gateway, tmp_path):
    write(own_gateway, "agents/scout/knowledge/raw/a.md", "# A\n")
    (own_gateway.data / "agents/scout/knowledge/wiki").symlink_to(tmp_path)
    raw(own_gateway, "good.md", "# Good\n")
    compile_sources(own_gateway)
    assert list(tmp_path.glob("*.md")) == [] and slugs(fetch(own_gateway, "/pages")) == ["good"]


def test_pipe_or_directory_named_like_a_page_is_harmless(own_gateway):
    root = own_gateway.data / "knowledge/raw"
    root.mkdir(parents=True, exist_ok=True)
    os.mkfifo(root / "pipe.md")
    (own_gateway.data / "knowledge/wiki/notes.md").mkdir(parents=True)
    raw(own_gateway, "notes.md", "# Notes\n\nA dodo.\n")
    compile_sources(own_gateway)
    assert len(search(own_gateway, "dodo")) == 1


@pytest.mark.parametrize("name", ["....md", "..%2f..%2fescape.md", "a\nb.md", "con\x1b[31m.md", "'; DROP TABLE x; --.md",
                                  "-rf.md", "x" * 240 + ".md", "   .md", "漢字.md", "é.md", "a:b?c*d.md", "\\..\\x.md"])
def test_source_of_any_name_becomes_a_page(own_gateway, name):
    raw(own_gateway, name, "# Any\n\nA dodo.\n")
    compile_sources(own_gateway)
    if name.startswith("."):
        return
    [slug] = search(own_gateway, "dodo")
    assert re.fullmatch(r"[^A-Z\s/.\\\x00-\x1f]{1,100}", slug)
    assert [file.stem for file in (own_gateway.data / "knowledge/wiki").iterdir()] == [slug]
    assert article(own_gateway, slug)["title"] == "Any"


def test_circular_and_self_links_are_links(own_gateway):
    raw(own_gateway, "a.md", "# A\n\n[[b]] [[a]]\n")
    raw(own_gateway, "b.md", "# B\n\n[[a]]\n")
    compile_sources(own_gateway)
    assert article(own_gateway, "a")["links"] == ["b"] and article(own_gateway, "b")["backlinks"] == ["a"]
    assert fetch(own_gateway, "/health")["shared"]["orphans"] == []


def test_depth_of_directories_is_limited(own_gateway):
    raw(own_gateway, "/".join(["d"] * 100) + "/deep.md", "# Deep\n")
    raw(own_gateway, "good.md", "# Good\n")
    compile_sources(own_gateway)
    assert slugs(fetch(own_gateway, "/pages")) == ["good"]


def test_random_input_is_harmless(own_gateway):
    rng = random.Random(7)
    marks = ["[[", "]]", "[", "](", ")", "`", "```\n", "*", "_", "|", "\n", "> ", "- ", "<", ">", "&#x", ";", "!", "#", "~~",
             "word ", "---\n", "\t", "1. ", ":", "\\", "http://x.y", "\u202e"]
    for number in range(30):
        raw(own_gateway, f"noise-{number}.md", "".join(rng.choices(marks, k=3000)))
    compile_sources(own_gateway)
    assert len(fetch(own_gateway, "/pages")) == 30
    for number in range(30):
        assert article(own_gateway, f"noise-{number}")["html"] is not None


def test_job_can_be_stopped_and_restarted(own_gateway):
    job = {"name": "compile-knowledge"}
    raw(own_gateway, "a.md", "# A\n")
    run(own_gateway, job)
    ended(own_gateway, job)
    assert rows(own_gateway, job)[0]["status"] == "completed"


def test_pages_of_a_renamed_agent_follow_their_sources(own_gateway):
    agent = new_agent(own_gateway, "scout")
    for name in ("habits", "edited", "own"):
        write(own_gateway, f"agents/scout/knowledge/raw/{name}.md", f"# {name}\n\nFirst.\n")
    compile_sources(own_gateway)
    write(own_gateway, "agents/scout/knowledge/wiki/own.md", "A person's.\n")
    accepted(own_gateway.http.patch(f"/extensions/{agent['id']}", json={"name": "ranger"}))
    write(own_gateway, "agents/ranger/knowledge/raw/edited.md", "# edited\n\nSecond, before the next compilation.\n")
    compile_sources(own_gateway)
    assert "Second, before" in article(own_gateway, "edited", scope="agent:ranger")["content"]
    for name in ("habits", "own"):
        write(own_gateway, f"agents/ranger/knowledge/raw/{name}.md", f"# {name}\n\nSecond.\n")
    compile_sources(own_gateway)
    assert "Second." in article(own_gateway, "habits", scope="agent:ranger")["content"]
    assert article(own_gateway, "own")["content"] == "A person's.\n"
