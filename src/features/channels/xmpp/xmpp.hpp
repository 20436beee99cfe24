#pragma once

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
#include "features/channels/xmpp/xmpp_rooms.hpp"
#include "io/xmpp/xmpp_connection.hpp"

namespace agw {

/// An account at an XMPP server. The server keeps what is written to it while nobody is connected, and, where it has
/// stream management (XEP-0198), everything that was not confirmed: a message is confirmed once the room has stored it.
/// A message is sent once the server has answered the ping that follows it: stanzas are handled in order.
class Xmpp : public Messenger, private XmppConnection::Listener {
public:
  Xmpp(Loop& loop, HttpClient& http, const ChannelAccount& account, const ChannelSettings& settings);

  const Traits& traits() const override;
  Task<ReceivedBatch> read(std::string cursor, StopSource& stop) override;
  Task<SendResult> send(OutgoingMessage message, StopSource& stop) override;
  Task<SendResult> draft(ChatPlace place, std::int64_t number, std::string text, StopSource& stop) override;
  Task<> acknowledge(std::string press, std::string text, StopSource& stop) override;
  Task<FetchedFile> fetch(ReceivedFile file, StopSource& stop) override;
  Task<> close() override;

private:
  struct News {
    ReceivedMessage message;
    std::uint32_t stanza = 0;  ///< which of the connection's it is, counted as the server does
  };
  /// A message on its way.
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
  ReceivedBatch batch_of_news();
  ReceivedBatch problem();
  void confirm_given();
  std::string confirmation() const;
  /// Waits until something has changed.
  Task<> wait(StopSource& stop, std::chrono::milliseconds limit);

  void manage_stream(const XmppElement& element);
  void take_message(const XmppElement& stanza);
  void take_presence(const XmppElement& stanza);
  void take_request(const XmppElement& stanza);
  bool is_from_server(const XmppElement& stanza) const;
  void settle(std::string_view id, SendResult result);

  Loop& loop_;
  HttpClient& http_;
  const ChannelAccount& account_;
  const ChannelSettings& settings_;
  XmppRooms rooms_;
  AsyncEvent changed_;  ///< `read` has something to look at
  AsyncEvent open_;
  std::shared_ptr<XmppConnection> connection_;
  bool is_open_ = false;
  std::optional<XmppFailure> failure_;
  std::deque<News> news_;
  std::size_t given_ = 0;                                                  ///< of the news, by the last batch
  std::string given_cursor_;                                               ///< of that batch
  bool is_managed_ = false;                                                ///< stanzas are counted
  std::uint32_t stanzas_ = 0;                                              ///< that arrived since then
  std::map<std::string, std::shared_ptr<Sending>, std::less<>> sendings_;  ///< by the message's id
};

}  // namespace agw
