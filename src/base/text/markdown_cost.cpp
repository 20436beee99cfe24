#include "base/text/markdown_cost.hpp"

#include <algorithm>
#include <cstdint>

namespace agw {

namespace {

// Each of these takes about a third of a second.
constexpr std::uint64_t max_cells = 500'000;              // 300 bytes each
constexpr std::uint64_t max_steps_in_rows = 100'000'000;  // the square of the number of cells, for each row
constexpr std::uint64_t max_bytes_read_again = 5'000'000;
constexpr std::uint64_t max_bytes_copied = 50'000'000;
constexpr std::uint64_t max_nodes = 500'000;  // 400 bytes each

/// Each of these can make a node of its own, most of them even if it turns out to be plain text.
constexpr std::string_view inline_marks = "[]!*_`<&\\~@:w";
/// Quotations and lists at the beginning of a line, one in another.
constexpr std::string_view block_marks = " \t>-+*0123456789.)";

/// Whether the line could be the second one of a table, such as `|-|:-:|`, also in a quotation.
bool may_begin_table(std::string_view line) {
  return line.find_first_not_of("|:- \t>") == line.npos && line.find('-') != line.npos &&
         line.find_first_of("|:") != line.npos;
}

/// Adds up lines. A paragraph, a table and a definition of a link end at the latest with a blank line.
class Estimate {
public:
  void add(std::string_view line) {
    nodes_ += nodes_of(line);
    const auto text = line.find_first_not_of(" \t>");
    if (text == line.npos) return end_block();
    const auto bars = static_cast<std::uint64_t>(std::ranges::count(line, '|'));
    ++lines_;
    bytes_ += line.size();
    widest_ = std::max(widest_, bars + 1);
    steps_in_rows_ += bars * bars;
    if (may_begin_table(line)) ++beginnings_;
    add_definition(line);
  }

  void end_block() {
    cells_ += widest_ > 1 ? widest_ * lines_ : 0;
    bytes_read_again_ += beginnings_ * bytes_;
    end_definition();
    lines_ = bytes_ = beginnings_ = 0;
    widest_ = 0;
  }

  bool is_high() const {
    return cells_ > max_cells || steps_in_rows_ > max_steps_in_rows || bytes_read_again_ > max_bytes_read_again ||
           longest_definition_ * brackets_ > max_bytes_copied || nodes_ > max_nodes;
  }

private:
  /// A block with its text, and what the marks could make.
  static std::uint64_t nodes_of(std::string_view line) {
    const auto is_in = [](std::string_view marks) { return [marks](char c) { return marks.find(c) != marks.npos; }; };
    const auto text = std::min(line.find_first_not_of(block_marks), line.size());
    const auto blocks = std::ranges::count_if(line.substr(0, text), is_in(">-+*.)"));
    return (text < line.size() ? 2 : 0) + 2 * static_cast<std::uint64_t>(blocks) +
           static_cast<std::uint64_t>(std::ranges::count_if(line, is_in(inline_marks)));
  }

  /// A definition begins on a line with `[`, maybe in a list or a quotation, and may continue on further lines.
  void add_definition(std::string_view line) {
    const auto begin = line.find_first_not_of(block_marks);
    if (begin != line.npos && line[begin] == '[') end_definition();
    definition_ += line.size();
    is_definition_ |= line.find("]:") != line.npos;
    brackets_ += static_cast<std::uint64_t>(std::ranges::count(line, ']'));
  }

  void end_definition() {
    if (is_definition_) longest_definition_ = std::max(longest_definition_, definition_);
    definition_ = 0;
    is_definition_ = false;
  }

  // Of the block so far.
  std::uint64_t lines_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t widest_ = 0;  ///< the number of cells that a row may have
  std::uint64_t beginnings_ = 0;
  std::uint64_t definition_ = 0;
  bool is_definition_ = false;

  // Of the text so far.
  std::uint64_t nodes_ = 0;
  std::uint64_t cells_ = 0;
  std::uint64_t steps_in_rows_ = 0;
  std::uint64_t bytes_read_again_ = 0;
  std::uint64_t longest_definition_ = 0;
  std::uint64_t brackets_ = 0;
};

}  // namespace

bool is_costly_markdown(std::string_view markdown) {
  Estimate estimate;
  while (!markdown.empty()) {
    const auto end = std::min(markdown.find_first_of("\r\n"), markdown.size());
    estimate.add(markdown.substr(0, end));
    markdown.remove_prefix(end);
    markdown.remove_prefix(markdown.starts_with("\r\n") ? 2 : std::min<std::size_t>(markdown.size(), 1));
  }
  estimate.end_block();
  return estimate.is_high();
}

}  // namespace agw
