#pragma once

#include <optional>
#include <string>

#include "features/channels/types.hpp"
#include "features/events/hub.hpp"

namespace agw {

/// A notice for the people of a channel, as text.
struct ChannelNotification {
  ChannelNotice kind{};
  std::string text;
};

/// The notice that an event leads to, if any. ChannelApprovals sends permission requests.
std::optional<ChannelNotification> channel_notification(const DomainEvent& event);

}  // namespace agw
