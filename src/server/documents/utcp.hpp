#pragma once

#include <string_view>

#include "api/route.hpp"

namespace agw {

/// The UTCP manual of a route table: one tool for each route whose input and output are JSON. Clients reject the whole
/// manual for one unknown key.
json::object utcp_manual(const Routes& routes, std::string_view server_url);

}  // namespace agw
