#pragma once

#include <string>
#include <string_view>

namespace agw::cli {

/// Reads a text that nobody may see: at a terminal a line after `prompt`, without echo; else all of stdin without the
/// line feed that `echo` adds. Blocks the thread.
std::string read_hidden(std::string_view prompt);

}  // namespace agw::cli
