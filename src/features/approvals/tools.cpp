#include <utility>

#include "base/json/json_values.hpp"
#include "features/approvals/service.hpp"
#include "tools/input.hpp"
#include "tools/tool.hpp"

namespace agw {

namespace {

constexpr auto input_schema = R"({
  "type": "object",
  "properties": {
    "question": {"type": "string", "minLength": 1, "maxLength": 10000},
    "options": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 1000}, "maxItems": 20,
                "description": "answers to choose from; the person may write another"},
    "form": {"type": "object", "description": "a JSON Schema of type object, if the answer has several parts"}
  },
  "required": ["question"],
  "additionalProperties": false
})";

PersonQuestion question_in(const json::object& input) {
  PersonQuestion question{.question = text_input(input, "question")};
  if (const auto* options = array_member(input, "options")) question.options = strings_of(*options);
  // Models fill in optional members with empty objects.
  if (const auto* form = input.if_contains("form"); form && form->is_object() && !form->get_object().empty())
    question.form = form->get_object();
  return question;
}

/// Whether the form cannot be filled in, because its result is not an object.
bool is_no_form(const PersonQuestion& question) {
  const auto* type = question.form ? question.form->if_contains("type") : nullptr;
  return type && *type != json::value("object");
}

Task<ToolOutcome> ask_user(const ToolCall& call) {
  PersonAnswer answer{.reason = "nobody is there"};
  auto question = question_in(call.input);
  if (is_no_form(question)) {
    co_return failed(
        "invalid input: form must be a JSON Schema of type object, with a property for each part of the answer; for a "
        "single text, leave it out");
  }
  if (call.ask_person) answer = co_await call.ask_person(std::move(question), call.stop);
  switch (answer.kind) {
    case PersonAnswer::Kind::answered:
      co_return ToolOutcome{answer.answer.is_string() ? std::string(answer.answer.get_string())
                                                      : to_json(answer.answer)};
    case PersonAnswer::Kind::declined:
      co_return failed(answer.reason.empty() ? "the person does not want to answer"
                                             : "the person does not want to answer: " + answer.reason);
    case PersonAnswer::Kind::unanswered:
      break;
  }
  co_return failed(std::move(answer.reason));
}

}  // namespace

Tool ask_user_tool() {
  return {
      .description = {"AskUser",
                      "Asks the person who reads this conversation, and waits for the answer. Use it only for what you "
                      "cannot find out and should not assume.",
                      parse_json(input_schema).value()},
      .call = [](const ToolCall& call) { return ask_user(call); }};
}

}  // namespace agw
