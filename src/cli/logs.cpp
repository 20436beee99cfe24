#include <unistd.h>

#include <deque>
#include <iostream>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/replace.hpp>

#include "base/error.hpp"
#include "base/time.hpp"
#include "cli/commands.hpp"
#include "cli/find_gateway.hpp"
#include "cli/json_output.hpp"
#include "cli/list.hpp"
#include "cli/log_files.hpp"
#include "cli/log_line.hpp"
#include "cli/printable.hpp"
#include "cli/terminal.hpp"

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

bool is_wanted(const LogLine& line, const LogsOptions& options) {
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
  // A line stays one: what a file is called must not look like the next.
  text += boost::replace_all_copy(printable(line.message), "\n", "\\n");
  if (!line.request.empty()) text += dim(terminal, printable(" request=" + line.request));
  if (!line.run.empty()) text += dim(terminal, printable(" run=" + line.run));
  std::cout << text << '\n' << std::flush;
}

/// Times of the log compare as text.
void normalise(std::optional<std::string>& since) {
  if (!since) return;
  const auto time = parse_iso8601(*since);
  if (!time) throw StartError(ExitStatus::usage, "--since must be an ISO 8601 timestamp, such as 2026-01-02T03:04Z");
  since = to_iso8601(*time);
}

int show(LogsOptions options) {
  normalise(options.since);
  LogFiles files(data_directory(options.list.data_dir) / "logs");
  std::deque<LogLine> last;
  const auto limit = static_cast<std::size_t>(options.lines.value_or(usual_lines));
  files.read([&](const std::string& text) {
    auto line = read_log_line(text);
    if (!is_wanted(line, options)) return;
    last.push_back(std::move(line));
    if (last.size() > limit) last.pop_front();
  });
  for (const auto& line : last) print(line, options);
  // What could not be written is told when the command ends.
  if (!options.follow || !std::cout) return 0;
  files.follow([&](const std::string& text) {
    const auto line = read_log_line(text);
    if (is_wanted(line, options)) print(line, options);
    if (!std::cout) throw std::runtime_error("cannot write the output: what follows is lost");
  });
  return 0;
}

}  // namespace

Action logs_command(Arguments& arguments) {
  auto options = std::make_shared<LogsOptions>();
  arguments.flag("--follow", options->follow, "Go on with what comes, until Ctrl-C");
  arguments.option("--lines", options->lines, 0, max_limit, "At most so many of the latest (default: 100)");
  arguments.option("--level", options->level, {"trace", "debug", "info", "warn", "warning", "error"},
                   "Only these and worse");
  arguments.option("--text", options->text, "Only lines with this text in them, in either case");
  arguments.option("--request", options->request, "Only those about this request");
  arguments.option("--run", options->run, "Only those about this run");
  arguments.option("--since", options->since, "Only those from this time on (ISO 8601)");
  declare(arguments, options->list);
  return [options] { return show(*options); };
}

}  // namespace agw::cli
