"""Daily budgets count what all nodes spend."""

import yaml

from checks import accepted
from stubs.provider import Reply
from talker import MODEL
from test_changes import eventually
from test_events import ask
from tools import new_agent, new_thread

PRICE = {"input": 100_000, "output": 50_000, "cache_read": 0, "cache_write": 0}  # an answer of the stub costs 1.25 USD


def finish_reason(node, agent):
    """Returns the finish reason of a run of the agent at the node."""
    thread = new_thread(node, agent, title="Sums")
    with node.events(thread["id"]) as events:
        return events.run(ask(node, thread)["id"])[-1]["finishReason"]


def test_a_budget_counts_what_all_nodes_spend(make_node, stub):
    stub.always(Reply(text="Four."))
    a, b = made = [make_node(name) for name in ("a", "b")]
    for node in made:
        (node.data / "prices.yaml").write_text(yaml.safe_dump({MODEL: PRICE}))
        node.start()
    agent = new_agent(a, "thrifty", budget_usd_per_day=3)
    eventually(lambda: b.http.get(f"/extensions/{agent['id']}").status_code, 200)
    assert [finish_reason(node, agent) for node in (a, b, a)] == ["stop", "stop", "stop"]
    eventually(lambda: finish_reason(b, agent), "budget")
    a.restart()
    assert finish_reason(a, agent) == "budget"
    other = new_agent(a, "other", budget_usd_per_day=3)
    eventually(lambda: b.http.get(f"/extensions/{other['id']}").status_code, 200)
    assert finish_reason(b, other) == "stop"
    assert accepted(b.http.get("/costs"))["today"] >= 5
