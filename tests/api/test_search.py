"""Full-text search in turns: syntax, ranking, and queries that must not fail.

See docs/contract/chat.md#search.
"""

import pytest

from checks import UNKNOWN_ID, accepted, at_once, ids, refused

TEXTS = {
    "cat": "The cat sat on the mat.",
    "dog": "A dog chased the cat around the garden.",
    "fish": "Fish swim in the garden pond, says the gardener.",
    "both": "dog and fish and nothing else",
    "code": "call std::vector<int>::push_back(5) in C++ at 127.0.0.1:7420",
    "german": "Die Größe der Übung war überraschend.",
}


@pytest.fixture(scope="module")
def texts_thread(gateway, new_name):
    """A thread of a separate agent that contains TEXTS: agent, thread, and the turns by key."""
    agent = new_name("librarians-reader")
    thread = accepted(gateway.http.post("/threads", json={"agent_id": agent}), 201)
    made = {key: add(gateway, thread, text) for key, text in TEXTS.items()}
    return agent, thread, made


@pytest.fixture
def find(gateway, texts_thread):
    """Searches in that thread and returns the keys of the hits, best first."""
    agent, _, made = texts_thread
    keys = {turn["id"]: key for key, turn in made.items()}

    def find(query, **params):
        found = accepted(gateway.http.get("/turns/search", params={"q": query, "agent_id": agent, **params}))
        return [keys[turn["id"]] for turn in found]
    return find


def add(gateway, thread, content, role="user"):
    return accepted(gateway.http.post(f"/threads/{thread['id']}/turns", json={"content": content, "role": role}), 201)


def search(gateway, query, agent, **params):
    return accepted(gateway.http.get("/turns/search", params={"q": query, "agent_id": agent, **params}))


# Required parameters.


def test_q_and_agent_id_are_required(gateway):
    refused(gateway.http.get("/turns/search"), 400, "q is required")
    refused(gateway.http.get("/turns/search?agent_id=assistant"), 400, "q is required")
    refused(gateway.http.get("/turns/search?q=a"), 400, "agent_id is required")


def test_unknown_agents_and_threads_have_no_results(gateway, texts_thread):
    assert search(gateway, "cat", UNKNOWN_ID) == [] == search(gateway, "cat", "no such agent")
    assert search(gateway, "cat", texts_thread[0], thread_id=UNKNOWN_ID) == []


# The response.


def test_results_are_whole_turns_with_a_snippet(gateway, texts_thread):
    agent, _, made = texts_thread
    found = search(gateway, "mat", agent)
    assert len(found) == 1
    assert {member: found[0][member] for member in made["cat"]} == made["cat"]
    assert set(found[0]) == {*made["cat"], "snippet"} and "mat" in found[0]["snippet"]


def test_snippet_is_short_and_shows_the_match(gateway, new_name):
    agent = new_name("snippets")
    thread = accepted(gateway.http.post("/threads", json={"agent_id": agent}), 201)
    add(gateway, thread, "before " * 2000 + "needle " + "after " * 2000)
    snippet = search(gateway, "needle", agent)[0]["snippet"]
    assert "needle" in snippet and len(snippet) < 1000


def test_default_limit_is_20(gateway, new_name):
    agent = new_name("many")
    thread = accepted(gateway.http.post("/threads", json={"agent_id": agent}), 201)
    at_once(5, lambda _: [add(gateway, thread, "same words") for _ in range(5)])
    assert len(search(gateway, "same", agent)) == 20
    assert len(search(gateway, "same", agent, limit=3)) == 3
    assert len(search(gateway, "same", agent, limit=1000)) == 25


def test_results_are_ranked_by_relevance(gateway, new_name):
    agent = new_name("ranked")
    thread = accepted(gateway.http.post("/threads", json={"agent_id": agent}), 201)
    weak = add(gateway, thread, "A long text about many things, where the word volcano stands once among others. "
               + "Here follow more and more words that have nothing to do with it. " * 20)
    strong = add(gateway, thread, "volcano volcano volcano")
    add(gateway, thread, "nothing of the kind")
    assert ids(search(gateway, "volcano", agent)) == ids([strong, weak])


# Scope.


def test_search_is_limited_to_the_agent_and_thread(gateway, new_name):
    mine, other = new_name("scope"), new_name("scope")
    threads = [accepted(gateway.http.post("/threads", json={"agent_id": agent}), 201) for agent in (mine, mine, other)]
    made = [add(gateway, thread, "common ground") for thread in threads]
    assert set(ids(search(gateway, "common", mine))) == set(ids(made[:2]))
    assert ids(search(gateway, "common", other)) == [made[2]["id"]]
    assert ids(search(gateway, "common", mine, thread_id=threads[1]["id"])) == [made[1]["id"]]
    assert search(gateway, "common", mine, thread_id=threads[2]["id"]) == []


def test_agent_can_be_named_by_name_or_by_id(gateway, thread, new_name):
    word = new_name("xylophone").replace("-", "")
    turn = add(gateway, thread, word)
    assert ids(search(gateway, word, "assistant")) == ids(search(gateway, word, thread["agent_id"])) == [turn["id"]]


@pytest.mark.parametrize("role", ["user", "assistant", "system", "tool"])
def test_turns_of_every_role_are_found(gateway, thread, new_name, role):
    word = new_name("zeppelin").replace("-", "")
    turn = add(gateway, thread, word, role)
    assert ids(search(gateway, word, "assistant")) == [turn["id"]]


# Freshness.


def test_turn_is_found_at_once_and_no_longer_once_deleted(gateway, thread, new_name):
    for _ in range(20):
        word = new_name("instant").replace("-", "")
        turn = add(gateway, thread, f"say {word} now")
        assert ids(search(gateway, word, "assistant")) == [turn["id"]]
        assert gateway.http.delete(f"/turns/{turn['id']}").status_code == 204
        assert search(gateway, word, "assistant") == []


def test_deleted_turn_is_not_found_after_indexing(gateway, new_name):
    agent = new_name("forgetful")
    thread = accepted(gateway.http.post("/threads", json={"agent_id": agent}), 201)
    made = at_once(8, lambda _: [add(gateway, thread, "memory") for _ in range(40)])
    assert len(search(gateway, "memory", agent, limit=1000)) == 320
    for turn in made[0]:
        gateway.http.delete(f"/turns/{turn['id']}")
    found = ids(search(gateway, "memory", agent, limit=1000))
    assert len(found) == 280 and not set(found) & set(ids(made[0]))


def test_turns_are_found_after_a_restart_and_a_kill(own_gateway):
    thread = accepted(own_gateway.http.post("/threads", json={}), 201)
    first = add(own_gateway, thread, "indexed before")
    own_gateway.restart()
    assert ids(search(own_gateway, "indexed", "assistant")) == [first["id"]]
    second = add(own_gateway, thread, "indexed later")
    own_gateway.kill()
    own_gateway.start()
    assert set(ids(search(own_gateway, "indexed", "assistant"))) == set(ids([first, second]))


# Syntax.


@pytest.mark.parametrize("query, expected", [
    ("cat", {"cat", "dog"}), ("CAT", {"cat", "dog"}), ("garden", {"dog", "fish"}),
    ("dog cat", {"dog"}), ("cat dog", {"dog"}), ("dog nonexistent", set()),
    ("  cat   mat  ", {"cat"}), ("cat, mat!", {"cat"}),
])
def test_all_words_must_match(find, query, expected):
    assert set(find(query)) == expected


@pytest.mark.parametrize("query, expected", [
    ('"cat sat"', {"cat"}), ('"sat cat"', set()), ('"the cat" garden', {"dog"}), ('"the garden"', {"dog", "fish"}),
    ('"dog and fish"', {"both"}), ('"cat"', {"cat", "dog"}), ('"cat" "mat"', {"cat"}),
])
def test_quoted_phrase_matches_in_order(find, query, expected):
    assert set(find(query)) == expected


@pytest.mark.parametrize("query, expected", [
    ("gard*", {"dog", "fish"}), ("gardene*", {"fish"}), ("GARD*", {"dog", "fish"}), ("ca* ma*", {"cat"}),
    ("zzz*", set()), ("cat*", {"cat", "dog"}),
])
def test_prefix_matches_the_start_of_words(find, query, expected):
    assert set(find(query)) == expected


@pytest.mark.parametrize("query, expected", [
    ("cat AND dog", {"dog"}), ("cat AND mat AND sat", {"cat"}), ('"the cat" AND garden', {"dog"}),
    ("gard* AND fish", {"fish"}),
    ("mat OR pond", {"cat", "fish"}), ("mat OR pond OR else", {"cat", "fish", "both"}),
    ("cat NOT dog", {"cat"}), ("fish NOT pond", {"both"}), ("garden NOT (dog OR pond)", set()),
    ("(mat OR pond) AND cat", {"cat"}), ("(dog OR fish) garden", {"dog", "fish"}),
    ("((cat))", {"cat", "dog"}), ("(cat AND dog) OR pond", {"dog", "fish"}),
])
def test_operators(find, query, expected):
    assert set(find(query)) == expected


def test_operators_are_upper_case(find):
    assert find("dog and fish") == ["both"]
    assert find("cat or dog") == []
    assert find("cat not dog") == []


@pytest.mark.parametrize("query, expected", [
    ('"cat sat', {"cat"}), ("(cat mat", {"cat"}), ("cat) mat", {"cat"}), ('cat"', {"cat", "dog"}),
    ("*cat", {"cat", "dog"}),
    ("AND fish dog", {"both"}), ("fish dog OR", {"both"}), ("+cat -mat", {"cat"}), ("^cat", {"cat", "dog"}),
    ("std::vector", {"code"}), ("push_back(5)", {"code"}), ("127.0.0.1", {"code"}),
    ("C++", {"code"}), ("cat; mat", {"cat"}), ("{cat mat}", {"cat"}), ("cat + mat", {"cat"}), ("#cat @mat", {"cat"}),
])
def test_invalid_syntax_is_searched_as_plain_words(find, query, expected):
    assert set(find(query)) == expected


@pytest.mark.parametrize("query", ["content:cat", "body:cat", "scope:cat", "rowid:1", "scope:t1", "{body scope}:cat",
                                   "body : cat", "-scope:cat"])
def test_column_names_are_not_special(find, query):
    assert find(query) == []


def test_umlauts_are_letters(find):
    assert find("Größe") == ["german"] and find("größe") == ["german"] and find("überr*") == ["german"]


HOSTILE_QUERIES = [
    '"', '""', '"""', '" "', "'", "''", "(", ")", "()", "(((", ")))", "*", "**", "* *", "AND", "OR", "NOT", "AND AND",
    "AND OR NOT", "NOT cat", "NOT NOT cat", "cat NOT", "OR cat", "cat OR", "cat OR OR mat", "NEAR", "NEAR(cat mat)",
    "NEAR(cat mat, 5)", "NEAR(", "cat NEAR/3 mat", "^", "^^", "+", "-", "--", ":", "::", ";", "; DROP TABLE turns; --",
    "' OR '1'='1", "%", "_", "\\", "/", "?", "!!!", "...", "{", "}", "[cat]", "<b>", "&", "&&", "|", "||", "~", "`",
    "$",
    "€", "😀", "😀*", "漢字", "مرحبا", "\u202e", "\u200b", "\ufffe", "e\u0301", "\t", "\n", "a\nb", "\x7f", '"cat*"',
    'cat*mat', '"*"',
    "()cat", "cat()", "(AND)", "(NOT)", "(cat AND)", '("cat)', '"(cat"', "cat AND (mat", "(" * 5000, ")" * 5000,
    "(" * 500 + "cat" + ")" * 500, '"' * 5001, "a " * 5000, "a OR " * 2000 + "a", "NOT " * 2000 + "a", "x" * 20_000,
    "*" * 5000,
    "cat* OR *", "1e400", "0", "null", "cat AND NOT mat", "cat NOT AND mat", "-cat", "cat -mat", "cat+mat",
    '"cat" + "mat"', "cat-mat",
    "cat/mat", "cat:mat", "cat's",
]


@pytest.mark.parametrize("query", HOSTILE_QUERIES, ids=range(len(HOSTILE_QUERIES)))
def test_no_query_causes_an_error(gateway, texts_thread, query):
    for params in ({}, {"thread_id": texts_thread[1]["id"]}):
        found = search(gateway, query, texts_thread[0], **params)
        assert all(turn["thread_id"] == texts_thread[1]["id"] for turn in found)


# Scripts without spaces.


def test_scripts_without_spaces_are_split_from_each_other(gateway, new_name):
    agent = new_name("reader")
    thread = accepted(gateway.http.post("/threads", json={"agent_id": agent}), 201)
    turn = add(gateway, thread, "これはPython3入門です。Docker는 다음에.")
    for query in ("python3", "Python3", "入門", "Python3入門", "docker", "Docker는", '"python3"', "pyth*", "다음"):
        [found] = search(gateway, query, agent)
        assert found["id"] == turn["id"] and "Python3入門" in found["snippet"], query
    assert search(gateway, "python", agent) == [] == search(gateway, "thon3", agent)
