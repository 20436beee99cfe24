#include "server/document_routes.hpp"

#include "server/openapi.hpp"

namespace agw {

Routes DocumentRoutes::routes() {
  return {get("/openapi.json", "This API as an OpenAPI 3.1 document", this, &DocumentRoutes::openapi)
              .answers<json::object>()};
}

Task<Answer> DocumentRoutes::openapi(Request& request) {
  Answer answer;
  write_json(answer.body, json::value(openapi_document(*table_, request.origin)));
  co_return answer;
}

}  // namespace agw
