#include <unistd.h>

#include <deque>
#include <iostream>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/replace.hpp>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "base/time/time.hpp"
#include "cli/client/find_gateway.hpp"
#include "cli/command_table.hpp"
#include "cli/commands/log_files.hpp"
#include "cli/list.hpp"
#include "cli/output/json_output.hpp"
#include "cli/output/log_line.hpp"
#include "cli/output/terminal.hpp"

namespace agw::cli {

namespace {

constexpr int usual_lines = 100;

struct LogsOptions {
  bool follow = false;
  std::optional<int> lines;
  std::optional<std::string> level;
  std::optional<std::string> text;
  std::optional<std::string> request;
  std::optional<std::string> run;
  std::optional<std::string> since;
  ListOptions list;
};

log::Level level_named(const std::string& name) {
  return name == "warn" ? log::Level::warn : level_of({.level = name});
}

bool is_selected(const LogLine& line, const LogsOptions& options) {
  if (options.level && level_of(line) < level_named(*options.level)) return false;
  if (options.text && !boost::icontains(line.message, *options.text)) return false;
  if (options.request && line.request != *options.request) return false;
  if (options.run && line.run != *options.run) return false;
  return !options.since || line.time >= *options.since;
}

std::string coloured(const Terminal& terminal, log::Level level, std::string_view text) {
  if (!terminal.colours || level < log::Level::warn) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", level == log::Level::warn ? 33 : 31, text);
}

void print(const LogLine& line, const LogsOptions& options) {
  if (options.list.json) {
    print_json(as_object(line));
    std::cout << std::flush;
    return;
  }
  static const auto terminal = terminal_at(STDOUT_FILENO);
  std::string text;
  if (!line.time.empty()) text += dim(terminal, printable(line.time)) + ' ';
  if (!line.level.empty()) text += coloured(terminal, level_of(line), printable(line.level)) + ' ';
  // Keeps the message on one line: a file name must not look like the next line.
  text += boost::replace_all_copy(printable(line.message), "\n", "\\n");
  if (!line.request.empty()) text += dim(terminal, printable(" request=" + line.request));
  if (!line.run.empty()) text += dim(terminal, printable(" run=" + line.run));
  std::cout << text << '\n' << std::flush;
}

/// Converts to the log's format, in which times compare as text.
void normalise(std::optional<std::string>& since) {
  if (!since) return;
  const auto time = parse_iso8601(*since);
  if (!time) throw StartError(ExitStatus::usage, "--since must be an ISO 8601 timestamp, such as 2026-01-02T03:04Z");
  since = to_iso8601(*time);
}

int show(LogsOptions options) {
  normalise(options.since);
  LogFiles files(own_directory(data_directory(options.list.data_dir)) / "logs");
  std::deque<LogLine> last;
  const auto limit = static_cast<std::size_t>(options.lines.value_or(usual_lines));
  files.read([&](const std::string& text) {
    auto line = read_log_line(text);
    if (!is_selected(line, options)) return;
    last.push_back(std::move(line));
    if (last.size() > limit) last.pop_front();
  });
  for (const auto& line : last) print(line, options);
  // Write errors are reported when the command ends.
  if (!options.follow || !std::cout) return 0;
  files.follow([&](const std::string& text) {
    const auto line = read_log_line(text);
    if (is_selected(line, options)) print(line, options);
    if (!std::cout) throw std::runtime_error("cannot write the output: the rest is lost");
  });
  return 0;
}

}  // namespace

Action logs_command(Arguments& arguments) {
  auto options = std::make_shared<LogsOptions>();
  arguments.flag("--follow", options->follow, "Follow the log until Ctrl-C");
  arguments.option("--lines", options->lines, 0, max_limit, "The number of latest lines (default: 100)");
  arguments.option("--level", options->level, {"trace", "debug", "info", "warn", "warning", "error"},
                   "Only lines of this level and above");
  arguments.option("--text", options->text, "Only lines that contain this text, ignoring case");
  arguments.option("--request", options->request, "Only lines about this request");
  arguments.option("--run", options->run, "Only lines about this run");
  arguments.option("--since", options->since, "Only lines since this time (ISO 8601)");
  declare(arguments, options->list, "Print each line as JSON");
  return [options] { return show(*options); };
}

}  // namespace agw::cli
