#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "features/channels/inbox.hpp"
#include "features/channels/service_call.hpp"

namespace agw {

/// One enabled channel: reads its messages and answers them until it is stopped. If its settings change, a new object
/// is created, which continues where the old one ended.
class Channel {
public:
  Channel(const ChannelServices& services, ChannelSettings settings, std::shared_ptr<ChannelMemory> memory);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  Task<> run();
  void stop() { stop_.request(); }

  void deliver(const DomainEvent& event);
  bool answers(std::string_view thread_id) const;
  /// The threads of the open questions.
  std::set<std::string, std::less<>> threads_in_question() const;
  bool awaits_proposals() const { return settings_.notify.contains(ChannelNotice::proposal_created); }

  const ChannelSettings& settings() const { return settings_; }
  /// The memory, for the object that replaces this one.
  const std::shared_ptr<ChannelMemory>& memory() const { return memory_; }
  ChannelStatus status() const;

  /// The open question that a run answers; null if it is not from this channel.
  const InboundRow* question_of(std::string_view thread_id, std::string_view turn_id) const;

  /// The stranger with that code, while the code is valid.
  std::optional<Stranger> find_stranger(std::string_view code);
  /// Stores a message which tells the person that they are now answered. The channel with the new settings sends it.
  Task<> welcome(Stranger stranger);

private:
  struct Session;

  Task<std::unique_ptr<Messenger>> connect();
  std::unique_ptr<Messenger> make_messenger() const;
  /// Returns why the token cannot be read; empty on success.
  Task<std::string> read_token();
  /// Returns early if the token changes.
  Task<> wait_after_refusal(std::chrono::milliseconds wait);
  Task<> recover();
  Task<> read_batch();
  Task<> receive_all(std::vector<ReceivedMessage> messages);
  Task<> report_problem(ReceivedBatch batch);
  void note_connected();
  /// Records why the channel does not work, and returns how long to wait before the next attempt: as long as the
  /// service named, if it did, and much longer if it refuses the token.
  std::chrono::milliseconds record_failure(std::string why, std::chrono::milliseconds named = {},
                                           bool is_refused = false);
  Task<> raise(std::string message);
  void notify(const DomainEvent& event);
  void notify_unless_answered(std::string_view thread_id, std::string text);
  Task<> notify_people(std::string text);
  Task<std::vector<AskedRequest::Copy>> private_chats();
  Task<> ask_people(json::object request);
  /// Sends requests that agents made while the channel was not running.
  void ask_pending();
  void ask(const json::object& request, std::string_view turn_id);
  void deliver_run_event(const DomainEvent& event);

  const ChannelServices& services_;
  const ChannelSettings settings_;
  const std::shared_ptr<ChannelMemory> memory_;
  StopSource stop_;
  ChannelAccount account_;
  std::unique_ptr<Session> session_;  ///< null until the token is known
  bool has_recovered_ = false;        ///< then the session knows its questions and unsent messages
  /// Notices of events before that, each with the thread of its event.
  std::vector<std::pair<std::string, std::string>> early_notices_;
  ChannelState state_ = ChannelState::connecting;
  std::string error_;
  std::string raised_;  ///< the problem of the last signal
  std::chrono::steady_clock::time_point raised_at_{};
  int failures_ = 0;
  std::string cursor_;
  TaskGroup group_;
};

}  // namespace agw
