#include <unistd.h>

#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/printable.hpp"
#include "cli/client/client.hpp"
#include "cli/command_table.hpp"
#include "cli/list.hpp"
#include "cli/output/json_output.hpp"
#include "cli/output/terminal.hpp"
#include "features/approvals/exact_text.hpp"
#include "features/approvals/request_text.hpp"

namespace agw::cli {

namespace {

struct PermissionOptions {
  std::string id;
  std::optional<std::string> scope;
  std::optional<std::string> reason;
  std::string answer;
  std::optional<std::string> agent;
  ListOptions list;
};

std::string agent_of(const PermissionOptions& options) { return options.agent.value_or("assistant"); }

Column target_column() {
  return {"TARGET", [](const json::object& record) {
            const auto question = object_or_empty(record, "question");
            const auto text = string_or_empty(question, "question");
            return one_line(exact_text(text.empty() ? string_or_empty(record, "target") : text));
          }};
}

/// The pending request with this id. Throws StartError if there is none.
Task<json::object> find_request(const Client& client, const std::string& id) {
  const auto list = co_await client.get("/permissions");
  for (const auto& request : list.as_array()) {
    if (string_member(request.as_object(), "id") == id) co_return request.as_object();
  }
  throw StartError(ExitStatus::failure,
                   fmt::format("no request {} waits: `agw permissions list` lists those that do", one_line(id)));
}

Task<int> show_request(const FoundGateway& gateway, const PermissionOptions& options) {
  const Client client(gateway);
  const auto request = co_await find_request(client, options.id);
  if (options.list.json)
    print_json(request);
  else
    std::cout << request_text(request, terminal_at(STDOUT_FILENO).colours);
  co_return 0;
}

Task<int> decide(const FoundGateway& gateway, const PermissionOptions& options, json::object body) {
  const auto decided = co_await Client(gateway).post(path({"permissions", options.id}), std::move(body));
  if (options.list.json)
    print_json(decided);
  else
    std::cerr << request_title(decided) << ": " << string_or_empty(decided, "decision") << '\n';
  co_return 0;
}

Task<int> allow(const FoundGateway& gateway, const PermissionOptions& options) {
  return decide(gateway, options, {{"decision", "allow"}, {"scope", options.scope.value_or("once")}});
}

Task<int> deny(const FoundGateway& gateway, const PermissionOptions& options) {
  json::object body{{"decision", "deny"}};
  if (options.reason) body["reason"] = *options.reason;
  return decide(gateway, options, std::move(body));
}

Task<int> propose(const FoundGateway& gateway, const PermissionOptions& options) {
  return decide(gateway, options, {{"decision", "propose"}});
}

/// The answer to a form is a JSON object, to any other question a text.
Task<int> answer(const FoundGateway& gateway, const PermissionOptions& options) {
  const Client client(gateway);
  const auto request = co_await find_request(client, options.id);
  const auto question = object_or_empty(request, "question");
  json::value given(options.answer);
  if (object_member(question, "form")) {
    auto form = parse_json(options.answer);
    if (!form || !form->is_object())
      throw StartError(ExitStatus::usage, "the question asks for a form: the answer is a JSON object");
    given = std::move(*form);
  }
  co_return co_await decide(gateway, options, {{"answer", std::move(given)}});
}

Task<int> revoke(const FoundGateway& gateway, const PermissionOptions& options) {
  co_await Client(gateway).remove(path({"agents", agent_of(options), "grants", options.id}));
  co_return 0;
}

template <class Do>
Action one_request_command(Arguments& arguments, const std::shared_ptr<PermissionOptions>& options, Do act) {
  declare(arguments, options->list);
  return [options, act] {
    Loop loop;
    const auto gateway = find_gateway(options->list.data_dir);
    return run(loop, act(gateway, *options));
  };
}

std::shared_ptr<PermissionOptions> with_id(Arguments& arguments) {
  auto options = std::make_shared<PermissionOptions>();
  arguments.word("id", options->id, "The request, as `agw permissions list` lists it");
  return options;
}

}  // namespace

Action permission_list_command(Arguments& arguments) {
  auto options = std::make_shared<ListOptions>();
  auto thread = std::make_shared<std::optional<std::string>>();
  arguments.option("--thread", *thread, "Only those of the thread with this id");
  declare(arguments, *options);
  return [options, thread] {
    return print_list(*options, path({"permissions"}, {{"thread_id", *thread}}),
                      {text_column("ID", "id"), time_column("UNTIL", "expires_at"), text_column("AGENT", "agent"),
                       text_column("TOOL", "tool"), target_column()},
                      "requests that wait for a decision");
  };
}

Action permission_show_command(Arguments& arguments) {
  return one_request_command(arguments, with_id(arguments), show_request);
}

Action permission_allow_command(Arguments& arguments) {
  auto options = with_id(arguments);
  arguments.option("--scope", options->scope, {"once", "thread", "agent"},
                   "Allow this call (the default), such calls in this thread, or such calls of the agent");
  return one_request_command(arguments, options, allow);
}

Action permission_deny_command(Arguments& arguments) {
  auto options = with_id(arguments);
  arguments.option("--reason", options->reason, "The reason, which the agent reads");
  return one_request_command(arguments, options, deny);
}

Action permission_propose_command(Arguments& arguments) {
  return one_request_command(arguments, with_id(arguments), propose);
}

Action permission_answer_command(Arguments& arguments) {
  auto options = with_id(arguments);
  arguments.word("answer", options->answer, "The answer; for a form a JSON object");
  return one_request_command(arguments, options, answer);
}

Action permission_grants_command(Arguments& arguments) {
  auto options = std::make_shared<PermissionOptions>();
  arguments.option("--agent", options->agent, "The agent, by name or id (default: assistant)");
  declare(arguments, options->list);
  return [options] {
    const Column thread{"HOLDS", [](const json::object& grant) {
                          const auto in_thread = string_or_empty(grant, "thread_id");
                          return in_thread.empty() ? std::string("everywhere") : "in thread " + one_line(in_thread);
                        }};
    const Column pattern{
        "ALLOWS", [](const json::object& grant) { return one_line(exact_text(string_or_empty(grant, "pattern"))); }};
    return print_list(
        options->list, path({"agents", agent_of(*options), "grants"}),
        {text_column("ID", "id"), time_column("SINCE", "created_at"), text_column("TOOL", "tool"), pattern, thread},
        "grants of " + one_line(agent_of(*options)));
  };
}

Action permission_revoke_command(Arguments& arguments) {
  auto options = std::make_shared<PermissionOptions>();
  arguments.word("id", options->id, "The grant, as `agw permissions grants` lists it");
  arguments.option("--agent", options->agent, "The agent, by name or id (default: assistant)");
  arguments.option("--data-dir", options->list.data_dir, data_dir_about);
  return [options] {
    Loop loop;
    const auto gateway = find_gateway(options->list.data_dir);
    return run(loop, revoke(gateway, *options));
  };
}

}  // namespace agw::cli
