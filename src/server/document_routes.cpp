#include "server/document_routes.hpp"

#include "server/asyncapi.hpp"
#include "server/openapi.hpp"
#include "server/utcp.hpp"

namespace agw {

namespace {

Answer document(const json::object& content) {
  Answer answer;
  write_json(answer.body, json::value(content));
  return answer;
}

}  // namespace

Routes DocumentRoutes::routes() {
  return {
      get("/openapi.json", "This API as an OpenAPI 3.1 document", this, &DocumentRoutes::openapi)
          .answers<json::object>(),
      get("/asyncapi.json", "The events of the WebSocket as an AsyncAPI 3.0 document", this, &DocumentRoutes::asyncapi)
          .answers<json::object>(),
      get("/utcp", "This API as the tools of a UTCP manual", this, &DocumentRoutes::utcp).answers<json::object>(),
  };
}

Answer DocumentRoutes::openapi(const Request& request) { return document(openapi_document(*table_, request.origin())); }

Answer DocumentRoutes::asyncapi(const Request& request) {
  return document(asyncapi_document(*table_, request.origin()));
}

Answer DocumentRoutes::utcp(const Request& request) { return document(utcp_manual(*table_, request.origin())); }

}  // namespace agw
