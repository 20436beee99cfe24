#pragma once

#include <optional>
#include <string>

#include "features/events/hub.hpp"
#include "features/push/types.hpp"

namespace agw {

/// What to tell about an event; nullopt for one that closed pages are not told about.
std::optional<PushNotice> notice_of(const DomainEvent& event);

/// The notice that a person asked for to see that it arrives.
PushNotice test_notice();

/// The notice as the page's service worker reads it.
std::string to_payload(const PushNotice& notice);

}  // namespace agw
