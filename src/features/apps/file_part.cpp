#include "features/apps/file_part.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/trim.hpp>

#include "base/async/assert.hpp"

namespace agw {

namespace {

constexpr std::string_view unit = "bytes=";
constexpr auto largest = std::numeric_limits<std::uint64_t>::max();

struct Bounds {
  std::optional<std::uint64_t> first;  ///< no value: `last` counts from the end
  std::optional<std::uint64_t> last;
};

/// No value if the text is not a number. A number that is too large to parse is larger than any file.
std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) return largest;
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<Bounds> parse(std::string_view range) {
  if (!boost::istarts_with(range, unit)) return std::nullopt;
  range.remove_prefix(unit.size());
  const auto dash = range.find('-');
  if (dash == range.npos) return std::nullopt;
  const auto before = range.substr(0, dash);
  const auto behind = range.substr(dash + 1);
  Bounds bounds{.first = number(before), .last = number(behind)};
  const bool readable = bounds.first.has_value() != before.empty() && bounds.last.has_value() != behind.empty();
  const bool empty = !bounds.first && !bounds.last;
  const bool backwards = bounds.first && bounds.last && *bounds.first > *bounds.last;
  return readable && !empty && !backwards ? std::optional(bounds) : std::nullopt;
}

}  // namespace

FilePart requested_part(std::optional<std::string_view> range, std::uint64_t size) {
  const auto bounds = range ? parse(boost::trim_copy(*range)) : std::nullopt;
  if (!bounds) return {.count = size};
  const auto last = bounds->last.value_or(largest);
  const auto first = bounds->first ? *bounds->first : size - std::min(size, last);
  if (first >= size) return {.status = 416};
  const auto end = bounds->first ? std::min(last, size - 1) + 1 : size;
  AGW_ASSERT(first < end);
  AGW_ASSERT(end <= size);
  return {.status = 206, .first = first, .count = end - first};
}

}  // namespace agw
