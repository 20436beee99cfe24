// How messages from a messenger are handled.
//
// A *stranger* is a sender who is not in `allow`. A *row* is a message in the table `channel_inbound`, identified by
// the service's id of its update.
//
// The invariant: a message starts at most one run. Its row is written in the transaction that stores its turn, reply or
// decision, so either both are on disk or neither, and `is_known` finds the row if the service delivers the message
// again.
//
//   1. A press of a button is passed to the approvals and always acknowledged. A stranger's press has no other effect.
//   2. A stranger's message in a private chat is answered with a pairing code, if pairing is enabled. The message is
//   not stored.
//   3. Any other message waits until the channel has capacity. Then the first match applies: already known, unreadable,
//      a command (`/new`, `/stop` …), the answer to a request that is pending in the chat, or a question to the agent.
//   4. A question gets the chat's thread, or a new one, and its files; a file that cannot be fetched is named in the
//      text. What the person only refers to, a message that they reply to or forward, is a quotation.
//   5. If a chat gets another id, its thread moves with it.
//
// Failures are retried: without limit while the disk is full or the database unreachable, for a minute if another node
// answers in the thread, otherwise three times. Then the person is notified; if that fails too, the message is tried
// again. An API error is reported immediately. Files that were stored by a failed try are reused by the next one.
//
// A kill loses no message: before the transaction, the service still has it; after it, `ChannelAnswers::recover` finds
// the row at the next start. Codes are lost; a stranger who writes again gets a new one.

#include "features/channels/inbox.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <boost/algorithm/string/replace.hpp>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "io/files/disk_full.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto code_validity = 10min;
/// The number of pairing codes that are valid at the same time. Further strangers get no response.
constexpr std::size_t max_strangers = 50;
constexpr int max_code = 999'999;
constexpr auto max_age = std::chrono::days(30);
constexpr auto min_pause_between_refusals = 1h;
constexpr auto pause_before_retry = 1s;
/// Files that did not fit on the disk are fetched again.
constexpr auto pause_before_fetching_again = 10s;
constexpr int max_tries = 3;
/// Limits how long all chats of the channel wait while another node answers in one of them.
constexpr int max_tries_elsewhere = 60;

std::string new_code() {
  std::random_device kernel("getentropy");
  return fmt::format("{:06}", std::uniform_int_distribution<int>(0, max_code)(kernel));
}

/// Whether a write may succeed later: the disk is full, the database server is unreachable, or another node answers in
/// the thread. Nothing was written.
bool may_pass(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::system_error& error) {
    return is_disk_full(error.code());
  } catch (const DiskFull&) {
    return true;
  } catch (const DatabaseUnavailable&) {
    return true;
  } catch (const ThreadElsewhere&) {
    return true;
  } catch (...) {
    return false;
  }
}

std::string quotation(std::string_view introduction, std::string author, const std::string& text) {
  std::ranges::replace(author, '\n', ' ');
  return fmt::format("{} {}:\n> {}", introduction, author, boost::replace_all_copy(text, "\n", "\n> "));
}

/// The text of the turn. The agent must not take what others wrote for words of the sender.
std::string turn_text(const ReceivedMessage& message) {
  auto text = message.forwarded_from.empty() || message.text.empty()
                  ? message.text
                  : quotation("Forwarded from", message.forwarded_from, message.text);
  if (!message.replied_to) return text;
  const auto quoted = quotation("In reply to", message.replied_to->author, message.replied_to->text);
  return text.empty() ? quoted : quoted + "\n\n" + text;
}

std::string with_line(std::string text, const std::string& line) { return text + (text.empty() ? "" : "\n") + line; }

}  // namespace

ChannelInbox::ChannelInbox(const ChannelServices& services, const ChannelSettings& settings, Messenger& messenger,
                           ChannelOutbox& outbox, ChannelAnswers& answers, ChannelApprovals& approvals,
                           ChannelMemory& memory, StopSource& stop)
    : services_(services),
      settings_(settings),
      messenger_(messenger),
      outbox_(outbox),
      answers_(answers),
      approvals_(approvals),
      memory_(memory),
      stop_(stop) {}

Task<> ChannelInbox::receive(ReceivedMessage message) {
  if (!message.press.empty()) co_return co_await handle_press(std::move(message));
  if (!message.moved_from.empty()) co_return co_await handle_move(std::move(message));
  if (!is_allowed(message)) co_return send_pairing_code(message);
  co_await handle_allowed(std::move(message));
}

/// Every press is acknowledged, because the service shows a spinner until then. A stranger's press has no other effect.
Task<> ChannelInbox::handle_press(ReceivedMessage message) {
  AGW_ASSERT(!message.press.empty());
  std::string text;
  if (is_allowed(message)) text = co_await approvals_.press(message.button);
  co_await messenger_.acknowledge(std::move(message.press), std::move(text), stop_);
}

Task<> ChannelInbox::handle_move(ReceivedMessage message) {
  AGW_ASSERT(!message.place.chat.empty());
  co_await services_.database.write(
      [id = settings_.id, from = message.moved_from, to = message.place.chat](Connection& connection) {
        channel_store::move_chat(connection, id, from, to);
      });
}

// Strangers.

void ChannelInbox::send_pairing_code(const ReceivedMessage& message) {
  AGW_ASSERT(!is_allowed(message));
  if (!settings_.pairing || message.place.is_group) return;
  memory_.expire();
  const auto is_known =
      std::ranges::any_of(memory_.strangers, [&](const Stranger& one) { return one.sender == message.sender; });
  if (is_known || memory_.strangers.size() >= max_strangers) return;
  auto code = new_code();
  while (memory_.find_stranger(code)) code = new_code();
  AGW_ASSERT(code.size() == 6);
  AGW_ASSERT(memory_.strangers.size() < max_strangers);
  memory_.strangers.push_back({.code = std::move(code),
                               .sender = message.sender,
                               .name = message.sender_name,
                               .place = message.place,
                               .replies_to = replies_to(message),
                               .until = std::chrono::steady_clock::now() + code_validity});
  send_code(memory_.strangers.back());
}

void ChannelInbox::send_code(const Stranger& stranger) {
  AGW_ASSERT(settings_.pairing);
  AGW_ASSERT(!stranger.code.empty());
  AGW_ASSERT(!stranger.is_code_sent);
  AGW_ASSERT(!stranger.place.is_group);
  outbox_.send_unstored(
      {.to = stranger.place,
       .id = {},
       .text = fmt::format("This gateway does not know you. If it is yours, confirm this code there within "
                           "ten minutes: {}\nOn its machine: agw pair {}",
                           stranger.code, stranger.code),
       .replies_to = stranger.replies_to},
      [&memory = memory_, code = stranger.code](const std::string&) {
        const auto known = std::ranges::find(memory.strangers, code, &Stranger::code);
        if (known != memory.strangers.end()) known->is_code_sent = true;
      });
}

void ChannelInbox::resume() {
  memory_.expire();
  std::erase_if(memory_.strangers, [this](const Stranger& one) { return settings_.allow.contains(one.sender); });
  if (!settings_.pairing) memory_.strangers.clear();
  for (const auto& stranger : memory_.strangers) {
    if (!stranger.is_code_sent) send_code(stranger);
  }
}

// Messages.

/// Handles a message, or replies why it could not be handled.
Task<> ChannelInbox::handle_allowed(ReceivedMessage message) {
  std::string refusal;
  int tries = 0;
  int tries_elsewhere = 0;
  while (!stop_.requested()) {
    auto wait = pause_before_retry;
    try {
      if (refusal.empty())
        co_await handle_once(message);
      else
        co_await reply(message, refusal);
      problem_.clear();
      co_return;
    } catch (const ApiError& error) {
      refusal = text_with_details(error);
    } catch (const ThreadElsewhere&) {
      if (++tries_elsewhere >= max_tries_elsewhere)
        refusal = "Another gateway answers in this chat. Send it again later.";
    } catch (const std::exception& error) {
      // The service keeps the message until the cursor advances.
      log::error("the channel {} could not handle a message: {}", settings_.name, error.what());
      problem_ = error.what();
      // If the reply cannot be stored either, everything is tried again.
      if (!std::exchange(refusal, {}).empty())
        tries = 0;
      else if (may_pass(std::current_exception()))
        wait = message.files.empty() ? pause_before_retry : pause_before_fetching_again;
      else if (++tries == max_tries)
        refusal = "The gateway could not take this message. Its log says why.";
    }
    if (refusal.empty()) co_await pause(stop_, wait);
  }
}

Task<> ChannelInbox::handle_once(ReceivedMessage message) {
  co_await answers_.wait_for_capacity();
  if (stop_.requested()) co_return;
  if (co_await is_known(message)) co_return;
  if (!message.unreadable.empty()) co_return co_await refuse(std::move(message));
  if (co_await run_command(message)) co_return;
  auto row = row_of(message);
  row.is_answered = true;
  auto problem =
      co_await approvals_.answer(message, [row](Connection& connection) { channel_store::insert(connection, row); });
  if (problem && problem->empty()) co_return;
  const auto place = message.place;
  if (problem)
    co_await reply(std::move(message), *std::move(problem));
  else if (!message.only_answers)
    co_await ask_agent(std::move(message));
  approvals_.forget_ended(place);
}

/// Not in groups, whose people may not write to the agent, and seldom: a program could answer.
Task<> ChannelInbox::refuse(ReceivedMessage message) {
  const auto now = std::chrono::steady_clock::now();
  const auto place = message.place;
  const auto told = memory_.told.find(place);
  if (place.is_group || (told != memory_.told.end() && now - told->second < min_pause_between_refusals)) co_return;
  auto why = message.unreadable;
  co_await reply(std::move(message), std::move(why));
  memory_.told[place] = now;
}

Task<bool> ChannelInbox::is_known(const ReceivedMessage& message) const {
  co_return co_await services_.database.read([id = settings_.id, update = message.update, sender = message.sender,
                                              text = message.message,
                                              is_mail = messenger_.traits().is_mail](Connection& connection) {
    return channel_store::is_known(connection, id, update) ||
           (is_mail && channel_store::is_known_message(connection, id, sender, text));
  });
}

std::string ChannelInbox::replies_to(const ReceivedMessage& message) const {
  return message.place.is_group || messenger_.traits().is_mail ? message.message : std::string();
}

InboundRow ChannelInbox::row_of(const ReceivedMessage& message) const {
  return {.integration_id = settings_.id,
          .update_id = message.update,
          .place = message.place,
          .message = message.message,
          .sender = message.sender,
          .created_at = services_.clock.now()};
}

Task<> ChannelInbox::reply(ReceivedMessage message, std::string text, std::function<void(Connection&)> in_transaction) {
  AGW_ASSERT(is_allowed(message));
  AGW_ASSERT(!text.empty());
  auto row = row_of(message);
  row.is_answered = true;
  OutboxRow answer{.id = new_id(),
                   .integration_id = settings_.id,
                   .place = message.place,
                   .replies_to = replies_to(message),
                   .text = std::move(text),
                   .created_at = services_.clock.now()};
  answer.number = co_await services_.database.write([row, answer, in_transaction](Connection& connection) {
    channel_store::insert(connection, row);
    if (in_transaction) in_transaction(connection);
    return channel_store::insert(connection, answer);
  });
  AGW_ASSERT(answer.number > 0);
  outbox_.add({std::move(answer)});
}

Task<std::optional<std::string>> ChannelInbox::known_thread(ChatPlace place) {
  const auto id = co_await services_.database.read(
      [id = settings_.id, place](Connection& connection) { return channel_store::thread_of(connection, id, place); });
  if (!id) co_return std::nullopt;
  try {
    co_return (co_await services_.threads.require(*id)).id;
  } catch (const NotFound&) {
    co_return std::nullopt;  // The thread was deleted: the chat continues in a new one.
  }
}

Task<std::string> ChannelInbox::thread_for(ChatPlace place) {
  if (auto known = co_await known_thread(place)) co_return *std::move(known);
  NewThread spec{.agent_id = {}, .title = {}, .project_id = {}, .job_id = {}, .mode = ThreadMode::act};
  if (!settings_.agent_id.empty()) spec.agent_id = settings_.agent_id;
  const auto thread = co_await services_.threads.create(
      std::move(spec), [id = settings_.id, place](Connection& connection, const Thread& created) {
        channel_store::set_thread(connection, id, place, created.id);
      });
  co_return thread.id;
}

/// Attaches the files. Those that cannot be fetched are named in the message, for the person and the agent. A file has
/// the same id at each try, so that one which is stored already is neither fetched nor stored again.
Task<> ChannelInbox::attach(const ReceivedMessage& message, ChatMessage& chat) {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < message.files.size(); ++i) {
    const auto& file = message.files[i];
    auto id = id_of_key(settings_.id, fmt::format("{} {} {} {}", message.update, message.message, i, file.name));
    if ((co_await services_.attachments.find({id})).empty()) {
      auto fetched = co_await messenger_.fetch(file, stop_);
      if (!fetched.error.empty()) {
        chat.content = with_line(chat.content, fmt::format("({} could not be fetched: {})", file.name, fetched.error));
        continue;
      }
      const auto& mime = fetched.mime.empty() ? file.mime : fetched.mime;
      co_await services_.attachments.add(file.name, mime, std::move(fetched.bytes), {}, id);
    }
    if (chat.content.empty()) chat.content = file.name;
    ids.push_back(std::move(id));
  }
  if (!ids.empty()) chat.attachments = std::move(ids);
}

Task<> ChannelInbox::ask_agent(ReceivedMessage message) {
  // Strangers reach an agent only where an allowed person quotes them.
  AGW_ASSERT(is_allowed(message));
  AGW_ASSERT(message.press.empty());
  ChatMessage chat{.content = turn_text(message), .threadId = co_await thread_for(message.place)};
  if (!settings_.agent_id.empty()) chat.agentId = settings_.agent_id;
  chat.metadata = json::object{{"channel",
                                {{"id", settings_.id},
                                 {"service", to_text(settings_.service)},
                                 {"chat", message.place.chat},
                                 {"sender", message.sender},
                                 {"sender_name", message.sender_name}}}};
  // A picture may have nothing to do with the question, such as the logo of a company in all its mails.
  chat.may_omit_pictures = !message.text.empty();
  co_await attach(message, chat);
  auto row = row_of(message);
  const auto number = std::make_shared<std::int64_t>(0);
  const auto turn = co_await services_.engine.chat(
      std::move(chat), [row, number, oldest = row.created_at - max_age](Connection& connection, const Turn& asked) {
        auto stored = row;
        stored.turn_id = asked.id;
        stored.thread_id = asked.thread_id;
        channel_store::purge(connection, oldest);
        *number = channel_store::insert(connection, stored);
      });
  AGW_ASSERT(*number > 0);
  AGW_ASSERT(!turn.id.empty());
  AGW_ASSERT(!turn.thread_id.empty());
  row.number = *number;
  row.turn_id = turn.id;
  row.thread_id = turn.thread_id;
  answers_.add(std::move(row));
}

}  // namespace agw
