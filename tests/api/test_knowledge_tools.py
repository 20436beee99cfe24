"""SearchKnowledge and Ingest, and the librarian that quotes pages (decisions, 9, 12, 13)."""

import pytest

from checks import accepted
from events import text_of
from knowledge import article, asked, found, page
from stubs.web import WebStub
from talker import Talker, configuration
from tools import called, new_agent, new_thread

PAGE = "<title>On tea</title><h1>Tea</h1><p>Boil the water, then wait for the oolong.</p>"


@pytest.fixture
def allowing(make_gateway, stub):
    """A gateway whose agents may fetch from this host's loopback by name."""
    config = {**configuration(stub), "tools": {"web_fetch": {"allow_hosts": ["127.0.0.1"]}}}
    return Talker(make_gateway(config=config).start(), stub)


@pytest.fixture
def web():
    with WebStub() as running:
        running.answers("/docs/tea.html", PAGE)
        yield running


def thread_of(talker, name, **options):
    return new_thread(talker.gateway, new_agent(talker.gateway, name, **options))


def told(gateway, thread, content):
    """What the agent answers."""
    with gateway.events(thread["id"]) as events:
        turn = accepted(gateway.http.post("/chat", json={"content": content, "threadId": thread["id"]}), 201)
        return text_of(events.run(turn["id"]))


# SearchKnowledge.

def test_pages_are_found_with_where_and_what(own_talker):
    page(own_talker.gateway, "deploy", "# Deploying\n\nRun the playbook.\n")
    end = called(own_talker, thread_of(own_talker, "scout", stage="apprentice"), "SearchKnowledge",
                 {"query": "which playbook?"})
    assert not end["isError"]
    assert end["output"] == "## Deploying (shared, page deploy)\nDeploying Run the playbook.\n"


def test_an_agent_sees_the_shared_pages_and_its_own_only(own_talker):
    for directory, slug in (("knowledge/wiki", "ours"), ("agents/scout/knowledge", "mine"),
                            ("agents/other/knowledge", "theirs")):
        page(own_talker.gateway, slug, f"# {slug}\n\nThe walrus.\n", directory=directory)
    output = called(own_talker, thread_of(own_talker, "scout"), "SearchKnowledge", {"query": "walrus"})["output"]
    assert "page ours" in output and "page mine" in output and "theirs" not in output


def test_a_limit_of_pages_is_kept(own_talker):
    for number in range(9):
        page(own_talker.gateway, f"p{number}", f"# P{number}\n\nThe walrus.\n")
    thread = thread_of(own_talker, "scout")
    assert called(own_talker, thread, "SearchKnowledge", {"query": "walrus"})["output"].count("##") == 5
    assert called(own_talker, thread, "SearchKnowledge", {"query": "walrus", "limit": 2})["output"].count("##") == 2
    assert called(own_talker, thread, "SearchKnowledge", {"query": "nothing"})["output"] == "No page matches."


# Ingest.

def test_a_web_page_becomes_the_agents_own_knowledge(allowing, web):
    thread = thread_of(allowing, "scout")
    end = called(allowing, thread, "Ingest", {"url": web.url("/docs/tea.html")})
    assert not end["isError"], end
    assert found(allowing.gateway, "oolong", scope="shared") == []
    [slug] = found(allowing.gateway, "oolong", scope="agent:scout")
    kept = article(allowing.gateway, slug)
    assert kept["title"] == "On tea" and web.url("/docs/tea.html") in kept["sources"]
    assert kept["content"].startswith("# Tea\n\nBoil the water")
    assert {event["op"] for event in asked(allowing.gateway, "/log")} == {"compile", "ingest"}


def test_the_same_page_again_takes_the_place_of_the_first(allowing, web):
    thread = thread_of(allowing, "scout")
    called(allowing, thread, "Ingest", {"url": web.url("/docs/tea.html")})
    web.answers("/docs/tea.html", PAGE.replace("oolong", "sencha"))
    called(allowing, thread, "Ingest", {"url": web.url("/docs/tea.html")})
    assert found(allowing.gateway, "oolong") == [] and len(found(allowing.gateway, "sencha")) == 1
    assert len(asked(allowing.gateway, "/pages")) == 1


def test_what_webfetch_refuses_is_not_kept(own_talker, web):
    end = called(own_talker, thread_of(own_talker, "scout", stage="sovereign"), "Ingest",
                 {"url": web.url("/docs/tea.html")})
    assert end["isError"] and asked(own_talker.gateway, "/pages") == [] and web.requests == []


def test_below_trusted_only_named_addresses_are_kept(own_talker):
    end = called(own_talker, thread_of(own_talker, "scout"), "Ingest", {"url": "https://example.org/x"})
    assert end["isError"] and end["output"].startswith("permission denied: below stage trusted")


def test_an_apprentice_keeps_nothing(allowing, web):
    thread = thread_of(allowing, "scout", stage="apprentice")
    for input in {"url": web.url("/docs/tea.html")}, {"thread": "this"}:
        end = called(allowing, thread, "Ingest", input)
        assert end["isError"] and "permission denied" in end["output"]
    assert asked(allowing.gateway, "/pages") == [] and web.requests == []


def test_a_conversation_is_kept(own_talker):
    thread = thread_of(own_talker, "scout")
    own_talker.says(thread, "The password of the vault is in the blue folder.", answer="I see.")
    end = called(own_talker, thread, "Ingest", {"thread": "this", "title": "The vault"})
    assert not end["isError"], end
    [slug] = found(own_talker.gateway, "blue folder", scope="agent:scout")
    assert article(own_talker.gateway, slug)["title"] == "The vault"
    assert f"thread {thread['id']}" in article(own_talker.gateway, slug)["sources"]


def test_a_file_is_kept(own_talker):
    gateway = own_talker.gateway
    (gateway.home / "notes.txt").write_text("Harbour notes\n\nThe heron nests there.\n")
    thread = thread_of(own_talker, "scout")
    for path in "~/notes.txt", str(gateway.home / "notes.txt"):
        end = called(own_talker, thread, "Ingest", {"path": path})
        assert not end["isError"], end
    [slug] = found(gateway, "heron", scope="agent:scout")
    kept = article(gateway, slug)
    assert kept["title"] == "Harbour notes" and str((gateway.home / "notes.txt").resolve()) in kept["sources"]


def test_a_file_of_a_long_path_is_kept_as_one_page_which_names_it(own_talker):
    gateway = own_talker.gateway
    folder = gateway.home / "/".join(["two  blanks", *["long" * 15] * 4])
    folder.mkdir(parents=True)
    file = folder / "notes.txt"
    file.write_text("Harbour notes\n\nThe heron nests there.\n")
    thread = thread_of(own_talker, "scout")
    for _ in range(2):
        end = called(own_talker, thread, "Ingest", {"path": str(file)})
        assert not end["isError"], end
    [slug] = found(gateway, "heron", scope="agent:scout")
    assert str(file.resolve()) in article(gateway, slug)["sources"]


def test_files_that_agents_never_see_are_not_kept(own_talker, tmp_path):
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
        end = called(own_talker, thread, "Ingest", {"path": path})
        assert end["isError"], end
    assert found(gateway, "marmoset") == [] and asked(gateway, "/pages") == []


def test_another_agents_conversation_is_not_kept(own_talker):
    other = thread_of(own_talker, "other")
    own_talker.says(other, "This is private.", answer="I see.")
    end = called(own_talker, thread_of(own_talker, "scout"), "Ingest", {"thread": other["id"]})
    assert end["isError"] and "thread not found" in end["output"] and asked(own_talker.gateway, "/pages") == []


@pytest.mark.parametrize("input", [{}, {"url": "https://a.b", "thread": "this"}, {"path": "x"}, {"url": ""}, {"path": "a", "thread": "this"}])
def test_a_wrong_call_is_an_error(own_talker, input):
    assert called(own_talker, thread_of(own_talker, "scout"), "Ingest", input)["isError"]


def test_what_is_kept_cannot_leave_its_place_nor_forge_a_head(allowing, web):
    web.answers("/..%2f..%2fevil", "---\ntitle: forged\nscope: shared\nsources: [raw/x.md]\n---\nThe quoll.",
                content_type="text/plain")
    end = called(allowing, thread_of(allowing, "scout"), "Ingest", {"url": web.url("/..%2f..%2fevil"),
                                                                    "title": "../../x\ny: z"})
    assert not end["isError"], end
    [slug] = found(allowing.gateway, "quoll", scope="agent:scout")
    assert article(allowing.gateway, slug)["title"] == "../../x y: z"
    assert found(allowing.gateway, "quoll", scope="shared") == []


# The librarian.

def test_the_librarian_quotes_pages_with_their_source(own):
    page(own, "deploy", "# Deploying the shop\n\nRun the playbook from the control host.\n")
    thread = accepted(own.http.post("/threads", json={}), 201)
    text = told(own, thread, "Where do I run the playbook?")
    assert "> Deploying the shop Run the playbook from the control host." in text
    assert "— the knowledge page “Deploying the shop” (`deploy`)" in text


@pytest.mark.parametrize("content", ["\x01", "\0 a", "?! \x1f"])
def test_a_question_without_a_word_is_answered(own, content):
    page(own, "mine", "# Mine\n\nThe walrus sleeps.\n")
    assert told(own, accepted(own.http.post("/threads", json={}), 201), content)


def test_the_librarian_knows_the_agents_own_pages(own):
    page(own, "mine", "# Mine\n\nThe walrus sleeps.\n", directory="agents/assistant/knowledge")
    page(own, "theirs", "# Theirs\n\nThe walrus wakes.\n", directory="agents/other/knowledge")
    text = told(own, accepted(own.http.post("/threads", json={}), 201), "What does the walrus do?")
    assert "(`mine`, of this agent)" in text and "wakes" not in text
