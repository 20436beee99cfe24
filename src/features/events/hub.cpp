#include "features/events/hub.hpp"

#include <algorithm>

namespace agw {

Hub::Listening::Listening(Hub& hub, Subscriber& subscriber)
    : hub_(hub), place_(hub.subscribers_.insert(hub.subscribers_.end(), &subscriber)) {}

Hub::Listening::~Listening() { hub_.subscribers_.erase(place_); }

void Hub::publish(const DomainEvent& event) {
  // A subscriber may unsubscribe during the call.
  for (auto subscriber = subscribers_.begin(); subscriber != subscribers_.end();) (*subscriber++)->deliver(event);
}

bool Hub::awaited(std::string_view names) const {
  return std::ranges::any_of(subscribers_, [names](const auto* subscriber) { return subscriber->awaits(names); });
}

bool Hub::is_shown_on(std::string_view device) const {
  return std::ranges::any_of(subscribers_,
                             [device](const auto* subscriber) { return subscriber->is_shown_on(device); });
}

Interests Hub::interests() const {
  Interests all;
  for (const auto* subscriber : subscribers_) subscriber->add_interests(all);
  return all;
}

bool Hub::is_answered(std::string_view thread_id) const {
  return std::ranges::any_of(subscribers_,
                             [thread_id](const auto* subscriber) { return subscriber->answers(thread_id); });
}

}  // namespace agw
