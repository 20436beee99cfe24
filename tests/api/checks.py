"""Small assertions and values that every test file needs."""

import re
import time
from concurrent.futures import ThreadPoolExecutor

ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
TRIES = 8  # of what has to be quick in one of them: see seconds_of
UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"
# Seconds until whoever waits gives up. It guards against a hang only: how long a thing takes depends on what else the
# machine does, and on the sanitizers.
PATIENCE = 60


def accepted(response, status=200):
    """The JSON of an answer with this status."""
    assert response.status_code == status, f"{response.status_code} {response.text}"
    return response.json()


def refused(response, status, error, **members):
    """Holds an error answer to its status, its exact text and further members."""
    assert response.status_code == status, f"{response.status_code} {response.text}"
    body = response.json()
    assert body["error"] == error, body
    for name, value in members.items():
        assert body.get(name) == value, body
    return body


def invalid(response, path=None):
    """Holds an answer to `validation failed` with details, one of which names the path."""
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
    """Runs action(0) … action(count - 1) at the same time and answers their results in order."""
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(action, range(count)))


def seconds_of(act):
    """How long it takes. On a busy machine anything may take long: one of some tries has to be quick, no more."""
    began = time.monotonic()
    act()
    return time.monotonic() - began


def ids(records):
    return [record["id"] for record in records]


def nested(levels):
    """A value that nests so many levels deep."""
    return [nested(levels - 1)] if levels > 1 else []
