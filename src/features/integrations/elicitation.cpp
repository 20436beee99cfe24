#include "features/integrations/elicitation.hpp"

#include <algorithm>
#include <utility>

#include "base/json/json_values.hpp"

namespace agw {

namespace {

constexpr std::size_t max_forms = 8;

bool is_form_request(const json::value& request) {
  return request.is_object() && string_member(request.get_object(), "method") == "elicitation/create" &&
         object_member(request.get_object(), "params");
}

}  // namespace

Task<json::object> elicit(const ToolCall& call, json::object params, StopSource& stop) {
  const json::object declined{{"action", "decline"}};
  if (string_member(params, "mode").value_or("form") != "form") co_return declined;
  const auto* form = params.if_contains("requestedSchema");
  if (!form || !form->is_object()) co_return declined;
  PersonQuestion question{.question = string_or_empty(params, "message"), .form = form->get_object()};
  (*question.form)["type"] = "object";
  const auto answer = co_await call.ask_person(std::move(question), stop);
  switch (answer.kind) {
    case PersonAnswer::Kind::answered:
      co_return json::object{{"action", "accept"}, {"content", answer.answer}};
    case PersonAnswer::Kind::declined:
      co_return declined;
    case PersonAnswer::Kind::unanswered:
      break;
  }
  co_return json::object{{"action", "cancel"}};
}

Task<std::optional<json::object>> required_input(const ToolCall& call, const json::object& result, StopSource& stop) {
  const auto requests = object_or_empty(result, "inputRequests");
  const bool are_forms =
      std::ranges::all_of(requests, [](const auto& entry) { return is_form_request(entry.value()); });
  if (!are_forms || requests.size() > max_forms) co_return std::nullopt;
  json::object responses;
  for (const auto& [key, request] : requests)
    responses[key] = co_await elicit(call, *object_member(request.get_object(), "params"), stop);
  json::object input{{"inputResponses", std::move(responses)}};
  if (const auto* state = result.if_contains("requestState")) input["requestState"] = *state;
  co_return input;
}

}  // namespace agw
