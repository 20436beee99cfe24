#pragma once

#include <string_view>

#include "api/route.hpp"

namespace agw {

/// The UTCP manual of a route table: one tool for each route that takes and answers JSON. Its clients refuse the whole
/// manual for one key that they do not know.
json::object utcp_manual(const Routes& routes, std::string_view server_url);

}  // namespace agw
