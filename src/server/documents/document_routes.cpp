#include "server/documents/document_routes.hpp"

namespace agw {

namespace {

Response document(const json::object& content) {
  Response response;
  write_json(response.body, json::value(content));
  return response;
}

}  // namespace

Routes DocumentRoutes::routes() {
  return {
      get("/openapi.json", "This API as an OpenAPI 3.1 document", &DocumentRoutes::openapi, *this)
          .responds<json::object>(),
      get("/asyncapi.json", "The events of the WebSocket as an AsyncAPI 3.0 document", &DocumentRoutes::asyncapi, *this)
          .responds<json::object>(),
      get("/utcp", "This API as the tools of a UTCP manual", &DocumentRoutes::utcp, *this).responds<json::object>(),
  };
}

Response DocumentRoutes::openapi(const Request& request) {
  return document(openapi_document(*table_, request.origin()));
}

Response DocumentRoutes::asyncapi(const Request& request) {
  return document(asyncapi_document(*table_, request.origin()));
}

Response DocumentRoutes::utcp(const Request& request) { return document(utcp_manual(*table_, request.origin())); }

}  // namespace agw
