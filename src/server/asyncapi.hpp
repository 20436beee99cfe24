#pragma once

#include <string_view>

#include "api/route.hpp"

namespace agw {

/// The AsyncAPI 3.0 document of the WebSocket: every kind of event, and what clients say. The records that events carry
/// are described as the routes that answer them do.
json::object asyncapi_document(const Routes& routes, std::string_view server_url);

}  // namespace agw
