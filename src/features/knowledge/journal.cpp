#include "features/knowledge/journal.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <boost/algorithm/string.hpp>

#include "base/async/assert.hpp"
#include "base/json/json.hpp"
#include "base/log.hpp"
#include "features/knowledge/page_text.hpp"
#include "io/files/update_file.hpp"

namespace agw {

namespace {

constexpr std::string_view journal_path = "knowledge/log.md";
constexpr std::string_view opening = "## [";
constexpr std::size_t max_journal_length = 1024 * 1024;
/// The length to which a long journal is shortened.
constexpr std::size_t kept_bytes = max_journal_length / 2;
/// Larger than the limit, because people may extend the file.
constexpr std::size_t max_bytes_read = 16 * max_journal_length;
constexpr std::size_t max_line_length = 500;

void warn_of_unreadable(FileError error) { log::warn("cannot read {}: {}", journal_path, to_string(error)); }

/// Empty if the file cannot be read.
std::string read_text(const Directory& data_directory) {
  const auto content = data_directory.read(journal_path, max_bytes_read);
  if (content) return to_utf8(*content);
  if (content.error() != FileError::not_found) warn_of_unreadable(content.error());
  return {};
}

/// The event whose heading the line is; no value for other lines.
std::optional<KnowledgeEvent> heading_of(std::string_view line) {
  if (!line.starts_with(opening)) return std::nullopt;
  const auto close = line.find(']');
  if (close == line.npos) return std::nullopt;
  const auto at = parse_iso8601(line.substr(opening.size(), close - opening.size()));
  if (!at) return std::nullopt;
  const auto rest = line.substr(close + 1);
  const auto bar = rest.find('|');
  KnowledgeEvent event{.at = *at, .op = boost::trim_copy(std::string(rest.substr(0, bar)))};
  if (bar != rest.npos) event.title = boost::trim_copy(std::string(rest.substr(bar + 1)));
  return event;
}

/// The start of the first entry at or after `from`; the end of the text if there is none.
std::size_t next_entry(std::string_view text, std::size_t from) {
  for (auto at = text.find(opening, from); at != text.npos; at = text.find(opening, at + 1)) {
    if (at > 0 && text[at - 1] != '\n') continue;
    if (heading_of(text.substr(at, text.find('\n', at) - at))) return at;
  }
  return text.size();
}

/// The end of `text`, from the first entry that begins in its last `bytes`; all of `text` if none does.
std::string_view newest_part(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  const auto entry = next_entry(text, text.size() - bytes);
  return entry == text.size() ? text : text.substr(entry);
}

/// Drops the oldest entries of a long journal. Text before the first entry belongs to a person and is kept.
void shorten(std::string& text) {
  const auto first = next_entry(text, 0);
  const auto entries = std::string_view(text).substr(first);
  if (entries.size() > max_journal_length) text.erase(first, entries.size() - newest_part(entries, kept_bytes).size());
}

std::string with_event(std::string text, const KnowledgeEvent& event) {
  shorten(text);
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += fmt::format("{}{}] {} | {}\n", opening, to_iso8601(event.at), event.op,
                      single_line(event.title, max_line_length));
  if (!event.detail.empty()) text += '\n' + event.detail + '\n';
  return text + '\n';
}

}  // namespace

std::vector<KnowledgeEvent> read_journal(const Directory& data_directory) {
  AGW_DEBUG_ASSERT(may_block());

  const auto text = read_text(data_directory);
  std::vector<KnowledgeEvent> events;
  auto rest = newest_part(text, max_journal_length);
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto line = boost::trim_right_copy(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (auto event = heading_of(line)) {
      events.push_back(std::move(*event));
    } else if (!events.empty()) {
      events.back().detail.append(line).append("\n");
    }
  }
  for (auto& event : events) boost::trim(event.detail);
  std::ranges::reverse(events);
  return events;
}

void add_to_journal(const Directory& data_directory, const KnowledgeEvent& event) {
  AGW_DEBUG_ASSERT(may_block());

  bool is_readable = false;
  const auto written = update_file(data_directory, journal_path, max_bytes_read, [&](const std::string* present) {
    is_readable = true;
    return std::optional(with_event(present ? to_utf8(*present) : std::string(), event));
  });
  // A file that cannot be read is never overwritten: it may contain text of a person.
  if (!is_readable && !written) return warn_of_unreadable(written.error());
  written.value();
}

}  // namespace agw
