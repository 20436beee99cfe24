#pragma once

#include "base/log.hpp"

namespace agw::log {

/// The format of a line: `<time> <level> <line> request=… run=…`, or a JSON object with the members `time`, `level`,
/// `message`, and `request` and `run` if known.
enum class Format { text, json };

/// Sets the format, starting with the next `open`.
void use(Format format);

/// The request and the run that a line belongs to, with which either can be followed through the log. Empty if unknown.
struct Ids {
  std::string_view request;
  std::string_view run;
};

void write(Level level, std::string_view line, const Ids& ids);

/// Writes a line only to the file, if there is one, because the terminal already shows it.
void write_to_file(Level level, std::string_view line);

template <class... Arguments>
void debug(const Ids& ids, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (enabled(Level::debug)) write(Level::debug, fmt::format(format, std::forward<Arguments>(arguments)...), ids);
}
template <class... Arguments>
void info(const Ids& ids, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (enabled(Level::info)) write(Level::info, fmt::format(format, std::forward<Arguments>(arguments)...), ids);
}
template <class... Arguments>
void warn(const Ids& ids, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (enabled(Level::warn)) write(Level::warn, fmt::format(format, std::forward<Arguments>(arguments)...), ids);
}
template <class... Arguments>
void error(const Ids& ids, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (enabled(Level::error)) write(Level::error, fmt::format(format, std::forward<Arguments>(arguments)...), ids);
}

}  // namespace agw::log
