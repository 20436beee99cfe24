"""Assertions and values shared by all test files."""

import re
import time
from concurrent.futures import ThreadPoolExecutor

ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
TRIES = 8  # attempts, at least one of which must be fast: see seconds_of
UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"
# Timeout of every wait, in seconds. It only guards against hangs: durations depend on the machine's load and on
# sanitizers.
PATIENCE = 60


def accepted(response, status=200):
    """Checks the status and returns the JSON body."""
    assert response.status_code == status, f"{response.status_code} {response.text}"
    return response.json()


def refused(response, status, error, **members):
    """Checks an error response: its status, its exact text and further members."""
    assert response.status_code == status, f"{response.status_code} {response.text}"
    body = response.json()
    assert body["error"] == error, body
    for name, value in members.items():
        assert body.get(name) == value, body
    return body


def invalid(response, path=None):
    """Checks for `validation failed` with details, one of which names the path."""
    details = refused(response, 400, "validation failed")["details"]
    assert isinstance(details, list) and details, details
    assert all(set(entry) == {"path", "message"} and all(isinstance(value, str) for value in entry.values())
               for entry in details), details
    if path:
        assert any(path in entry["path"] for entry in details), details
    return details


def is_id(value):
    return isinstance(value, str) and ID.fullmatch(value) is not None


def is_timestamp(value):
    return isinstance(value, str) and TIMESTAMP.fullmatch(value) is not None


def at_once(count, action):
    """Runs action(0) … action(count - 1) concurrently and returns their results in order."""
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(action, range(count)))


def seconds_of(act):
    """Returns how long the call takes. Any call can be slow on a busy machine: callers require that one of TRIES is
    fast."""
    began = time.monotonic()
    act()
    return time.monotonic() - began


def wait_until(condition):
    """Waits for something of which no event tells."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it has not happened"
        time.sleep(0.05)


def ids(records):
    return [record["id"] for record in records]


def nested(levels):
    """Returns nested lists with this many levels."""
    return [nested(levels - 1)] if levels > 1 else []
