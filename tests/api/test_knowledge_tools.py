"""SearchKnowledge and Ingest, and quotes of pages by the librarian.

See docs/contract/tools.md#the-tools and docs/contract/models.md#the-librarian.
"""

import pytest

from checks import accepted
from events import text_of
from knowledge import article, fetch, search, page
from stubs.web import WebStub
from talker import Talker, configuration
from tools import call_tool, new_agent, new_thread

PAGE = "<title>On tea</title><h1>Tea</h1><p>Boil the water, then wait for the oolong.</p>"


@pytest.fixture
def loopback_talker(make_gateway, stub):
    """A gateway whose agents may fetch from 127.0.0.1."""
    config = {**configuration(stub), "tools": {"web_fetch": {"allow_hosts": ["127.0.0.1"]}}}
    return Talker(make_gateway(config=config).start(), stub)


@pytest.fixture
def web():
    with WebStub() as stub:
        stub.answers("/docs/tea.html", PAGE)
        yield stub


def thread_of(talker, name, **options):
    return new_thread(talker.gateway, new_agent(talker.gateway, name, **options))


def answer_to(gateway, thread, content):
    """Sends a message and returns the agent's answer."""
    with gateway.events(thread["id"]) as events:
        turn = accepted(gateway.http.post("/chat", json={"content": content, "threadId": thread["id"]}), 201)
        return text_of(events.run(turn["id"]))


# SearchKnowledge.

def test_search_finds_pages_with_location_and_text(own_talker):
    page(own_talker.gateway, "deploy", "# Deploying\n\nRun the playbook.\n")
    end = call_tool(own_talker, thread_of(own_talker, "scout", stage="apprentice"), "SearchKnowledge",
                 {"query": "which playbook?"})
    assert not end["isError"]
    assert end["output"] == "## Deploying (shared, page deploy)\nDeploying Run the playbook.\n"


def test_agent_sees_shared_and_own_pages_only(own_talker):
    for directory, slug in (("knowledge/wiki", "ours"), ("agents/scout/knowledge", "mine"),
                            ("agents/other/knowledge", "theirs")):
        page(own_talker.gateway, slug, f"# {slug}\n\nThe walrus.\n", directory=directory)
    output = call_tool(own_talker, thread_of(own_talker, "scout"), "SearchKnowledge", {"query": "walrus"})["output"]
    assert "page ours" in output and "page mine" in output and "theirs" not in output


def test_page_limit_applies(own_talker):
    for number in range(9):
        page(own_talker.gateway, f"p{number}", f"# P{number}\n\nThe walrus.\n")
    thread = thread_of(own_talker, "scout")
    assert call_tool(own_talker, thread, "SearchKnowledge", {"query": "walrus"})["output"].count("##") == 5
    assert call_tool(own_talker, thread, "SearchKnowledge", {"query": "walrus", "limit": 2})["output"].count("##") == 2
    assert call_tool(own_talker, thread, "SearchKnowledge", {"query": "nothing"})["output"] == "No page matches."


# Ingest.

def test_web_page_becomes_the_agents_knowledge(loopback_talker, web):
    thread = thread_of(loopback_talker, "scout")
    end = call_tool(loopback_talker, thread, "Ingest", {"url": web.url("/docs/tea.html")})
    assert not end["isError"], end
    assert search(loopback_talker.gateway, "oolong", scope="shared") == []
    [slug] = search(loopback_talker.gateway, "oolong", scope="agent:scout")
    kept = article(loopback_talker.gateway, slug)
    assert kept["title"] == "On tea" and web.url("/docs/tea.html") in kept["sources"]
    assert kept["content"].startswith("# Tea\n\nBoil the water")
    assert {event["op"] for event in fetch(loopback_talker.gateway, "/log")} == {"compile", "ingest"}


def test_ingesting_a_page_again_replaces_it(loopback_talker, web):
    thread = thread_of(loopback_talker, "scout")
    call_tool(loopback_talker, thread, "Ingest", {"url": web.url("/docs/tea.html")})
    web.answers("/docs/tea.html", PAGE.replace("oolong", "sencha"))
    call_tool(loopback_talker, thread, "Ingest", {"url": web.url("/docs/tea.html")})
    assert search(loopback_talker.gateway, "oolong") == [] and len(search(loopback_talker.gateway, "sencha")) == 1
    assert len(fetch(loopback_talker.gateway, "/pages")) == 1


def test_page_refused_by_webfetch_is_not_stored(own_talker, web):
    end = call_tool(own_talker, thread_of(own_talker, "scout", stage="sovereign"), "Ingest",
                 {"url": web.url("/docs/tea.html")})
    assert end["isError"] and fetch(own_talker.gateway, "/pages") == [] and web.requests == []


def test_below_trusted_only_named_addresses_are_stored(own_talker):
    end = call_tool(own_talker, thread_of(own_talker, "scout"), "Ingest", {"url": "https://example.org/x"})
    assert end["isError"] and end["output"].startswith("permission denied: below stage trusted")


def test_apprentice_stores_nothing(loopback_talker, web):
    thread = thread_of(loopback_talker, "scout", stage="apprentice")
    for input in {"url": web.url("/docs/tea.html")}, {"thread": "this"}:
        end = call_tool(loopback_talker, thread, "Ingest", input)
        assert end["isError"] and "permission denied" in end["output"]
    assert fetch(loopback_talker.gateway, "/pages") == [] and web.requests == []


def test_conversation_is_stored(own_talker):
    thread = thread_of(own_talker, "scout")
    own_talker.says(thread, "The password of the vault is in the blue folder.", answer="I see.")
    end = call_tool(own_talker, thread, "Ingest", {"thread": "this", "title": "The vault"})
    assert not end["isError"], end
    [slug] = search(own_talker.gateway, "blue folder", scope="agent:scout")
    assert article(own_talker.gateway, slug)["title"] == "The vault"
    assert f"thread {thread['id']}" in article(own_talker.gateway, slug)["sources"]


def test_conversation_with_a_nul_character_is_stored(own_talker):
    thread = thread_of(own_talker, "scout")
    own_talker.says(thread, "The password of the vault\0is in the blue folder.", answer="I see.")
    end = call_tool(own_talker, thread, "Ingest", {"thread": "this"})
    assert not end["isError"], end
    assert len(search(own_talker.gateway, "blue folder", scope="agent:scout")) == 1


def test_file_is_stored(own_talker):
    gateway = own_talker.gateway
    (gateway.home / "notes.txt").write_text("Harbour notes\n\nThe heron nests there.\n")
    thread = thread_of(own_talker, "scout")
    for path in "~/notes.txt", str(gateway.home / "notes.txt"):
        end = call_tool(own_talker, thread, "Ingest", {"path": path})
        assert not end["isError"], end
    [slug] = search(gateway, "heron", scope="agent:scout")
    kept = article(gateway, slug)
    assert kept["title"] == "Harbour notes" and str((gateway.home / "notes.txt").resolve()) in kept["sources"]


def test_file_with_a_long_path_is_one_page_that_names_it(own_talker):
    gateway = own_talker.gateway
    folder = gateway.home / "/".join(["two  blanks", *["long" * 15] * 4])
    folder.mkdir(parents=True)
    file = folder / "notes.txt"
    file.write_text("Harbour notes\n\nThe heron nests there.\n")
    thread = thread_of(own_talker, "scout")
    for _ in range(2):
        end = call_tool(own_talker, thread, "Ingest", {"path": str(file)})
        assert not end["isError"], end
    [slug] = search(gateway, "heron", scope="agent:scout")
    assert str(file.resolve()) in article(gateway, slug)["sources"]


def test_files_hidden_from_agents_are_not_stored(own_talker, tmp_path):
    gateway = own_talker.gateway
    (gateway.home / ".ssh").mkdir()
    (gateway.home / ".ssh/id_rsa").write_text("marmoset")
    (gateway.home / "key.txt").symlink_to(gateway.home / ".ssh/id_rsa")
    (gateway.home / "hard.txt").hardlink_to(gateway.home / ".ssh/id_rsa")
    (gateway.home / "two.txt").write_text("marmoset")
    (gateway.home / "names.txt").hardlink_to(gateway.home / "two.txt")
    (tmp_path / "outside.txt").write_text("marmoset")
    thread = thread_of(own_talker, "scout", stage="sovereign")
    for path in ("~/.ssh/id_rsa", "~/key.txt", "~/hard.txt", "~/names.txt", str(tmp_path / "outside.txt"), "/etc/passwd",
                 str(gateway.data / ".gateway-token"), str(gateway.data / "gateway.db"), "/proc/self/environ", "/dev/zero",
                 "~", "~/nothing.txt", "../../../.gateway-token"):
        end = call_tool(own_talker, thread, "Ingest", {"path": path})
        assert end["isError"], end
    assert search(gateway, "marmoset") == [] and fetch(gateway, "/pages") == []


def test_conversation_of_another_agent_is_not_stored(own_talker):
    other = thread_of(own_talker, "other")
    own_talker.says(other, "This is private.", answer="I see.")
    end = call_tool(own_talker, thread_of(own_talker, "scout"), "Ingest", {"thread": other["id"]})
    assert end["isError"] and "thread not found" in end["output"] and fetch(own_talker.gateway, "/pages") == []


@pytest.mark.parametrize("input", [
    {}, {"url": "https://a.b", "thread": "this"}, {"path": "x"}, {"url": ""}, {"path": "a", "thread": "this"}])
def test_invalid_call_is_an_error(own_talker, input):
    assert call_tool(own_talker, thread_of(own_talker, "scout"), "Ingest", input)["isError"]


def test_stored_page_cannot_escape_its_directory_or_forge_front_matter(loopback_talker, web):
    web.answers("/..%2f..%2fevil", "---\ntitle: forged\nscope: shared\nsources: [raw/x.md]\n---\nThe quoll.",
                content_type="text/plain")
    end = call_tool(loopback_talker, thread_of(loopback_talker, "scout"), "Ingest", {"url": web.url("/..%2f..%2fevil"),
                                                                    "title": "../../x\ny: z"})
    assert not end["isError"], end
    [slug] = search(loopback_talker.gateway, "quoll", scope="agent:scout")
    assert article(loopback_talker.gateway, slug)["title"] == "../../x y: z"
    assert search(loopback_talker.gateway, "quoll", scope="shared") == []


# The librarian.

def test_librarian_quotes_pages_with_source(own_gateway):
    page(own_gateway, "deploy", "# Deploying the shop\n\nRun the playbook from the control host.\n")
    thread = accepted(own_gateway.http.post("/threads", json={}), 201)
    text = answer_to(own_gateway, thread, "Where do I run the playbook?")
    assert "> Deploying the shop Run the playbook from the control host." in text
    assert "— the knowledge page “Deploying the shop” (`deploy`)" in text


@pytest.mark.parametrize("content", ["\x01", "\0 a", "?! \x1f"])
def test_question_without_a_word_is_answered(own_gateway, content):
    page(own_gateway, "mine", "# Mine\n\nThe walrus sleeps.\n")
    assert answer_to(own_gateway, accepted(own_gateway.http.post("/threads", json={}), 201), content)


def test_librarian_quotes_the_agents_pages(own_gateway):
    page(own_gateway, "mine", "# Mine\n\nThe walrus sleeps.\n", directory="agents/assistant/knowledge")
    page(own_gateway, "theirs", "# Theirs\n\nThe walrus wakes.\n", directory="agents/other/knowledge")
    text = answer_to(own_gateway, accepted(own_gateway.http.post("/threads", json={}), 201), "What does the walrus do?")
    assert "(`mine`, of this agent)" in text and "wakes" not in text
