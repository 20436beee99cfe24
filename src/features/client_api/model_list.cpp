#include "features/client_api/model_list.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/client_errors.hpp"
#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(ModelPage, (), (limit, after_id, before_id))
constexpr auto rules(Tag<ModelPage>) {
  return std::tuple{
      RuleFor<&ModelPage::limit>{{.about = "with the header anthropic-version, as the others; all when omitted"}},
      RuleFor<&ModelPage::after_id>{{.about = "a model: lists those that follow it"}},
      RuleFor<&ModelPage::before_id>{{.about = "a model: lists those that precede it"}}};
}
const Description& describe(Tag<ModelPage>) { return description_of<ModelPage>("ModelPage"); }

namespace {

std::string count_or_null(std::int64_t count) { return count > 0 ? std::to_string(count) : "null"; }

void write_client_model(std::string& out, const ClientModel& model, Protocol protocol) {
  out += protocol == Protocol::anthropic ? R"({"type":"model","id":)" : R"({"id":)";
  write_json(out, std::string_view(model.id));
  if (protocol == Protocol::anthropic) {
    out += R"(,"display_name":)";
    write_json(out, std::string_view(model.id));
    out += fmt::format(R"(,"created_at":"{}","lifecycle":"active","deprecated_at":null,"retires_at":null,"line":null)"
                       R"(,"capabilities":null,"max_input_tokens":{},"max_tokens":{}}})",
                       to_iso8601(model.created), count_or_null(model.max_input), count_or_null(model.max_output));
    return;
  }
  const auto created = std::chrono::duration_cast<std::chrono::seconds>(model.created.time_since_epoch()).count();
  out += fmt::format(R"(,"object":"model","created":{},"owned_by":)", created);
  write_json(out, std::string_view(model.owner));
  out += '}';
}

/// The agents, then the models.
std::vector<ClientModel> client_models(ClientModelList& list) {
  auto all = list.agents();
  const auto& models = list.models();
  all.insert(all.end(), models.begin(), models.end());
  return all;
}

using ClientModels = std::span<const ClientModel>;

/// Null if there is no such model.
const ClientModel* find_model(ClientModels models, const std::string& id) {
  const auto found = std::ranges::find(models, id, &ClientModel::id);
  return found == models.end() ? nullptr : &*found;
}

std::size_t index_of_model(ClientModels models, const std::string& id, const std::string& param) {
  const auto found = std::ranges::find(models, id, &ClientModel::id);
  if (found == models.end()) throw bad_parameter(param, "no model has this id");
  return static_cast<std::size_t>(found - models.begin());
}

/// The models between the two ids of the query, either of which may be missing.
ClientModels models_between(ClientModels models, const ModelPage& page) {
  const auto end = page.before_id ? index_of_model(models, *page.before_id, "before_id") : models.size();
  const auto begin = page.after_id ? index_of_model(models, *page.after_id, "after_id") + 1 : 0;
  return begin < end ? models.subspan(begin, end - begin) : ClientModels();
}

/// The models of the page: the nearest to the id in the query. Without a limit, all, for programs that read only one
/// page.
ClientModels models_of_page(ClientModels between, const ModelPage& page) {
  const auto limit = page.limit ? static_cast<std::size_t>(page.limit->value) : between.size();
  const auto count = std::min(limit, between.size());
  return page.before_id && !page.after_id ? between.last(count) : between.first(count);
}

void write_models(std::string& out, ClientModels models, Protocol protocol) {
  for (bool is_first = true; const auto& model : models) {
    if (!std::exchange(is_first, false)) out += ',';
    write_client_model(out, model, protocol);
  }
}

/// The ids with which a program requests the pages before and after this one.
void write_page_ids(std::string& out, ClientModels models) {
  if (models.empty()) {
    out += R"(,"first_id":null,"last_id":null)";
    return;
  }
  out += R"(,"first_id":)";
  write_json(out, std::string_view(models.front().id));
  out += R"(,"last_id":)";
  write_json(out, std::string_view(models.back().id));
}

}  // namespace

std::vector<ClientModel> ClientModelList::agents() const {
  std::vector<ClientModel> agents;
  ExtensionFilter filter;
  filter.type = ExtensionType::agent;
  for (const auto& agent : extensions_.list(filter)) {
    if (agent->enabled) agents.push_back({agent->name, "agent-gateway", agent->created_at});
  }
  return agents;
}

const std::vector<ClientModel>& ClientModelList::models() {
  update();
  return kept_;
}

const std::string& ClientModelList::models_as_openai() {
  update();
  return kept_as_openai_;
}

void ClientModelList::update() {
  const auto revision = models_.revision();
  if (revision_ == revision) return;
  kept_.clear();
  for (auto& model : models_.list())
    kept_.push_back(
        {std::move(model.id), std::move(model.provider), {}, model.context_window, model.max_output_tokens});
  kept_as_openai_.clear();
  write_models(kept_as_openai_, kept_, Protocol::openai);
  revision_ = revision;
}

Response list_models_as_openai(ClientModelList& list) {
  Response response;
  response.body = R"({"object":"list","data":[)";
  const auto agents = list.agents();
  write_models(response.body, agents, Protocol::openai);
  const auto& models = list.models_as_openai();
  if (!agents.empty() && !models.empty()) response.body += ',';
  response.body += models;
  response.body += "]}";
  return response;
}

Response list_models_as_anthropic(ClientModelList& list, const ModelPage& page) {
  const auto all = client_models(list);
  const auto between = models_between(all, page);
  const auto models = models_of_page(between, page);
  Response response;
  response.body = R"({"data":[)";
  write_models(response.body, models, Protocol::anthropic);
  response.body += fmt::format(R"(],"has_more":{})", models.size() < between.size());
  write_page_ids(response.body, models);
  response.body += '}';
  return response;
}

Response show_client_model(ClientModelList& list, const std::string& id, Protocol protocol) {
  Response response;
  const auto agents = list.agents();
  const auto* found = find_model(agents, id);
  if (!found) found = find_model(list.models(), id);
  if (!found) throw client_error(404, fmt::format("The model `{}` does not exist", id), "model", "model_not_found");
  write_client_model(response.body, *found, protocol);
  return response;
}

}  // namespace agw
