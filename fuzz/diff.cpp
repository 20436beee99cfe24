// Two texts, separated by a zero byte: their unified diff, applied to the first, results in the second.

#include <algorithm>
#include <charconv>
#include <string>

#include "base/text/unified_diff.hpp"
#include "fuzz/support/fuzzing.hpp"

namespace {

using agw::fuzzing::require;

/// Takes a line with its line feed, if it has one.
std::string_view take_whole_line(std::string_view& text) {
  const auto line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
  text.remove_prefix(line.size());
  return line;
}

constexpr std::string_view no_line_feed = "\\ No newline at end of file\n";

/// Takes a line of a hunk, without the mark for a missing line feed.
std::string_view take_hunk_line(std::string_view& diff) {
  auto line = take_whole_line(diff);
  if (!diff.starts_with(no_line_feed)) return line;
  diff.remove_prefix(no_line_feed.size());
  return line.substr(0, line.size() - 1);
}

std::size_t number_in(std::string_view& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  require(error == std::errc());
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::string applied(std::string_view diff, std::string_view before) {
  std::string made;
  std::size_t line_number = 0;
  while (!diff.empty()) {
    auto head = take_whole_line(diff);
    require(head.starts_with("@@ -"));
    head.remove_prefix(4);
    const auto first = number_in(head);
    require(head.starts_with(','));
    head.remove_prefix(1);
    const auto count = number_in(head);
    for (const auto begin = count == 0 ? first : first - 1; line_number < begin; ++line_number)
      made += take_whole_line(before);
    while (!diff.empty() && !diff.starts_with("@@ ")) {
      const auto line = take_hunk_line(diff);
      const auto content = line.substr(1);
      if (line.front() != '+') {
        require(take_whole_line(before) == content);
        ++line_number;
      }
      if (line.front() != '-') made += content;
    }
  }
  return made += before;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = agw::fuzzing::text_of(data, size);
  const auto middle = std::min(text.find('\0'), text.size());
  const auto before = text.substr(0, middle);
  const auto after = text.substr(std::min(middle + 1, text.size()));
  std::string_view diff_left;
  const auto diff = agw::unified_diff(before, after, "a", "b");
  require(diff.empty() == (before == after));
  if (diff.empty()) return 0;
  diff_left = diff;
  require(take_whole_line(diff_left) == "--- a\n" && take_whole_line(diff_left) == "+++ b\n");
  require(applied(diff_left, before) == after);
  return 0;
}
