#include "cli/acp/client_asker.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "cli/acp/tool_call_update.hpp"
#include "features/approvals/exact_text.hpp"
#include "features/approvals/request_text.hpp"
#include "server/mcp/elicitation.hpp"

namespace agw::cli {

namespace {

json::object option(std::string_view id, std::string_view kind, std::string_view name) {
  return {{"optionId", id}, {"kind", kind}, {"name", name}};
}

json::array permission_options(const json::object& request) {
  const auto pattern = exact_text(string_or_empty(request, "pattern"));
  json::array options{option("allow_once", "allow_once", "Allow once")};
  if (lists_string(request, "scopes", "thread"))
    options.push_back(option("allow_thread", "allow_always", fmt::format("Allow in this thread: {}", pattern)));
  if (lists_string(request, "scopes", "agent"))
    options.push_back(
        option("allow_agent", "allow_always",
               fmt::format("Always allow {}: {}", exact_text(string_or_empty(request, "agent")), pattern)));
  if (is_true(request, "can_propose")) options.push_back(option("propose", "reject_once", "Stage it as a proposal"));
  options.push_back(option("reject_once", "reject_once", "Deny"));
  options.push_back(option("reject_always", "reject_always", "Deny such calls in this session"));
  return options;
}

std::optional<json::object> decision_by(std::string_view chosen) {
  if (chosen == "allow_once") return json::object{{"decision", "allow"}, {"scope", "once"}};
  if (chosen == "allow_thread") return json::object{{"decision", "allow"}, {"scope", "thread"}};
  if (chosen == "allow_agent") return json::object{{"decision", "allow"}, {"scope", "agent"}};
  if (chosen == "propose") return json::object{{"decision", "propose"}};
  return json::object{{"decision", "deny"}};
}

/// Identifies the call and the extent of a grant for it.
std::string kind_of_call(const json::object& request) {
  const auto pattern = string_member(request, "pattern");
  return string_or_empty(request, "tool") + '\n' +
         (pattern ? std::string(*pattern) : string_or_empty(request, "target"));
}

/// Whether ACP can show the form: properties of one type each.
bool fits(const json::object& schema) {
  const auto* properties = object_member(schema, "properties");
  return string_member(schema, "type") == "object" && properties &&
         std::ranges::all_of(*properties, [](const auto& property) {
           const auto* members = property.value().if_object();
           return members && string_member(*members, "type") && string_member(*members, "type") != "object";
         });
}

json::object no_answer(std::string_view reason) { return {{"decision", "deny"}, {"reason", reason}}; }

}  // namespace

ClientAbilities client_abilities(const json::object& capabilities) {
  const auto session = object_or_empty(capabilities, "session");
  return {.elicits = object_member(object_or_empty(capabilities, "elicitation"), "form") != nullptr,
          .notices = object_member(session, "notices") != nullptr,
          .compaction = object_member(session, "compaction") != nullptr,
          .reads_files = is_true(object_or_empty(capabilities, "fs"), "readTextFile"),
          .writes_files = is_true(object_or_empty(capabilities, "fs"), "writeTextFile"),
          .has_terminal = is_true(capabilities, "terminal")};
}

Task<std::optional<json::object>> ClientAsker::ask(json::object request, StopSource& over) {
  std::string problem;
  try {
    if (string_member(request, "kind") != "question") co_return co_await ask_permission(std::move(request), over);
    co_return co_await ask_question(std::move(request), over);
  } catch (const RpcError& error) {
    // The client has disconnected, or another client has decided: leave the decision to others.
    if (error.code() == acp_code::cancelled) co_return std::nullopt;
    problem = error.what();
  }
  co_return no_answer("the editor could not ask: " + problem);
}

Task<std::optional<json::object>> ClientAsker::ask_permission(json::object request, StopSource& over) {
  const auto kind = kind_of_call(request);
  if (rejected_.contains(kind)) co_return no_answer("the person denies such calls in this session");
  const auto answer = co_await chosen(tool_call(request), permission_options(request), over);
  if (answer == "reject_always") rejected_.insert(kind);
  co_return decision_by(answer);
}

json::object ClientAsker::tool_call(const json::object& request) const {
  const auto tool = string_or_empty(request, "tool");
  const auto input = object_or_empty(request, "input");
  auto call = next_call_members(tool, input, directory_);
  const auto active = updates_.active_call(tool, input);
  call["toolCallId"] = active.empty() ? "permission-" + string_or_empty(request, "id") : active;
  call["status"] = "pending";
  json::array content{text_content(request_text(request))};
  if (auto* diff = call.if_contains("content"))
    content.insert(content.end(), diff->as_array().begin(), diff->as_array().end());
  call["content"] = std::move(content);
  return call;
}

Task<std::string> ClientAsker::chosen(json::object tool_call, json::array options, StopSource& over) {
  const auto result = co_await peer_.ask(
      "session/request_permission",
      {{"sessionId", session_id_}, {"toolCall", std::move(tool_call)}, {"options", std::move(options)}}, over);
  const auto outcome = object_or_empty(result, "outcome");
  co_return string_member(outcome, "outcome") == "selected" ? string_or_empty(outcome, "optionId") : std::string();
}

Task<std::optional<json::object>> ClientAsker::ask_question(json::object request, StopSource& over) {
  auto params = elicitation_of(request);
  if (!abilities_.elicits || !fits(object_or_empty(params, "requestedSchema")))
    co_return co_await ask_by_options(std::move(request), over);
  params["sessionId"] = session_id_;
  co_return decision_of(request, co_await peer_.ask("elicitation/create", std::move(params), over));
}

/// For clients without forms: offers the proposed answers as options of a permission request.
Task<std::optional<json::object>> ClientAsker::ask_by_options(json::object request, StopSource& over) {
  const auto answers = strings_of(object_or_empty(request, "question"), "options");
  if (answers.empty()) co_return no_answer("the editor cannot show this question");
  json::array options;
  for (std::size_t i = 0; i < answers.size(); ++i)
    options.push_back(option(std::to_string(i), "allow_once", exact_text(answers[i])));
  options.push_back(option("none", "reject_once", "No answer"));
  const auto answer = co_await chosen(tool_call(request), std::move(options), over);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answer == std::to_string(i)) co_return json::object{{"answer", answers[i]}};
  }
  co_return json::object{{"decision", "deny"}};
}

Task<bool> ClientAsker::allows(json::object tool_call, std::string kind, std::string about, StopSource& over) {
  if (allowed_.contains(kind)) co_return true;
  if (rejected_.contains(kind)) co_return false;
  tool_call["status"] = "pending";
  tool_call["content"] = json::array{text_content(about)};
  json::array options{option("allow_once", "allow_once", "Allow once"),
                      option("allow_session", "allow_always", "Allow such calls in this session"),
                      option("reject_once", "reject_once", "Deny"),
                      option("reject_always", "reject_always", "Deny such calls in this session")};
  std::string answer;
  try {
    answer = co_await chosen(std::move(tool_call), std::move(options), over);
  } catch (const RpcError&) {
    co_return false;
  }
  if (answer == "allow_session") allowed_.insert(kind);
  if (answer == "reject_always") rejected_.insert(kind);
  co_return answer == "allow_once" || answer == "allow_session";
}

Task<bool> ClientAsker::ask_for_trust(std::string folder, StopSource& over) {
  json::object call{{"toolCallId", "trust"},
                    {"title", "Trust this folder?"},
                    {"kind", "other"},
                    {"status", "pending"},
                    {"content", json::array{text_content(fmt::format(
                                    "{} has a folder .agents. If you trust it, agents may follow the instructions in "
                                    "it. Otherwise they only read files there.",
                                    exact_text(folder)))}}};
  json::array options{option("trust", "allow_always", "Trust this folder"),
                      option("ignore", "reject_once", "Do not trust it")};
  bool is_trusted = false;
  try {
    is_trusted = co_await chosen(std::move(call), std::move(options), over) == "trust";
  } catch (const RpcError&) {
    is_trusted = false;  // a client that cannot ask cannot trust
  }
  co_return is_trusted;
}

}  // namespace agw::cli
