"""Manual edits of the asset during an iteration are kept.

See docs/design/proposals-and-research.md.
"""

import pytest

from checks import accepted
from research import COUNT_WORDS, OLD, WORSE, Research
from tools import calls


@pytest.fixture
def research(talker, new_name):
    return Research(talker, new_name).in_a_project(new_name)


@pytest.mark.parametrize("call", [
    ("Read", {}), ("Write", {"content": WORSE}), ("Bash", {"command": "echo x > asset.md"})])
def test_manual_edit_after_a_call_of_the_agent_is_kept(research, call):
    research.measured_by()
    tool, input = call
    research.talker.stub.script(calls((tool, input if tool == "Bash" else {"path": str(research.asset), **input})))
    held = research.talker.holds("Done")
    with research.gateway.events() as events:
        accepted(research.post(), 202)
        assert held.was_asked()
        research.asset.write_text("by hand\n")
        held.release(".")
        row = research.until_ended(events)
    assert research.asset.read_text() == "by hand\n"
    assert row["verdict"] == "crash" and "somebody else changed the file" in row["reason"]


def test_manual_edit_during_the_measurement_in_a_project_is_kept(research):
    research.measured_by(f'grep -q two "$1" || until [ -e go ]; do sleep 0.02; done\n{COUNT_WORDS}')
    research.talker.answers(WORSE)
    with research.gateway.events() as events:
        accepted(research.post(), 202)
        events.until(lambda event: event.get("step") == "measure-again")
        research.asset.write_text("by hand\n")
        research.file("go", "")
        row = research.until_ended(events)
    assert research.asset.read_text() == "by hand\n"
    assert row["verdict"] == "crash" and "somebody else changed the file" in row["reason"]


def test_unrecorded_change_by_a_command_counts_as_the_agents(research):
    research.measured_by()
    research.file(".gitignore", "asset.md\n")
    (research.folder / ".git").mkdir()
    row = research.iterate(calls(("Write", {"path": str(research.asset), "content": "one three\n"})),
                           calls(("Bash", {"command": "echo one > asset.md"})), "Done.")
    assert row["verdict"] == "discard" and research.asset.read_text() == OLD
