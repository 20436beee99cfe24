#include "server/documents/document_routes.hpp"

#include <string>

#include "io/process/blocking.hpp"

namespace agw {

Routes DocumentRoutes::routes() {
  return {
      get("/openapi.json", "This API as an OpenAPI 3.1 document", &DocumentRoutes::openapi, *this)
          .responds<json::object>(),
      get("/asyncapi.json", "The events of the WebSocket as an AsyncAPI 3.0 document", &DocumentRoutes::asyncapi, *this)
          .responds<json::object>(),
      get("/utcp", "This API as the tools of a UTCP manual", &DocumentRoutes::utcp, *this).responds<json::object>(),
  };
}

Task<Response> DocumentRoutes::openapi(Request& request) { return respond(openapi_document, request); }

Task<Response> DocumentRoutes::asyncapi(Request& request) { return respond(asyncapi_document, request); }

Task<Response> DocumentRoutes::utcp(Request& request) { return respond(utcp_manual, request); }

Task<Response> DocumentRoutes::respond(Document& document, const Request& request) {
  const std::string origin(request.origin());
  co_return Response{.body = co_await blocking_.run([&] { return to_json(document(*table_, origin)); })};
}

}  // namespace agw
