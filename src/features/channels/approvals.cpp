#include "features/channels/approvals.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <boost/algorithm/string/trim.hpp>

#include "api/error.hpp"
#include "base/json/json_values.hpp"
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

std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace

ChannelApprovals::ChannelApprovals(const ChannelServices& services, const Messenger& messenger, ChannelOutbox& outbox)
    : services_(services), messenger_(messenger), outbox_(outbox) {}

std::vector<ChannelApprovals::Choice> ChannelApprovals::choices_of(const json::object& request) {
  std::vector<Choice> choices;
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

int ChannelApprovals::next_number() const {
  return pending_.empty() ? 1 : pending_.back()->first_number + static_cast<int>(pending_.back()->choices.size());
}

void ChannelApprovals::ask(const json::object& request, const std::vector<ChatPlace>& places,
                           const std::string& replies_to) {
  if (places.empty()) return;
  const auto question = object_or_empty(request, "question");
  const auto pending = std::make_shared<Pending>(Pending{.id = string_or_empty(request, "id"),
                                                         .thread_id = string_or_empty(request, "thread_id"),
                                                         .title = request_title(request),
                                                         .choices = choices_of(request),
                                                         .first_number = next_number()});
  pending->takes_text = !question.empty() && !object_member(question, "form");
  for (const auto& place : places) pending->copies.push_back({place, replies_to});
  pending_.push_back(pending);
  const auto text = text_of(request, *pending);
  for (std::size_t copy = 0; copy < pending->copies.size(); ++copy) send(pending, copy, text);
}

std::string ChannelApprovals::text_of(const json::object& request, const Pending& pending) const {
  auto text = request_text(request);
  boost::trim_right(text);
  if (pending.takes_text) text += "\n\nAnswer with a message.";
  if (messenger_.traits().has_buttons) return text;
  text += "\n\nAnswer with a number:";
  for (std::size_t i = 0; i < pending.choices.size(); ++i) {
    text += fmt::format("\n{}. {}", pending.first_number + static_cast<int>(i), pending.choices[i].label);
  }
  return text;
}

/// Sends the whole text, in several messages if needed: people must see what they approve. The last one has the
/// buttons.
void ChannelApprovals::send(const PendingPointer& pending, std::size_t copy, const std::string& text) {
  const auto& place = pending->copies[copy].place;
  const auto& replies_to = pending->copies[copy].replies_to;
  if (text.size() > max_shown) {
    return outbox_.send_unstored({.to = place,
                                  .id = {},
                                  .text = pending->title + ". It is too long to be shown here: decide on the page.",
                                  .replies_to = replies_to});
  }
  const auto pieces = split_markdown(text, messenger_.traits().max_units);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    OutgoingMessage message{.to = place, .id = {}, .text = pieces[i], .replies_to = replies_to};
    if (i + 1 < pieces.size()) {
      outbox_.send_unstored(std::move(message));
      continue;
    }
    if (messenger_.traits().has_buttons) {
      for (std::size_t choice = 0; choice < pending->choices.size(); ++choice) {
        message.buttons.push_back({pending->choices[choice].label, fmt::format("{}:{}", choice, pending->id)});
      }
    }
    outbox_.send_unstored(std::move(message), [this, pending, copy](const std::string& id) {
      pending->copies[copy].message = id;
      if (!pending->outcome.empty()) show_outcome(*pending, pending->copies[copy]);
    });
  }
}

void ChannelApprovals::show_outcome(const Pending& pending, const Copy& copy) {
  outbox_.send_unstored({.to = copy.place,
                         .id = {},
                         .text = fmt::format("{}: {}", pending.title, pending.outcome),
                         .edits = copy.message});
}

void ChannelApprovals::end(const PendingPointer& pending, std::string outcome) {
  pending->outcome = std::move(outcome);
  for (const auto& copy : pending->copies) {
    if (!copy.message.empty()) show_outcome(*pending, copy);
  }
  std::erase(pending_, pending);
}

void ChannelApprovals::close(const json::object& decided) {
  if (const auto pending = find(string_or_empty(decided, "requestId"))) end(pending, outcome_text(decided));
}

void ChannelApprovals::close_thread(std::string_view thread_id) {
  const auto all = pending_;
  for (const auto& pending : all) {
    if (pending->thread_id == thread_id) end(pending, "no longer asked");
  }
}

ChannelApprovals::PendingPointer ChannelApprovals::find(std::string_view id) const {
  const auto found = std::ranges::find_if(pending_, [id](const auto& pending) { return pending->id == id; });
  return found == pending_.end() ? nullptr : *found;
}

Task<std::string> ChannelApprovals::press(std::string button) {
  const auto colon = button.find(':');
  const auto choice = whole_number(std::string_view(button).substr(0, colon));
  const auto pending = colon == button.npos ? nullptr : find(std::string_view(button).substr(colon + 1));
  if (!pending || !choice || *choice < 0 || *choice >= static_cast<int>(pending->choices.size())) {
    co_return "This is decided already.";
  }
  const auto chosen = pending->choices[static_cast<std::size_t>(*choice)];
  const auto problem = co_await decide(pending->id, chosen.decision, {});
  co_return problem.empty() ? chosen.label : problem;
}

Task<bool> ChannelApprovals::answer(const ReceivedMessage& message, std::function<void(Connection&)> in_transaction) {
  // Below the number, a mail may have a signature.
  const auto line = messenger_.traits().is_mail ? message.text.substr(0, message.text.find('\n')) : message.text;
  const auto number = messenger_.traits().has_buttons ? std::nullopt : whole_number(boost::trim_copy(line));
  const auto is_there = [&](const PendingPointer& pending) {
    return std::ranges::any_of(pending->copies, [&](const Copy& copy) { return copy.place == message.place; });
  };
  std::optional<std::pair<std::string, DecidePermission>> decision;
  for (const auto& pending : pending_) {
    if (!is_there(pending)) continue;
    const auto choice = number ? *number - pending->first_number : -1;
    if (choice >= 0 && choice < static_cast<int>(pending->choices.size())) {
      decision = {pending->id, pending->choices[static_cast<std::size_t>(choice)].decision};
      break;
    }
    if (pending->takes_text && !decision && !message.text.empty()) {
      decision = {pending->id, {.decision = {}, .reason = {}, .answer = json::value(message.text)}};
    }
  }
  if (!decision) co_return false;
  const auto problem = co_await decide(decision->first, decision->second, std::move(in_transaction));
  if (!problem.empty()) {
    const auto answered = messenger_.traits().is_mail ? message.message : std::string();
    outbox_.send_unstored({.to = message.place, .id = {}, .text = problem, .replies_to = answered});
  }
  co_return problem.empty();
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
