"""MCP servers as they are in the field: sessions that end, other transports, redirects.

See docs/connect-mcp.md.
"""

import pytest

from jobs import wait_for
from talker import Talker, configuration
from test_mcp import connect_server, http_server, notes, stdio, thread  # noqa: F401 (fixtures)
from tools import call_tool, new_agent, new_thread


@pytest.mark.parametrize("fault", ["", "forgets-in-silence", "forgets-with-400", "forgets-the-handshake",
                                   "forgets-with-401"])
def test_call_in_a_forgotten_session_is_repeated_in_a_new_one(talker, thread, connect_server, fault):  # noqa: F811
    server = connect_server("http", "legacy", "--fault", fault)
    for text in ("once", "again"):
        assert call_tool(talker, thread, f"{server}__forget", {})["output"] == "forgotten"
        assert call_tool(talker, thread, f"{server}__echo", {"text": text})["output"] == text


def test_redirect_on_the_same_host_is_followed(talker, thread, connect_server):  # noqa: F811
    server = connect_server("http", "legacy", "--fault", "redirects")
    assert call_tool(talker, thread, f"{server}__grow", {"name": "newcomer"})["output"] == "grown"
    wait_for(lambda: call_tool(talker, thread, f"{server}__newcomer", {})["output"] == "I am newcomer")


def test_redirect_to_another_host_is_reported(talker, connect_server):  # noqa: F811
    server = connect_server("http", "legacy", "--fault", "redirects-elsewhere")
    wait_for(lambda: f"integration {server}: it redirects to http://127.0.0.2:9" in talker.gateway.stderr)


def test_stream_that_ends_in_silence_is_opened_again(talker, thread, connect_server, tmp_path):  # noqa: F811
    path = tmp_path / "notes"
    server = connect_server("http", "legacy", "--fault", "cuts-a-silent-stream", "--notes", str(path))
    wait_for(lambda: sum("stream" in note for note in notes(path)) == 2)
    assert call_tool(talker, thread, f"{server}__grow", {"name": "newcomer"})["output"] == "grown"
    wait_for(lambda: call_tool(talker, thread, f"{server}__newcomer", {})["output"] == "I am newcomer")


def test_lost_event_stream_is_opened_again(talker, thread, connect_server):  # noqa: F811
    server = connect_server("sse")
    for text in ("once", "again"):
        end = call_tool(talker, thread, f"{server}__forget", {})
        assert end["isError"] and "its event stream ended" in end["output"]
        assert call_tool(talker, thread, f"{server}__echo", {"text": text})["output"] == text


def test_server_that_asks_more_than_it_listens_gets_some_responses(talker, thread, connect_server, tmp_path):  # noqa: F811
    path = tmp_path / "notes"
    server = connect_server("sse", "legacy", "--fault", "ignores-responses", "--notes", str(path))
    assert call_tool(talker, thread, f"{server}__ask", {})["output"] == "asked"
    for text in ("a", "b", "c"):
        assert call_tool(talker, thread, f"{server}__echo", {"text": text})["output"] == text
    responses = [note for note in notes(path) if "http" in note and "method" not in note]
    assert 0 < len(responses) <= 32


def test_endpoint_on_another_host_gets_no_messages(talker, connect_server):  # noqa: F811
    server = connect_server("sse", "legacy", "--fault", "names-another-host")
    wait_for(lambda: f"integration {server}: it answered with status 405" in talker.gateway.stderr)


def test_server_that_ends_at_unknown_requests_is_there_for_the_first_message(make_gateway, stub, new_name):
    """As those in Rust do, which take nothing before the handshake."""
    gateway = make_gateway(config=configuration(stub)).start()
    talker = Talker(gateway, stub)
    thread = new_thread(gateway, new_agent(gateway, new_name("user"), "trusted"))
    server = stdio(gateway, new_name("server"), "--fault", "ends-at-unknown-requests")
    gateway.restart()
    assert call_tool(talker, thread, f"{server['name']}__echo", {"text": "x"})["output"] == "x"
