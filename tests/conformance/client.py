#!/usr/bin/python3
"""The client that the MCP conformance suite expects: connects an integration to the URL given last, logs in if required,
and has an agent call each of its tools once. See test_suite.py."""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]
os.environ.setdefault("AGW", str(ROOT / "build" / "dev" / "agw"))
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "api"))

from approvals import answer, person  # noqa: E402
from checks import PATIENCE, accepted  # noqa: E402
from gateway import Gateway  # noqa: E402
from stubs.provider import ProviderStub  # noqa: E402
from talker import Talker, configuration  # noqa: E402
from tools import calls, new_agent, new_thread, run_chat  # noqa: E402

ARGUMENTS = {"add_numbers": {"a": 5, "b": 3}}
REDIRECT = "http://127.0.0.1:4817/callback"
# The suite expects the client's metadata at this address.
DESCRIPTION = "https://conformance-test.local/client-metadata.json"
WANTS_LOGIN = "agw ext login suite"
MAX_LOGINS = 2


def main():
    url = sys.argv[-1]
    with tempfile.TemporaryDirectory() as directory, ProviderStub() as stub:
        gateway = Gateway(Path(directory) / "gateway", config=configuration(stub)).start()
        try:
            call_all_tools(Talker(gateway, stub), url)
        finally:
            gateway.stop()
            print(gateway.stderr, file=sys.stderr)


def call_all_tools(talker, url):
    body = {"type": "integration", "name": "suite", "description": "", "enabled": True,
            "definition": {"kind": "mcp-http", "url": url}}
    accepted(talker.gateway.http.post("/extensions", json=body), 201)
    logins = 0
    if wait_for_log(talker, 1) == WANTS_LOGIN:
        logins += 1
        log_in(talker.gateway)
        wait_for_log(talker, 2)
    thread = new_thread(talker.gateway, new_agent(talker.gateway, "user", "trusted"))
    run_chat(talker, thread, "Nothing to do.")
    for name in offered(talker):
        tool = name.removeprefix("suite__")
        end = call_with_person(talker, thread, name, ARGUMENTS.get(tool, {}))
        while end["isError"] and WANTS_LOGIN in end["output"] and logins < MAX_LOGINS:
            logins += 1
            log_in(talker.gateway)
            end = call_with_person(talker, thread, name, ARGUMENTS.get(tool, {}))
        print(tool, end)


def call_with_person(talker, thread, name, input):
    """Has the model make one call, with a person who submits every form with the server's defaults."""
    with person(talker, thread, calls((name, input)), "Done.") as person_there:
        while True:
            event = person_there.events.until(lambda event: event["type"] in ("permission-requested", "finish", "stopped"))[-1]
            if event["type"] != "permission-requested":
                return person_there.result()
            fields = event["request"]["question"]["form"].get("properties", {})
            filled = {field: schema["default"] for field, schema in fields.items() if "default" in schema}
            accepted(answer(talker.gateway, event["request"], filled))


def offered(talker):
    tools = talker.stub.requests[-1].json.get("tools", [])
    return [tool["function"]["name"] for tool in tools if tool["function"]["name"].startswith("suite__")]


def wait_for_log(talker, times):
    """Waits until the gateway has logged `times` states of the connection, and returns the last line."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        lines = [line for line in talker.gateway.stderr.splitlines() if "integration suite: " in line]
        states = [line for line in lines if "connected" in line or "next attempt" in line]
        if len(states) >= times:
            return WANTS_LOGIN if WANTS_LOGIN in states[-1] else states[-1]
        time.sleep(0.05)
    return ""


def log_in(gateway):
    """Logs in as `agw ext login` and a browser do; the suite's server grants every request."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    body = {"redirect_uri": REDIRECT, "client_metadata_url": DESCRIPTION}
    body |= {name: context[name] for name in ("client_id", "client_secret") if name in context}
    started = gateway.http.post("/integrations/suite/login", json=body)
    if started.status_code != 200:
        print("no login:", started.text)
        return
    shown = httpx.get(started.json()["authorization_url"], follow_redirects=False)
    finished = gateway.http.post("/integrations/suite/login/finish", json={"redirected_to": shown.headers["location"]})
    print("login:", finished.status_code, finished.text)


if __name__ == "__main__":
    main()
