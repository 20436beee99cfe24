#include "features/client_api/model_list.hpp"

#include <string_view>

#include <fmt/format.h>

#include "api/client_errors.hpp"
#include "base/time/time.hpp"

namespace agw {

namespace {

/// A model as a program sees it.
struct ClientModel {
  std::string_view id;
  std::string_view owner;
  Timestamp created{};
};

void write_client_model(std::string& out, const ClientModel& model, Protocol protocol) {
  out += protocol == Protocol::anthropic ? R"({"type":"model","id":)" : R"({"id":)";
  write_json(out, model.id);
  if (protocol == Protocol::anthropic) {
    out += R"(,"display_name":)";
    write_json(out, model.id);
    out += fmt::format(R"(,"created_at":"{}"}})", to_iso8601(model.created));
    return;
  }
  const auto created = std::chrono::duration_cast<std::chrono::seconds>(model.created.time_since_epoch()).count();
  out += fmt::format(R"(,"object":"model","created":{},"owned_by":)", created);
  write_json(out, model.owner);
  out += '}';
}

template <class Visit>
void each_client_model(const ClientServices& services, Visit visit) {
  ExtensionFilter filter;
  filter.type = ExtensionType::agent;
  for (const auto& agent : services.extensions.list(filter)) {
    if (agent->enabled) visit(ClientModel{agent->name, "agent-gateway", agent->created_at});
  }
  for (const auto& model : services.models.list()) visit(ClientModel{model.id, model.provider, {}});
}

}  // namespace

Response list_client_models(const ClientServices& services, Protocol protocol) {
  Response response;
  response.body = protocol == Protocol::anthropic ? R"({"data":[)" : R"({"object":"list","data":[)";
  std::string first;
  std::string last;
  each_client_model(services, [&](const ClientModel& model) {
    if (!first.empty()) response.body += ',';
    if (first.empty()) first = model.id;
    last = model.id;
    write_client_model(response.body, model, protocol);
  });
  response.body += ']';
  if (protocol == Protocol::anthropic) {
    response.body += R"(,"has_more":false,"first_id":)";
    write_json(response.body, std::string_view(first));
    response.body += R"(,"last_id":)";
    write_json(response.body, std::string_view(last));
  }
  response.body += '}';
  return response;
}

Response show_client_model(const ClientServices& services, const std::string& id, Protocol protocol) {
  Response response;
  each_client_model(services, [&](const ClientModel& model) {
    if (response.body.empty() && model.id == id) write_client_model(response.body, model, protocol);
  });
  if (!response.body.empty()) return response;
  throw client_error(404, fmt::format("The model `{}` does not exist", id), "model", "model_not_found");
}

}  // namespace agw
