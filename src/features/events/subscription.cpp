#include "features/events/subscription.hpp"

#include <algorithm>
#include <array>

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"

namespace agw {

namespace {

/// The events that keep lists up to date. A connection that subscribed with `lists` gets them for all threads.
constexpr std::array list_kinds = {
    std::string_view("turn-created"), std::string_view("thread-updated"),       std::string_view("thread-deleted"),
    std::string_view("job-started"),  std::string_view("job-finished"),         std::string_view("finish"),
    std::string_view("stopped"),      std::string_view("permission-requested"), std::string_view("permission-decided")};

Subscription::Answer error(std::string_view text) {
  return {to_json(json::object{{"type", "error"}, {"error", text}})};
}

bool names_something(const SubscriptionMessage& message) {
  return message.threadId || message.threadIds || message.lists.value_or(false) || message.approvals.value_or(false);
}

Subscription::Threads threads_of(const SubscriptionMessage& message) {
  Subscription::Threads threads;
  if (message.threadId) threads.insert(*message.threadId);
  if (message.threadIds) threads.insert(message.threadIds->begin(), message.threadIds->end());
  return threads;
}

}  // namespace

Subscription::Answer Subscription::take(std::string_view text, Time now) {
  heard_at_ = now;
  const auto value = parse_json(text);
  if (!value) return error("Invalid JSON");
  if (!value->is_object()) return error("a message must be an object");
  const auto& message = value->get_object();
  const auto type = string_member(message, "type");
  if (!type) return error("type is required");
  if (*type == "ping") return {R"({"type":"pong"})"};
  const bool is_subscribe = *type == "subscribe";
  if (!is_subscribe && *type != "unsubscribe") return error("unknown message type: " + std::string(*type));
  SubscriptionMessage wanted;
  Problems problems;
  read_described(message, describe(Tag<SubscriptionMessage>{}), &wanted, "", problems);
  if (!problems.empty()) return error(problems.front().message);
  if (!names_something(wanted) && !(is_subscribe && wanted.device)) return error("threadId or threadIds is required");
  if (wanted.device && (wanted.device->empty() || wanted.device->size() > max_device_size))
    return error("device must have 1 to 128 bytes");
  if (is_subscribe && !is_within_limits(threads_of(wanted)))
    return error("at most 10000 threads, with ids of at most 200 bytes");
  if (is_subscribe)
    subscribe(wanted);
  else
    unsubscribe(wanted);
  assert_invariants();
  return current_set(wanted.resume.value_or(false));
}

bool Subscription::is_within_limits(const Threads& added) const {
  if (std::ranges::any_of(added, [](const auto& id) { return id.size() > max_id_size; })) return false;
  if (threads_.size() + added.size() <= max_threads) return true;
  const auto count = std::ranges::count_if(added, [this](const auto& id) { return !threads_.contains(id); });
  return threads_.size() + static_cast<std::size_t>(count) <= max_threads;
}

/// Until it is narrowed, a connection names neither threads nor lists.
void Subscription::assert_invariants() const {
  AGW_ASSERT(narrowed_ || threads_.empty());
  AGW_ASSERT(narrowed_ || !lists_);
  AGW_ASSERT(device_.size() <= max_device_size);
  AGW_ASSERT(threads_.size() <= max_threads);
}

void Subscription::subscribe(const SubscriptionMessage& wanted) {
  record_presence(wanted);
  approvals_ = wanted.approvals.value_or(approvals_);
  // A message that only reports the presence of a person keeps the current filter.
  if (!wanted.threadId && !wanted.threadIds && !wanted.lists.value_or(false)) return;
  narrowed_ = true;
  lists_ = wanted.lists.value_or(lists_);
  threads_.merge(threads_of(wanted));
}

void Subscription::record_presence(const SubscriptionMessage& wanted) {
  device_ = wanted.device.value_or(device_);
  visible_ = wanted.visible.value_or(visible_);
}

bool Subscription::is_shown_on(std::string_view device, Time now) const {
  return visible_ && device_ == device && now - heard_at_ <= presence;
}

void Subscription::unsubscribe(const SubscriptionMessage& wanted) {
  if (wanted.lists.value_or(false)) lists_ = false;
  if (wanted.approvals.value_or(false)) approvals_ = false;
  for (const auto& thread : threads_of(wanted)) threads_.erase(thread);
}

Subscription::Answer Subscription::current_set(bool with_runs) const {
  json::array ids;
  for (const auto& thread : threads_) ids.emplace_back(thread);
  auto text = to_json(json::object{{"type", "subscribed"}, {"threadIds", std::move(ids)}});
  if (!with_runs) return {std::move(text)};
  AGW_ASSERT(text.ends_with('}'));
  text.back() = ',';
  return {text + R"("runs":)", active_runs_(&threads_)};
}

bool Subscription::matches(const DomainEvent& event) const {
  if (event.type.empty()) return false;
  if (event.thread_id.empty() || !narrowed_) return true;
  if (threads_.contains(event.thread_id)) return true;
  return lists_ && std::find(list_kinds.begin(), list_kinds.end(), event.type) != list_kinds.end();
}

void Subscription::add_interests(Interests& interests, Time now) const {
  if (visible_ && !device_.empty() && now - heard_at_ <= presence) interests.devices.insert(device_);
  if (!approvals_) return;
  if (lists_ || !narrowed_)
    interests.answers_all = true;
  else
    interests.answers.insert(threads_.begin(), threads_.end());
}

bool Subscription::answers(std::string_view thread_id) const {
  return approvals_ && (lists_ || !narrowed_ || threads_.contains(thread_id));
}

}  // namespace agw
