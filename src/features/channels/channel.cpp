// How a channel connects an account at a messenger with agents.
//
// A *messenger* speaks one service's protocol (messenger.hpp). The *cursor* is the position up to which the service's
// messages were read; it is stored. The *session* consists of the parts that need the account's token: the messenger,
// inbox, outbox, answers and approvals. The *memory* (strangers with their pairing codes, open requests) survives a
// change of the settings.
//
// The invariant: the cursor advances only after every message before it was handled, so each message is handled at
// least once. The inbox recognises repeated messages by the service's id of the update. `stop_` ends every wait, and
// `run` returns only after all coroutines of the session have ended.
//
// The steps of `run`:
//
//   1. `connect`: read the token (a secret), with retries, and create the messenger.
//   2. `recover`, once: load the cursor, the unanswered questions and the unsent messages.
//   3. `read_batch` until it is stopped: read, pass each message to the inbox, store the cursor. A failure, also one
//      of the database or a file, is shown in the channel's status. The next attempt is made after the time that the
//      service specifies, or with a delay that doubles up to a minute; after a refused token, in ten minutes or when
//      the token changes. Refusals and conflicts also raise a signal, once.
//   4. Join answers, outbox and events, then close the messenger.
//
// In addition, `deliver` receives events of runs from the hub: answers and requests are sent to the chat of the
// question, notices to the private chats of the people in `allow`.
//
// A kill between two messages of a batch: the next start reads the batch again from the stored cursor, and the inbox
// skips messages that are in the database.

#include "features/channels/channel.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "features/channels/email/email.hpp"
#include "features/channels/matrix.hpp"
#include "features/channels/notices.hpp"
#include "features/channels/telegram.hpp"
#include "features/channels/xmpp/xmpp.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto min_reconnect_delay = 1s;
constexpr auto max_reconnect_delay = 60s;
/// The delay after a refused token, which a person may have to correct.
constexpr auto max_delay_after_refusal = 10min;
constexpr auto token_poll_interval = 2s;
/// More are not sent. A channel may wait long for its token.
constexpr std::size_t max_early_notices = 100;
constexpr int max_reconnect_doublings = 6;
/// After more in a row, the channel counts as broken.
constexpr int max_brief_failures = 2;
static_assert(min_reconnect_delay * (1 << max_reconnect_doublings) >= max_reconnect_delay);

}  // namespace

/// The parts of a channel that need the account's token.
struct Channel::Session {
  Session(const ChannelServices& services, const ChannelSettings& settings, std::unique_ptr<Messenger> account,
          ChannelMemory& memory, StopSource& stop, ChannelOutbox::Refused refused)
      : messenger(std::move(account)),
        outbox(services, settings, *messenger, stop, std::move(refused)),
        answers(services, settings, *messenger, outbox, stop),
        approvals(services, *messenger, outbox, memory),
        inbox(services, settings, *messenger, outbox, answers, approvals, memory, stop) {}

  /// Why a message or an answer waits; empty if none does.
  std::string problem() const {
    auto found = inbox.problem();
    if (found.empty()) found = answers.problem();
    return found.empty() ? outbox.problem() : found;
  }

  std::unique_ptr<Messenger> messenger;
  ChannelOutbox outbox;
  ChannelAnswers answers;
  ChannelApprovals approvals;
  ChannelInbox inbox;
};

Channel::Channel(const ChannelServices& services, ChannelSettings settings, std::shared_ptr<ChannelMemory> memory)
    : services_(services),
      settings_(std::move(settings)),
      memory_(std::move(memory)),
      account_{.address = settings_.address.empty() && settings_.service == ChannelService::telegram
                              ? std::string(Telegram::vendor_address)
                              : settings_.address,
               .token = {},
               .secrets = {},
               .is_persons = settings_.is_persons},
      group_(services.loop) {
  group_.on_failure([this](const std::exception_ptr& failure) {
    log::error("the channel {} could not pass an event on: {}", settings_.name, message_of(failure));
  });
}

Channel::~Channel() = default;

Task<> Channel::run() {
  AGW_ASSERT(!session_);
  auto messenger = co_await connect();
  if (!messenger) co_return;
  session_ = std::make_unique<Session>(
      services_, settings_, std::move(messenger), *memory_, stop_, [this](const std::string& why) {
        group_.spawn(raise(fmt::format("The channel {} could not send a message: {}", settings_.name, why)));
      });
  std::exception_ptr failure;
  try {
    while (!stop_.requested()) {
      std::string problem;
      try {
        if (!has_recovered_) co_await recover();
        co_await read_batch();
      } catch (const std::exception& error) {
        problem = error.what();  // No message is lost: the service keeps unread ones.
      }
      if (!problem.empty()) co_await pause(stop_, record_failure(std::move(problem)));
    }
  } catch (...) {
    failure = std::current_exception();
  }
  // Stops everything that the session started.
  stop_.request();
  co_await session_->answers.join();
  co_await session_->outbox.join();
  co_await group_.join();
  co_await session_->messenger->close();
  if (failure) std::rethrow_exception(failure);
}

Task<> Channel::recover() {
  AGW_ASSERT(session_);
  cursor_ = co_await services_.database.read(
      [id = settings_.id](Connection& connection) { return channel_store::cursor(connection, id); });
  co_await session_->answers.recover();
  session_->approvals.resume(settings_.allow);
  session_->inbox.resume();
  ask_pending();
  has_recovered_ = true;
  for (auto& [thread_id, text] : std::exchange(early_notices_, {})) notify_unless_answered(thread_id, std::move(text));
}

/// Waits until the token can be read. Returns null once the channel is stopped.
Task<std::unique_ptr<Messenger>> Channel::connect() {
  while (!stop_.requested()) {
    auto problem = co_await read_token();
    if (problem.empty()) co_return make_messenger();
    co_await pause(stop_, record_failure(std::move(problem)));
  }
  co_return nullptr;
}

std::unique_ptr<Messenger> Channel::make_messenger() const {
  switch (settings_.service) {
    case ChannelService::xmpp:
      return std::make_unique<Xmpp>(services_.loop, services_.http, account_, settings_);
    case ChannelService::email:
      return std::make_unique<Email>(services_, account_, settings_);
    case ChannelService::matrix:
      return std::make_unique<Matrix>(services_.http, account_, settings_);
    case ChannelService::telegram:
      break;
  }
  return std::make_unique<Telegram>(services_.http, account_, settings_.threads);
}

Task<std::string> Channel::read_token() {
  try {
    auto read =
        co_await services_.blocking.run([&secrets = services_.secrets, account = account_, token = settings_.token] {
          auto filled = account;
          filled.token = secrets.expand(token, &filled.secrets);
          return filled;
        });
    if (read.token != account_.token) account_ = std::move(read);
  } catch (const std::exception& error) {
    co_return error.what();
  }
  co_return "";
}

Task<> Channel::wait_after_refusal(std::chrono::milliseconds wait) {
  const auto refused = account_.token;
  const auto until = std::chrono::steady_clock::now() + wait;
  while (account_.token == refused && std::chrono::steady_clock::now() < until) {
    if (co_await pause(stop_, token_poll_interval) == WaitResult::stopped) co_return;
    if (auto problem = co_await read_token(); !problem.empty()) error_ = std::move(problem);
  }
}

Task<> Channel::read_batch() {
  AGW_ASSERT(session_);
  auto batch = co_await session_->messenger->read(cursor_, stop_);
  if (batch.end == ReceivedBatch::End::stopped) co_return;
  if (batch.end != ReceivedBatch::End::read) co_return co_await report_problem(std::move(batch));
  note_connected();
  const bool must_store = !batch.messages.empty() || cursor_.empty();
  co_await receive_all(std::move(batch.messages));
  if (stop_.requested() || batch.cursor == cursor_) co_return;
  if (must_store) {
    co_await services_.database.write([id = settings_.id, cursor = batch.cursor](Connection& connection) {
      channel_store::set_cursor(connection, id, cursor);
    });
  }
  cursor_ = std::move(batch.cursor);
}

Task<> Channel::receive_all(std::vector<ReceivedMessage> messages) {
  for (auto& message : messages) {
    if (stop_.requested()) co_return;
    co_await session_->inbox.receive(std::move(message));
  }
}

Task<> Channel::report_problem(ReceivedBatch batch) {
  AGW_ASSERT(batch.end != ReceivedBatch::End::read);
  AGW_ASSERT(batch.end != ReceivedBatch::End::stopped);
  const bool is_refused = batch.end == ReceivedBatch::End::refused;
  const bool is_conflict = batch.end == ReceivedBatch::End::conflict;
  auto problem = batch.error;
  if (is_conflict) problem = "another program reads the messages of this account: end it, or use another account";
  if (is_refused) problem = fmt::format("the service does not accept the token: {}", batch.error);
  const bool is_new = raised_ != problem;
  const auto wait = record_failure(problem, batch.retry_after, is_refused);
  if (is_new && (is_refused || is_conflict)) {
    raised_ = problem;
    raised_at_ = std::chrono::steady_clock::now();
    co_await raise(fmt::format("The channel {} does not work: {}.", settings_.name, problem));
  }
  if (is_refused)
    co_await wait_after_refusal(wait);
  else
    co_await pause(stop_, wait);
}

void Channel::note_connected() {
  state_ = ChannelState::connected;
  error_.clear();
  // At most one signal an hour: two programs that disconnect each other would raise one at each conflict.
  if (std::chrono::steady_clock::now() - raised_at_ > 1h) raised_.clear();
  failures_ = 0;
}

std::chrono::milliseconds Channel::record_failure(std::string why, std::chrono::milliseconds named, bool is_refused) {
  AGW_ASSERT(failures_ >= 0);
  log::warn("the channel {} does not work: {}", settings_.name, why);
  state_ = ChannelState::failing;
  error_ = std::move(why);
  const auto doubled = min_reconnect_delay * (1 << std::min(failures_++, max_reconnect_doublings));
  if (is_refused) {
    failures_ = std::max(failures_, max_brief_failures + 1);
    return max_delay_after_refusal;
  }
  return named > 0s ? std::min(named, max_retry_after)
                    : std::min<std::chrono::milliseconds>(doubled, max_reconnect_delay);
}

Task<> Channel::raise(std::string message) {
  co_await services_.signals.raise({.kind = "channel", .message = std::move(message), .severity = Severity::warning});
}

// Events.

void Channel::deliver(const DomainEvent& event) {
  if (stop_.requested()) return;
  // Before, nobody waits for an event of a run here: `recover` finds the questions and the pending requests.
  if (has_recovered_ && !event.thread_id.empty() && event.name.empty()) deliver_run_event(event);
  if (!settings_.notify.empty()) notify(event);
}

void Channel::notify(const DomainEvent& event) {
  auto notification = channel_notification(event);
  if (!notification || !settings_.notify.contains(notification->kind)) return;
  if (has_recovered_) return notify_unless_answered(event.thread_id, std::move(notification->text));
  // Stored now, it would be sent twice: `recover` reads the unsent messages.
  if (early_notices_.size() < max_early_notices)
    early_notices_.emplace_back(event.thread_id, std::move(notification->text));
}

/// The end of a run that answers in this channel needs no notice.
void Channel::notify_unless_answered(std::string_view thread_id, std::string text) {
  AGW_ASSERT(has_recovered_);
  if (!session_->answers.has_questions(thread_id)) group_.spawn(notify_people(std::move(text)));
}

void Channel::deliver_run_event(const DomainEvent& event) {
  AGW_ASSERT(session_);
  if (event.type == "permission-requested") {
    const auto members = event.message_members();
    ask(object_or_empty(members, "request"), string_or_empty(members, "turnId"));
  } else if (event.type == "permission-decided" && !session_->approvals.is_empty()) {
    session_->approvals.close(event.message_members());
  } else if ((event.type == "finish" || event.type == "stopped") && !session_->approvals.is_empty()) {
    session_->approvals.close_thread(event.thread_id);
  }
  session_->answers.deliver(event);
}

void Channel::ask(const json::object& request, std::string_view turn_id) {
  AGW_ASSERT(session_);
  if (const auto* question = session_->answers.find(string_or_empty(request, "thread_id"), turn_id)) {
    const auto answered = session_->messenger->traits().is_mail ? question->message : std::string();
    session_->approvals.ask(request, {{question->place, question->sender, answered}});
  } else if (settings_.notify.contains(ChannelNotice::permission_requested)) {
    group_.spawn(ask_people(request));
  }
}

void Channel::ask_pending() {
  for (const auto& request : services_.approvals.waiting({})) {
    const auto active = services_.runs.front(request.thread_id);
    if (active && active->run.id == request.run_id) ask(RecordView(request).members(), active->run.turn_id);
  }
}

bool Channel::answers(std::string_view thread_id) const {
  // A channel that connects, also anew, will ask soon.
  if (failures_ > max_brief_failures) return false;
  const bool asks_everybody =
      settings_.notify.contains(ChannelNotice::permission_requested) && !settings_.allow.empty();
  return asks_everybody || threads_in_question().contains(thread_id);
}

std::set<std::string, std::less<>> Channel::threads_in_question() const {
  return has_recovered_ ? session_->answers.threads() : memory_->threads;
}

/// The private chats of the people in `allow`.
Task<std::vector<AskedRequest::Copy>> Channel::private_chats() {
  auto places = co_await services_.database.read([id = settings_.id, people = settings_.allow](Connection& connection) {
    std::vector<std::pair<std::string, std::optional<ChatPlace>>> found;
    found.reserve(people.size());
    for (const auto& person : people)
      found.emplace_back(person, channel_store::private_chat_of(connection, id, person));
    return found;
  });
  std::vector<AskedRequest::Copy> known;
  for (auto& [person, place] : places) {
    if (place) known.push_back({*std::move(place), person});
    // Except at Matrix, the private chat with a person has the person's id.
    else if (settings_.service != ChannelService::matrix && !person.starts_with('-'))
      known.push_back({{person, "", false}, person});
  }
  co_return known;
}

Task<> Channel::ask_people(json::object request) {
  auto chats = co_await private_chats();
  if (!stop_.requested()) session_->approvals.ask(request, std::move(chats));
}

Task<> Channel::notify_people(std::string text) {
  AGW_ASSERT(session_);
  const auto chats = co_await private_chats();
  for (const auto& chat : chats) {
    OutboxRow row{.id = new_id(),
                  .integration_id = settings_.id,
                  .place = chat.place,
                  .text = text,
                  .created_at = services_.clock.now()};
    row.number = co_await services_.database.write(
        [row](Connection& connection) { return channel_store::insert(connection, row); });
    session_->outbox.add({std::move(row)});
  }
}

const InboundRow* Channel::question_of(std::string_view thread_id, std::string_view turn_id) const {
  return session_ ? session_->answers.find(thread_id, turn_id) : nullptr;
}

ChannelStatus Channel::status() const {
  ChannelStatus status{.id = settings_.id, .name = settings_.name, .service = settings_.service, .state = state_};
  if (!error_.empty()) status.error = error_;
  if (!session_) return status;
  if (const auto problem = session_->problem(); !problem.empty() && !status.error) {
    status.state = ChannelState::failing;
    status.error = problem;
  }
  status.open_questions = static_cast<std::int64_t>(session_->answers.count());
  status.unsent = static_cast<std::int64_t>(session_->outbox.waiting());
  memory_->expire();
  status.strangers = static_cast<std::int64_t>(memory_->strangers.size());
  return status;
}

std::optional<Stranger> Channel::find_stranger(std::string_view code) {
  const auto* found = settings_.pairing ? memory_->find_stranger(code) : nullptr;
  return found ? std::optional(*found) : std::nullopt;
}

Task<> Channel::welcome(Stranger stranger) {
  memory_->remove_stranger(stranger.code);
  OutboxRow row{.id = new_id(),
                .integration_id = settings_.id,
                .place = stranger.place,
                .text = "You are known now. Write a message, or /help.",
                .created_at = services_.clock.now()};
  co_await services_.database.write([row](Connection& connection) { channel_store::insert(connection, row); });
}

}  // namespace agw
