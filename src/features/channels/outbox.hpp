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

/// Sends the messages of one channel: in order in each chat, chats side by side, within the service's rates. A stored
/// message is tried until the service takes or refuses it; if it may have been sent when no answer came or the gateway
/// was killed, and the service does not drop repeated messages, it says so when it is sent again.
class ChannelOutbox {
public:
  using Sent = std::function<void(const std::string& message)>;
  /// Why a message was given up, for people.
  using Refused = std::function<void(const std::string& why)>;

  ChannelOutbox(const ChannelServices& services, const ChannelSettings& settings, Messenger& messenger,
                StopSource& stop, Refused refused);

  /// Sends rows that are in the database.
  void add(std::vector<OutboxRow> rows);
  /// Sends a message that is not in the database, so a kill may lose it, and so do
  /// 200 in one chat that wait already, which is logged. `sent` is called with the service's id of it.
  void send_unstored(OutgoingMessage message, Sent sent = {});

  /// Shows an unfinished answer, as the settings say. Later texts replace earlier ones that were not shown yet.
  void show_preview(const ChatPlace& place, std::int64_t question, std::string text);
  /// The answer is finished: nothing more of it is shown.
  void end_preview(const ChatPlace& place, std::int64_t question);

  /// The number of messages that wait.
  std::size_t waiting() const;
  Task<> join() { return group_.join(); }

private:
  using SteadyClock = std::chrono::steady_clock;

  struct Entry {
    OutgoingMessage message;
    std::optional<OutboxRow> row{};  ///< in the database
    Sent sent{};
    bool is_uncertain = false;
    std::string preview{};  ///< the id under which a first part of it may have been sent
    int failures = 0;
    SteadyClock::time_point since = SteadyClock::now();
  };
  /// An answer that is shown while it is written.
  struct Preview {
    std::int64_t question = 0;
    std::string text;
    bool is_current = false;  ///< the text has been shown
    std::string id{};         ///< of the first message, also when it is sent again
    std::string message{};    ///< that shows it, if it is edited
  };
  struct Lane {
    explicit Lane(Loop& loop, ChatPlace place) : to(std::move(place)), changed(loop) {}

    const ChatPlace to;
    std::deque<Entry> entries;
    std::optional<Preview> preview;
    SteadyClock::time_point last_sent{};     ///< a message
    SteadyClock::time_point last_preview{};  ///< a draft or a change
    bool is_active = false;
    bool is_overfull = false;  ///< messages were dropped since it was empty
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
  /// Fetches the files of a message. One that is gone is named in its text.
  Task<> load_files(OutgoingMessage& message, std::string ids);
  Task<> finish(LanePointer lane, SendResult result);
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
  Refused refused_;
  std::map<ChatPlace, LanePointer> lanes_;
  std::deque<SteadyClock::time_point> recent_;  ///< when the last messages were sent, as many as a second allows
  SteadyClock::time_point paused_until_{};
  bool drafts_work_ = true;
  TaskGroup group_;
};

}  // namespace agw
