#pragma once

#include <filesystem>
#include <string_view>

#include <fmt/core.h>

namespace agw::log {

enum class Level { trace, debug, info, warn, error, off };

/// Opens the log: stderr and `<directory>/gateway.log`, rotated at 10 MiB with 5 old files kept. Before this call, or
/// with an empty directory, lines are written to stderr only. Lines for stderr are dropped if it is not read in time.
/// Only the owner can access the directory and the files. Throws StartError (usage) if they cannot be written. Call it
/// once, before other threads run.
/// Example: src/base/log_test.cpp: LogTest.ALineNamesItsRequestAndRun
void open(const std::filesystem::path& directory, Level level);

/// Flushes the log. Must be the last call before the process ends.
void close();

bool enabled(Level level);

/// Writes one line. Control characters, including line feeds, are escaped.
void write(Level level, std::string_view line);

/// Never log a secret: any line may be quoted in a bug report.
template <class... Arguments>
void debug(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (enabled(Level::debug)) write(Level::debug, fmt::format(format, std::forward<Arguments>(arguments)...));
}
template <class... Arguments>
void info(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (enabled(Level::info)) write(Level::info, fmt::format(format, std::forward<Arguments>(arguments)...));
}
template <class... Arguments>
void warn(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (enabled(Level::warn)) write(Level::warn, fmt::format(format, std::forward<Arguments>(arguments)...));
}
template <class... Arguments>
void error(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (enabled(Level::error)) write(Level::error, fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace agw::log
