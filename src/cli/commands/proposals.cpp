#include <unistd.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/printable.hpp"
#include "cli/client/client.hpp"
#include "cli/command_table.hpp"
#include "cli/list.hpp"
#include "cli/output/json_output.hpp"
#include "cli/output/line_input.hpp"
#include "cli/output/table.hpp"
#include "cli/output/terminal.hpp"
#include "features/proposals/types.hpp"

namespace agw::cli {

namespace {

struct OneProposalOptions {
  std::string reference;
  std::optional<std::string> content;
  std::optional<std::string> reason;
  ListOptions list;
};

ProposalAddress address_of(const json::object& record) {
  const auto name = string_member(record, "name");
  return {string_or_empty(record, "agent"), string_or_empty(record, "date"),
          name ? std::optional<std::string>(*name) : std::nullopt};
}

Column reference_column() {
  return {"PROPOSAL", [](const json::object& record) { return one_line(address_of(record).text()); }};
}

/// The segments of the proposal's path in the API, followed by `rest`.
std::vector<std::string> segments_of(const OneProposalOptions& options, const std::string& rest = "") {
  const auto address = read_proposal_address(options.reference);
  if (!address) {
    throw StartError(
        ExitStatus::usage,
        fmt::format("{} names no proposal: `agw proposals` lists them, such as assistant/2026-01-02/a-name",
                    one_line(options.reference)));
  }
  std::vector<std::string> segments{"proposals", address->agent, address->date};
  if (address->name) segments.push_back(*address->name);
  if (!rest.empty()) segments.push_back(rest);
  return segments;
}

void print_fact(std::string_view name, const std::string& text) {
  if (!text.empty()) std::cout << fmt::format("{:8} {}\n", name, one_line(text));
}

void print_proposal(const json::object& proposal) {
  std::cout << one_line(string_or_empty(proposal, "title")) << '\n';
  print_fact("Proposal", address_of(proposal).text());
  print_fact("Status", string_or_empty(proposal, "status"));
  print_fact("Made", local_time(string_or_empty(proposal, "created_at")));
  print_fact("Target", string_or_empty(proposal, "target"));
  print_fact("Why", string_or_empty(proposal, "reason"));
  if (is_true(proposal, "target_changed")) std::cout << "The target has changed since this was proposed.\n";
  std::cout << '\n' << diff_text(string_or_empty(proposal, "diff"), terminal_at(STDOUT_FILENO));
}

Task<int> show_proposal(const FoundGateway& gateway, const OneProposalOptions& options) {
  const auto text = co_await Client(gateway).get_text(path(segments_of(options)));
  const auto proposal = parse_json(text);
  if (options.list.json || !proposal || !proposal->is_object())
    print_json_text(text);
  else
    print_proposal(proposal->get_object());
  co_return 0;
}

std::string content_of(const std::string& file) {
  if (file == "-") return read_standard_input();
  std::ifstream in(file, std::ios::binary);
  if (!in) throw StartError(ExitStatus::failure, fmt::format("cannot read {}", one_line(file)));
  return {std::istreambuf_iterator<char>(in), {}};
}

Task<int> decide(const FoundGateway& gateway, const OneProposalOptions& options, std::string action,
                 json::object body) {
  const auto decided = co_await Client(gateway).post(path(segments_of(options, action)), std::move(body));
  if (options.list.json)
    print_json(decided);
  else
    std::cerr << options.reference << " is " << string_or_empty(decided, "status") << ".\n";
  co_return 0;
}

Task<int> apply_proposal(const FoundGateway& gateway, const OneProposalOptions& options) {
  json::object body;
  if (options.content) body["content"] = content_of(*options.content);
  return decide(gateway, options, "apply", std::move(body));
}

Task<int> reject_proposal(const FoundGateway& gateway, const OneProposalOptions& options) {
  json::object body;
  if (options.reason) body["reason"] = *options.reason;
  return decide(gateway, options, "reject", std::move(body));
}

template <class Do>
Action one_proposal_command(Arguments& arguments, const std::shared_ptr<OneProposalOptions>& options, Do act) {
  arguments.word("proposal", options->reference, "The proposal, as `agw proposals` lists it");
  declare(arguments, options->list);
  return [options, act] {
    segments_of(*options);
    Loop loop;
    const auto gateway = find_gateway(options->list.data_dir);
    return run(loop, act(gateway, *options));
  };
}

}  // namespace

Action proposals_command(Arguments& arguments) {
  auto options = std::make_shared<ListOptions>();
  declare(arguments, *options);
  return [options] {
    return print_list(*options, "/proposals",
                      {reference_column(), time_column("MADE", "created_at"), text_column("TYPE", "type"),
                       text_column("TARGET", "target"), text_column("TITLE", "title")},
                      "proposals that wait for a decision");
  };
}

Action proposal_show_command(Arguments& arguments) {
  return one_proposal_command(arguments, std::make_shared<OneProposalOptions>(), show_proposal);
}

Action proposal_apply_command(Arguments& arguments) {
  auto options = std::make_shared<OneProposalOptions>();
  arguments.option("--content", options->content, "Apply the text of this file instead; - reads stdin");
  return one_proposal_command(arguments, options, apply_proposal);
}

Action proposal_reject_command(Arguments& arguments) {
  auto options = std::make_shared<OneProposalOptions>();
  arguments.option("--reason", options->reason, "The reason, for the experiment log");
  return one_proposal_command(arguments, options, reject_proposal);
}

}  // namespace agw::cli
