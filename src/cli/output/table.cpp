#include "cli/output/table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text/utf8.hpp"

namespace agw::cli {

namespace {

std::vector<std::int64_t> widths_of(const std::vector<Row>& rows) {
  std::vector<std::int64_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], count_characters(row[column]));
    }
  }
  return widths;
}

}  // namespace

std::string table(const std::vector<Row>& rows) {
  const auto widths = widths_of(rows);
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      text += row[column];
      if (column + 1 < row.size()) text.append(widths[column] + 2 - count_characters(row[column]), ' ');
    }
    text += '\n';
  }
  return text;
}

std::string count_text(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace agw::cli
