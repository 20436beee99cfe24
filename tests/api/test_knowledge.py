"""The pages of the wiki and their endpoints.

See docs/contract/knowledge.md#endpoints.
"""

import os
import shutil

import pytest

from checks import accepted, is_timestamp, refused
from knowledge import article, fetch, search, page, raw, slugs, write

DEPLOY = "# Deploying\n\nRun the playbook from the control host. Then watch the dashboards.\n\nSee [[rollback]].\n"


# Handwritten pages.

def test_page_is_listed_with_its_front_matter(own_gateway):
    page(own_gateway, "deploy", DEPLOY, title="Deploying the shop", summary="How the shop gets out.", category="operations",
         tags=["deploy", "ansible"], updated_at="2026-01-02T03:04:05.678Z")
    assert fetch(own_gateway, "/pages") == [{
        "slug": "deploy", "title": "Deploying the shop", "summary": "How the shop gets out.", "category": "operations",
        "scope": "shared", "tags": ["deploy", "ansible"], "updated_at": "2026-01-02T03:04:05.678Z", "words": 14}]


def test_page_without_front_matter_derives_it(own_gateway):
    page(own_gateway, "deploy", DEPLOY)
    listed = fetch(own_gateway, "/pages")[0]
    assert (listed["slug"], listed["title"], listed["scope"]) == ("deploy", "Deploying", "shared")
    assert listed["summary"] == "Run the playbook from the control host. Then watch the dashboards."
    assert listed["tags"] == [] and is_timestamp(listed["updated_at"])


def test_every_page_has_a_title(own_gateway):
    page(own_gateway, "---", "Some text.\n")
    assert [(listed["slug"], listed["title"]) for listed in fetch(own_gateway, "/pages")] == [("page", "page")]


def test_index_groups_pages_by_category(own_gateway):
    page(own_gateway, "b", title="Beta", category="tools", summary="b", updated_at="2026-01-02T00:00:00Z")
    page(own_gateway, "a", title="Alpha", category="tools", summary="a", updated_at="2026-01-03T00:00:00Z")
    page(own_gateway, "c", title="Gamma", category="people", summary="c", updated_at="2026-01-01T00:00:00Z")
    assert fetch(own_gateway) == {"page_count": 3, "updated_at": "2026-01-03T00:00:00.000Z", "categories": [
        {"name": "people", "pages": [
            {"slug": "c", "title": "Gamma", "summary": "c", "updated_at": "2026-01-01T00:00:00.000Z"}]},
        {"name": "tools", "pages": [
            {"slug": "a", "title": "Alpha", "summary": "a", "updated_at": "2026-01-03T00:00:00.000Z"},
            {"slug": "b", "title": "Beta", "summary": "b", "updated_at": "2026-01-02T00:00:00.000Z"}]}]}


def test_index_without_pages_is_empty(own_gateway):
    assert fetch(own_gateway) == {"categories": [], "page_count": 0, "updated_at": None}
    assert fetch(own_gateway, "/pages") == [] and fetch(own_gateway, "/log") == []
    assert fetch(own_gateway, "/stats") == {"pages": 0, "sources": 0, "words": 0, "links": 0, "broken_links": 0, "orphans": 0,
                                    "log_entries": 0}


def test_edited_page_is_live_immediately(own_gateway):
    file = page(own_gateway, "colour", "# Colour\n\nThe door is green.\n")
    assert search(own_gateway, "green") == ["colour"]
    for colour in "blue", "red", "amber", "violet":
        file.write_text(f"# Colour\n\nThe door is {colour}.\n")
        assert search(own_gateway, colour) == ["colour"]
    assert search(own_gateway, "green") == []
    file.unlink()
    assert search(own_gateway, "violet") == [] and fetch(own_gateway, "/pages") == []


def test_moved_or_renamed_page_is_live_immediately(own_gateway):
    file = write(own_gateway, "draft.md", "# Draft\n\nA walrus.\n")
    file.rename(own_gateway.data / "knowledge/wiki/one.md")
    assert search(own_gateway, "walrus") == ["one"]
    (own_gateway.data / "knowledge/wiki/one.md").rename(own_gateway.data / "knowledge/wiki/two.md")
    assert search(own_gateway, "walrus") == ["two"]


def test_moved_pages_keep_their_slugs(own_gateway):
    names = ["two-otters", *(f"page-{number}" for number in range(150))]
    for name in names:
        write(own_gateway, f"knowledge/wiki/later/{name}.md", "# An otter\n")
    (own_gateway.data / "knowledge/wiki/earlier").mkdir()
    assert slugs(fetch(own_gateway, "/pages")) == sorted(names)
    for name in names:
        (own_gateway.data / f"knowledge/wiki/later/{name}.md").rename(own_gateway.data / f"knowledge/wiki/earlier/{name}.md")
    assert slugs(fetch(own_gateway, "/pages")) == sorted(names)
    (own_gateway.data / "knowledge/wiki/earlier/two-otters.md").rename(own_gateway.data / "knowledge/wiki/earlier/Two otters.md")
    assert slugs(fetch(own_gateway, "/pages")) == sorted(names)


def test_page_name_that_is_not_utf8_is_omitted(own_gateway):
    assert fetch(own_gateway, "/pages") == []
    (own_gateway.data / os.fsdecode(b"knowledge/wiki/\xff.md")).write_text("# An otter\n")
    assert fetch(own_gateway, "/pages") == []


def test_created_and_removed_directories_are_followed(own_gateway):
    write(own_gateway, "knowledge/wiki/animals/sea/walrus.md", "# Walrus\n")
    assert search(own_gateway, "walrus") == ["walrus"]
    write(own_gateway, "knowledge/wiki/animals/sea/seal.md", "# Seal\n")
    assert search(own_gateway, "seal") == ["seal"]
    os.rename(own_gateway.data / "knowledge", own_gateway.data / "elsewhere")
    assert fetch(own_gateway, "/pages") == []
    os.rename(own_gateway.data / "elsewhere", own_gateway.data / "knowledge")
    assert slugs(fetch(own_gateway, "/pages")) == ["seal", "walrus"]


def test_pages_written_while_stopped_are_found(own_gateway):
    page(own_gateway, "first", "# First\n\nzebra\n")
    assert search(own_gateway, "zebra") == ["first"]
    assert own_gateway.stop() == 0
    page(own_gateway, "second", "# Second\n\nokapi\n")
    (own_gateway.data / "knowledge/wiki/first.md").unlink()
    own_gateway.start()
    assert search(own_gateway, "okapi") == ["second"] and search(own_gateway, "zebra") == []


def test_summary_and_snippet_show_link_text(own_gateway):
    page(own_gateway, "home", "Begin with [[Setup Guide|the guide]], then read [[zebras]].\n")
    assert fetch(own_gateway, "/pages")[0]["summary"] == "Begin with the guide, then read zebras."
    assert fetch(own_gateway, "/search", q="guide zebras")[0]["snippet"] == "Begin with the guide, then read zebras."


def test_file_name_becomes_a_slug(own_gateway):
    page(own_gateway, "Release Notes (v2)", "# Notes\n")
    assert slugs(fetch(own_gateway, "/pages")) == ["release-notes-v2"]
    assert article(own_gateway, "release-notes-v2")["title"] == "Notes"
    page(own_gateway, "Über Ärger – Наброски", "# Notes\n")
    assert slugs(fetch(own_gateway, "/pages")) == ["release-notes-v2", "über-ärger-наброски"]


def test_two_files_with_the_same_name_are_two_pages(own_gateway):
    write(own_gateway, "knowledge/wiki/a/notes.md", "# One\n")
    write(own_gateway, "knowledge/wiki/b/notes.md", "# Two\n")
    assert slugs(fetch(own_gateway, "/pages")) == ["notes", "notes-2"]


# Articles.

def test_article_is_returned_in_full(own_gateway):
    page(own_gateway, "deploy", DEPLOY, title="Deploying", summary="s", sources=["https://wiki.example/deploy"],
         updated_at="2026-01-02T03:04:05.678Z")
    page(own_gateway, "rollback", "# Rolling back\n\nUndo what [[deploy]] did, see also [[nowhere]].\n")
    assert article(own_gateway, "deploy") == {
        "slug": "deploy", "title": "Deploying", "summary": "s", "content": DEPLOY,
        "html": "<h1>Deploying</h1>\n<p>Run the playbook from the control host. Then watch the dashboards.</p>\n"
                '<p>See <a href="#/knowledge/rollback">Rolling back</a>.</p>\n',
        "links": ["rollback"], "backlinks": ["rollback"], "sources": ["https://wiki.example/deploy"],
        "updated_at": "2026-01-02T03:04:05.678Z"}
    other = article(own_gateway, "rollback")
    assert other["links"] == ["deploy"] and other["backlinks"] == ["deploy"]
    assert "see also nowhere." in other["html"]


def test_links_may_have_labels_sections_titles_or_be_plain(own_gateway):
    page(own_gateway, "setup-guide", "# Set up\n")
    page(own_gateway, "home", "[[Setup Guide|start here]] [[setup-guide#two]] [plain](../raw/Setup%20Guide.md) `[[code]]`\n")
    html = article(own_gateway, "home")["html"]
    assert '<a href="#/knowledge/setup-guide">start here</a>' in html
    assert '<a href="#/knowledge/setup-guide">plain</a>' in html
    assert '<a href="#/knowledge/setup-guide">Set up</a>' in html and "<code>[[code]]</code>" in html
    assert article(own_gateway, "home")["links"] == ["setup-guide"]
    assert article(own_gateway, "setup-guide")["backlinks"] == ["home"]


@pytest.mark.parametrize("slug", ["nothing", "..%2f..%2f.gateway-token", "..%2flog", "%2e%2e", "Deploy", "deploy.md",
                                  "a%00b", "%ff", "x" * 5000])
def test_unknown_article_is_not_found(own_gateway, slug):
    page(own_gateway, "deploy", DEPLOY)
    response = own_gateway.http.get(f"/knowledge/article/{slug}")
    assert response.status_code in (404, 400)
    if "%00" not in slug and "%ff" not in slug:
        refused(response, 404, "article not found")


def test_page_with_invalid_front_matter_is_readable(own_gateway):
    write(own_gateway, "knowledge/wiki/odd.md", "---\ntitle: [unclosed\n---\n\n# Odd\n\nA marmot.\n")
    assert search(own_gateway, "marmot") == ["odd"]
    assert article(own_gateway, "odd")["title"] == "Odd"


@pytest.mark.parametrize("front_matter", ["", "null", "[1, 2]", "text", "a: &x 1\nb: *x", "title: {a: b}", "title: [x]",
                                          "tags: {a: 1}", "entities: word", "entities: [{type: x}, 3, [], null]",
                                          "updated_at: yesterday", "sources: 5", "scope: 7", "tags: [[[[]]]]"])
def test_page_with_any_front_matter_is_readable(own_gateway, front_matter):
    write(own_gateway, "knowledge/wiki/odd.md", f"---\n{front_matter}\n---\n\n# Odd\n\nA marmot.\n")
    assert search(own_gateway, "marmot") == ["odd"]
    assert article(own_gateway, "odd")["title"] == "Odd" and accepted(own_gateway.http.get("/entities")) is not None


# Scopes.

def test_pages_of_an_agent_have_their_own_scope(own_gateway):
    page(own_gateway, "shop", "# Shop\n\nA lemur.\n")
    page(own_gateway, "mine", "# Mine\n\nA lemur, too.\n", directory="agents/scout/knowledge")
    page(own_gateway, "deep", "# Deep\n\nNo lemur.\n", directory="agents/scout/knowledge/notes/old")
    assert {p["slug"]: p["scope"] for p in fetch(own_gateway, "/pages")} == {
        "shop": "shared", "mine": "agent:scout", "deep": "agent:scout"}
    assert search(own_gateway, "lemur", scope="shared") == ["shop"]
    assert set(search(own_gateway, "lemur", scope="agent:scout")) == {"mine", "deep"}
    assert set(search(own_gateway, "lemur")) == {"shop", "mine", "deep"}
    assert slugs(fetch(own_gateway, "/pages", scope="agent:scout")) == ["deep", "mine"]
    assert fetch(own_gateway, scope="agent:scout")["page_count"] == 2
    assert fetch(own_gateway, "/pages", scope="agent:nobody") == [] and search(own_gateway, "lemur", scope="nonsense") == []


def test_article_in_two_scopes_defaults_to_the_shared_one(own_gateway):
    page(own_gateway, "style", "# Shared style\n")
    page(own_gateway, "style", "# Own style\n", directory="agents/scout/knowledge")
    page(own_gateway, "only", "# Only\n", directory="agents/scout/knowledge")
    assert article(own_gateway, "style")["title"] == "Shared style"
    assert article(own_gateway, "style", scope="agent:scout")["title"] == "Own style"
    assert article(own_gateway, "only")["title"] == "Only"
    refused(own_gateway.http.get("/knowledge/article/only", params={"scope": "shared"}), 404, "article not found")


def test_links_prefer_pages_of_their_own_scope(own_gateway):
    page(own_gateway, "style", "# Shared style\n")
    page(own_gateway, "words", "# Words\n")
    page(own_gateway, "style", "# Own style\n", directory="agents/scout/knowledge")
    page(own_gateway, "index", "[[style]] [[words]]", directory="agents/scout/knowledge")
    assert article(own_gateway, "index")["links"] == ["style", "words"]
    assert article(own_gateway, "style", scope="agent:scout")["backlinks"] == ["index"]
    assert article(own_gateway, "style", scope="shared")["backlinks"] == []
    assert article(own_gateway, "words")["backlinks"] == ["index"]


def test_links_between_pages_are_listed_with_their_scopes(own_gateway):
    page(own_gateway, "style", "# Shared style\n[[words]] [[missing]] [[style]]")
    page(own_gateway, "words", "# Words\n[[style]]")
    page(own_gateway, "style", "# Own style\n", directory="agents/scout/knowledge")
    page(own_gateway, "index", "[[style]] [[words]]", directory="agents/scout/knowledge")
    def link(scope, slug, target_scope, target):
        return {"scope": scope, "slug": slug, "target_scope": target_scope, "target": target}
    own = [link("agent:scout", "index", "agent:scout", "style"), link("agent:scout", "index", "shared", "words")]
    shared = [link("shared", "style", "shared", "words"), link("shared", "words", "shared", "style")]
    assert fetch(own_gateway, "/links") == own + shared
    assert fetch(own_gateway, "/links", scope="agent:scout") == own
    assert fetch(own_gateway, "/links", scope="shared") == shared
    assert fetch(own_gateway, "/links", scope="nonsense") == []


def test_shared_file_may_be_assigned_to_an_agent_but_not_the_reverse(own_gateway):
    page(own_gateway, "given", "# Given\n", scope="agent:scout")
    page(own_gateway, "kept", "# Kept\n", directory="agents/scout/knowledge", scope="shared")
    assert {p["slug"]: p["scope"] for p in fetch(own_gateway, "/pages")} == {"given": "agent:scout", "kept": "agent:scout"}


def test_long_pages_added_at_once_are_all_indexed(own_gateway):
    links = "".join(f"[[page-{number}]] " for number in range(30))
    for number in range(30):
        page(own_gateway, f"page-{number}", links + f"word{number} " * 10_000)
    write(own_gateway, "knowledge/wiki/page-7.md", b"")
    stats = fetch(own_gateway, "/stats")
    assert (stats["pages"], stats["links"], stats["broken_links"]) == (30, 29 * 29, 0)
    assert [search(own_gateway, f"word{number}") for number in (0, 14, 29)] == [["page-0"], ["page-14"], ["page-29"]]
    for number in range(30):
        (own_gateway.data / "knowledge" / "wiki" / f"page-{number}.md").unlink()
    assert fetch(own_gateway, "/stats")["pages"] == 0


# Search.

def test_search_hit_has_slug_title_scope_and_snippet(own_gateway):
    page(own_gateway, "deploy", DEPLOY)
    [hit] = fetch(own_gateway, "/search", q="playbook")
    assert set(hit) == {"slug", "title", "snippet", "score", "scope"}
    assert (hit["slug"], hit["title"], hit["scope"]) == ("deploy", "Deploying", "shared")
    assert "Run the playbook from the control host." in hit["snippet"] and hit["score"] > 0


def test_snippet_shows_where_most_words_occur_together(own_gateway):
    days = "A day went by. " * 50
    page(own_gateway, "log", f"An otter came.\n\n{days}\n\nThe otter met a seal. {days}")
    [hit] = fetch(own_gateway, "/search", q="seal otter")
    assert "The otter met a seal." in hit["snippet"]
    assert hit["snippet"].startswith("…") and hit["snippet"].endswith("…")
    assert fetch(own_gateway, "/search", q="otter")[0]["snippet"].startswith("An otter came. A day went by.")
    assert fetch(own_gateway, "/search", q="log")[0]["snippet"].startswith("An otter came. A day went by.")


def test_page_repeating_a_word_is_searched_quickly(own_gateway):
    page(own_gateway, "log", "".join(f"INFO request {number} took {number % 97} ms\n" for number in range(20_000)))
    [hit] = fetch(own_gateway, "/search", q="info request ms 12345")
    assert "INFO request 12345 took" in hit["snippet"]


@pytest.mark.parametrize("query", ["", "?q=", "?limit=5", "?scope=shared"])
def test_search_needs_a_query(gateway, query):
    refused(gateway.http.get(f"/knowledge/search{query}"), 400, "q is required")


@pytest.mark.parametrize("limit", ["0", "-1", "x", "1.5"])
def test_invalid_limit_is_refused(gateway, limit):
    refused(gateway.http.get("/knowledge/search", params={"q": "a", "limit": limit}), 400,
            "limit must be a positive integer")
    refused(gateway.http.get("/knowledge/log", params={"limit": limit}), 400, "limit must be a positive integer")


def test_limit_keeps_the_best_hits(own_gateway):
    for number in range(5):
        page(own_gateway, f"note-{number}", f"# Note {number}\n\n" + "Filler words here. " * 20 + "A quokka once.\n")
    page(own_gateway, "quokka", "# The quokka\n\nThe quokka is a small marsupial. A quokka smiles.\n")
    assert search(own_gateway, "quokka")[0] == "quokka" and len(search(own_gateway, "quokka")) == 6
    assert search(own_gateway, "quokka", limit=1) == ["quokka"]
    scores = [hit["score"] for hit in fetch(own_gateway, "/search", q="quokka")]
    assert scores == sorted(scores, reverse=True)


def test_inflected_forms_are_found(own_gateway):
    page(own_gateway, "deploy", "# Ship it\n\nWho deploys, configures what is deployed.\n")
    assert search(own_gateway, "deploying") == ["deploy"] and search(own_gateway, "configure") == ["deploy"]
    assert search(own_gateway, "deplo*") == ["deploy"]


def test_question_finds_its_page(own_gateway):
    page(own_gateway, "rollback", "# Rolling back a release\n\nRun the old playbook again.\n")
    page(own_gateway, "vacation", "# Vacation\n\nHow do I ask for a day off? Write to the office.\n")
    assert search(own_gateway, "How do I roll back the release that I made?")[0] == "rollback"


def test_quoted_phrase_outranks_its_words(own_gateway):
    page(own_gateway, "apart", "# Apart\n\nThe red house. The barn door. A red fox, a barn owl.\n")
    page(own_gateway, "together", "# Together\n\nThere is one, and it is the red barn.\n")
    assert search(own_gateway, '"red barn"')[0] == "together"


@pytest.mark.parametrize("q", ['"', '""', '"a', "*", "a*b", "AND", "a AND", "NOT x", "(", "title:x", "a:b", "^a", "-a",
                               "NEAR(a b)", "'", ";--", "%", "\\", "{a}", "+a", "🦊", "é", "a" * 3000, "the", "...",
                               "x " * 500])
def test_any_query_is_accepted(own_gateway, q):
    page(own_gateway, "deploy", DEPLOY)
    assert isinstance(fetch(own_gateway, "/search", q=q), list)


def test_long_word_is_found(own_gateway):
    sentence = "これは長い日本語の文章で空白がありませんが検索できますか"
    page(own_gateway, "long", f"The identifier {'a' * 70} ends.\n\n{sentence}\n")
    assert search(own_gateway, "a" * 70) == search(own_gateway, "a" * 65 + "*") == search(own_gateway, sentence) == ["long"]


def test_word_of_any_language_is_found(own_gateway):
    page(own_gateway, "essen", "# Küche\n\nDer Löffel liegt in der Schublade. Привет. 漢字\n")
    for word in ("löffel", "Loffel", "привет", "漢字"):
        assert search(own_gateway, word) == ["essen"]


def test_part_of_an_unspaced_sentence_is_found(own_gateway):
    page(own_gateway, "trip", "# 旅行\n\n明日は東京に行きます。2024年の予定、大阪も。\n")
    page(own_gateway, "weather", "# 天气\n\n今天天气很好，我们去公园。\n")
    assert search(own_gateway, "東京") == search(own_gateway, "予定") == search(own_gateway, "大阪、東京？") == ["trip"]
    assert search(own_gateway, "天气") == search(own_gateway, "公园 night") == ["weather"]
    assert sorted(search(own_gateway, "東京 公园")) == ["trip", "weather"]
    assert search(own_gateway, "京都") == []


def test_word_next_to_another_script_is_found(own_gateway):
    page(own_gateway, "book", "# Python入門\n\nこれはDockerの本です。\n")
    for word in ("python", "入門", "docker", "Dockerの本"):
        assert search(own_gateway, word) == ["book"]
    [hit] = fetch(own_gateway, "/search", q="docker")
    assert hit["title"] == "Python入門" and "これはDockerの本です" in hit["snippet"]


# Counts, health, log.

def test_stats_count_pages_links_and_log_entries(own_gateway):
    page(own_gateway, "a", "# A\n\n[[b]] [[ghost]]\n")
    page(own_gateway, "b", "# B\n\none two three\n")
    raw(own_gateway, "source.md", "# Source\n")
    write(own_gateway, "knowledge/log.md", "## [2026-01-02T03:04:05.678Z] note | By hand\n")
    assert fetch(own_gateway, "/stats") == {"pages": 2, "sources": 1, "words": 7, "links": 2, "broken_links": 1, "orphans": 1,
                                    "log_entries": 1}


def test_health_lists_problems(own_gateway):
    page(own_gateway, "a", "# A\n\n[[b]] [[ghost]]\n", sources=["raw/gone.md"])
    page(own_gateway, "b", "# B\n")
    page(own_gateway, "own", "# Own\n\n[[b]]\n", directory="agents/scout/knowledge")
    raw(own_gateway, "new.md", "# New\n")
    health = fetch(own_gateway, "/health")
    assert health["shared"] == {"pages": 2, "orphans": ["a"], "broken_links": [{"slug": "a", "target": "ghost"}],
                                "stale": ["a"], "uncompiled": ["raw/new.md"]}
    assert health["agents"] == {"scout": {"pages": 1, "orphans": ["own"], "broken_links": [], "stale": [],
                                          "uncompiled": []}}
    assert health["raw"] == {"pages": 1, "orphans": [], "broken_links": [], "stale": [], "uncompiled": ["raw/new.md"]}


def test_page_older_than_its_source_is_stale(own_gateway):
    raw(own_gateway, "notes.md", "# Notes\n")
    page(own_gateway, "notes", "# Notes\n", sources=["raw/notes.md"], updated_at="2020-01-01")
    assert fetch(own_gateway, "/health")["shared"]["stale"] == ["notes"]
    page(own_gateway, "notes", "# Notes\n", sources=["raw/notes.md"], updated_at="2999-01-01")
    assert fetch(own_gateway, "/health")["shared"]["stale"] == []


def test_log_is_read_newest_first(own_gateway):
    write(own_gateway, "knowledge/log.md", """\
        # What happened

        ## [2026-01-02T03:04:05.678Z] note | First
        Some detail.

        On two lines.

        ## [2026-01-03] lint | Second

        ## not an entry
        """)
    assert fetch(own_gateway, "/log") == [
        {"at": "2026-01-03T00:00:00.000Z", "op": "lint", "title": "Second", "detail": "## not an entry"},
        {"at": "2026-01-02T03:04:05.678Z", "op": "note", "title": "First", "detail": "Some detail.\n\nOn two lines."}]
    assert [event["title"] for event in fetch(own_gateway, "/log", limit=1)] == ["Second"]


# Unknown paths, and authorization.

@pytest.mark.parametrize("path", ["/graph", "/graph/nodes", "/graph/search?q=x", "/knowledge/", "/knowledge/article",
                                  "/knowledge/article/", "/knowledge/nothing"])
def test_unknown_paths_are_not_found(gateway, path):
    refused(gateway.http.get(path), 404, "not found")


@pytest.mark.parametrize("path", ["", "/search?q=x", "/article/x", "/pages", "/stats", "/health", "/log"])
def test_knowledge_needs_the_token(gateway, path):
    refused(gateway.anonymous.get(f"/knowledge{path}"), 401, "unauthorized")


def test_entity_type_follows_the_pages(own_gateway):
    def entities():
        listed = accepted(own_gateway.http.get("/entities"))
        return [(entity["name"], entity["type"], slugs(entity["pages"])) for entity in listed]

    page(own_gateway, "a", entities=[{"name": "Ada", "type": "persn"}])
    page(own_gateway, "b", entities=["Ada"])
    assert entities() == [("Ada", "persn", ["a", "b"])]
    page(own_gateway, "a", entities=["Ada", {"name": "Ada", "type": "person"}])
    assert entities() == [("Ada", "person", ["a", "b"])]
    (own_gateway.data / "knowledge/wiki/a.md").unlink()
    assert entities() == [("Ada", None, ["b"])]


def test_pages_return_with_their_directory(own_gateway):
    page(own_gateway, "one")
    assert slugs(fetch(own_gateway, "/pages")) == ["one"]
    shutil.rmtree(own_gateway.data / "knowledge")
    assert fetch(own_gateway, "/pages") == []
    page(own_gateway, "two")
    assert slugs(fetch(own_gateway, "/pages")) == ["two"]
    page(own_gateway, "three")
    assert slugs(fetch(own_gateway, "/pages")) == ["three", "two"]
