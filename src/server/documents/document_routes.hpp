#pragma once

#include <string_view>

#include "api/route.hpp"
#include "base/async/task.hpp"

namespace agw {

class BlockingPool;

/// The documents generated from the route table: `/openapi.json`, `/asyncapi.json` and `/utcp`.
class DocumentRoutes {
public:
  /// `blocking` makes the documents, which takes some milliseconds.
  explicit DocumentRoutes(BlockingPool& blocking) : blocking_(blocking) {}

  Routes routes();
  /// Sets the complete table, including these routes. Call it before the first request; `table` must outlive this
  /// object.
  void describe_table(const Routes& table) { table_ = &table; }

private:
  using Document = json::object(const Routes& routes, std::string_view server_url);

  Task<Response> openapi(Request& request);
  Task<Response> asyncapi(Request& request);
  Task<Response> utcp(Request& request);
  Task<Response> respond(Document& document, const Request& request);

  BlockingPool& blocking_;
  const Routes* table_ = nullptr;
};

/// Title, version and other properties of the gateway.
json::object document_information();

/// The JSON Schema of a query parameter. Unlike a member of a body, it is never null.
json::object parameter_schema(const Field& field);

/// The OpenAPI 3.1 document of a route table.
json::object openapi_document(const Routes& routes, std::string_view server_url);

/// The AsyncAPI 3.0 document of the WebSocket: every kind of event, and the clients' messages. Records in events have
/// the schemas of the routes that return them.
json::object asyncapi_document(const Routes& routes, std::string_view server_url);

/// The UTCP manual of a route table: one tool for each route whose input and output are JSON. Clients reject the whole
/// manual for one unknown key.
json::object utcp_manual(const Routes& routes, std::string_view server_url);

}  // namespace agw
