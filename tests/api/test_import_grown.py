"""A conversation that went on since its last import: its threads go on, and none gets a second version of an answer.

See docs/contract/transfer.md#agw-import.
"""

from test_import_claude_code import line
from transfer import ChatGPT, created, imported, texts, threads, write_json, write_lines


def told(gateway):
    """Returns the texts of all threads by title, in one line each."""
    return {title: " ".join(content for _, content in texts(gateway, title)) for title in threads(gateway)}


def import_chat(gateway, tmp_path, chat):
    """Imports the conversation twice and returns what was created at first."""
    path = write_json(tmp_path / "conversations.json", [chat.conversation])
    first = created(imported(gateway, "chatgpt", path))
    assert created(imported(gateway, "chatgpt", path)) == {}
    return first


def test_an_answer_regenerated_since_becomes_a_fork_that_goes_on(own_gateway, tmp_path):
    chat = ChatGPT()
    question = chat.say("user", "Where?")
    rome = chat.say("assistant", "Rome.")
    import_chat(own_gateway, tmp_path, chat)
    chat.say("assistant", "Oslo.", parent=question)
    chat.say("user", "When?")
    chat.say("assistant", "May.")
    assert import_chat(own_gateway, tmp_path, chat) == {"threads": 1, "turns": 4}
    assert told(own_gateway) == {"Trip": "Where? Rome.", "Trip (fork 1)": "Where? Oslo. When? May."}
    chat.say("user", "How?")
    assert import_chat(own_gateway, tmp_path, chat) == {"turns": 1}
    chat.say("user", "Why?", parent=rome)
    assert import_chat(own_gateway, tmp_path, chat) == {"turns": 1}
    assert told(own_gateway) == {"Trip": "Where? Rome. Why?", "Trip (fork 1)": "Where? Oslo. When? May. How?"}


def test_a_fork_that_parted_since_goes_on_as_it_was_imported(own_gateway, tmp_path):
    chat = ChatGPT()
    question = chat.say("user", "Where?")
    chat.say("assistant", "Rome.")
    oslo = chat.say("assistant", "Oslo.", parent=question)
    chat.conversation["current_node"] = "m2"
    import_chat(own_gateway, tmp_path, chat)
    when = chat.say("user", "When?", parent=oslo)
    chat.say("assistant", "May.")
    import_chat(own_gateway, tmp_path, chat)
    chat.say("assistant", "June.", parent=when)
    assert import_chat(own_gateway, tmp_path, chat) == {"threads": 1, "turns": 4}
    assert told(own_gateway) == {"Trip": "Where? Rome.", "Trip (fork 1)": "Where? Oslo. When? May.",
                                 "Trip (fork 2)": "Where? Oslo. When? June."}


def test_a_thread_that_went_on_here_keeps_its_answer(own_gateway, tmp_path):
    chat = ChatGPT()
    question = chat.say("user", "Where?")
    chat.say("assistant", "Rome.")
    import_chat(own_gateway, tmp_path, chat)
    thread = threads(own_gateway)["Trip"]["id"]
    for number in range(60):
        own_gateway.http.post(f"/threads/{thread}/turns", json={"role": "user", "content": f"{number}"}).raise_for_status()
    chat.say("assistant", "Oslo.", parent=question)
    import_chat(own_gateway, tmp_path, chat)
    assert told(own_gateway)["Trip"].startswith("Where? Rome. 0 1 ") and told(own_gateway)["Trip"].endswith(" 58 59")
    assert told(own_gateway)["Trip (fork 1)"] == "Where? Oslo."


def test_a_session_of_claude_code_that_was_rewound_since_gets_a_fork(own_gateway):
    path = own_gateway.home / ".claude" / "projects" / "p" / "s1.jsonl"
    lines = [line("user", "u1", "Saw"), line("assistant", "a1", "Sawn.", "u1", 1), line("user", "u2", "Paint", "a1", 2),
             line("assistant", "a2", "Painted.", "u2", 3)]
    write_lines(path, lines)
    imported(own_gateway, "claude-code", own_gateway.home / ".claude")
    lines += [line("user", "u3", "Sand", "a1", 4), line("assistant", "a3", "Sanded.", "u3", 5)]
    write_lines(path, lines)
    imported(own_gateway, "claude-code", own_gateway.home / ".claude")
    assert told(own_gateway) == {"Saw": "Saw Sawn. Paint Painted.", "Saw (fork 1)": "Saw Sawn. Sand Sanded."}
