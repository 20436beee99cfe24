#include "base/log.hpp"

#include <atomic>
#include <memory>
#include <vector>

#include <spdlog/logger.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace agw::log {

namespace {

constexpr std::size_t file_size = 10 * 1024 * 1024;
constexpr std::size_t old_files = 5;
constexpr auto pattern = "%Y-%m-%dT%H:%M:%S.%eZ %l %v";

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

std::shared_ptr<spdlog::logger> make_logger(const std::filesystem::path& directory, Level level) {
  std::vector<spdlog::sink_ptr> sinks{std::make_shared<spdlog::sinks::stderr_sink_mt>()};
  if (!directory.empty()) {
    sinks.push_back(
        std::make_shared<spdlog::sinks::rotating_file_sink_mt>(directory / "gateway.log", file_size, old_files));
  }
  auto logger = std::make_shared<spdlog::logger>("agw", sinks.begin(), sinks.end());
  logger->set_pattern(pattern, spdlog::pattern_time_type::utc);
  logger->set_level(to_spdlog(level));
  logger->flush_on(spdlog::level::info);
  return logger;
}

std::shared_ptr<spdlog::logger>& logger() {
  static auto instance = make_logger({}, Level::info);
  return instance;
}

}  // namespace

void open(const std::filesystem::path& directory, Level level) { logger() = make_logger(directory, level); }

void close() { logger()->flush(); }

bool enabled(Level level) { return logger()->should_log(to_spdlog(level)); }

void write(Level level, std::string_view line) { logger()->log(to_spdlog(level), line); }

}  // namespace agw::log
