"""An iteration writes the file that it was started for, and no other.

See docs/contract/approvals.md#what-a-yes-allows.
"""

import pytest

from research import BETTER, OLD, Research
from tools import call_tool, calls, new_thread


@pytest.mark.parametrize("stage, stays", [("apprentice", False), ("operator", False), ("trusted", True)])
def test_iteration_writes_its_own_file_at_every_stage(talker, new_name, stage, stays):
    """Whoever started it named the file, so that nobody is asked; below stage trusted the result is staged as always."""
    research = Research(talker, new_name, stage).measured_by()
    row = research.iterate(calls(("Edit", {"path": str(research.asset), "old_string": "two", "new_string": "two three"})),
                           "One word more.")
    assert row["verdict"] == "keep" and row["notes"].startswith("by its tools: ")
    assert (row["proposal"] is None) is stays and research.asset.read_text() == (BETTER if stays else OLD)


def test_right_of_an_iteration_is_for_its_own_file_and_ends_with_it(talker, new_name):
    research = Research(talker, new_name, "trusted").measured_by()
    sibling = research.file("sibling.md", OLD)
    row = research.iterate(calls(("Write", {"path": str(sibling), "content": BETTER})), "Done.")
    assert row["verdict"] == "crash" and "permission denied" in row["reason"] and sibling.read_text() == OLD
    end = call_tool(talker, new_thread(talker.gateway, research.agent), "Write",
                    {"path": str(research.asset), "content": BETTER})
    assert end["isError"] and end["output"].startswith("permission denied") and research.asset.read_text() == OLD


def test_symlink_in_place_of_the_file_leads_an_iteration_nowhere_else(talker, new_name):
    research = Research(talker, new_name, "trusted").measured_by()
    sibling = research.file("sibling.md", OLD)
    link = research.folder / "link.md"
    link.symlink_to(sibling)
    row = research.iterate(calls(("Write", {"path": str(link), "content": BETTER})), "Done.")
    assert row["verdict"] == "crash" and sibling.read_text() == OLD
