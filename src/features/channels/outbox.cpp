// How messages are sent, in order and within the rates of a service.
//
// A *lane* is one chat. Its *entries* wait in order; while there are any, one coroutine (`work`) sends the first entry
// and then removes it. Most entries have a *row* in the database; those of `send_unstored` have none. A *preview* shows
// an answer that is still being written.
//
// The invariants: messages of a lane are sent in order; lanes do not wait for each other, except for the rate of the
// account. A row is removed only after the service has accepted or refused the message, so each message is sent at
// least once. A message that may have been sent before has a remark, unless the service drops repeated ones by their
// id.
//
// For the first entry, `work` repeats:
//
//   1. Wait for its turn: the interval of the chat, the rate of the account, the pause that the service requested.
//   2. `prepare`: mark the row as begun. From here on, the message is *uncertain* if there is no response.
//   3. Send. If a preview of the message was shown, that is edited instead.
//   4. Accepted or refused: remove the row. No response: mark as uncertain and retry. Other failures: retry with
//      increasing delays; after a day, give up and report it.
//
// If the database or a file fails, the step is repeated each second, without limit.
//
// A preview is shown only while its lane has no entries and less than a third of the rate is used.
//
// A stop lets the calls to the service finish, for two seconds.
//
// A kill before 2: the next start sends it. Between 2 and 4: the next start sends it with a remark, or with the same id
// if the service drops repeated ones. After 4: nothing remains to be done.

#include "features/channels/outbox.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>

#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/id.hpp"
#include "base/log.hpp"
#include "features/channels/markup.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

using End = SendResult::End;

constexpr auto min_resend_delay = 1s;
constexpr auto max_resend_delay = 60s;
constexpr auto give_up_after = 24h;
constexpr auto time_to_finish = 2s;
constexpr int max_resend_doublings = 6;
static_assert(min_resend_delay * (1 << max_resend_doublings) >= max_resend_delay);
/// Previews are sent only while less than a third of the rate is used, because messages have priority.
constexpr std::size_t preview_share = 3;
/// The maximum of messages that are not in the database, which bounds the memory used while sending fails.
constexpr std::size_t max_in_lane = 200;
constexpr std::string_view duplicate_remark = "(This message may have been sent twice.)";

OutgoingMessage message_of_row(const OutboxRow& row) {
  return {
      .to = row.place, .id = row.id, .text = row.text, .is_markdown = row.is_markdown, .replies_to = row.replies_to};
}

}  // namespace

ChannelOutbox::ChannelOutbox(const ChannelServices& services, const ChannelSettings& settings, Messenger& messenger,
                             StopSource& stop, Refused refused)
    : services_(services),
      settings_(settings),
      messenger_(messenger),
      stop_(stop),
      refused_(std::move(refused)),
      group_(services.loop) {
  group_.on_failure([&settings](const std::exception_ptr& failure) {
    log::error("the channel {} could not send: {}", settings.name, message_of(failure));
  });
}

void ChannelOutbox::add(std::vector<OutboxRow> rows) {
  for (auto& row : rows) {
    const auto lane = lane_of(row.place);
    AGW_ASSERT(row.number > 0);
    AGW_ASSERT(!row.id.empty());
    AGW_ASSERT(row.integration_id == settings_.id);
    auto message = message_of_row(row);
    const bool is_uncertain = row.is_begun;
    lane->entries.push_back({.message = std::move(message), .row = std::move(row), .is_uncertain = is_uncertain});
    wake(lane);
  }
}

void ChannelOutbox::send_unstored(OutgoingMessage message, Sent sent) {
  const auto lane = lane_of(message.to);
  if (lane->entries.size() >= max_in_lane) {
    if (!std::exchange(lane->is_overfull, true))
      log::warn("the channel {} drops messages to a chat in which {} wait to be sent", settings_.name, max_in_lane);
    return;
  }
  if (message.id.empty()) message.id = new_id();
  lane->entries.push_back({.message = std::move(message), .sent = std::move(sent)});
  wake(lane);
}

void ChannelOutbox::show_preview(const ChatPlace& place, std::int64_t question, std::string text) {
  AGW_ASSERT(question > 0);
  const auto lane = lane_of(place);
  if (!lane->preview || lane->preview->question != question) lane->preview = Preview{.question = question, .text = {}};
  lane->preview->text = std::move(text);
  lane->preview->is_current = false;
  wake(lane);
}

void ChannelOutbox::end_preview(const ChatPlace& place, std::int64_t question) {
  const auto lane = lane_of(place);
  if (lane->preview && lane->preview->question == question) lane->preview.reset();
  wake(lane);
}

Task<> ChannelOutbox::join() {
  AGW_ASSERT(stop_.requested());
  StopSource never;
  if (co_await with_timeout(never, time_to_finish, group_.join()) == WaitResult::timed_out) sending_stop_.request();
  co_await group_.join();
}

std::size_t ChannelOutbox::waiting() const {
  std::size_t count = 0;
  for (const auto& [place, lane] : lanes_) count += lane->entries.size();
  return count;
}

std::string ChannelOutbox::problem() const {
  for (const auto& [place, lane] : lanes_) {
    if (!lane->problem.empty()) return lane->problem;
  }
  return {};
}

ChannelOutbox::LanePointer ChannelOutbox::lane_of(const ChatPlace& place) {
  auto& lane = lanes_[place];
  if (!lane) lane = std::make_shared<Lane>(services_.loop, place);
  AGW_ASSERT(lane->to == place);
  return lane;
}

void ChannelOutbox::wake(const LanePointer& lane) {
  if (lane->is_active) return lane->changed.pulse();
  if (stop_.requested()) return;
  lane->is_active = true;
  group_.spawn(work(lane));
}

Task<> ChannelOutbox::work(LanePointer lane) {
  AGW_ASSERT(lane->is_active);
  while (!stop_.requested() && (!lane->entries.empty() || (lane->preview && !lane->preview->is_current))) {
    try {
      if (lane->entries.empty())
        co_await update_preview(lane);
      else if (co_await send_first(lane))
        lane->entries.pop_front();
      lane->problem.clear();
    } catch (const std::exception& error) {
      note_problem(*lane, error);
    }
    if (!lane->problem.empty()) co_await pause(stop_, min_resend_delay);
  }
  AGW_ASSERT(lane->is_active);
  lane->is_active = false;
  lane->problem.clear();
  if (lane->entries.empty()) lane->is_overfull = false;
  const bool is_idle = lane->entries.empty() && !lane->preview;
  // Remove the lane of an idle chat once its interval has passed.
  if (is_idle && SteadyClock::now() - lane->last_sent > interval(lane->to)) lanes_.erase(lane->to);
}

std::chrono::milliseconds ChannelOutbox::interval(const ChatPlace& place) const {
  return place.is_group ? messenger_.traits().between_in_group : messenger_.traits().between_messages;
}

ChannelOutbox::SteadyClock::time_point ChannelOutbox::next_turn(std::size_t limit) const {
  AGW_ASSERT(limit > 0);
  if (recent_.size() < limit) return paused_until_;
  return std::max(paused_until_, recent_[recent_.size() - limit] + 1s);
}

Task<bool> ChannelOutbox::wait_for_turn(SteadyClock::time_point earliest) {
  for (;;) {
    const auto left = std::max(earliest, next_turn(messenger_.traits().per_second)) - SteadyClock::now();
    if (left <= 0s) break;
    if (co_await pause(stop_, std::chrono::ceil<std::chrono::milliseconds>(left)) == WaitResult::stopped)
      co_return false;
  }
  recent_.push_back(SteadyClock::now());
  if (recent_.size() > messenger_.traits().per_second) recent_.pop_front();
  AGW_ASSERT(recent_.size() <= messenger_.traits().per_second);
  co_return !stop_.requested();
}

Task<bool> ChannelOutbox::send_first(LanePointer lane) {
  AGW_ASSERT(!lane->entries.empty());
  auto& entry = lane->entries.front();
  AGW_ASSERT(!entry.message.id.empty());
  AGW_ASSERT(entry.message.to == lane->to);
  if (!co_await wait_for_turn(lane->last_sent + interval(lane->to))) co_return false;
  co_await prepare(entry);
  auto message = entry.message;
  if (entry.row && !entry.row->files.empty()) co_await load_files(message, entry.row->files);
  if (entry.is_uncertain && message.edits.empty() && !messenger_.traits().drops_repeated) {
    message.text += fmt::format("{}{}", message.text.empty() ? "" : "\n\n", duplicate_remark);
  }
  const bool has_text_and_files = !entry.message.text.empty() && !message.files.empty();
  const auto result = co_await send_message(entry, std::move(message));
  // Only this coroutine removes entries from the lane.
  AGW_ASSERT(!lane->entries.empty());
  AGW_ASSERT(&entry == &lane->entries.front());
  if (result.end == End::stopped) co_return false;
  lane->last_sent = SteadyClock::now();
  if (result.end == End::refused && has_text_and_files) {
    // They may be too large, or of a kind that the server takes from nobody.
    entry.row->files.clear();
    entry.message.text += fmt::format("\n\n(The files of this message were refused: {})", result.error);
    co_return false;
  }
  if (result.end == End::sent || result.end == End::refused) {
    co_await finish(lane, result);
    co_return true;
  }
  if (result.end == End::uncertain) entry.is_uncertain = true;
  note_failure(entry, result);
  if (SteadyClock::now() - entry.since < give_up_after) co_return false;
  co_await finish(lane, {.end = End::refused, .error = result.error});
  co_return true;
}

/// If a preview may have been sent, it is sent once more under the same id: a service that drops repeated messages then
/// returns the id of the existing one, which is edited.
Task<SendResult> ChannelOutbox::send_message(Entry& entry, OutgoingMessage message) {
  if (!entry.preview.empty()) {
    const auto found =
        co_await messenger_.send({.to = message.to, .id = entry.preview, .text = message.text}, sending_stop_);
    if (found.end != End::sent) co_return found;
    entry.preview.clear();
    message.edits = entry.message.edits = found.message;
  }
  co_return co_await messenger_.send(std::move(message), sending_stop_);
}

Task<> ChannelOutbox::load_files(OutgoingMessage& message, std::string ids) {
  AGW_ASSERT(!ids.empty());
  std::vector<std::string> wanted;
  boost::split(wanted, ids, boost::is_any_of(" "));
  for (auto& file : co_await services_.attachments.find(std::move(wanted))) {
    auto bytes = co_await services_.attachments.bytes(file);
    if (bytes)
      message.files.push_back({.name = file.name, .mime = file.mime, .bytes = *std::move(bytes)});
    else
      message.text += fmt::format("{}(The file {} is gone.)", message.text.empty() ? "" : "\n\n", file.name);
  }
  if (message.files.empty() && message.text.empty()) message.text = "(A file is gone.)";
}

/// Marks the row as begun: after a kill, the next start knows that the message may have arrived.
Task<> ChannelOutbox::prepare(Entry& entry) {
  if (!entry.row) co_return;
  const auto number = entry.row->number;
  AGW_ASSERT(number > 0);
  AGW_ASSERT(entry.row->id == entry.message.id);
  const bool is_marked = !messenger_.traits().drops_repeated && !entry.row->is_begun;
  const auto question = entry.row->question;
  const auto shown_as = co_await services_.database.write([number, is_marked, question](Connection& connection) {
    if (is_marked) channel_store::mark_begun(connection, number);
    return question ? channel_store::shown_as(connection, *question) : std::nullopt;
  });
  entry.row->is_begun |= is_marked;
  if (!shown_as) co_return;
  if (shown_as->starts_with(channel_store::unknown_message)) {
    entry.is_uncertain = true;
    if (messenger_.traits().drops_repeated && entry.message.edits.empty())
      entry.preview = shown_as->substr(channel_store::unknown_message.size());
  } else {
    entry.message.edits = *shown_as;
  }
}

Task<> ChannelOutbox::finish(LanePointer lane, SendResult result) {
  AGW_ASSERT(!lane->entries.empty());
  AGW_ASSERT(result.end == End::sent || result.end == End::refused);
  auto& entry = lane->entries.front();
  for (bool is_stored = entry.row.has_value(); is_stored;) {
    try {
      co_await services_.database.write(
          [number = entry.row->number](Connection& connection) { channel_store::remove_sent(connection, number); });
      is_stored = false;
    } catch (const std::exception& error) {
      note_problem(*lane, error);
    }
    if (is_stored && co_await pause(stop_, min_resend_delay) == WaitResult::stopped) break;
  }
  if (result.end == End::sent) {
    if (entry.sent) entry.sent(result.message);
  } else {
    refused_(result.error);
  }
}

void ChannelOutbox::note_problem(Lane& lane, const std::exception& error) const {
  if (lane.problem != error.what()) log::warn("messages of the channel {} wait: {}", settings_.name, error.what());
  lane.problem = error.what();
}

void ChannelOutbox::note_failure(Entry& entry, const SendResult& result) {
  AGW_ASSERT(entry.failures >= 0);
  AGW_ASSERT(result.end == End::retry || result.end == End::uncertain);
  const auto doubled = min_resend_delay * (1 << std::min(entry.failures++, max_resend_doublings));
  const auto pause = result.retry_after > 0s ? std::min(result.retry_after, max_retry_after)
                                             : std::min<std::chrono::milliseconds>(doubled, max_resend_delay);
  paused_until_ = std::max(paused_until_, SteadyClock::now() + pause);
  log::warn("the channel {} sends again in {} ms: {}", settings_.name, pause.count(), result.error);
}

/// Shows the newest text as often as the service allows, unless messages wait.
Task<> ChannelOutbox::update_preview(LanePointer lane) {
  AGW_ASSERT(lane->entries.empty());
  AGW_ASSERT(lane->preview);
  AGW_ASSERT(!lane->preview->is_current);
  const auto limit = std::max<std::size_t>(1, messenger_.traits().per_second / preview_share);
  const auto earliest = std::max(lane->last_preview + interval(lane->to), next_turn(limit));
  if (const auto left = earliest - SteadyClock::now(); left > 0s) {
    co_await with_timeout(stop_, std::chrono::ceil<std::chrono::milliseconds>(left), lane->changed.wait());
    co_return;
  }
  if (!co_await wait_for_turn({}) || !lane->preview || !lane->entries.empty()) co_return;
  auto preview = *lane->preview;
  AGW_ASSERT(preview.question > 0);
  lane->preview->is_current = true;
  lane->last_preview = SteadyClock::now();
  preview.text = utf16_prefix(preview.text, messenger_.traits().max_units);
  SendResult result;
  const bool as_draft = settings_.stream == ChannelStream::draft && messenger_.traits().has_drafts;
  if (as_draft) {
    // Telegram supports drafts only in private chats.
    if (!drafts_work_ || lane->to.is_group) co_return;
    result = co_await messenger_.draft(lane->to, preview.question, std::move(preview.text), sending_stop_);
    if (result.end == End::refused) drafts_work_ = false;
  } else {
    result = co_await edit_preview(lane, std::move(preview));
  }
  if (result.end == End::retry || (result.end == End::uncertain && messenger_.traits().drops_repeated)) {
    paused_until_ =
        std::max(paused_until_, SteadyClock::now() + std::max<std::chrono::milliseconds>(result.retry_after, 1s));
    if (lane->preview) lane->preview->is_current = false;
  }
  if (result.end == End::refused)
    log::warn("the channel {} cannot show unfinished answers: {}", settings_.name, result.error);
}

Task<SendResult> ChannelOutbox::edit_preview(LanePointer lane, Preview preview) {
  const bool is_first = preview.message.empty();
  AGW_ASSERT(preview.question > 0);
  const auto set_shown_as = [&](std::optional<std::string> message) {
    return services_.database.write([question = preview.question, message](Connection& connection) {
      channel_store::set_shown_as(connection, question, message);
    });
  };
  if (is_first && preview.id.empty()) {
    preview.id = new_id();
    if (lane->preview && lane->preview->question == preview.question) lane->preview->id = preview.id;
  }
  if (is_first) co_await set_shown_as(fmt::format("{}{}", channel_store::unknown_message, preview.id));
  auto result = co_await messenger_.send({.to = lane->to,
                                          .id = is_first ? preview.id : new_id(),
                                          .text = std::move(preview.text),
                                          .edits = preview.message,
                                          .is_unfinished = true},
                                         sending_stop_);
  const bool is_known = result.end != End::uncertain && result.end != End::stopped;
  if (!is_first || !is_known) co_return result;
  co_await set_shown_as(result.end == End::sent ? std::optional(result.message) : std::nullopt);
  if (lane->preview && lane->preview->question == preview.question) lane->preview->message = result.message;
  co_return result;
}

}  // namespace agw
