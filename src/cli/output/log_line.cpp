#include "cli/output/log_line.hpp"

#include "base/json/json_values.hpp"
#include "base/time/time.hpp"

namespace agw::cli {

namespace {

/// Removes ` <name>=<value>` from the end of `text`, if present.
std::string take_id(std::string& text, std::string_view name) {
  const auto space = text.rfind(' ');
  if (space == std::string::npos) return "";
  const std::string_view last = std::string_view(text).substr(space + 1);
  if (!last.starts_with(name) || last.size() <= name.size() || last[name.size()] != '=') return "";
  std::string value(last.substr(name.size() + 1));
  text.resize(space);
  return value;
}

LogLine from_json(const json::object& members) {
  const auto text = [&](std::string_view name) { return std::string(string_member(members, name).value_or("")); };
  return {text("time"), text("level"), text("message"), text("request"), text("run")};
}

}  // namespace

LogLine read_log_line(std::string_view text) {
  if (text.starts_with('{')) {
    if (const auto value = parse_json(text); value && value->is_object()) return from_json(value->get_object());
  }
  LogLine line;
  const auto time_end = text.find(' ');
  const auto level_end = time_end == text.npos ? text.npos : text.find(' ', time_end + 1);
  if (level_end == text.npos || !parse_iso8601(text.substr(0, time_end))) {
    line.message = text;
    return line;
  }
  line.time = text.substr(0, time_end);
  line.level = text.substr(time_end + 1, level_end - time_end - 1);
  line.message = text.substr(level_end + 1);
  line.run = take_id(line.message, "run");
  line.request = take_id(line.message, "request");
  return line;
}

log::Level level_of(const LogLine& line) {
  if (line.level == "trace") return log::Level::trace;
  if (line.level == "debug") return log::Level::debug;
  if (line.level == "info") return log::Level::info;
  if (line.level == "warning") return log::Level::warn;
  return log::Level::error;
}

json::object as_object(const LogLine& line) {
  json::object members{{"time", line.time}, {"level", line.level}, {"message", line.message}};
  if (!line.request.empty()) members["request"] = line.request;
  if (!line.run.empty()) members["run"] = line.run;
  return members;
}

}  // namespace agw::cli
