#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/client.hpp"
#include "cli/commands.hpp"
#include "cli/list.hpp"
#include "cli/printable.hpp"

namespace agw::cli {

namespace {

struct ProposalOptions {
  std::string proposal;
  std::optional<std::string> from;
  std::optional<std::string> reason;
  ListOptions list;
};

/// `helper/2026-01-02/soul` as the segments of its path.
std::vector<std::string> segments_of(const std::string& proposal) {
  std::vector<std::string> segments{"proposals"};
  for (std::size_t begin = 0; begin <= proposal.size();) {
    const auto end = std::min(proposal.find('/', begin), proposal.size());
    segments.push_back(proposal.substr(begin, end - begin));
    begin = end + 1;
  }
  if (segments.size() < 3 || segments.size() > 4) {
    throw StartError(ExitStatus::usage, "name the proposal as `agw proposals` lists it: agent/date or agent/date/name");
  }
  return segments;
}

std::string text(const json::object& record, std::string_view member) {
  return std::string(string_member(record, member).value_or(""));
}

std::string id_of(const json::object& record) {
  const auto name = string_member(record, "name");
  return one_line(
      fmt::format("{}/{}{}{}", text(record, "agent"), text(record, "date"), name ? "/" : "", name.value_or("")));
}

int list(const ListOptions& options) {
  return print_list(options, "/proposals",
                    {{"PROPOSAL", id_of},
                     text_column("TYPE", "type"),
                     text_column("TITLE", "title", 60),
                     text_column("TARGET", "target")},
                    "proposals that wait");
}

/// What it would change, so that nobody applies what they have not seen.
void print(const json::object& proposal) {
  for (const auto* member : {"title", "type", "status", "target", "reason", "created_at"}) {
    if (const auto value = string_member(proposal, member))
      std::cout << fmt::format("{:10} {}\n", member, one_line(*value));
  }
  const auto* changed = proposal.if_contains("target_changed");
  if (changed && changed->is_bool() && changed->get_bool())
    std::cout << "The target has changed since this was proposed.\n";
  const auto diff = text(proposal, "diff");
  std::cout << '\n' << printable(diff.empty() ? text(proposal, "content") : diff) << '\n';
}

Task<int> show(const FoundGateway& gateway, const ProposalOptions& options) {
  const auto body = co_await Client(gateway).get_text(path(segments_of(options.proposal)));
  const auto proposal = parse_json(body);
  if (options.list.json || !proposal || !proposal->is_object())
    std::cout << body << '\n';
  else
    print(proposal->get_object());
  co_return 0;
}

Task<int> decide(const FoundGateway& gateway, const ProposalOptions& options, const char* decision, json::object body) {
  auto segments = segments_of(options.proposal);
  segments.emplace_back(decision);
  const auto answer = co_await Client(gateway).post(path(segments), std::move(body));
  if (options.list.json)
    std::cout << to_json(answer) << '\n';
  else
    std::cerr << one_line(options.proposal) << " is " << one_line(text(answer, "status")) << ".\n";
  co_return 0;
}

std::string read_content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Task<int> apply(const FoundGateway& gateway, const ProposalOptions& options) {
  json::object body;
  if (options.from) body["content"] = read_content(*options.from);
  co_return co_await decide(gateway, options, "apply", std::move(body));
}

Task<int> reject(const FoundGateway& gateway, const ProposalOptions& options) {
  json::object body;
  if (options.reason) body["reason"] = *options.reason;
  co_return co_await decide(gateway, options, "reject", std::move(body));
}

template <class Do>
Action one_proposal(const std::shared_ptr<ProposalOptions>& options, Arguments& arguments, Do act) {
  arguments.word("proposal", options->proposal, "agent/date or agent/date/name, as `agw proposals` lists it");
  declare(arguments, options->list);
  return [options, act] {
    segments_of(options->proposal);
    Loop loop;
    const auto gateway = find_gateway(options->list.data_dir);
    return run(loop, act(gateway, *options));
  };
}

}  // namespace

Action proposals_command(Arguments& arguments) {
  auto options = std::make_shared<ListOptions>();
  declare(arguments, *options);
  return [options] { return list(*options); };
}

Action proposals_show_command(Arguments& arguments) {
  return one_proposal(std::make_shared<ProposalOptions>(), arguments, show);
}

Action proposals_apply_command(Arguments& arguments) {
  auto options = std::make_shared<ProposalOptions>();
  arguments.option("--from", options->from, "Apply the content of this file instead of what was proposed");
  return one_proposal(options, arguments, apply);
}

Action proposals_reject_command(Arguments& arguments) {
  auto options = std::make_shared<ProposalOptions>();
  arguments.option("--reason", options->reason, "Why; it is kept with the decision");
  return one_proposal(options, arguments, reject);
}

}  // namespace agw::cli
