#pragma once

#include "base/log.hpp"

namespace agw::log {

/// How a line looks: `<time> <level> <line> request=… run=…`, or an object with the members `time`, `level`, `message`,
/// and `request` and `run` where they are known.
enum class Format { text, json };

/// Of what is logged from the next `open` on.
void use(Format format);

/// What a line is about, for whoever follows one request or one run through the log. Empty where it is not known.
struct Ids {
  std::string_view request;
  std::string_view run;
};

void write(Level level, std::string_view line, const Ids& ids);

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
