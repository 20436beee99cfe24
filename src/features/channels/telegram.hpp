#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "features/channels/messenger.hpp"
#include "features/channels/service_call.hpp"

namespace agw {

/// A bot at Telegram (https://core.telegram.org/bots/api, version 10.3). Updates are read by long polling.
class Telegram : public Messenger {
public:
  static constexpr std::string_view vendor_address = "https://api.telegram.org";

  Telegram(HttpClient& http, const ChannelAccount& account, ChannelThreads threads);

  const Traits& traits() const override;
  Task<ReceivedBatch> read(std::string cursor, StopSource& stop) override;
  Task<SendResult> send(OutgoingMessage message, StopSource& stop) override;
  Task<SendResult> draft(ChatPlace place, std::int64_t number, std::string text, StopSource& stop) override;
  Task<std::chrono::milliseconds> show_typing(ChatPlace place, bool is_typing, StopSource& stop) override;
  Task<> acknowledge(std::string press, std::string text, StopSource& stop) override;
  Task<FetchedFile> fetch(ReceivedFile file, StopSource& stop) override;

private:
  Task<ServiceResponse> call(std::string_view method, json::object parameters, StopSource& stop,
                             std::chrono::milliseconds idle_timeout = std::chrono::seconds(30)) const;
  Task<bool> knows_account(StopSource& stop);
  Task<ServiceResponse> poll(const std::string& cursor, StopSource& stop);
  ReceivedBatch batch_of(const ServiceResponse& response, std::string cursor);
  ReceivedBatch problem_of(const ServiceResponse& response);
  Task<ServiceResponse> call_in_chat(std::string_view method, json::object parameters, StopSource& stop) const;
  Task<ServiceResponse> upload(std::string_view kind, json::object fields, const OutgoingMessage& message,
                               StopSource& stop) const;
  Task<SendResult> send_file(const OutgoingMessage& message, StopSource& stop) const;
  Task<SendResult> send_once(const OutgoingMessage& message, bool with_markup, StopSource& stop) const;

  HttpClient& http_;
  const ChannelAccount& account_;
  const ChannelThreads threads_;
  bool has_read_ = false;
  std::string name_;   ///< of the bot, in lower case; empty if the service did not tell it
  int conflicts_ = 0;  ///< consecutive conflicts with another program that polls
};

/// An `Update` of the Bot API; no value for updates that channels ignore, such as edited messages.
std::optional<ReceivedMessage> telegram_message(const json::object& update, ChannelThreads threads);

/// Whether more updates of the same message may follow this one: it is part of an album, or its text is as long as
/// Telegram's apps make the parts of a longer text.
bool may_continue(const json::object& update);

/// Whether `update` continues the message that ends with `last`, with another file of the album or the rest of the
/// text.
bool continues(const json::object& update, const json::object& last);

/// Adds the text and the files of the second message to the first one.
void append(ReceivedMessage& message, ReceivedMessage rest);

}  // namespace agw
