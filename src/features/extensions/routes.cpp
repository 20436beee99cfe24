#include <memory>
#include <utility>
#include <vector>

#include "api/body.hpp"
#include "api/refusals.hpp"
#include "api/route.hpp"
#include "features/extensions/schemas.hpp"
#include "features/extensions/service.hpp"

namespace agw {

namespace {

Task<Response> list_extensions(Extensions& extensions, Request& request) {
  co_return Response{.body = co_await extensions.list_json(extensions.disk(), request.query<ExtensionFilter>())};
}

Task<Response> show_extension(Extensions& extensions, Request& request) {
  co_return request.respond(*extensions.require(request.path("id")));
}

/// Warnings about names in the definition that do not exist.
Task<std::vector<ExtensionWarning>> warnings_about(const NameCheck& names, const NewExtension& wanted) {
  auto draft = std::make_shared<Extension>();
  draft->name = wanted.name;
  draft->type = wanted.type;
  draft->definition = wanted.definition;
  co_return co_await names.unknown_names(std::move(draft));
}

Task<Response> create_extension(Extensions& extensions, const NameCheck& names, Request& request) {
  auto wanted = co_await work_on_body(request, [&request] { return read_new_extension(request.body_object()); });
  // Computed before the write, which stores the response for a repeated request.
  auto warnings = co_await warnings_about(names, wanted);
  InTransaction<Extension> in_transaction;
  if (const auto store_response = request.in_transaction<SavedExtension>()) {
    in_transaction = [store_response, warnings](Connection& connection, const Extension& made) {
      store_response(connection, {made, warnings});
    };
  }
  const auto made = co_await extensions.add(std::move(wanted), std::move(in_transaction));
  const SavedExtension saved{*made, std::move(warnings)};
  co_return co_await respond_in_kind(request, saved);
}

Task<Response> change_extension(Extensions& extensions, const NameCheck& names, Request& request) {
  auto current = extensions.require(request.path("id"));
  auto wanted = co_await work_on_body(request, [&request, &current] {
    return read_extension_change(request.body_object(), current->type, RequiredMembers::may_be_missing);
  });
  const auto changed = co_await extensions.apply(current->id, std::move(wanted));
  auto warnings = co_await names.unknown_names(changed);
  const SavedExtension saved{*changed, std::move(warnings)};
  co_return co_await work_on_body(request, [&request, &saved, &current] {
    current.reset();  // freeing a large version would hold the loop
    return request.respond(saved);
  });
}

Task<Response> toggle_extension(Extensions& extensions, Request& request) {
  co_return request.respond(*co_await extensions.toggle(request.path("id"), request.in_transaction<Extension>()));
}

Task<Response> delete_extension(Extensions& extensions, Request& request) {
  const auto id = extensions.require(request.path("id"))->id;
  co_await extensions.remove(id, request.query<RemovalQuery>().force);
  co_return Response::no_content();
}

Response list_schemas(const Request&) {
  json::object schemas;
  for (const auto& type : names(Tag<ExtensionType>{})) {
    schemas[type.name] = definition_schema(static_cast<ExtensionType>(type.value));
  }
  return Response{.body = to_json(schemas)};
}

Response show_schema(const Request& request) {
  const auto type = from_text<ExtensionType>(request.path("type"));
  if (!type) throw not_found();
  return Response{.body = to_json(definition_schema(*type))};
}

}  // namespace

Routes extension_routes(Extensions& extensions, const NameCheck& names) {
  const json::object example{{"type", "command"},
                             {"name", "translate"},
                             {"description", "Translate a text into English"},
                             {"definition", {{"prompt", "Translate into English: $ARGUMENTS"}}},
                             {"enabled", true}};
  return {
      get("/extensions", "List extensions, newest first", list_extensions, extensions)
          .query<ExtensionFilter>()
          .responds<std::vector<Extension>>(),
      get("/extensions/:id", "Show an extension", show_extension, extensions).responds<Extension>().fails_with({404}),
      post("/extensions", "Create an extension", create_extension, extensions, names)
          .body<NewExtension>()
          .responds<SavedExtension>(201)
          .with_example(example)
          .fails_with({400, 409}),
      patch("/extensions/:id", "Change an extension", change_extension, extensions, names)
          .body<ExtensionChange>()
          .responds<SavedExtension>()
          .fails_with({400, 403, 404, 409}),
      post("/extensions/:id/toggle", "Enable or disable an extension", toggle_extension, extensions)
          .responds<Extension>()
          .fails_with({403, 404}),
      remove("/extensions/:id", "Delete an extension", delete_extension, extensions)
          .query<RemovalQuery>()
          .responds_no_content()
          .fails_with({400, 403, 404, 409}),
      get("/schemas", "List the JSON Schemas of definitions, by type", list_schemas).responds<json::object>(),
      get("/schemas/:type", "Show the JSON Schema of a type's definitions", show_schema)
          .responds<json::object>()
          .fails_with({404}),
  };
}

}  // namespace agw
