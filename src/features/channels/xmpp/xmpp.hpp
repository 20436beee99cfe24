#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/async/async_event.hpp"
#include "features/channels/messenger.hpp"
#include "features/channels/service_call.hpp"
#include "features/channels/xmpp/xmpp_requests.hpp"
#include "features/channels/xmpp/xmpp_rooms.hpp"
#include "features/channels/xmpp/xmpp_upload.hpp"
#include "io/http/web_url.hpp"
#include "io/xmpp/xmpp_connection.hpp"

namespace agw {

/// An account at an XMPP server. The server stores messages while no client is connected and, with stream management
/// (XEP-0198), until they are confirmed: a message is confirmed once the channel has stored it. An outgoing message
/// counts as sent once the server has responded to the ping that follows it: stanzas are handled in order.
class Xmpp : public Messenger, private XmppConnection::Listener {
public:
  Xmpp(Loop& loop, HttpClient& http, const ChannelAccount& account, const ChannelSettings& settings);

  const Traits& traits() const override;
  Task<ReceivedBatch> read(std::string cursor, StopSource& stop) override;
  Task<SendResult> send(OutgoingMessage message, StopSource& stop) override;
  Task<SendResult> draft(ChatPlace place, std::int64_t number, std::string text, StopSource& stop) override;
  Task<std::chrono::milliseconds> show_typing(ChatPlace place, bool is_typing, StopSource& stop) override;
  Task<> acknowledge(std::string press, std::string text, StopSource& stop) override;
  Task<FetchedFile> fetch(ReceivedFile file, StopSource& stop) override;
  Task<> close() override;

private:
  struct Received {
    ReceivedMessage message;
    std::uint32_t stanza = 0;  ///< its number on this connection, as counted by the server
  };
  /// A message that the server has not confirmed.
  struct Sending {
    explicit Sending(Loop& loop) : changed(loop) {}
    AsyncEvent changed;
    std::optional<SendResult> result{};
  };

  void opened() override;
  void arrived(XmppElement element) override;
  void ended(XmppFailure failure) override;

  Task<ReceivedBatch> connect(std::string cursor, StopSource& stop);
  XmppLogin login() const;
  /// Returns when to call it again.
  std::chrono::milliseconds enter_rooms_again();
  void plan_to_enter_rooms();
  ReceivedBatch next_batch();
  ReceivedBatch problem();
  void confirm_delivered();
  std::string confirmation() const;
  /// Waits until `changed_` is set, then resets it.
  Task<> wait(StopSource& stop, std::chrono::milliseconds limit);

  void manage_stream(const XmppElement& element);
  void handle_message(const XmppElement& stanza);
  void handle_presence(const XmppElement& stanza);
  void handle_iq(const XmppElement& stanza);
  bool is_from_server(const XmppElement& stanza) const;
  void settle(std::string_view id, SendResult result);
  bool may_be_private(const WebUrl& url) const;

  Loop& loop_;
  HttpClient& http_;
  const ChannelAccount& account_;
  const ChannelSettings& settings_;
  XmppRooms rooms_;
  std::chrono::seconds pause_before_entering_{};
  std::chrono::steady_clock::time_point enter_rooms_at_{};
  std::string room_problem_;  ///< the last one
  XmppRequests requests_;
  XmppUpload upload_;
  AsyncEvent changed_;  ///< something arrived, or the connection opened or ended
  AsyncEvent open_;
  std::shared_ptr<XmppConnection> connection_;
  bool is_open_ = false;
  std::optional<XmppFailure> failure_;
  std::deque<Received> received_;
  std::size_t delivered_ = 0;     ///< how many of `received_` were in the last batch
  std::string delivered_cursor_;  ///< the cursor of that batch
  bool is_managed_ = false;       ///< stream management is enabled
  std::uint32_t stanzas_ = 0;     ///< stanzas received since stream management was enabled
  std::map<std::string, std::shared_ptr<Sending>, std::less<>> sendings_;  ///< by the message's id
};

}  // namespace agw
