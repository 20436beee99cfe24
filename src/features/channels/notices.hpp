#pragma once

#include <optional>
#include <string>

#include "base/json/json.hpp"
#include "features/channels/types.hpp"
#include "features/events/hub.hpp"

namespace agw {

/// The members of an event's message to clients.
json::object members_of(const DomainEvent& event);

/// Something that people are told without having asked.
struct ChannelNews {
  ChannelNotice kind{};
  std::string text;
};

/// What an event means to people; no value if they are told nothing. Permission requests are put by ChannelApprovals.
std::optional<ChannelNews> channel_news(const DomainEvent& event);

}  // namespace agw
