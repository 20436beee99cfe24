"""How many files the process may open: connections, and what is too few to start.

See docs/contract/process.md#the-data-directory.
"""

import subprocess

import pytest

from checks import accepted
from connection import Connection
from gateway import BINARY
from talker import Talker, configuration
from tools import call_tool, new_agent, new_thread


def test_limit_of_open_files_is_raised(make_gateway):
    gateway = make_gateway(first="ulimit -S -n 300").start()
    open_connections = [Connection(gateway) for _ in range(310)]
    for connection in open_connections:
        assert connection.request("GET /health HTTP/1.1").response().status == 200
    for connection in open_connections:
        connection.close()


@pytest.mark.parametrize("limit", [12, 64, 190, 255])
def test_start_with_too_few_open_files_says_what_to_raise(make_gateway, limit):
    gateway = make_gateway(first=f"ulimit -n {limit}")
    failed = gateway.fails()
    assert failed.status == 1, failed
    said = f"may open no more than {limit} files, and the gateway needs 256: raise the limit"
    assert said in failed.stderr
    limited = f'ulimit -n {limit}; exec "$0" doctor'
    done = subprocess.run(["bash", "-c", limited, BINARY], env=gateway.variables(), capture_output=True, text=True)
    assert said in done.stdout or limit == 12, done


@pytest.mark.parametrize("options", ["", "-S"])
def test_fewest_open_files_are_enough(make_gateway, stub, options):
    gateway = make_gateway(config=configuration(stub), first=f"ulimit {options} -n {64 if options else 256}").start()
    open_connections = [Connection(gateway) for _ in range(100)]
    for connection in open_connections:
        assert connection.request("GET /health HTTP/1.1").response().status == 200
    accepted(gateway.http.get("/filesystem/ls"))
    thread = new_thread(gateway, new_agent(gateway, "writer"))
    result = call_tool(Talker(gateway, stub), thread, "Bash", {"command": "echo $((6 * 7))"})
    assert not result["isError"] and "42" in result["output"]
    for connection in open_connections:
        connection.close()


def test_connections_leave_descriptors_for_files(make_gateway):
    gateway = make_gateway(first="ulimit -n 300").start()
    assert "limits.connections is 150 instead of 16384" in gateway.stderr
    accepted(gateway.http.get("/health"))
    open_connections = [Connection(gateway) for _ in range(149)]
    for connection in open_connections:
        assert connection.request("GET /health HTTP/1.1").response().status == 200
    accepted(gateway.http.get("/filesystem/ls"))
    with Connection(gateway) as one_more:
        assert one_more.request("GET /health HTTP/1.1").response().status == 503
    for connection in open_connections:
        connection.close()
