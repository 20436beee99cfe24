#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "features/channels/messenger.hpp"
#include "features/channels/service_call.hpp"

namespace agw {

/// An account at a Matrix server (Client-Server API v1.11, https://spec.matrix.org). Messages are read by `/sync`.
/// Invitations to rooms are accepted from people in `allow`. Encrypted rooms cannot be read.
class Matrix : public Messenger {
public:
  Matrix(HttpClient& http, const ChannelAccount& account, const ChannelSettings& settings);

  const Traits& traits() const override;
  Task<ReceivedBatch> read(std::string cursor, StopSource& stop) override;
  Task<SendResult> send(OutgoingMessage message, StopSource& stop) override;
  Task<SendResult> draft(ChatPlace place, std::int64_t number, std::string text, StopSource& stop) override;
  Task<std::chrono::milliseconds> show_typing(ChatPlace place, bool is_typing, StopSource& stop) override;
  Task<> acknowledge(std::string press, std::string text, StopSource& stop) override;
  Task<FetchedFile> fetch(ReceivedFile file, StopSource& stop) override;

private:
  Task<ServiceResponse> call(std::string method, std::string path, json::object body, StopSource& stop,
                             std::chrono::milliseconds idle_timeout = std::chrono::seconds(30)) const;
  /// A call that a batch depends on. Throws if a retry may help.
  Task<ServiceResponse> require(std::string method, std::string path, StopSource& stop) const;
  Task<ReceivedBatch> read_all(std::string cursor, StopSource& stop);
  /// Requests the account's user id. Returns a batch with the problem if that fails.
  Task<ReceivedBatch> identify(StopSource& stop);
  /// Uploads a file to the server, and sets `content` to the message that shows it. Returns the problem, if any.
  Task<std::optional<SendResult>> upload(const OutgoingFile& file, json::object& content, StopSource& stop) const;
  SendResult refusal_of(const ServiceResponse& response) const;
  ReceivedBatch problem_of(const ServiceResponse& response) const;
  std::string text_of_error(const ServiceResponse& response) const;
  bool may_invite(std::string_view person) const;
  Task<> join_rooms(json::object invited, ReceivedBatch& batch, StopSource& stop) const;
  /// `server`: one that knows the room; may be empty.
  Task<> join(std::string room, std::string server, ReceivedBatch& batch, StopSource& stop) const;
  /// All events of a room since `cursor`, oldest first, including those that the sync response omitted.
  Task<std::vector<json::object>> events_of(std::string room, json::object joined, std::string cursor,
                                            StopSource& stop) const;
  Task<bool> is_group(std::string room, json::object joined, StopSource& stop);
  std::optional<ReceivedMessage> message_in(const json::object& event, const std::string& room, bool is_group) const;
  Task<> add_messages(std::string room, bool is_group, std::vector<json::object> events, ReceivedBatch& batch,
                      StopSource& stop) const;
  /// The content and sender of an event: one of `events`, or one that the server has.
  Task<json::object> find_event(std::string room, std::string id, const std::vector<json::object>& events,
                                StopSource& stop) const;

  HttpClient& http_;
  const ChannelAccount& account_;
  const ChannelSettings& settings_;
  std::string user_id_;
  bool begins_anew_ = false;  ///< the server has rejected the cursor, and no later one was accepted
  int rereads_ = 0;           ///< consecutive failed reads of the same batch
  std::map<std::string, std::int64_t, std::less<>> members_;  ///< the number of members of each room
};

}  // namespace agw
