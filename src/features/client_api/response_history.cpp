#include "features/client_api/response_history.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/client_errors.hpp"
#include "base/json/describe.hpp"
#include "base/json/json_values.hpp"
#include "features/client_api/parameters.hpp"
#include "features/client_api/response_tools.hpp"
#include "storage/database.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(StoredResponseQuery, (), (stream))
constexpr auto rules(Tag<StoredResponseQuery>) {
  return std::tuple{RuleFor<&StoredResponseQuery::stream>{
      {.about = "only false: the events of a response are not stored", .has_default = true}}};
}
const Description& describe(Tag<StoredResponseQuery>) {
  return description_of<StoredResponseQuery>("StoredResponseQuery");
}

namespace {

constexpr std::chrono::days max_response_age{30};

/// Adds the output that later requests must repeat: the blocks that the service requires back, messages and calls.
void add_output(json::array& conversation, const ClientAnswer& answer, const json::object& response) {
  if (!answer.provider_blocks.empty()) conversation.push_back(reasoning_item(answer.model, answer.provider_blocks));
  for (const auto& item : response.at("output").as_array()) {
    if (item.at("type") != "reasoning") conversation.push_back(item);
  }
}

bool is_reference(const json::value& item) {
  const auto* object = item.if_object();
  if (!object) return false;
  const auto type = string_member(*object, "type");
  return type ? *type == "item_reference" : object->contains("id") && !object->contains("role");
}

/// The id of the item's response, whose digits the item's id contains. Empty for ids of another form.
std::string response_of_item(std::string_view id) {
  const auto digits = id.find('_') + 1;
  return digits == 0 || id.size() < digits + answer_id_digits
             ? std::string()
             : fmt::format("resp_{}", id.substr(digits, answer_id_digits));
}

/// A stored response, parsed once for all references to it.
struct ReadResponse {
  json::array output;
  json::array conversation;  ///< empty for an agent's

  explicit ReadResponse(const StoredResponse& stored)
      : output(parse_stored_json(stored.body).at("output").as_array()),
        conversation(stored.conversation.empty() ? json::array() : parse_stored_json(stored.conversation).as_array()) {}
};

/// The output item at `place`. The first reasoning item is replaced by the blocks that the model's service requires
/// back, if there are any.
json::value with_service_blocks(const ReadResponse& response, std::size_t place) {
  const auto& [output, conversation] = response;
  const auto is_reasoning = [](const json::value& item) { return item.at("type") == "reasoning"; };
  const auto others = output.size() - static_cast<std::size_t>(std::ranges::count_if(output, is_reasoning));
  const bool is_first = std::ranges::find_if(output, is_reasoning) == output.begin() + place;
  const auto size = conversation.size();
  const bool has_blocks =
      is_first && size > others && string_member(conversation[size - others - 1].as_object(), "type") == "reasoning";
  return has_blocks ? conversation[size - others - 1] : output[place];
}

/// No value if the response has no such item.
std::optional<json::value> item_of(const ReadResponse& response, std::string_view id) {
  const auto& output = response.output;
  const auto found =
      std::ranges::find_if(output, [id](const json::value& item) { return item.at("id") == json::value(id); });
  if (found == output.end()) return std::nullopt;
  if (found->at("type") != "reasoning") return *found;
  return with_service_blocks(response, static_cast<std::size_t>(found - output.begin()));
}

}  // namespace

Task<> resolve_references(ClientApi& api, json::array& input) {
  std::map<std::string, std::optional<ReadResponse>> responses;
  std::set<std::string> ids;
  for (std::size_t i = 0; i < input.size(); ++i) {
    if (!is_reference(input[i])) continue;
    Parameters reference(input[i].get_object(), fmt::format("input[{}]", i));
    const auto id = reference.required_text("id");
    reference.ignore({"type"});
    reference.finish();
    // Otherwise a short request could expand to a conversation of any size.
    if (!ids.insert(id).second) throw bad_parameter(reference.path_of("id"), "the item is referred to twice");
    const auto name = response_of_item(id);
    if (!responses.contains(name)) {
      const auto stored = co_await find_response(api, name);
      responses[name] = stored ? std::optional<ReadResponse>(*stored) : std::nullopt;
    }
    const auto& response = responses[name];
    auto item = response ? item_of(*response, id) : std::nullopt;
    if (!item)
      throw bad_parameter(reference.path_of("id"), "no stored response has this item: send it whole", "item_not_found");
    input[i] = *std::move(item);
  }
}

Task<std::optional<StoredResponse>> find_response(ClientApi& api, std::string id) {
  co_return co_await api.services().database.read(
      [id](Connection& connection) { return client_store::find_response(connection, id); });
}

ApiError previous_response_not_found(const std::string& id) {
  return client_error(400, fmt::format("no previous response has the id `{}`: send the whole conversation", id),
                      "previous_response_id", "previous_response_not_found");
}

void check_length(const ClientApi& api, const std::optional<StoredResponse>& previous) {
  if (!previous || previous->conversation.size() <= api.body_limit()) return;
  throw client_error(400,
                     fmt::format("the conversation is longer than {} MiB: have it compacted, or begin another one",
                                 api.body_limit() >> 20),
                     "previous_response_id", "context_length_exceeded");
}

json::array continue_response(ResponseRequest& read, const std::optional<StoredResponse>& previous) {
  json::array conversation;
  if (previous && !previous->thread_id.empty()) {
    read.request.thread_id = previous->thread_id;
    read.request.thread_param = "previous_response_id";
  }
  if (previous && !previous->conversation.empty()) conversation = parse_stored_json(previous->conversation).as_array();
  const auto found = found_tools(conversation);
  read_response_tools(found, read.request.call);
  auto& shown = read.shown.at("tools").as_array();
  shown.insert(shown.end(), found.begin(), found.end());
  conversation.insert(conversation.end(), read.input.begin(), read.input.end());
  add_input(read.request, conversation);
  return conversation;
}

StoredResponse stored_response(const ClientApi& api, const ClientAnswer& answer, const json::object& response,
                               json::array conversation) {
  StoredResponse row{.id = std::string(response.at("id").as_string()),
                     .created_at = api.services().clock.now(),
                     .thread_id = answer.thread_id,
                     .body = to_json(response),
                     .conversation = {}};
  if (!answer.thread_id.empty()) return row;
  add_output(conversation, answer, response);
  row.conversation = to_json(conversation);
  return row;
}

Task<> store_response(ClientApi& api, StoredResponse response) {
  const auto oldest = response.created_at - max_response_age;
  co_await api.services().database.write([response = std::move(response), oldest](Connection& connection) {
    client_store::put_response(connection, response, oldest);
  });
}

}  // namespace agw
