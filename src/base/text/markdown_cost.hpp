#pragma once

#include <string_view>

namespace agw {

/// Whether the Markdown parser might need seconds, or gigabytes, for this text, however short it is: a row of a table
/// gets all cells that the widest row could have, each line that could begin a table makes it read the paragraph again,
/// each reference copies its address, and a long text may consist of nothing but marks. An estimate from above, in
/// linear time.
/// Example: src/base/text/markdown_cost_test.cpp: MarkdownCost.IsHighForTablesThatAreMostlyEmpty
bool is_costly_markdown(std::string_view markdown);

}  // namespace agw
