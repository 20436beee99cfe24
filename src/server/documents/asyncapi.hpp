#pragma once

#include <string_view>

#include "api/route.hpp"

namespace agw {

/// The AsyncAPI 3.0 document of the WebSocket: every kind of event, and the clients' messages. The records in events
/// have the schemas of the routes that respond with them.
json::object asyncapi_document(const Routes& routes, std::string_view server_url);

}  // namespace agw
