#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/log.hpp"

namespace agw::cli {

/// A line of the gateway's log, from either form of it.
struct LogLine {
  std::string time;   ///< ISO 8601; empty where the line says none
  std::string level;  ///< `debug`, `info`, `warning`, `error`
  std::string message;
  std::string request;  ///< empty where it is about none
  std::string run;
};

/// What is no line of ours becomes a message without time and level.
LogLine read_log_line(std::string_view text);

/// How much a line matters, to hold against `--level`; one that says no level matters most.
log::Level level_of(const LogLine& line);

/// The members that the log has as JSON.
json::object as_object(const LogLine& line);

}  // namespace agw::cli
