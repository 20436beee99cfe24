"""The commands that talk to a running gateway: status, chat, threads and search; and token show.

See docs/command-line.md#commands and docs/command-line.md#chat and docs/command-line.md#output.
"""

import json
import os
import re
import signal
import socket
import subprocess
import termios

import pytest

from checks import PATIENCE, UNKNOWN_ID, accepted, ids
from gateway import BINARY
from jobs import wait_for
from stubs.provider import Fault
from terminal import Terminal

PROMPT = "> "
COMMANDS = [["status"], ["chat", "hello"], ["threads"], ["search", "hello"]]


def run(gateway, *arguments, status=0, typed=""):
    """Runs a command, checks its exit status and returns its output."""
    done = gateway.command(*arguments, typed=typed)
    assert done.returncode == status, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def new_thread(gateway, **members):
    return accepted(gateway.http.post("/threads", json=members), 201)


# Output.


@pytest.mark.parametrize("arguments", [["threads", "--json"], ["token", "show"], ["--help"]], ids=" ".join)
def test_exit_status_of_a_write_failure_is_1(gateway, arguments):
    new_thread(gateway, title="long, so that it is written before all is printed" * 200)
    with open("/dev/full", "w") as full:
        done = subprocess.run([str(BINARY), *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE,
                              env={**gateway.variables(), "AGENT_GATEWAY_DATA_DIR": str(gateway.data)})
    assert done.returncode == 1 and done.stderr == "agw: cannot write the output: No space left on device\n"


def test_exit_status_is_kept_if_the_error_cannot_be_written(make_gateway):
    gateway = make_gateway()
    with open("/dev/full", "w") as full:
        done = subprocess.run([str(BINARY), "threads"], stdout=full, stderr=full, timeout=PATIENCE,
                              env={**gateway.variables(), "AGENT_GATEWAY_DATA_DIR": str(gateway.data)})
    assert done.returncode == 4


# Finding the gateway.


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_exit_status_without_a_gateway_is_4(make_gateway, arguments):
    gateway = make_gateway()
    assert "agw serve" in run(gateway, *arguments, status=4)


def test_killed_gateway_counts_as_missing(own_gateway):
    own_gateway.kill()
    assert "agw serve" in run(own_gateway, "status", status=4)


@pytest.mark.parametrize("arguments", [*COMMANDS, ["pair"], ["open"], ["mcp"]], ids=" ".join)
def test_nothing_is_sent_to_a_reused_port(own_gateway, arguments):
    port = own_gateway.port
    own_gateway.kill()
    with socket.create_server(("127.0.0.1", port)) as stranger:
        stranger.setblocking(False)
        assert "agw serve" in run(own_gateway, *arguments, status=4)
        with pytest.raises(BlockingIOError):
            stranger.accept()


def test_stopped_gateway_counts_as_missing(own_gateway):
    assert own_gateway.stop() == 0
    assert "agw serve" in run(own_gateway, "threads", status=4)


@pytest.mark.parametrize("arguments", [
    ["nonsense"], ["status", "extra"], ["chat", "--thread"], ["threads", "--nonsense"], ["search"], ["token"],
    ["token", "nonsense"], ["--nonsense"], ["serve", "--port", "x"], ["run", ""], ["search", ""], ["ext", "show", ""],
    ["jobs", ""], ["pair", ""], ["export", ""], ["undo", UNKNOWN_ID, ""], ["import", "codex", ""], ["model", "default", ""],
], ids=" ".join)
def test_exit_status_of_wrong_usage_is_2(gateway, arguments):
    assert run(gateway, *arguments, status=2)


def test_undeliverable_output_is_a_failure(gateway):
    done = subprocess.run(["sh", "-c", f"{BINARY} status >&-"], env=gateway.variables(), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "agw: cannot write the output: Bad file descriptor\n")


def test_unknown_arguments_are_reported_in_order(gateway):
    assert "not expected: one two" in run(gateway, "status", "one", "two", status=2)


def test_help_is_printed(gateway):
    for arguments in (["--help"], ["serve", "--help"], ["chat", "--help"], ["token", "--help"]):
        assert run(gateway, *arguments)


def test_gateway_on_all_addresses_is_found_without_ipv6(make_gateway):
    gateway = make_gateway(arguments=["--host", "0.0.0.0"]).start()
    lock = (gateway.data / "gateway.lock").read_text()
    (gateway.data / "gateway.lock").write_text(lock.replace("0.0.0.0", "[::]"))
    assert f"http://[::]:{gateway.port}" in run(gateway, "status")


# status


def test_status_prints_the_url(gateway):
    assert gateway.url in run(gateway, "status")


def test_status_as_json(gateway):
    assert gateway.url in json.dumps(json.loads(run(gateway, "status", "--json")))


# token show


def test_token_is_shown(gateway):
    assert run(gateway, "token", "show").strip() == gateway.token


def test_token_is_shown_without_a_gateway(own_gateway):
    token = own_gateway.token
    assert own_gateway.stop() == 0
    assert run(own_gateway, "token", "show").strip() == token


# threads, search


def test_threads_are_listed(own_gateway):
    titles = ["first of them", "second of them"]
    made = [new_thread(own_gateway, title=title) for title in titles]
    output = run(own_gateway, "threads")
    assert all(title in output for title in titles) and output.index(titles[1]) < output.index(titles[0])
    assert ids(json.loads(run(own_gateway, "threads", "--json"))) == ids(made)[::-1]


def test_empty_thread_list_is_not_an_error(own_gateway):
    run(own_gateway, "threads")
    assert json.loads(run(own_gateway, "threads", "--json")) == []


def test_turns_are_searched(gateway):
    thread = new_thread(gateway)
    body = {"content": "the ornithopter landed", "role": "user"}
    turn = accepted(gateway.http.post(f"/threads/{thread['id']}/turns", json=body), 201)
    assert "ornithopter" in run(gateway, "search", "ornithopter", "landed")
    assert ids(json.loads(run(gateway, "search", "ornithopter", "--json"))) == [turn["id"]]
    assert json.loads(run(gateway, "search", "nothing-of-that-kind", "--json")) == []


def test_any_search_text_is_accepted(gateway):
    for typed in ('"', "(", "AND", "a*b(c"):
        run(gateway, "search", typed)


# chat


def test_answer_is_printed(gateway):
    output = run(gateway, "chat", "Who are you?")
    assert output.strip() and output.endswith("\n")
    thread = accepted(gateway.http.get("/threads", params={"limit": 1}))[0]
    newest = accepted(gateway.http.get(f"/threads/{thread['id']}/turns"))
    assert [turn["role"] for turn in newest] == ["assistant", "user"] and newest[1]["content"] == "Who are you?"
    assert newest[0]["content"].split("\n")[0] in output


def test_message_is_sent_to_the_given_thread_mode_and_model(gateway):
    thread = new_thread(gateway)
    run(gateway, "chat", "hello there", "--thread", thread["id"], "--model", "offline/librarian", "--mode", "act")
    assert accepted(gateway.http.get(f"/threads/{thread['id']}"))["mode"] == "act"
    newest = accepted(gateway.http.get(f"/threads/{thread['id']}/turns"))[0]
    assert newest["metadata"]["model"] == "offline/librarian"


def test_message_is_sent_to_the_given_agent(gateway, new_name):
    body = {"type": "agent", "name": new_name("terminal"), "description": "", "definition": {}, "enabled": True}
    agent = accepted(gateway.http.post("/extensions", json=body), 201)
    run(gateway, "chat", "hello", "--agent", agent["name"])
    assert len(accepted(gateway.http.get("/threads", params={"agent_id": agent["id"]}))) == 1


def test_message_is_read_from_a_pipe(gateway):
    thread = new_thread(gateway)
    run(gateway, "chat", "--thread", thread["id"], typed="from a pipe\nin two lines\n")
    run(gateway, "chat", "--thread", thread["id"], "", typed="with an empty message\n")
    sent = accepted(gateway.http.get(f"/threads/{thread['id']}/turns", params={"role": "user"}))
    assert [turn["content"].strip() for turn in sent] == ["with an empty message", "from a pipe\nin two lines"]


def test_piped_text_follows_the_message(gateway):
    thread = new_thread(gateway)
    run(gateway, "chat", "--thread", thread["id"], "What is this?", typed="a diff\nof two lines\n")
    run(gateway, "chat", "--thread", thread["id"], "And that?", typed="\n")
    sent = accepted(gateway.http.get(f"/threads/{thread['id']}/turns", params={"role": "user"}))
    assert [turn["content"] for turn in sent] == ["And that?", "What is this?\n\na diff\nof two lines"]


def test_message_is_sent_although_a_pipe_stays_empty(gateway):
    """Programs often leave the standard input of child processes open."""
    thread = new_thread(gateway)
    with subprocess.Popen([str(BINARY), "chat", "--thread", thread["id"], "Hello"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**gateway.variables(), "AGENT_GATEWAY_DATA_DIR": str(gateway.data)}) as running:
        assert running.wait(PATIENCE) == 0
        assert "nothing came on standard input" in running.stderr.read()
    sent = accepted(gateway.http.get(f"/threads/{thread['id']}/turns", params={"role": "user"}))
    assert [turn["content"] for turn in sent] == ["Hello"]


def test_gateway_errors_are_printed(gateway):
    assert "thread not found: nonsense" in run(gateway, "chat", "hello", "--thread", "nonsense", status=1)
    assert "agent not found: nobody" in run(gateway, "chat", "hello", "--agent", "nobody", status=1)
    assert "--agent must be the name or id of an agent" in run(gateway, "chat", "hello", "--agent", "", status=2)
    assert "thread not found: nonsense" in run(gateway, "chat", "hello", "--thread", "nonsense", "--mode", "act", status=1)
    assert "job not found: no such" in run(gateway, "jobs", "no such", status=1)
    assert "job not found: nothing" in run(gateway, "run", "nothing", status=1)
    assert "extension not found: nothing" in run(gateway, "ext", "show", "nothing", status=1)


@pytest.mark.parametrize("arguments, listing", [
    (["chat", "hello", "--thread", "nonsense"], "agw threads"), (["run", "nothing"], "agw jobs"),
    (["chat", "hello", "--agent", "nobody"], "agw ext list --type agent"), (["ext", "show", "nothing"], "agw ext list"),
    (["proposals", "show", "nobody/2026-01-02"], "agw proposals"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_missing_record_is_reported_with_the_listing_command(gateway, arguments, listing):
    assert f"`{listing}` lists those there are" in run(gateway, *arguments, status=1)


def test_control_characters_are_escaped(gateway):
    thread = new_thread(gateway, title="evil \x1b[31mred\x07 title")
    body = {"content": "trapdoor \x1b]0;owned\x07 text \x9b31m", "role": "user"}
    accepted(gateway.http.post(f"/threads/{thread['id']}/turns", json=body), 201)
    for output in (run(gateway, "threads"), run(gateway, "search", "trapdoor")):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", output)


def test_json_output_escapes_control_characters(gateway):
    title = "evil \x9b31m \u202eeltit \x7f\x1b"
    thread = new_thread(gateway, title=title)
    output = run(gateway, "threads", "--json")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", output)
    assert {one["id"]: one["title"] for one in json.loads(output)}[thread["id"]] == title


def test_output_without_a_terminal_has_no_colours(gateway):
    for arguments in (["status"], ["threads"], ["chat", "hello"], ["--help"]):
        assert "\x1b" not in run(gateway, *arguments)


# chat, during the answer


@pytest.fixture
def terminal(talker):
    """`agw chat` on a terminal, in a new thread. Returns the thread and the terminal."""
    thread = new_thread(talker.gateway, title="a title")
    command = [str(BINARY), "chat", "--thread", thread["id"]]
    variables = talker.gateway.variables() | {"TERM": "xterm"}
    with Terminal(command, variables, talker.gateway.home) as running:
        yield thread, running


def test_answer_is_printed_as_it_streams(talker):
    thread = new_thread(talker.gateway, title="a title")
    held = talker.holds("Once", " upon")
    command = [str(BINARY), "chat", "--thread", thread["id"], "tell me"]
    printing = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=talker.gateway.variables())
    assert printing.stdout.read(len("Once upon")) == "Once upon"
    held.release(" a time")
    assert printing.stdout.read().strip() == "a time" and printing.wait(PATIENCE) == 0


def test_control_characters_of_an_answer_are_escaped(talker):
    thread = new_thread(talker.gateway, title="a title")
    talker.answers("\x1b[31mred\x1b]0;owned\x07", " \x9b31m\x08\x7f\r", "end\ttab\nline")
    output = run(talker.gateway, "chat", "--thread", thread["id"], "tell me")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", output)
    assert "red" in output and "end\ttab\nline" in output


def test_failed_answer_is_reported(talker):
    talker.stub.script(Fault(401, "who are you"))
    thread = new_thread(talker.gateway, title="a title")
    assert "who are you" in run(talker.gateway, "chat", "--thread", thread["id"], "hello", status=1)


def test_conversation_on_a_terminal(talker, terminal):
    thread, running = terminal
    for question, answer in (("first question", "first answer"), ("second question", "second answer")):
        talker.answers(answer)
        running.wait_for_prompt(PROMPT)
        running.type(f"{question}\n")
        running.wait_for(answer)
    running.wait_for_prompt(PROMPT)
    running.type("\x04")
    assert running.exit_status() == 0
    assert talker.conversation() == [("user", "first question"), ("assistant", "first answer"),
                                     ("user", "second question")]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP])
def test_signal_restores_the_terminal(terminal, number):
    _, running = terminal
    running.wait_for_prompt(PROMPT)
    os.kill(running.process, number)
    assert running.exit_status() == -number
    both = termios.ECHO | termios.ICANON
    assert running.flags() & both == both


def has_socket(process):
    folder = f"/proc/{process}/fd"
    return any(os.readlink(f"{folder}/{each}").startswith("socket:") for each in os.listdir(folder))


def test_ctrl_c_before_a_later_answer_restores_the_terminal(talker, terminal):
    _, running = terminal
    talker.answers("an answer")
    running.wait_for_prompt(PROMPT)
    running.type("a question\n")
    running.wait_for("an answer")
    running.wait_for_prompt(PROMPT)
    wait_for(lambda: not has_socket(running.process))
    talker.gateway.process.send_signal(signal.SIGSTOP)
    try:
        running.type("another question\n")
        wait_for(lambda: has_socket(running.process))
        os.kill(running.process, signal.SIGINT)
        assert running.exit_status() == -signal.SIGINT
    finally:
        talker.gateway.process.send_signal(signal.SIGCONT)
    both = termios.ECHO | termios.ICANON
    assert running.flags() & both == both


@pytest.mark.slow
def test_suspended_gateway_is_reported(own_gateway):
    own_gateway.process.send_signal(signal.SIGSTOP)
    try:
        done = own_gateway.command("threads")
    finally:
        own_gateway.process.send_signal(signal.SIGCONT)
    assert done.returncode == 1 and f"the gateway (process {own_gateway.process.pid}) does not answer" in done.stderr


def test_ctrl_c_stops_the_answer_but_not_the_program(talker, terminal):
    thread, running = terminal
    held = talker.holds("Once", " upon")
    running.wait_for_prompt(PROMPT)
    running.type("tell me\n")
    running.wait_for("Once upon")
    running.type("\x03")
    assert held.was_aborted()
    talker.answers("still here")
    running.wait_for_prompt(PROMPT)
    running.type("are you there?\n")
    running.wait_for("still here")
    running.wait_for_prompt(PROMPT)
    turns = accepted(talker.gateway.http.get(f"/threads/{thread['id']}/turns"))
    assert turns[2]["content"] == "Once upon" and turns[2]["metadata"]["partial"] is True
    running.type("\x04")
    assert running.exit_status() == 0
