#include "server/mcp/elicitation.hpp"

#include <string>
#include <string_view>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "features/approvals/request_text.hpp"

namespace agw {

namespace {

bool is_question(const json::object& request) { return string_member(request, "kind") == "question"; }

json::object schema_of(json::object properties, std::string_view required) {
  return {{"type", "object"}, {"properties", std::move(properties)}, {"required", json::array{required}}};
}

json::object decision_schema(const json::object& request) {
  json::array values{"allow once"};
  const auto scopes = strings_of(request, "scopes");
  if (contains(scopes, "thread")) values.emplace_back("allow in this thread");
  if (is_true(request, "can_propose")) values.emplace_back("stage as a proposal");
  values.emplace_back("deny");
  return schema_of(
      {{"decision", json::object{{"type", "string"}, {"title", "Decision"}, {"enum", std::move(values)}}},
       {"reason", json::object{{"type", "string"}, {"title", "Reason"}, {"description", "What the agent reads"}}}},
      "decision");
}

json::object question_schema(const json::object& question) {
  if (const auto* form = object_member(question, "form")) return *form;
  json::object answer{{"type", "string"}, {"title", "Answer"}};
  if (const auto* options = array_member(question, "options"); options && !options->empty()) answer["enum"] = *options;
  return schema_of({{"answer", std::move(answer)}}, "answer");
}

}  // namespace

json::object elicitation_of(const json::object& request) {
  return {{"mode", "form"},
          {"message", request_text(request)},
          {"requestedSchema",
           is_question(request) ? question_schema(object_or_empty(request, "question")) : decision_schema(request)}};
}

json::object decision_of(const json::object& request, const json::object& result) {
  json::object body{{"decision", "deny"}};
  if (string_member(result, "action") != "accept") return body;
  auto content = object_or_empty(result, "content");
  if (is_question(request)) {
    const bool has_form = object_member(object_or_empty(request, "question"), "form") != nullptr;
    if (has_form) return {{"answer", std::move(content)}};
    const auto answer = string_or_empty(content, "answer");
    return answer.empty() ? body : json::object{{"answer", answer}};
  }
  const auto decision = string_member(content, "decision");
  if (decision == "allow once") return {{"decision", "allow"}, {"scope", "once"}};
  if (decision == "allow in this thread") return {{"decision", "allow"}, {"scope", "thread"}};
  if (decision == "stage as a proposal") return {{"decision", "propose"}};
  if (const auto reason = string_or_empty(content, "reason"); !reason.empty()) body["reason"] = reason;
  return body;
}

}  // namespace agw
