"""The pages of the wiki and what is asked of them (specification: Knowledge; decisions, 9)."""

import os
import shutil

import pytest

from checks import accepted, is_timestamp, refused
from knowledge import article, asked, found, page, raw, slugs, write

DEPLOY = "# Deploying\n\nRun the playbook from the control host. Then watch the dashboards.\n\nSee [[rollback]].\n"


# Pages written by hand.

def test_a_page_written_by_hand_is_listed_with_what_its_head_says(own):
    page(own, "deploy", DEPLOY, title="Deploying the shop", summary="How the shop gets out.", category="operations",
         tags=["deploy", "ansible"], updated_at="2026-01-02T03:04:05.678Z")
    assert asked(own, "/pages") == [{
        "slug": "deploy", "title": "Deploying the shop", "summary": "How the shop gets out.", "category": "operations",
        "scope": "shared", "tags": ["deploy", "ansible"], "updated_at": "2026-01-02T03:04:05.678Z", "words": 14}]


def test_a_page_without_a_head_says_itself_what_it_is(own):
    page(own, "deploy", DEPLOY)
    listed = asked(own, "/pages")[0]
    assert (listed["slug"], listed["title"], listed["scope"]) == ("deploy", "Deploying", "shared")
    assert listed["summary"] == "Run the playbook from the control host. Then watch the dashboards."
    assert listed["tags"] == [] and is_timestamp(listed["updated_at"])


def test_every_page_has_a_title(own):
    page(own, "---", "Some text.\n")
    assert [(listed["slug"], listed["title"]) for listed in asked(own, "/pages")] == [("page", "page")]


def test_the_index_groups_the_pages_by_category(own):
    page(own, "b", title="Beta", category="tools", summary="b", updated_at="2026-01-02T00:00:00Z")
    page(own, "a", title="Alpha", category="tools", summary="a", updated_at="2026-01-03T00:00:00Z")
    page(own, "c", title="Gamma", category="people", summary="c", updated_at="2026-01-01T00:00:00Z")
    assert asked(own) == {"page_count": 3, "updated_at": "2026-01-03T00:00:00.000Z", "categories": [
        {"name": "people", "pages": [
            {"slug": "c", "title": "Gamma", "summary": "c", "updated_at": "2026-01-01T00:00:00.000Z"}]},
        {"name": "tools", "pages": [
            {"slug": "a", "title": "Alpha", "summary": "a", "updated_at": "2026-01-03T00:00:00.000Z"},
            {"slug": "b", "title": "Beta", "summary": "b", "updated_at": "2026-01-02T00:00:00.000Z"}]}]}


def test_without_pages_there_is_an_empty_index(own):
    assert asked(own) == {"categories": [], "page_count": 0, "updated_at": None}
    assert asked(own, "/pages") == [] and asked(own, "/log") == []
    assert asked(own, "/stats") == {"pages": 0, "sources": 0, "words": 0, "links": 0, "broken_links": 0, "orphans": 0,
                                    "log_entries": 0}


def test_an_edited_page_is_live_at_once(own):
    file = page(own, "colour", "# Colour\n\nThe door is green.\n")
    assert found(own, "green") == ["colour"]
    for colour in "blue", "red", "amber", "violet":
        file.write_text(f"# Colour\n\nThe door is {colour}.\n")
        assert found(own, colour) == ["colour"]
    assert found(own, "green") == []
    file.unlink()
    assert found(own, "violet") == [] and asked(own, "/pages") == []


def test_a_page_moved_into_place_or_renamed_is_live_at_once(own):
    file = write(own, "draft.md", "# Draft\n\nA walrus.\n")
    file.rename(own.data / "knowledge/wiki/one.md")
    assert found(own, "walrus") == ["one"]
    (own.data / "knowledge/wiki/one.md").rename(own.data / "knowledge/wiki/two.md")
    assert found(own, "walrus") == ["two"]


def test_pages_that_are_moved_keep_their_slugs(own):
    names = ["two-otters", *(f"page-{number}" for number in range(150))]
    for name in names:
        write(own, f"knowledge/wiki/later/{name}.md", "# An otter\n")
    (own.data / "knowledge/wiki/earlier").mkdir()
    assert slugs(asked(own, "/pages")) == sorted(names)
    for name in names:
        (own.data / f"knowledge/wiki/later/{name}.md").rename(own.data / f"knowledge/wiki/earlier/{name}.md")
    assert slugs(asked(own, "/pages")) == sorted(names)
    (own.data / "knowledge/wiki/earlier/two-otters.md").rename(own.data / "knowledge/wiki/earlier/Two otters.md")
    assert slugs(asked(own, "/pages")) == sorted(names)


def test_a_page_whose_name_is_no_text_is_left_out(own):
    assert asked(own, "/pages") == []
    (own.data / os.fsdecode(b"knowledge/wiki/\xff.md")).write_text("# An otter\n")
    assert asked(own, "/pages") == []


def test_directories_that_come_and_go_are_followed(own):
    write(own, "knowledge/wiki/animals/sea/walrus.md", "# Walrus\n")
    assert found(own, "walrus") == ["walrus"]
    write(own, "knowledge/wiki/animals/sea/seal.md", "# Seal\n")
    assert found(own, "seal") == ["seal"]
    os.rename(own.data / "knowledge", own.data / "elsewhere")
    assert asked(own, "/pages") == []
    os.rename(own.data / "elsewhere", own.data / "knowledge")
    assert slugs(asked(own, "/pages")) == ["seal", "walrus"]


def test_pages_written_while_the_gateway_was_down_are_found(own):
    page(own, "first", "# First\n\nzebra\n")
    assert found(own, "zebra") == ["first"]
    assert own.stop() == 0
    page(own, "second", "# Second\n\nokapi\n")
    (own.data / "knowledge/wiki/first.md").unlink()
    own.start()
    assert found(own, "okapi") == ["second"] and found(own, "zebra") == []


def test_a_summary_and_a_snippet_show_what_links_show(own):
    page(own, "home", "Begin with [[Setup Guide|the guide]], then read [[zebras]].\n")
    assert asked(own, "/pages")[0]["summary"] == "Begin with the guide, then read zebras."
    assert asked(own, "/search", q="guide zebras")[0]["snippet"] == "Begin with the guide, then read zebras."


def test_a_name_that_is_no_slug_becomes_one(own):
    page(own, "Release Notes (v2)", "# Notes\n")
    assert slugs(asked(own, "/pages")) == ["release-notes-v2"]
    assert article(own, "release-notes-v2")["title"] == "Notes"
    page(own, "Über Ärger – Наброски", "# Notes\n")
    assert slugs(asked(own, "/pages")) == ["release-notes-v2", "über-ärger-наброски"]


def test_two_files_of_one_name_are_two_pages(own):
    write(own, "knowledge/wiki/a/notes.md", "# One\n")
    write(own, "knowledge/wiki/b/notes.md", "# Two\n")
    assert slugs(asked(own, "/pages")) == ["notes", "notes-2"]


# Articles.

def test_an_article_is_answered_whole(own):
    page(own, "deploy", DEPLOY, title="Deploying", summary="s", sources=["https://wiki.example/deploy"],
         updated_at="2026-01-02T03:04:05.678Z")
    page(own, "rollback", "# Rolling back\n\nUndo what [[deploy]] did, see also [[nowhere]].\n")
    assert article(own, "deploy") == {
        "slug": "deploy", "title": "Deploying", "summary": "s", "content": DEPLOY,
        "html": "<h1>Deploying</h1>\n<p>Run the playbook from the control host. Then watch the dashboards.</p>\n"
                '<p>See <a href="#/knowledge/rollback">Rolling back</a>.</p>\n',
        "links": ["rollback"], "backlinks": ["rollback"], "sources": ["https://wiki.example/deploy"],
        "updated_at": "2026-01-02T03:04:05.678Z"}
    other = article(own, "rollback")
    assert other["links"] == ["deploy"] and other["backlinks"] == ["deploy"]
    assert "see also nowhere." in other["html"]


def test_links_may_have_labels_sections_titles_and_be_ordinary(own):
    page(own, "setup-guide", "# Set up\n")
    page(own, "home", "[[Setup Guide|start here]] [[setup-guide#two]] [plain](../raw/Setup%20Guide.md) `[[code]]`\n")
    html = article(own, "home")["html"]
    assert '<a href="#/knowledge/setup-guide">start here</a>' in html
    assert '<a href="#/knowledge/setup-guide">plain</a>' in html
    assert '<a href="#/knowledge/setup-guide">Set up</a>' in html and "<code>[[code]]</code>" in html
    assert article(own, "home")["links"] == ["setup-guide"]
    assert article(own, "setup-guide")["backlinks"] == ["home"]


@pytest.mark.parametrize("slug", ["nothing", "..%2f..%2f.gateway-token", "..%2flog", "%2e%2e", "Deploy", "deploy.md",
                                  "a%00b", "%ff", "x" * 5000])
def test_what_is_no_page_is_not_found(own, slug):
    page(own, "deploy", DEPLOY)
    answer = own.http.get(f"/knowledge/article/{slug}")
    assert answer.status_code in (404, 400)
    if "%00" not in slug and "%ff" not in slug:
        refused(answer, 404, "article not found")


def test_a_broken_head_hides_nothing(own):
    write(own, "knowledge/wiki/odd.md", "---\ntitle: [unclosed\n---\n\n# Odd\n\nA marmot.\n")
    assert found(own, "marmot") == ["odd"]
    assert article(own, "odd")["title"] == "Odd"


@pytest.mark.parametrize("head", ["", "null", "[1, 2]", "text", "a: &x 1\nb: *x", "title: {a: b}", "title: [x]",
                                  "tags: {a: 1}", "entities: word", "entities: [{type: x}, 3, [], null]",
                                  "updated_at: yesterday", "sources: 5", "scope: 7", "tags: [[[[]]]]"])
def test_any_head_leaves_a_page(own, head):
    write(own, "knowledge/wiki/odd.md", f"---\n{head}\n---\n\n# Odd\n\nA marmot.\n")
    assert found(own, "marmot") == ["odd"]
    assert article(own, "odd")["title"] == "Odd" and accepted(own.http.get("/entities")) is not None


# Scopes.

def test_an_agents_pages_are_its_own_scope(own):
    page(own, "shop", "# Shop\n\nA lemur.\n")
    page(own, "mine", "# Mine\n\nA lemur, too.\n", directory="agents/scout/knowledge")
    page(own, "deep", "# Deep\n\nNo lemur.\n", directory="agents/scout/knowledge/notes/old")
    assert {p["slug"]: p["scope"] for p in asked(own, "/pages")} == {
        "shop": "shared", "mine": "agent:scout", "deep": "agent:scout"}
    assert found(own, "lemur", scope="shared") == ["shop"]
    assert set(found(own, "lemur", scope="agent:scout")) == {"mine", "deep"}
    assert set(found(own, "lemur")) == {"shop", "mine", "deep"}
    assert slugs(asked(own, "/pages", scope="agent:scout")) == ["deep", "mine"]
    assert asked(own, scope="agent:scout")["page_count"] == 2
    assert asked(own, "/pages", scope="agent:nobody") == [] and found(own, "lemur", scope="nonsense") == []


def test_an_article_of_two_scopes_is_the_shared_one_unless_asked_for(own):
    page(own, "style", "# Shared style\n")
    page(own, "style", "# Own style\n", directory="agents/scout/knowledge")
    page(own, "only", "# Only\n", directory="agents/scout/knowledge")
    assert article(own, "style")["title"] == "Shared style"
    assert article(own, "style", scope="agent:scout")["title"] == "Own style"
    assert article(own, "only")["title"] == "Only"
    refused(own.http.get("/knowledge/article/only", params={"scope": "shared"}), 404, "article not found")


def test_links_lead_to_the_own_page_and_else_to_the_shared_one(own):
    page(own, "style", "# Shared style\n")
    page(own, "words", "# Words\n")
    page(own, "style", "# Own style\n", directory="agents/scout/knowledge")
    page(own, "index", "[[style]] [[words]]", directory="agents/scout/knowledge")
    assert article(own, "index")["links"] == ["style", "words"]
    assert article(own, "style", scope="agent:scout")["backlinks"] == ["index"]
    assert article(own, "style", scope="shared")["backlinks"] == []
    assert article(own, "words")["backlinks"] == ["index"]


def test_the_head_of_a_shared_file_may_give_it_to_an_agent_but_not_the_other_way_round(own):
    page(own, "given", "# Given\n", scope="agent:scout")
    page(own, "kept", "# Kept\n", directory="agents/scout/knowledge", scope="shared")
    assert {p["slug"]: p["scope"] for p in asked(own, "/pages")} == {"given": "agent:scout", "kept": "agent:scout"}


def test_long_pages_that_come_at_once_are_all_there(own):
    links = "".join(f"[[page-{number}]] " for number in range(30))
    for number in range(30):
        page(own, f"page-{number}", links + f"word{number} " * 10_000)
    write(own, "knowledge/wiki/page-7.md", b"")
    stats = asked(own, "/stats")
    assert (stats["pages"], stats["links"], stats["broken_links"]) == (30, 29 * 29, 0)
    assert [found(own, f"word{number}") for number in (0, 14, 29)] == [["page-0"], ["page-14"], ["page-29"]]
    for number in range(30):
        (own.data / "knowledge" / "wiki" / f"page-{number}.md").unlink()
    assert asked(own, "/stats")["pages"] == 0


# Search.

def test_a_hit_says_where_and_what(own):
    page(own, "deploy", DEPLOY)
    [hit] = asked(own, "/search", q="playbook")
    assert set(hit) == {"slug", "title", "snippet", "score", "scope"}
    assert (hit["slug"], hit["title"], hit["scope"]) == ("deploy", "Deploying", "shared")
    assert "Run the playbook from the control host." in hit["snippet"] and hit["score"] > 0


def test_a_snippet_shows_the_words_where_most_of_them_stand_together(own):
    page(own, "log", "An otter came.\n\n" + "A day went by. " * 50 + "\n\nThe otter met a seal. " + "A day went by. " * 50)
    [hit] = asked(own, "/search", q="seal otter")
    assert "The otter met a seal." in hit["snippet"]
    assert hit["snippet"].startswith("…") and hit["snippet"].endswith("…")
    assert asked(own, "/search", q="otter")[0]["snippet"].startswith("An otter came. A day went by.")
    assert asked(own, "/search", q="log")[0]["snippet"].startswith("An otter came. A day went by.")


def test_a_page_that_repeats_a_word_very_often_is_searched_at_once(own):
    page(own, "log", "".join(f"INFO request {number} took {number % 97} ms\n" for number in range(20_000)))
    [hit] = asked(own, "/search", q="info request ms 12345")
    assert "INFO request 12345 took" in hit["snippet"]


@pytest.mark.parametrize("query", ["", "?q=", "?limit=5", "?scope=shared"])
def test_a_search_needs_a_question(gateway, query):
    refused(gateway.http.get(f"/knowledge/search{query}"), 400, "q is required")


@pytest.mark.parametrize("limit", ["0", "-1", "x", "1.5"])
def test_a_bad_limit_is_refused(gateway, limit):
    refused(gateway.http.get("/knowledge/search", params={"q": "a", "limit": limit}), 400,
            "limit must be a positive integer")
    refused(gateway.http.get("/knowledge/log", params={"limit": limit}), 400, "limit must be a positive integer")


def test_a_limit_is_kept_and_the_best_come_first(own):
    for number in range(5):
        page(own, f"note-{number}", f"# Note {number}\n\n" + "Filler words here. " * 20 + "A quokka once.\n")
    page(own, "quokka", "# The quokka\n\nThe quokka is a small marsupial. A quokka smiles.\n")
    assert found(own, "quokka")[0] == "quokka" and len(found(own, "quokka")) == 6
    assert found(own, "quokka", limit=1) == ["quokka"]
    scores = [hit["score"] for hit in asked(own, "/search", q="quokka")]
    assert scores == sorted(scores, reverse=True)


def test_other_forms_of_a_word_are_found(own):
    page(own, "deploy", "# Ship it\n\nWho deploys, configures what is deployed.\n")
    assert found(own, "deploying") == ["deploy"] and found(own, "configure") == ["deploy"]
    assert found(own, "deplo*") == ["deploy"]


def test_a_question_in_a_sentence_finds_the_page_about_it(own):
    page(own, "rollback", "# Rolling back a release\n\nRun the old playbook again.\n")
    page(own, "vacation", "# Vacation\n\nHow do I ask for a day off? Write to the office.\n")
    assert found(own, "How do I roll back the release that I made?")[0] == "rollback"


def test_a_quoted_phrase_counts_more_than_its_words(own):
    page(own, "apart", "# Apart\n\nThe red house. The barn door. A red fox, a barn owl.\n")
    page(own, "together", "# Together\n\nThere is one, and it is the red barn.\n")
    assert found(own, '"red barn"')[0] == "together"


@pytest.mark.parametrize("q", ['"', '""', '"a', "*", "a*b", "AND", "a AND", "NOT x", "(", "title:x", "a:b", "^a", "-a",
                               "NEAR(a b)", "'", ";--", "%", "\\", "{a}", "+a", "🦊", "é", "a" * 3000, "the", "...",
                               "x " * 500])
def test_whatever_is_typed_is_no_error(own, q):
    page(own, "deploy", DEPLOY)
    assert isinstance(asked(own, "/search", q=q), list)


def test_a_long_word_is_found(own):
    sentence = "これは長い日本語の文章で空白がありませんが検索できますか"
    page(own, "long", f"The identifier {'a' * 70} ends.\n\n{sentence}\n")
    assert found(own, "a" * 70) == found(own, "a" * 65 + "*") == found(own, sentence) == ["long"]


def test_a_word_of_any_language_is_found(own):
    page(own, "essen", "# Küche\n\nDer Löffel liegt in der Schublade. Привет. 漢字\n")
    assert found(own, "löffel") == found(own, "Loffel") == found(own, "привет") == found(own, "漢字") == ["essen"]


def test_a_part_of_a_sentence_without_blanks_is_found(own):
    page(own, "trip", "# 旅行\n\n明日は東京に行きます。2024年の予定、大阪も。\n")
    page(own, "weather", "# 天气\n\n今天天气很好，我们去公园。\n")
    assert found(own, "東京") == found(own, "予定") == found(own, "大阪、東京？") == ["trip"]
    assert found(own, "天气") == found(own, "公园 night") == ["weather"]
    assert sorted(found(own, "東京 公园")) == ["trip", "weather"]
    assert found(own, "京都") == []


def test_a_word_is_found_that_another_script_follows_without_a_blank(own):
    page(own, "book", "# Python入門\n\nこれはDockerの本です。\n")
    assert found(own, "python") == found(own, "入門") == found(own, "docker") == found(own, "Dockerの本") == ["book"]
    [hit] = asked(own, "/search", q="docker")
    assert hit["title"] == "Python入門" and "これはDockerの本です" in hit["snippet"]


# Counts, health, log.

def test_the_counts(own):
    page(own, "a", "# A\n\n[[b]] [[ghost]]\n")
    page(own, "b", "# B\n\none two three\n")
    raw(own, "source.md", "# Source\n")
    write(own, "knowledge/log.md", "## [2026-01-02T03:04:05.678Z] note | By hand\n")
    assert asked(own, "/stats") == {"pages": 2, "sources": 1, "words": 7, "links": 2, "broken_links": 1, "orphans": 1,
                                    "log_entries": 1}


def test_health_names_what_needs_a_person(own):
    page(own, "a", "# A\n\n[[b]] [[ghost]]\n", sources=["raw/gone.md"])
    page(own, "b", "# B\n")
    page(own, "own", "# Own\n\n[[b]]\n", directory="agents/scout/knowledge")
    raw(own, "new.md", "# New\n")
    health = asked(own, "/health")
    assert health["shared"] == {"pages": 2, "orphans": ["a"], "broken_links": [{"slug": "a", "target": "ghost"}],
                                "stale": ["a"], "uncompiled": ["raw/new.md"]}
    assert health["agents"] == {"scout": {"pages": 1, "orphans": ["own"], "broken_links": [], "stale": [],
                                          "uncompiled": []}}
    assert health["raw"] == {"pages": 1, "orphans": [], "broken_links": [], "stale": [], "uncompiled": ["raw/new.md"]}


def test_a_page_that_is_older_than_its_source_is_stale(own):
    raw(own, "notes.md", "# Notes\n")
    page(own, "notes", "# Notes\n", sources=["raw/notes.md"], updated_at="2020-01-01")
    assert asked(own, "/health")["shared"]["stale"] == ["notes"]
    page(own, "notes", "# Notes\n", sources=["raw/notes.md"], updated_at="2999-01-01")
    assert asked(own, "/health")["shared"]["stale"] == []


def test_the_log_is_read_from_its_file_newest_first(own):
    write(own, "knowledge/log.md", """\
        # What happened

        ## [2026-01-02T03:04:05.678Z] note | First
        Some detail.

        On two lines.

        ## [2026-01-03] lint | Second

        ## not an entry
        """)
    assert asked(own, "/log") == [
        {"at": "2026-01-03T00:00:00.000Z", "op": "lint", "title": "Second", "detail": "## not an entry"},
        {"at": "2026-01-02T03:04:05.678Z", "op": "note", "title": "First", "detail": "Some detail.\n\nOn two lines."}]
    assert [event["title"] for event in asked(own, "/log", limit=1)] == ["Second"]


# What is not served, and to whom.

@pytest.mark.parametrize("path", ["/graph", "/graph/nodes", "/graph/search?q=x", "/knowledge/", "/knowledge/article",
                                  "/knowledge/article/", "/knowledge/nothing"])
def test_other_paths_are_not_served(gateway, path):
    refused(gateway.http.get(path), 404, "not found")


@pytest.mark.parametrize("path", ["", "/search?q=x", "/article/x", "/pages", "/stats", "/health", "/log"])
def test_knowledge_needs_the_token(gateway, path):
    refused(gateway.anonymous.get(f"/knowledge{path}"), 401, "unauthorized")


def test_the_type_of_an_entity_is_what_pages_say_now(own):
    def entities():
        listed = accepted(own.http.get("/entities"))
        return [(entity["name"], entity["type"], slugs(entity["pages"])) for entity in listed]

    page(own, "a", entities=[{"name": "Ada", "type": "persn"}])
    page(own, "b", entities=["Ada"])
    assert entities() == [("Ada", "persn", ["a", "b"])]
    page(own, "a", entities=["Ada", {"name": "Ada", "type": "person"}])
    assert entities() == [("Ada", "person", ["a", "b"])]
    (own.data / "knowledge/wiki/a.md").unlink()
    assert entities() == [("Ada", None, ["b"])]


def test_pages_are_seen_again_where_their_directory_was_gone(own):
    page(own, "one")
    assert slugs(asked(own, "/pages")) == ["one"]
    shutil.rmtree(own.data / "knowledge")
    assert asked(own, "/pages") == []
    page(own, "two")
    assert slugs(asked(own, "/pages")) == ["two"]
    page(own, "three")
    assert slugs(asked(own, "/pages")) == ["three", "two"]
