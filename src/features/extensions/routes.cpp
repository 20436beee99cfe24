#include "features/extensions/routes.hpp"

#include "api/refusals.hpp"
#include "features/extensions/schemas.hpp"
#include "features/extensions/service.hpp"

namespace agw {

Routes ExtensionRoutes::routes() {
  const json::object example{{"type", "command"},
                             {"name", "translate"},
                             {"description", "Translate a text into English"},
                             {"definition", {{"prompt", "Translate into English: $ARGUMENTS"}}},
                             {"enabled", true}};
  return {
      get("/extensions", "List extensions, newest first", this, &ExtensionRoutes::list)
          .query<ExtensionFilter>()
          .answers<std::vector<Extension>>(),
      get("/extensions/:id", "Show an extension", this, &ExtensionRoutes::show).answers<Extension>().fails_with({404}),
      post("/extensions", "Create an extension", this, &ExtensionRoutes::create)
          .body<NewExtension>()
          .answers<Extension>(201)
          .like(example)
          .fails_with({400, 409}),
      patch("/extensions/:id", "Change an extension", this, &ExtensionRoutes::change)
          .body<ExtensionChange>()
          .answers<Extension>()
          .fails_with({400, 403, 404, 409}),
      post("/extensions/:id/toggle", "Enable or disable an extension", this, &ExtensionRoutes::toggle)
          .answers<Extension>()
          .fails_with({403, 404}),
      remove("/extensions/:id", "Delete an extension", this, &ExtensionRoutes::erase)
          .answers_nothing()
          .fails_with({403, 404}),
      get("/schemas", "List the JSON Schemas of definitions, by type", this, &ExtensionRoutes::list_schemas)
          .answers<json::object>(),
      get("/schemas/:type", "Show the JSON Schema of a type's definitions", this, &ExtensionRoutes::show_schema)
          .answers<json::object>()
          .fails_with({404}),
  };
}

Answer ExtensionRoutes::list(const Request& request) {
  return Answer{.body = extensions_.list_json(request.query<ExtensionFilter>())};
}

Task<Answer> ExtensionRoutes::show(Request& request) { co_return Answer::of(*extensions_.require(request.path("id"))); }

Task<Answer> ExtensionRoutes::create(Request& request) {
  const auto made = co_await extensions_.create(request.body_object(), request.along<Extension>(201));
  co_return Answer::of(*made, 201);
}

Task<Answer> ExtensionRoutes::change(Request& request) {
  const auto id = extensions_.require(request.path("id"))->id;
  co_return Answer::of(*co_await extensions_.change(id, request.body_object(), {}, RequiredMembers::may_be_missing));
}

Task<Answer> ExtensionRoutes::toggle(Request& request) {
  co_return Answer::of(*co_await extensions_.toggle(request.path("id"), request.along<Extension>(200)));
}

Task<Answer> ExtensionRoutes::erase(Request& request) {
  co_await extensions_.remove(request.path("id"));
  co_return Answer::no_content();
}

Answer ExtensionRoutes::list_schemas(const Request&) {
  json::object schemas;
  for (const auto& type : names(Tag<ExtensionType>{})) {
    schemas[type.name] = definition_schema(static_cast<ExtensionType>(type.value));
  }
  return Answer{.body = to_json(schemas)};
}

Answer ExtensionRoutes::show_schema(const Request& request) {
  const auto type = from_text<ExtensionType>(request.path("type"));
  if (!type) throw nothing_found();
  return Answer{.body = to_json(definition_schema(*type))};
}

}  // namespace agw
