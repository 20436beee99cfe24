#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/async_event.hpp"
#include "base/async/task_group.hpp"
#include "features/channels/channel_services.hpp"
#include "features/channels/messenger.hpp"
#include "features/channels/store.hpp"

namespace agw {

/// Sends the messages of one channel: in order within a chat, concurrently in different chats, within the service's
/// rates. A stored message is retried until the service accepts or refuses it. A message that may have been sent
/// before, because of a missing response or a kill, has a remark when it is sent again, unless the service drops
/// repeated messages.
class ChannelOutbox {
public:
  using Sent = std::function<void(const std::string& message)>;
  /// Called with the reason, for people, if a message was given up.
  using Refused = std::function<void(const std::string& why)>;

  ChannelOutbox(const ChannelServices& services, const ChannelSettings& settings, Messenger& messenger,
                StopSource& stop, Refused refused);

  /// Sends rows that are in the database.
  void add(std::vector<OutboxRow> rows);
  /// Sends a message that is not in the database, so a kill may lose it. It is also dropped, with a log entry, if 200
  /// messages already wait in the chat. `sent` is called with the service's id of it.
  void send_unstored(OutgoingMessage message, Sent sent = {});

  /// Shows an unfinished answer, as the settings specify. Later texts replace earlier ones that were not shown yet.
  void show_preview(const ChatPlace& place, std::int64_t question, std::string text);
  /// Must be called once the answer is finished. Ends the preview.
  void end_preview(const ChatPlace& place, std::int64_t question);

  /// The number of messages that wait.
  std::size_t waiting() const;
  /// Why a message waits although the service would take it; empty if none does.
  std::string problem() const;
  /// Call it after the channel was stopped. Messages that are being sent get two seconds to arrive: otherwise nobody
  /// would know whether they did, and they would be sent twice.
  Task<> join();

private:
  using SteadyClock = std::chrono::steady_clock;

  struct Entry {
    OutgoingMessage message;
    std::optional<OutboxRow> row{};  ///< only if it is in the database
    Sent sent{};
    bool is_uncertain = false;
    std::string preview{};  ///< the id with which a preview may have been sent
    int failures = 0;
    SteadyClock::time_point since = SteadyClock::now();
  };
  /// A preview of an answer that is being written.
  struct Preview {
    std::int64_t question = 0;
    std::string text;
    bool is_current = false;  ///< the text has been shown
    std::string id{};         ///< the id of the first message, also if it is sent again
    std::string message{};    ///< the service's id of the message to edit
  };
  struct Lane {
    explicit Lane(Loop& loop, ChatPlace place) : to(std::move(place)), changed(loop) {}

    const ChatPlace to;
    std::deque<Entry> entries;
    std::optional<Preview> preview;
    SteadyClock::time_point last_sent{};     ///< of a message
    SteadyClock::time_point last_preview{};  ///< of a draft or an edit
    bool is_active = false;
    bool is_overfull = false;  ///< messages were dropped since the lane was last empty
    std::string problem{};     ///< why the last step failed in the gateway itself
    AsyncEvent changed;
  };
  using LanePointer = std::shared_ptr<Lane>;

  LanePointer lane_of(const ChatPlace& place);
  void wake(const LanePointer& lane);
  Task<> work(LanePointer lane);
  /// Returns whether the first entry was sent or given up.
  Task<bool> send_first(LanePointer lane);
  Task<> prepare(Entry& entry);
  Task<SendResult> send_message(Entry& entry, OutgoingMessage message);
  /// Loads the files of a message. Deleted ones are named in its text.
  Task<> load_files(OutgoingMessage& message, std::string ids);
  Task<> finish(LanePointer lane, SendResult result);
  void note_problem(Lane& lane, const std::exception& error) const;
  void note_failure(Entry& entry, const SendResult& result);
  Task<> update_preview(LanePointer lane);
  Task<SendResult> edit_preview(LanePointer lane, Preview preview);
  std::chrono::milliseconds interval(const ChatPlace& place) const;
  /// Waits until `earliest`, and until the rate allows another message. Returns false if the channel was stopped.
  Task<bool> wait_for_turn(SteadyClock::time_point earliest);
  /// The earliest time at which fewer than `limit` messages were sent in the second before.
  SteadyClock::time_point next_turn(std::size_t limit) const;

  const ChannelServices& services_;
  const ChannelSettings& settings_;
  Messenger& messenger_;
  StopSource& stop_;
  StopSource sending_stop_;  ///< of calls to the service, which may continue after the channel was stopped
  Refused refused_;
  std::map<ChatPlace, LanePointer> lanes_;
  std::deque<SteadyClock::time_point> recent_;  ///< when the last messages were sent; as many as the rate per second
  SteadyClock::time_point paused_until_{};
  bool drafts_work_ = true;
  TaskGroup group_;
};

}  // namespace agw
