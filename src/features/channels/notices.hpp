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

/// The notice about an event, if any. Permission requests are sent by ChannelApprovals instead.
std::optional<ChannelNotification> channel_notification(const DomainEvent& event);

}  // namespace agw
