#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "features/channels/inbox.hpp"
#include "features/channels/service_call.hpp"

namespace agw {

/// One enabled channel: reads its messages and answers them until it is stopped. If its settings change, a new one is
/// made, which continues where the old one ended.
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
  bool awaits_proposals() const { return settings_.notify.contains(ChannelNotice::proposal_created); }

  const ChannelSettings& settings() const { return settings_; }
  /// For the channel that comes after this one.
  const std::shared_ptr<ChannelMemory>& memory() const { return memory_; }
  ChannelStatus status() const;

  /// The open question that a run answers; null if it came from elsewhere.
  const InboundRow* question_of(std::string_view thread_id, std::string_view turn_id) const;

  /// The stranger who got that code, while it is valid.
  std::optional<Stranger> find_stranger(std::string_view code);
  /// Tells the person that they are answered from now on. The message is on disk when it returns; the channel with the
  /// new settings sends it.
  Task<> welcome(Stranger stranger);

private:
  struct Session;

  Task<std::unique_ptr<Messenger>> connect();
  std::unique_ptr<Messenger> make_messenger() const;
  /// Returns why the token is not known; empty if it is.
  Task<std::string> read_token();
  /// Returns early if the token changes.
  Task<> wait_after_refusal(std::chrono::milliseconds wait);
  Task<> recover();
  Task<> read_batch();
  Task<> receive_all(std::vector<ReceivedMessage> messages);
  Task<> report_problem(ReceivedBatch batch);
  void note_connected();
  /// Records why the channel does not work, and returns how long to wait.
  std::chrono::milliseconds record_failure(std::string why, std::chrono::milliseconds named, bool is_final);
  Task<> raise(std::string message);
  Task<> notify_people(std::string text);
  Task<std::vector<AskedRequest::Copy>> private_chats();
  Task<> ask_people(json::object request);
  /// Asks what agents asked while no channel was there.
  void ask_what_waits();
  void ask(const json::object& request, std::string_view turn_id);
  void deliver_run_event(const DomainEvent& event);

  const ChannelServices& services_;
  const ChannelSettings settings_;
  const std::shared_ptr<ChannelMemory> memory_;
  StopSource stop_;
  ChannelAccount account_;
  std::unique_ptr<Session> session_;  ///< once the token is known
  ChannelState state_ = ChannelState::connecting;
  std::string error_;
  std::string raised_;  ///< the problem that was reported last
  std::chrono::steady_clock::time_point raised_at_{};
  int failures_ = 0;
  std::string cursor_;
  TaskGroup group_;
};

}  // namespace agw
