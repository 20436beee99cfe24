#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json/json.hpp"

namespace agw {

// A tool's schema marks arguments with `x-mcp-header`. Over HTTP, the client also sends them as headers, so that
// proxies can route calls without reading their bodies:
// https://modelcontextprotocol.io/specification/2026-07-28/server/tools#x-mcp-header

/// What is wrong with the marks of a schema; empty if nothing is. A client must leave out tools with such marks.
std::string problem_of_marks(const json::object& schema);

/// The headers for those arguments of a call that are marked and not null, with values not yet encoded.
std::vector<std::pair<std::string, std::string>> headers_of_marked(const json::object& schema,
                                                                   const json::object& arguments);

}  // namespace agw
