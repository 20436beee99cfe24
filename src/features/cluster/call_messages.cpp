#include "features/cluster/call_messages.hpp"

#include <utility>

#include "base/digest.hpp"
#include "base/json/json_values.hpp"

namespace agw {

std::string content_of(const ToolOutcome& outcome) {
  json::array images;
  for (const auto& image : outcome.images) {
    images.push_back({{"mime", image.mime}, {"bytes", to_base64url(image.bytes)}, {"detail", image.detail}});
  }
  return to_json(
      json::object{{"output", outcome.output}, {"isError", outcome.is_error}, {"images", std::move(images)}});
}

ToolOutcome outcome_in(const std::string& content) {
  const auto told = parse_stored_json(content);
  const auto& members = told.as_object();
  ToolOutcome outcome{.output = string_or_empty(members, "output"), .is_error = is_true(members, "isError")};
  if (const auto* images = array_member(members, "images")) {
    for (const auto& each : *images) {
      const auto& image = each.as_object();
      outcome.images.push_back({.mime = string_or_empty(image, "mime"),
                                .bytes = from_base64url(string_or_empty(image, "bytes")).value_or(""),
                                .detail = string_or_empty(image, "detail")});
    }
  }
  return outcome;
}

std::string content_of(const PersonQuestion& question) {
  json::array options;
  for (const auto& option : question.options) options.emplace_back(option);
  json::object told{{"question", question.question}, {"options", std::move(options)}};
  if (question.form) told["form"] = *question.form;
  return to_json(told);
}

PersonQuestion question_in(const std::string& content) {
  const auto told = parse_stored_json(content);
  const auto& members = told.as_object();
  PersonQuestion question{.question = string_or_empty(members, "question"), .options = strings_of(members, "options")};
  if (const auto* form = object_member(members, "form")) question.form = *form;
  return question;
}

std::string content_of(const PersonAnswer& answer) {
  return to_json(json::object{
      {"kind", static_cast<std::int64_t>(answer.kind)}, {"answer", answer.answer}, {"reason", answer.reason}});
}

PersonAnswer answer_in(const std::string& content) {
  const auto told = parse_stored_json(content);
  const auto& members = told.as_object();
  return {.kind = static_cast<PersonAnswer::Kind>(members.at("kind").to_number<int>()),
          .answer = members.at("answer"),
          .reason = string_or_empty(members, "reason")};
}

}  // namespace agw
