#pragma once

#include <string>
#include <string_view>

#include "base/json/json.hpp"
#include "base/log.hpp"

namespace agw::cli {

/// A parsed line of the gateway's log in either format.
/// Example: src/cli/output/log_line_test.cpp: LogLine.ATextLineIsParsed
struct LogLine {
  std::string time;   ///< ISO 8601; empty if there is none
  std::string level;  ///< `debug`, `info`, `warning`, `error`
  std::string message;
  std::string request;  ///< empty if there is none
  std::string run;
};

/// Parses a line. One in another format becomes a message without time and level.
LogLine read_log_line(std::string_view text);

/// The level of a line, for comparison with `--level`; the highest for a line without a level.
log::Level level_of(const LogLine& line);

/// The line as an object with the members of the JSON format.
json::object as_object(const LogLine& line);

}  // namespace agw::cli
