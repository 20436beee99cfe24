"""How many files the process may open: connections, and what is too few to start.

See docs/contract/process.md#the-data-directory.
"""

import pytest

from checks import accepted
from connection import Connection


def test_limit_of_open_files_is_raised(make_gateway):
    gateway = make_gateway(first="ulimit -S -n 300").start()
    open_connections = [Connection(gateway) for _ in range(310)]
    for connection in open_connections:
        assert connection.request("GET /health HTTP/1.1").response().status == 200
    for connection in open_connections:
        connection.close()


@pytest.mark.parametrize("limit", [12, 24, 28, 63])
def test_start_with_too_few_open_files_says_what_to_raise(make_gateway, limit):
    failed = make_gateway(first=f"ulimit -n {limit}").fails()
    assert failed.status == 1, failed
    assert f"may open no more than {limit} files, and the gateway needs 64: raise the limit" in failed.stderr


def test_fewest_open_files_are_enough(make_gateway):
    gateway = make_gateway(first="ulimit -n 64").start()
    open_connections = [Connection(gateway) for _ in range(25)]
    for connection in open_connections:
        assert connection.request("GET /health HTTP/1.1").response().status == 200
    accepted(gateway.http.get("/filesystem/ls"))
    accepted(gateway.http.post("/threads", json={}), 201)
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
