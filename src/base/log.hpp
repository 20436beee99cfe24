#pragma once

#include <filesystem>
#include <string_view>

#include <fmt/core.h>

namespace agw::log {

enum class Level { trace, debug, info, warn, error, off };

/// Opens the log: stderr, and `<directory>/gateway.log` rotated at 10 MiB with 5 old files kept. Before this, and with
/// an empty directory, lines go to stderr only, which leaves out what is not read in time. Directory and files are made
/// for their owner alone. Throws StartError (usage) where they cannot be written. Call it once, before other threads
/// run.
void open(const std::filesystem::path& directory, Level level);

/// Lets the writing of what was logged finish; the last call before the process ends.
void close();

bool enabled(Level level);

/// Writes one line: control characters in it, newlines too, are shown escaped.
void write(Level level, std::string_view line);

/// Never hand a secret to these: whatever is logged may end in a bug report.
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
