#pragma once

#include <string_view>

#include "api/route.hpp"

namespace agw {

/// Title, version and other facts about the gateway as a whole.
json::object document_information();

/// The JSON Schema of a query parameter: unlike a member of a body, it is never null.
json::object parameter_schema(const Field& field);

/// The OpenAPI 3.1 document of a route table.
json::object openapi_document(const Routes& routes, std::string_view server_url);

}  // namespace agw
