#include "cli/transfer/source_values.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "cli/transfer/json_pieces.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

Timestamp time_from(double milliseconds) {
  constexpr double first = -62'135'596'800'000.0;
  constexpr double last = 253'402'300'799'999.0;
  if (!(milliseconds >= first && milliseconds <= last)) return no_time;
  return Timestamp(std::chrono::milliseconds(std::llround(milliseconds)));
}

std::optional<Timestamp> time_of(const json::value* value, double factor) {
  if (!value || value->is_null()) return std::nullopt;
  if (value->is_string()) return parse_iso8601(std::string_view(value->get_string())).value_or(no_time);
  return value->is_number() ? time_from(value->to_number<double>() * factor) : no_time;
}

void report_replaced(Importer& importer, std::size_t count, const std::string& what) {
  if (count > 0) importer.leave(fmt::format("{} characters of {}", count, what), "are not whole: they became U+FFFD");
}

void read_records(Importer& importer, const ExportedFile& file, std::string_view kind, std::uint64_t& done,
                  const std::function<void(json::object)>& each) {
  const auto total = done + file.size;
  JsonElements elements(
      [&] {
        const auto bytes = file.read();
        done += bytes.size();
        return bytes;
      },
      max_piece_bytes);
  std::string text;
  std::uint64_t count = 0;
  while (elements.next(text)) {
    importer.show_progress(file.path, done, std::max(done, total));
    const auto place = fmt::format("{}[{}]", file.path, count++);
    auto value = source_json(importer, text, place);
    if (value && value->is_object())
      each(std::move(value->get_object()));
    else
      importer.leave(place, fmt::format("is not a {} in JSON", kind));
  }
  if (elements.too_large() > 0)
    importer.leave(fmt::format("{} {}s of {}", elements.too_large(), kind, file.path), "are larger than 24 MiB");
  if (elements.is_truncated())
    importer.leave(file.path, fmt::format("is cut off after {} {}s: get the export again", count, kind));
}

}  // namespace

std::optional<Timestamp> time_in(const json::object& object, std::string_view name) {
  return time_of(object.if_contains(name), 1000);
}

std::optional<Timestamp> time_in_ms(const json::object& object, std::string_view name) {
  return time_of(object.if_contains(name), 1);
}

std::optional<json::value> source_json(Importer& importer, std::string_view text, const std::string& what) {
  std::size_t replaced = 0;
  auto value = parse_source_json(text, replaced);
  report_replaced(importer, replaced, what);
  return value;
}

std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  const auto from = text.find(begin);
  const auto to = from == text.npos ? from : text.find(end, from + begin.size());
  return to == text.npos ? std::string_view() : text.substr(from + begin.size(), to - from - begin.size());
}

json::object call_input(const json::object& call) {
  for (const auto* member : {"arguments", "input", "action"}) {
    const auto* value = call.if_contains(member);
    if (!value) continue;
    if (value->is_object()) return value->get_object();
    if (!value->is_string()) continue;
    auto parsed = parse_json(std::string_view(value->get_string()));
    if (parsed && parsed->is_object()) return std::move(parsed->get_object());
    return {{"input", *value}};
  }
  return {};
}

bool for_each_record(Importer& importer, const fs::path& path, std::string_view kind,
                     const std::function<bool(const fs::path&)>& is_wanted,
                     const std::function<void(json::object)>& each) {
  std::uint64_t done = 0;
  bool found = false;
  for_each_file(path, [&](const ExportedFile& file) {
    if (!is_wanted(file.path)) return;
    found = true;
    read_records(importer, file, kind, done, each);
  });
  return found;
}

bool has_conversations(const fs::path& file, const fs::path& path) {
  const auto name = file.filename().string();
  const bool is_named = name.starts_with("conversations") && name.ends_with(".json");
  return is_named || (fs::is_regular_file(path) && file == path.filename());
}

void for_each_conversation(Importer& importer, const fs::path& path, const std::function<void(json::object)>& each) {
  const auto is_wanted = [&](const fs::path& file) { return has_conversations(file, path); };
  if (fs::is_directory(path))
    for (auto& [what, why] : unread_in(path)) importer.leave(std::move(what), std::move(why));
  const bool found = for_each_record(importer, path, "conversation", is_wanted, each);
  if (!found) throw std::runtime_error(path.string() + ": contains no conversations.json");
}

void for_each_line(Importer& importer, const fs::path& path, const std::function<bool(json::object)>& each) {
  TextLines lines(unpacked_bytes_of_file(path), max_piece_bytes);
  std::string line;
  std::uint64_t broken = 0;
  std::size_t replaced = 0;
  while (lines.next(line)) {
    auto value = parse_source_json(line, replaced);
    if (!value || !value->is_object())
      ++broken;
    else if (!each(std::move(value->get_object())))
      break;
  }
  report_replaced(importer, replaced, path.string());
  broken += lines.too_large();
  if (broken > 0) importer.leave(fmt::format("{} lines of {}", broken, path.string()), "are not JSON, or too long");
}

}  // namespace agw::cli
