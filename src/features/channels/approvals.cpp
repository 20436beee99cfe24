#include "features/channels/approvals.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/trim.hpp>

#include "api/error.hpp"
#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "base/text/numbers.hpp"
#include "base/text/utf8.hpp"
#include "features/approvals/request_text.hpp"
#include "features/channels/markup.hpp"

namespace agw {

namespace {

constexpr std::size_t max_label = 60;
constexpr std::size_t max_shown = 100'000;

std::string_view label_of(GrantScope scope) {
  switch (scope) {
    case GrantScope::once:
      return "Allow once";
    case GrantScope::thread:
      return "Allow in this chat";
    case GrantScope::agent:
      break;
  }
  return "Always allow";
}

}  // namespace

ChannelApprovals::ChannelApprovals(const ChannelServices& services, const Messenger& messenger, ChannelOutbox& outbox,
                                   ChannelMemory& memory)
    : services_(services), messenger_(messenger), outbox_(outbox), memory_(memory) {}

std::vector<AskedRequest::Choice> ChannelApprovals::choices_of(const json::object& request) {
  std::vector<AskedRequest::Choice> choices;
  if (const auto* question = object_member(request, "question")) {
    for (const auto& option : strings_of(*question, "options")) {
      choices.push_back({shortened(option, max_label), {.decision = {}, .reason = {}, .answer = json::value(option)}});
    }
  }
  for (const auto& name : strings_of(request, "scopes")) {
    const auto scope = from_text<GrantScope>(name).value_or(GrantScope::once);
    choices.push_back({std::string(label_of(scope)), {PermissionDecision::allow, scope, {}, {}}});
  }
  if (is_true(request, "can_propose")) {
    choices.push_back({"Propose it", {PermissionDecision::propose, GrantScope::once, {}, {}}});
  }
  choices.push_back({"Deny", {PermissionDecision::deny, GrantScope::once, {}, {}}});
  return choices;
}

void ChannelApprovals::ask(const json::object& request, std::vector<AskedRequest::Copy> copies) {
  const auto id = string_or_empty(request, "id");
  if (copies.empty()) return;
  if (const auto known = memory_.find_asked(id)) {
    if (!std::ranges::all_of(known->copies, &AskedRequest::Copy::is_hidden)) return;
    for (auto& copy : copies) {
      known->copies.push_back(std::move(copy));
      send(known, known->copies.size() - 1);
    }
    return;
  }
  const auto question = object_or_empty(request, "question");
  const auto asked = std::make_shared<AskedRequest>(AskedRequest{.id = id,
                                                                 .thread_id = string_or_empty(request, "thread_id"),
                                                                 .title = request_title(request),
                                                                 .choices = choices_of(request),
                                                                 .first_number = memory_.next_number(),
                                                                 .copies = std::move(copies)});
  asked->takes_text = !question.empty() && !object_member(question, "form");
  set_text(request, *asked);
  memory_.asked.push_back(asked);
  for (std::size_t copy = 0; copy < asked->copies.size(); ++copy) send(asked, copy);
}

void ChannelApprovals::resume(const std::set<std::string, std::less<>>& allow) {
  const auto waiting = services_.approvals.waiting({});
  const auto all = memory_.asked;
  for (const auto& asked : all) {
    if (!contains(waiting, asked->id, &PermissionRequest::id)) {
      end(asked, "no longer asked");
      continue;
    }
    for (std::size_t index = 0; index < asked->copies.size(); ++index) {
      auto& copy = asked->copies[index];
      copy.is_hidden = !copy.place.is_group && !allow.contains(copy.person);
      if (!copy.is_hidden && copy.message.empty()) send(asked, index);
    }
  }
}

/// Sets the text of a request. If it cannot be shown in full, it cannot be decided in the messenger.
void ChannelApprovals::set_text(const json::object& request, AskedRequest& asked) const {
  asked.text = request_text(request);
  boost::trim_right(asked.text);
  if (asked.text.size() > max_shown) {
    asked.text = asked.title + ". It is too long to be shown here: decide on the page.";
    asked.choices.clear();
    asked.takes_text = false;
  }
  if (asked.takes_text) asked.text += "\n\nAnswer with a message.";
  if (messenger_.traits().has_buttons || asked.choices.empty()) return;
  asked.text += "\n\nAnswer with a number:";
  for (std::size_t i = 0; i < asked.choices.size(); ++i) {
    asked.text += fmt::format("\n{}. {}", asked.first_number + static_cast<int>(i), asked.choices[i].label);
  }
}

/// Sends the complete text, in several messages if needed: people must see what they approve. The last message has the
/// buttons.
void ChannelApprovals::send(const AskedRequestPointer& asked, std::size_t copy) {
  AGW_ASSERT(copy < asked->copies.size());
  const auto& place = asked->copies[copy].place;
  const auto& replies_to = asked->copies[copy].replies_to;
  const auto pieces = split_markdown(asked->text, messenger_.traits().max_units);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    OutgoingMessage message{.to = place, .id = {}, .text = pieces[i], .replies_to = replies_to};
    if (i + 1 < pieces.size()) {
      outbox_.send_unstored(std::move(message));
      continue;
    }
    if (messenger_.traits().has_buttons) {
      for (std::size_t choice = 0; choice < asked->choices.size(); ++choice) {
        message.buttons.push_back({asked->choices[choice].label, fmt::format("{}:{}", choice, asked->id)});
      }
    }
    outbox_.send_unstored(std::move(message), [this, asked, copy](const std::string& id) {
      AGW_ASSERT(copy < asked->copies.size());
      asked->copies[copy].message = id;
      if (!asked->outcome.empty()) show_outcome(*asked, asked->copies[copy]);
    });
  }
}

void ChannelApprovals::show_outcome(const AskedRequest& asked, const AskedRequest::Copy& copy) {
  AGW_ASSERT(!asked.outcome.empty());
  if (copy.is_hidden) return;
  outbox_.send_unstored(
      {.to = copy.place, .id = {}, .text = fmt::format("{}: {}", asked.title, asked.outcome), .edits = copy.message});
}

void ChannelApprovals::end(const AskedRequestPointer& asked, std::string outcome) {
  AGW_ASSERT(asked->outcome.empty());
  AGW_ASSERT(!outcome.empty());
  asked->outcome = std::move(outcome);
  asked->ended_at = std::chrono::steady_clock::now();
  for (const auto& copy : asked->copies) {
    if (!copy.message.empty()) show_outcome(*asked, copy);
  }
  const auto removed = std::erase(memory_.asked, asked);
  AGW_ASSERT(removed == 1);
  memory_.ended.push_back(asked);
  memory_.expire();
}

void ChannelApprovals::close(const json::object& decided) {
  if (const auto asked = memory_.find_asked(string_or_empty(decided, "requestId"))) end(asked, outcome_text(decided));
}

void ChannelApprovals::close_thread(std::string_view thread_id) {
  const auto all = memory_.asked;
  for (const auto& asked : all) {
    if (asked->thread_id == thread_id) end(asked, "no longer asked");
  }
}

Task<std::string> ChannelApprovals::press(std::string button) {
  const auto colon = button.find(':');
  const auto choice = parse_number<int>(std::string_view(button).substr(0, colon));
  const auto asked = colon == button.npos ? nullptr : memory_.find_asked(std::string_view(button).substr(colon + 1));
  if (!asked || !choice || *choice < 0 || *choice >= static_cast<int>(asked->choices.size())) {
    co_return "This is decided already.";
  }
  const auto chosen = asked->choices[static_cast<std::size_t>(*choice)];
  const auto problem = co_await decide(asked->id, chosen.decision, {});
  co_return problem.empty() ? chosen.label : problem;
}

std::pair<AskedRequestPointer, std::size_t> ChannelApprovals::chosen(const std::vector<AskedRequestPointer>& requests,
                                                                     const ChatPlace& place, std::string_view text) {
  const auto digits = text.substr(0, text.find_first_not_of("0123456789"));
  const auto number = parse_number<int>(digits);
  if (!number) return {};
  const auto rest = boost::trim_copy_if(text.substr(digits.size()), boost::is_any_of(" \t\r.):"));
  for (const auto& one : requests) {
    if (!one->is_in(place) || *number < one->first_number || *number >= one->end_number()) continue;
    const auto choice = static_cast<std::size_t>(*number - one->first_number);
    if (rest.empty() || boost::iequals(rest, "yes") || boost::iequals(rest, one->choices[choice].label))
      return {one, choice};
  }
  return {};
}

/// A message for the agent may look like a late answer, so the response invites the person to repeat it.
std::optional<std::string> ChannelApprovals::late_answer(const ReceivedMessage& message, std::string_view line) const {
  memory_.expire();
  const auto late = chosen(memory_.ended, message.place, line).first;
  if (!late) return std::nullopt;
  return fmt::format("{}: {}. If you meant to say that to the agent, write it again.", late->title, late->outcome);
}

void ChannelApprovals::forget_ended(const ChatPlace& place) {
  std::erase_if(memory_.ended, [&](const auto& one) { return one->is_in(place); });
}

Task<std::optional<std::string>> ChannelApprovals::answer(const ReceivedMessage& message,
                                                          std::function<void(Connection&)> in_transaction) {
  // In a mail, a signature may follow the number.
  const auto line =
      boost::trim_copy(messenger_.traits().is_mail ? message.text.substr(0, message.text.find('\n')) : message.text);
  const bool has_numbers = !messenger_.traits().has_buttons;
  auto [asked, choice] = has_numbers ? chosen(memory_.asked, message.place, line) : decltype(chosen({}, {}, {}))();
  DecidePermission decision;
  if (asked) {
    AGW_ASSERT(choice < asked->choices.size());
    decision = asked->choices[choice].decision;
  } else if (!message.text.empty()) {
    const auto question = std::ranges::find_if(
        memory_.asked, [&](const auto& one) { return one->takes_text && one->is_in(message.place); });
    if (question != memory_.asked.end()) asked = *question;
    decision = {.decision = {}, .reason = {}, .answer = json::value(message.text)};
  }
  if (!asked) co_return has_numbers ? late_answer(message, line) : std::nullopt;
  auto problem = co_await decide(asked->id, std::move(decision), std::move(in_transaction));
  if (!problem.empty()) problem = fmt::format("{}: this decides nothing: {}", asked->title, problem);
  co_return problem;
}

Task<std::string> ChannelApprovals::decide(std::string id, DecidePermission decision,
                                           std::function<void(Connection&)> in_transaction) {
  try {
    co_await services_.approvals.decide(std::move(id), std::move(decision),
                                        [in_transaction](Connection& connection, const PermissionRequest&) {
                                          if (in_transaction) in_transaction(connection);
                                        });
  } catch (const ApiError& error) {
    co_return error.error();
  }
  co_return "";
}

}  // namespace agw
