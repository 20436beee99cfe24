"""Gateways that share a database, on a PostgreSQL server that the tests start. Skipped if it is not installed.

See docs/run-a-cluster.md.
"""

import itertools
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "api"))
pytest.register_assert_rewrite("checks", "contract")

from gateway import BINARY, Gateway  # noqa: E402
from nats import nats  # noqa: E402
from postgres import postgres  # noqa: E402
from stubs.provider import ProviderStub  # noqa: E402
from talker import configuration  # noqa: E402

_names = itertools.count(1)


def pytest_sessionstart(session):
    if not BINARY.exists():
        pytest.exit(f"{BINARY} is missing: build the preset `debug`, or name another binary in AGW", returncode=2)


@pytest.fixture(scope="session")
def server():
    with postgres() as running:
        yield running


@pytest.fixture
def database(server):
    name = f"cluster{next(_names)}"
    server.create(name)
    return name


@pytest.fixture
def stub():
    with ProviderStub() as running:
        yield running


@pytest.fixture
def messages():
    """A NATS server."""
    with nats() as running:
        yield running


@pytest.fixture
def make_node(server, database, stub, tmp_path):
    """Creates nodes, not yet started, each with its own data directory; they are closed after the test."""
    made = []

    def make(name, url=None, events=None, drain_seconds=0, root=None, keys=None, **options):
        cluster = {"database": url or server.url(database)} | ({"node": name} if name else {})
        cluster["drain_seconds"] = drain_seconds
        if events:
            cluster["events"] = events
        config = configuration(stub) | {"cluster": cluster | options.pop("cluster", {})} | (keys or {})
        node = Gateway(root or tmp_path / f"node-{len(made)}", config=config, **options)
        made.append(node)
        return node

    yield make
    for node in made:
        node.close()


@pytest.fixture
def make_neighbour(make_node, messages, tmp_path):
    """Creates nodes, not yet started, that exchange events and have one home, as on a shared file system."""
    def make(name, **overrides):
        options = {"root": tmp_path / "shared", "data": tmp_path / f"data-{name}", "events": messages.url()}
        return make_node(name, **{**options, **overrides})
    return make


@pytest.fixture
def linked_nodes(make_node, messages):
    """Two running nodes that exchange events."""
    return [make_node(name, events=messages.url()).start() for name in ("a", "b")]


@pytest.fixture
def nodes(make_node):
    """Two running nodes."""
    return [make_node(name).start() for name in ("a", "b")]
