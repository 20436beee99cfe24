"""An iteration may write only the file that it was started for.

See docs/contract/approvals.md#what-a-yes-allows.
"""

import pytest

from research import BETTER, OLD, Research
from tools import call_tool, calls, new_thread


@pytest.mark.parametrize("stage, is_kept", [("apprentice", False), ("operator", False), ("trusted", True)])
def test_iteration_writes_its_own_file_at_every_stage(talker, new_name, stage, is_kept):
    """Starting an iteration permits changes to its file without a request; below stage trusted, the result is staged."""
    research = Research(talker, new_name, stage).measured_by()
    row = research.iterate(calls(("Edit", {"path": str(research.asset), "old_string": "two", "new_string": "two three"})),
                           "One word more.")
    assert row["verdict"] == "keep" and row["notes"].startswith("by its tools: ")
    assert (row["proposal"] is None) is is_kept and research.asset.read_text() == (BETTER if is_kept else OLD)


def test_permission_of_an_iteration_is_for_its_own_file_and_ends_with_it(talker, new_name):
    research = Research(talker, new_name, "trusted").measured_by()
    sibling = research.file("sibling.md", OLD)
    row = research.iterate(calls(("Write", {"path": str(sibling), "content": BETTER})), "Done.")
    assert row["verdict"] == "crash" and "permission denied" in row["reason"] and sibling.read_text() == OLD
    end = call_tool(talker, new_thread(talker.gateway, research.agent), "Write",
                    {"path": str(research.asset), "content": BETTER})
    assert end["isError"] and end["output"].startswith("permission denied") and research.asset.read_text() == OLD


def test_iteration_does_not_write_through_a_symlink(talker, new_name):
    research = Research(talker, new_name, "trusted").measured_by()
    sibling = research.file("sibling.md", OLD)
    link = research.folder / "link.md"
    link.symlink_to(sibling)
    row = research.iterate(calls(("Write", {"path": str(link), "content": BETTER})), "Done.")
    assert row["verdict"] == "crash" and sibling.read_text() == OLD
