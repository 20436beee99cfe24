#include "base/log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

// Closes the log's descriptor in child processes.
#define SPDLOG_PREVENT_CHILD_FD
#include <spdlog/logger.h>
#include <spdlog/sinks/rotating_file_sink.h>

#include "base/async/assert.hpp"
#include "base/data_files.hpp"
#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/log_ids.hpp"
#include "base/log_stderr.hpp"

namespace agw::log {

namespace {

constexpr std::size_t file_size = 10 * 1024 * 1024;
constexpr std::size_t old_files = 5;
constexpr auto text_pattern = "%Y-%m-%dT%H:%M:%S.%eZ %l %v";
constexpr auto json_pattern = R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})";

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::trace:
      return spdlog::level::trace;
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warn:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
    case Level::off:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

/// Creates the file, because spdlog would make it readable for others, and would retry five times on failure.
void make_private(const spdlog::filename_t& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  const bool made = file >= 0 && ::fchmod(file, 0600) == 0;
  const std::error_code error(errno, std::generic_category());
  if (file >= 0) ::close(file);
  if (!made) throw std::system_error(error, "cannot write the log " + path);
}

spdlog::sink_ptr make_file_sink(const std::filesystem::path& directory) {
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    throw std::system_error(errno, std::generic_category(), "cannot make the directory of logs " + directory.string());
  }
  spdlog::file_event_handlers handlers;
  handlers.before_open = make_private;
  return std::make_shared<spdlog::sinks::rotating_file_sink_mt>(directory / data_files::log, file_size, old_files,
                                                                false, handlers);
}

/// The length of the control character at the start of `text`: an ASCII one, or U+0080 to U+009F; 0 for others.
std::size_t control_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
  return byte(0) == 0xc2 && text.size() > 1 && byte(1) < 0xa0 ? 2 : 0;
}

void escape_control(std::string& out, std::string_view character) {
  if (character == "\n") {
    out += "\\n";
  } else {
    out += fmt::format("\\u{:04x}", static_cast<unsigned char>(character.back()));
  }
}

bool is_plain(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

/// Makes one line of any input: a line feed would forge a line, an escape sequence would control the terminal.
std::string on_one_line(std::string_view raw) {
  const auto text = to_utf8(raw);
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const auto length = control_length(rest);
    if (length == 0) {
      out += rest[0];
    } else {
      escape_control(out, rest.substr(0, length));
    }
    rest.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string as_text(std::string_view line, const Ids& ids) {
  auto text = is_plain(line) ? std::string(line) : on_one_line(line);
  if (!ids.request.empty()) text += fmt::format(" request={}", ids.request);
  if (!ids.run.empty()) text += fmt::format(" run={}", ids.run);
  return text;
}

/// The JSON members after time and level.
std::string as_json(std::string_view line, const Ids& ids) {
  std::string members = "\"message\":";
  write_json(members, std::string_view(to_utf8(line)));
  if (!ids.request.empty()) write_json(members += ",\"request\":", ids.request);
  if (!ids.run.empty()) write_json(members += ",\"run\":", ids.run);
  return members;
}

std::string in(Format format, std::string_view line, const Ids& ids) {
  return format == Format::json ? as_json(line, ids) : as_text(line, ids);
}

std::string left_out(std::size_t count, const std::filesystem::path& directory, Format format) {
  const auto where = directory.empty() ? "" : fmt::format("; {} has them", (directory / data_files::log).string());
  return in(format, fmt::format("lines left out here, as stderr was not read in time: {}{}", count, where), {});
}

std::shared_ptr<spdlog::logger> make_logger(const std::filesystem::path& directory, Level level, Format format) {
  auto notice = [directory, format](std::size_t count) { return left_out(count, directory, format); };
  std::vector<spdlog::sink_ptr> sinks{std::make_shared<StandardErrorSink>(std::move(notice))};
  if (!directory.empty()) sinks.push_back(make_file_sink(directory));
  auto logger = std::make_shared<spdlog::logger>("agw", sinks.begin(), sinks.end());
  logger->set_pattern(format == Format::json ? json_pattern : text_pattern, spdlog::pattern_time_type::utc);
  logger->set_level(to_spdlog(level));
  // Verbose levels are flushed line by line, so that lines are visible immediately.
  logger->flush_on(std::min(to_spdlog(level), spdlog::level::info));
  return logger;
}

struct Log {
  std::shared_ptr<spdlog::logger> logger = make_logger({}, Level::info, Format::text);
  Format format = Format::text;
};

Log& the_log() {
  static Log instance;
  return instance;
}

}  // namespace

void use(Format format) { the_log().format = format; }

void open(const std::filesystem::path& directory, Level level) {
  auto& log = the_log();
  report_failed_assertions([](const char* what) {
    error("the gateway ends, because of a bug in it: {}", what);
    return enabled(Level::error);
  });
  try {
    log.logger = make_logger(directory, level, log.format);
  } catch (const std::exception& error) {
    throw StartError(ExitStatus::usage, error.what());
  }
}

void close() { the_log().logger->flush(); }

bool enabled(Level level) { return the_log().logger->should_log(to_spdlog(level)); }

void write(Level level, std::string_view line) { write(level, line, {}); }

void write(Level level, std::string_view line, const Ids& ids) {
  const auto& log = the_log();
  log.logger->log(to_spdlog(level), in(log.format, line, ids));
}

void write_to_file(Level level, std::string_view line) {
  const auto& log = the_log();
  if (!enabled(level)) return;
  const auto text = in(log.format, line, {});
  const spdlog::details::log_msg message(log.logger->name(), to_spdlog(level), text);
  // The first sink is stderr.
  for (std::size_t i = 1; i < log.logger->sinks().size(); ++i) {
    log.logger->sinks()[i]->log(message);
    log.logger->sinks()[i]->flush();
  }
}

}  // namespace agw::log
