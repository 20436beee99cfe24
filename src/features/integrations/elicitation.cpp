#include "features/integrations/elicitation.hpp"

#include "base/json/json_values.hpp"

namespace agw {

Task<json::object> elicited(const ToolCall& call, json::object params, StopSource& stop) {
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

}  // namespace agw
