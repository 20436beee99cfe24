#include "base/text/unified_diff.hpp"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

namespace agw {

namespace {

constexpr int context = 3;
/// The maximum number of changes to search for; the effort is quadratic.
constexpr int max_changes = 1'000;

using Lines = std::vector<std::string_view>;  ///< each line includes its line feed, if any

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const auto size = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

/// A line that is kept (both indexes are valid), removed (`before`) or added (`after`).
struct Edit {
  char kind;  ///< ' ', '-' or '+'
  int before;
  int after;
};
using Edits = std::vector<Edit>;

/// The lines as numbers: equal lines have equal numbers.
struct Numbered {
  std::vector<int> before, after;
};

Numbered numbered(const Lines& before, const Lines& after) {
  std::unordered_map<std::string_view, int> numbers;
  const auto number_all = [&](const Lines& lines) {
    std::vector<int> made;
    made.reserve(lines.size());
    for (const auto line : lines)
      made.push_back(numbers.try_emplace(line, static_cast<int>(numbers.size())).first->second);
    return made;
  };
  return {number_all(before), number_all(after)};
}

/// The greedy algorithm of Myers (1986): extends the furthest paths by one change per round until one reaches the end.
class ShortestEdit {
public:
  ShortestEdit(std::span<const int> before, std::span<const int> after)
      : before_(before),
        after_(after),
        rows_(static_cast<int>(before.size())),
        columns_(static_cast<int>(after.size())) {}

  /// The edits in order; replaces everything if there are too many changes.
  Edits edits() {
    const int limit = std::min(rows_ + columns_, max_changes);
    std::vector<int> furthest(static_cast<std::size_t>(2 * limit + 3), 0);
    const auto at = [&](int diagonal) -> int& {
      const int place = diagonal + limit + 1;
      return furthest[static_cast<std::size_t>(place)];
    };
    for (int changes = 0; changes <= limit; ++changes) {
      history_.emplace_back(furthest.begin() + (limit - changes), furthest.begin() + (limit + changes + 3));
      for (int diagonal = -changes; diagonal <= changes; diagonal += 2) {
        const bool down = diagonal == -changes || (diagonal != changes && at(diagonal - 1) < at(diagonal + 1));
        int row = down ? at(diagonal + 1) : at(diagonal - 1) + 1;
        while (row < rows_ && row - diagonal < columns_ && same(row, row - diagonal)) ++row;
        at(diagonal) = row;
        if (row >= rows_ && row - diagonal >= columns_) return way_back(changes);
      }
    }
    return replaced();
  }

private:
  // Rows are lines of `before`, columns lines of `after`. Below, `down` means the next column, which adds a line;
  // otherwise the next row follows, which removes one.
  bool same(int row, int column) const {
    return before_[static_cast<std::size_t>(row)] == after_[static_cast<std::size_t>(column)];
  }

  Edits way_back(int changes) const {
    Edits edits;
    int row = rows_, column = columns_;
    for (; changes >= 0; --changes) {
      const auto& furthest = history_[static_cast<std::size_t>(changes)];
      const auto at = [&](int diagonal) {
        const int place = diagonal + changes + 1;
        return furthest[static_cast<std::size_t>(place)];
      };
      const int diagonal = row - column;
      const bool down = diagonal == -changes || (diagonal != changes && at(diagonal - 1) < at(diagonal + 1));
      const int row_before = changes == 0 ? 0 : at(down ? diagonal + 1 : diagonal - 1);
      const int column_before = changes == 0 ? 0 : row_before - (down ? diagonal + 1 : diagonal - 1);
      while (row > row_before && column > column_before) edits.push_back({' ', --row, --column});
      if (changes == 0) break;
      if (down)
        edits.push_back({'+', row, --column});
      else
        edits.push_back({'-', --row, column});
    }
    std::ranges::reverse(edits);
    return edits;
  }

  Edits replaced() const {
    Edits edits;
    for (int row = 0; row < rows_; ++row) edits.push_back({'-', row, 0});
    for (int column = 0; column < columns_; ++column) edits.push_back({'+', rows_, column});
    return edits;
  }

  std::span<const int> before_, after_;
  int rows_, columns_;
  std::vector<std::vector<int>> history_;  ///< the diagonals before each round
};

/// Excludes the common prefix and suffix from the search.
Edits edits_between(const Lines& before, const Lines& after) {
  const auto numbers = numbered(before, after);
  const auto shorter = std::min(before.size(), after.size());
  std::size_t front = 0, back = 0;
  while (front < shorter && numbers.before[front] == numbers.after[front]) ++front;
  while (back < shorter - front && numbers.before[before.size() - 1 - back] == numbers.after[after.size() - 1 - back]) {
    ++back;
  }
  const auto middle = [&](const std::vector<int>& all) {
    return std::span(all).subspan(front, all.size() - front - back);
  };
  Edits edits;
  for (int line = 0; line < static_cast<int>(front); ++line) edits.push_back({' ', line, line});
  for (auto edit : ShortestEdit(middle(numbers.before), middle(numbers.after)).edits()) {
    edits.push_back({edit.kind, edit.before + static_cast<int>(front), edit.after + static_cast<int>(front)});
  }
  for (auto left = static_cast<int>(back); left > 0; --left) {
    edits.push_back({' ', static_cast<int>(before.size()) - left, static_cast<int>(after.size()) - left});
  }
  return edits;
}

void write_line(std::string& out, char kind, std::string_view line) {
  out += kind;
  out += line;
  if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
}

/// `12,3`: the first line and the count. For an empty range, the number of the preceding line.
std::string range(int first, int count) { return fmt::format("{},{}", count == 0 ? first : first + 1, count); }

void write_hunk(std::string& out, std::span<const Edit> edits, const Lines& before, const Lines& after) {
  const auto gone = static_cast<int>(std::ranges::count_if(edits, [](const Edit& edit) { return edit.kind != '+'; }));
  const auto come = static_cast<int>(std::ranges::count_if(edits, [](const Edit& edit) { return edit.kind != '-'; }));
  out += fmt::format("@@ -{} +{} @@\n", range(edits.front().before, gone), range(edits.front().after, come));
  for (const auto& edit : edits) {
    write_line(
        out, edit.kind,
        edit.kind == '+' ? after[static_cast<std::size_t>(edit.after)] : before[static_cast<std::size_t>(edit.before)]);
  }
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, std::string_view name_before,
                         std::string_view name_after) {
  if (before == after) return {};
  const auto lines_before = lines_of(before), lines_after = lines_of(after);
  const auto edits = edits_between(lines_before, lines_after);
  std::string out = fmt::format("--- {}\n+++ {}\n", name_before, name_after);
  const auto changes = [&](std::size_t from) {
    while (from < edits.size() && edits[from].kind == ' ') ++from;
    return from;
  };
  for (auto first = changes(0); first < edits.size();) {
    const auto begin = first - std::min<std::size_t>(first, context);
    auto end = first;
    // Changes share a hunk if the lines between them are at most twice the context.
    while (first < edits.size() && (end == first || first <= end + 2 * context)) {
      end = first;
      while (end < edits.size() && edits[end].kind != ' ') ++end;
      first = changes(end);
    }
    end = std::min(edits.size(), end + context);
    write_hunk(out, std::span(edits).subspan(begin, end - begin), lines_before, lines_after);
  }
  return out;
}

}  // namespace agw
